"""The identity of the sweep of a folder: all that decides the bits of its runs."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

import numpy as np

from burlab._version import __version__
from burlab.optim import Optimizer
from burlab.optim.live_fields import live_fields
from burlab.run import Run
from burlab.runtime.cpu import instruction_set

from .setting import Setting, numbers_of
from .trials import Trial, hyper_text

_FORMAT = "burlab_sweep"


def identity(setting: Setting, trials: Sequence[Trial]) -> dict[str, Any]:
    """Return the description of a sweep that the file of its folder holds, as JSON.

    problem: a hash of all that is no number of the list: the runs of each optimizer at step 0, the starts, the steps.
    """
    digest = hashlib.sha256(repr((setting.steps, getattr(setting.batch, "most", setting.batch))).encode())
    first: dict[Any, Trial] = {}
    for trial in trials:
        first.setdefault((trial.name, _program(trial)), trial)
    opened = setting.opening()
    for trial in first.values():
        digest.update(_fingerprint(opened, trial).encode())
    for seed in dict.fromkeys(trial.seed for trial in trials):
        digest.update(_start(setting, seed))
    return {
        _FORMAT: 1,
        "burlab": __version__,
        "instruction_set": instruction_set().name,
        "problem": digest.hexdigest(),
        "runs": [[trial.name, {name: _exact(v) for name, v in trial.hypers.items()}, trial.seed] for trial in trials],
    }


def differs(found: Any, wanted: Mapping[str, Any]) -> str:
    """Return in hyper_text how a folder differs from that of a sweep; "" if it does not. found: content of its file."""
    saved = cast("dict[str, Any]", found) if isinstance(found, dict) else {}
    if saved.get(_FORMAT) != wanted[_FORMAT]:
        return "its file sweep.json has another format than that of this burlab."
    if saved.get("burlab") != wanted["burlab"]:
        return f"it was computed by burlab {saved.get('burlab')}, this is {wanted['burlab']}, whose bits may differ."
    if (isa := saved.get("instruction_set")) != wanted["instruction_set"]:
        own = wanted["instruction_set"]
        return f"it was computed with {isa}, this process uses {own}. Set BURLAB_ISA={isa} to go on with it."
    if saved.get("runs") != wanted["runs"]:
        return f"its list of runs differs from the requested one of {len(wanted['runs'])}."
    return "" if saved.get("problem") == wanted["problem"] else "its problem, start, optimizers or steps are others."


def _program(trial: Trial) -> tuple[str, ...]:
    """Return the settings of a trial other than live numbers."""
    live = {one.name for one in live_fields(trial.optimizer)} if isinstance(trial.optimizer, Optimizer) else set[str]()
    return tuple(f"{n}={_exact(v)}" for n, v in trial.hypers.items() if n not in live or callable(v))


def _fingerprint(opened: Callable[[Trial], Run], trial: Trial) -> str:
    try:
        return opened(trial).fingerprint
    except Exception as error:  # also of a rule of the user's: it becomes a row with its reason
        return type(error).__name__


def _start(setting: Setting, seed: int) -> bytes:
    try:
        return b"".join(np.ascontiguousarray(leaf).tobytes() for leaf in numbers_of(setting.start(seed)))
    except Exception as error:  # of the user's function: its runs become rows with their reason
        return type(error).__name__.encode()


def _exact(value: Any) -> str:
    if isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool):
        return repr(float(cast("Any", value)))
    return hyper_text(value)
