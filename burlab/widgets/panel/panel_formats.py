"""The switch for formats of numbers on a panel: what it offers, and the change, whose step is compiled in a thread."""

import threading
from dataclasses import replace
from typing import Any

from burlab.errors import StatusError
from burlab.optim.number_formats import FIELDS, Formats, text_of
from burlab.problems.residual_sum import Residuals
from burlab.run import Run
from burlab.run.rounded_run import why_no_formats
from burlab.runtime.dtypes import dtype_of
from burlab.transforms.numbers.formats import Format
from burlab.widgets.live.fields import one_of
from burlab.widgets.page_worker import Intent

from .background_work import in_background

TITLES = {
    "float32": "float32",
    "bfloat16": "bfloat16",
    "float16": "float16",
    "e5m2": "float8 e5m2",
    "e4m3": "float8 e4m3",
    "e2m1": "float4 e2m1",
    "int8": "int8",
    "mxfp8_e4m3": "mxfp8 e4m3",
    "mxfp4": "mxfp4",
}
"""The formats that menus offer, with their titles; a run can have any other one, too."""
EXACT, CUSTOM = "", "own"  # values of a menu: x0's dtype, and a format of the run that menus do not offer
_NO_RESIDUALS = "Residuals are computed in x0's dtype: the other formats can be changed"


def offered(dtype: str) -> list[list[str]]:
    """Return pairs of value and text of a menu: x0's dtype, and the formats all of whose numbers it has.

    >>> [text for _, text in offered("float32")][:4]
    ['float32', 'bfloat16', 'float16', 'float8 e5m2']
    """
    fitting = [name for name in TITLES if name != dtype and Format.of(name).fits(dtype_of(dtype))]
    return [[EXACT, dtype], *([name, TITLES[name]] for name in fitting)]


def chosen(intent: Intent, now: Formats | None) -> Formats | None:
    """Return the formats that an intent names; None: x0's dtype for all.

    Args:
        intent: Its fields are those of `Formats`; `scaled` instead of a loss scale.
        now: The formats of the run, from which what an intent does not name is taken.

    >>> chosen({"params": "e4m3", "compute": "", "gradients": "", "state": "", "master": False}, None)
    Formats(params='e4m3', compute=None, gradients=None, state=None, scale=None, ...master=False, stochastic=True)
    """
    old = now or Formats()
    known = (EXACT, CUSTOM, *TITLES)
    values = {name: one_of(intent.get(name), known, f"the format of {name}") for name in FIELDS}
    given = {name: getattr(old, name) if value == CUSTOM else value or None for name, value in values.items()}
    scale = (old.scale if old.scale is not None else "dynamic") if intent.get("scaled") else None
    flags = {name: bool(intent.get(name, True)) for name in ("master", "stochastic")}
    found = replace(old, scale=scale, **given, **flags)
    found = found if found.compute == old.compute else replace(found, accumulate=None)
    return None if replace(found, **dict.fromkeys(flags, True), accumulate=None) == Formats() else found


class FormatSwitch:
    """Lets a run go on in other formats: its step is compiled in a thread, in which nothing of the run changes.

    plays: whether it is to play then.
    """

    def __init__(self, run: Any) -> None:
        self._run = run
        self._formats: Formats | None = None
        self._thread: threading.Thread | None = None
        self._error: Exception | None = None
        self._offered: list[list[str]] | None = None
        self.plays = False

    @property
    def compiling(self) -> bool:
        """Return True until `finish` has made the change that was ordered."""
        return self._thread is not None

    @property
    def summary(self) -> str:
        """The formats that are being compiled."""
        return self._dtype if self._formats is None else self._formats.summary

    def check(self) -> None:
        """Raise StatusError if the run cannot have other formats, or others are being compiled."""
        if self.compiling:
            raise StatusError(f"the step in {self.summary} is being compiled. Wait a moment.")
        if reason := why_no_formats(self._run):
            raise StatusError(f"formats cannot change: {reason}.")

    def order(self, formats: Formats | None, *, plays: bool) -> None:
        """Begin to compile the step in other formats, of a run that rests."""
        self._formats, self.plays, self._error = formats, plays, None
        self._thread = in_background(self._compile, "formats")

    def wait(self) -> None:
        """Wait until the step is compiled."""
        if self._thread is not None:
            self._thread.join()

    def finish(self) -> bool:
        """Make the change that was ordered, once the step is compiled, and return True then.

        Raises:
            BurlabError: The problem or the optimizer cannot compute in these formats.
        """
        if self._thread is None or self._thread.is_alive():
            return False
        self._thread = None
        if self._error is not None:
            raise self._error
        self._run.change_formats(self._formats)
        return True

    def state(self) -> dict[str, Any] | None:
        """Return what a page shows; None of what is no run of an optimizer. See `messages.d.ts`."""
        if not isinstance(self._run, Run):
            return None
        if self._offered is None:
            self._offered = offered(self._dtype)
        formats, reason = self._run.formats or Formats(), why_no_formats(self._run)
        known = [value for value, _ in self._offered]
        values: dict[str, str] = {name: getattr(formats, name) or EXACT for name in FIELDS}
        own = {name: "" if value in known else text_of(getattr(formats, name)) for name, value in values.items()}
        return {
            "choices": self._offered,
            "values": {name: CUSTOM if own[name] else value for name, value in values.items()},
            "own": own,
            "stochastic": formats.stochastic,
            "master": formats.master,
            "scaled": formats.scale is not None,
            "words": self._dtype if self._run.formats is None else formats.summary,
            "refused": reason and f"Formats cannot change: {reason}",
            "exact_loss": _NO_RESIDUALS if isinstance(self._run.problem, Residuals) else "",
            "compiling": self.compiling,
        }

    @property
    def _dtype(self) -> str:
        setup = getattr(self._run.engine, "setup", None)
        return "float64" if setup is None else setup.start.leaves[0].dtype.name

    def _compile(self) -> None:
        try:
            self._run.compile_formats(self._formats)
        except Exception as error:
            self._error = error
