"""The identity of the sweep of a folder: all that decides the bits of its runs."""

import hashlib
from collections.abc import Callable, Mapping
from typing import Any, cast
from uuid import uuid4

import numpy as np

from burlab._version import __version__
from burlab.optim import Optimizer
from burlab.optim.live_fields import live_fields
from burlab.run import Run
from burlab.runtime.cpu import instruction_set

from .dependents import TrialSettings
from .setting import numbers_of
from .trial_source import TrialSource
from .trials import Trial, exact_text

_FORMAT = "burlab_sweep"


def identity(settings: TrialSettings, source: TrialSource) -> dict[str, Any]:
    """Return the description of a sweep that the file of its folder holds, as JSON.

    problem: a hash of all that is no number of the list: the runs of each optimizer at step 0, the starts, the steps.
    name: one that no other sweep has.
    """
    digest = hashlib.sha256()
    first: dict[Any, Trial] = {}
    for trial in source.examples():
        first.setdefault((trial.name, _program(trial)), trial)
    for trial in first.values():
        digest.update(_lengths(settings, trial).encode())
        digest.update(_fingerprint(settings.open, trial).encode())
    for trial in {trial.seed: trial for trial in source.examples()}.values():
        digest.update(_start(settings, trial))
    return {
        _FORMAT: 1,
        "burlab": __version__,
        "instruction_set": instruction_set().name,
        "problem": digest.hexdigest(),
        "runs": source.described(),
        "name": uuid4().hex,
    }


def differs(found: Any, wanted: Mapping[str, Any]) -> str:
    """Return in words how a folder differs from that of a sweep; "" if it does not. found: content of its file."""
    saved = cast("dict[str, Any]", found) if isinstance(found, dict) else {}
    if saved.get(_FORMAT) != wanted[_FORMAT]:
        return "its file sweep.json has another format than that of this burlab."
    if saved.get("burlab") != wanted["burlab"]:
        return f"it was computed by burlab {saved.get('burlab')}, this is {wanted['burlab']}, whose bits may differ."
    if (isa := saved.get("instruction_set")) != wanted["instruction_set"]:
        own = wanted["instruction_set"]
        return f"it was computed with {isa}, this process uses {own}. Set BURLAB_ISA={isa} to go on with it."
    if saved.get("runs") != wanted["runs"]:
        what = "search" if "search" in wanted["runs"] else f"one of {len(wanted['runs'])}"
        return f"its list of runs differs from the requested {what}."
    return "" if saved.get("problem") == wanted["problem"] else "its problem, start, optimizers or steps are others."


def _program(trial: Trial) -> tuple[str, ...]:
    """Return the settings of a trial other than live numbers."""
    live = {one.name for one in live_fields(trial.optimizer)} if isinstance(trial.optimizer, Optimizer) else set[str]()
    return tuple(f"{n}={exact_text(v)}" for n, v in trial.hypers.items() if n not in live or callable(v))


def _fingerprint(opened: Callable[[Trial], Run], trial: Trial) -> str:
    try:
        return opened(trial).fingerprint
    except Exception as error:  # also of a rule of the user's: it becomes a row with its reason
        return type(error).__name__


def _lengths(settings: TrialSettings, trial: Trial) -> str:
    try:
        setting = settings.of(trial)
    except Exception as error:  # of a function of the user's: its runs become rows with their reason
        return type(error).__name__
    return repr((setting.steps, getattr(setting.batch, "most", setting.batch)))


def _start(settings: TrialSettings, trial: Trial) -> bytes:
    try:
        return b"".join(
            np.ascontiguousarray(leaf).tobytes() for leaf in numbers_of(settings.of(trial).start(trial.seed))
        )
    except Exception as error:  # of the user's function: its runs become rows with their reason
        return type(error).__name__.encode()
