"""A trial: one run of a sweep, and an optimizer with some of its fields changed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, cast

import numpy as np

from burlab.errors import ArgumentError, BurlabError
from burlab.optim import Optimizer, SciPy
from burlab.optim.live_fields import live_fields
from burlab.runtime.checks.numbers import shown, whole

Entry = Optimizer | SciPy
Optimizers = Entry | Sequence[Entry] | Sequence[Mapping[str, Any]] | Mapping[str, Entry]
"""What a sweep tries: one, several, or a list of runs."""
EXAMPLE = "{'Adam': bl.optim.Adam()}"  # in messages


@dataclass(frozen=True, slots=True)
class Trial:
    """One run of a sweep. number: its place. name: of its optimizer. hypers: what was set, by the name of the field."""

    number: int
    name: str
    optimizer: Entry
    hypers: Mapping[str, Any]
    seed: int

    @property
    def label(self) -> str:
        """The name with the hyperparameters: equal for trials that differ in their seeds alone."""
        return " ".join([self.name, *(f"{name}={hyper_text(value)}" for name, value in self.hypers.items())])


def hyper_text(value: Any) -> str:
    """The value of a hyperparameter in a word or two.

    >>> hyper_text(0.1), hyper_text(1e-05), hyper_text(True), hyper_text(abs)
    ('0.1', '1e-05', 'True', 'abs')
    """
    if isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool):
        return f"{value:.6g}"
    return str(getattr(value, "__name__", value))


def exact_text(value: Any) -> str:
    """The value of a hyperparameter as text that differs for every number.

    >>> exact_text(1), exact_text(0.1 + 0.2), exact_text(abs)
    ('1.0', '0.30000000000000004', 'abs')
    """
    if isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool):
        return repr(float(cast("Any", value)))
    return hyper_text(value)


def seeds_of(seeds: int | Sequence[int]) -> tuple[int, ...]:
    """Return the seeds of a number of them, from 0, or of a list."""
    if isinstance(seeds, (list, tuple, range, np.ndarray)):
        found = tuple(whole(seed, "a seed of seeds", 0) for seed in cast("Any", seeds))
        if not found or len(set(found)) < len(found):
            raise ArgumentError(
                f"seeds={shown(seeds)} must hold at least one seed, and each once. Pass [0, 1, 2], or 3."
            )
        return found
    return tuple(range(whole(seeds, "seeds", 1, 10_000)))


def with_fields(optimizer: Entry, hypers: Mapping[str, Any]) -> Entry:
    """The optimizer with fields changed, live ones by the names that runs give them. Its checks see the new values."""
    for name, value in hypers.items():
        optimizer = _with(optimizer, field_paths(optimizer)[name], value)
    return optimizer


def optimizer_with(name: str, optimizer: Entry, chosen: Mapping[str, Any]) -> Entry:
    """Return the optimizer with fields changed. Raises ArgumentError, with its name, for values that it cannot have."""
    try:
        changed = with_fields(optimizer, chosen)
        if isinstance(changed, Optimizer):
            live_fields(changed)  # raises unless each is a number
        return changed
    except (BurlabError, TypeError, ValueError) as error:
        if not chosen:
            raise
        what = ", ".join(f"{hyper}={shown(value)}" for hyper, value in chosen.items())
        raise ArgumentError(f"{name} cannot have {what}: {error}") from error


def checked_name(name: Any) -> str:
    """Return the name of an optimizer. Raises ArgumentError unless it is text."""
    if not isinstance(name, str) or not name.strip():
        raise ArgumentError(f"the name of an optimizer must be text, as in {EXAMPLE}; got {shown(name)}.")
    return name


def checked_optimizer(what: str, entry: Any) -> Entry:
    """Return the optimizer. Raises ArgumentError for something else. what: describes it."""
    if isinstance(entry, (Optimizer, SciPy)):
        return entry
    hint = f"Call it: bl.optim.{entry.__name__}()." if isinstance(entry, type) else "Pass bl.optim.Adam(lr=1e-3)."
    if isinstance(entry, str):
        what, hint = "an optimizer", f"Pass it as an object, such as bl.optim.{entry}()."
    raise ArgumentError(f"{what} is {shown(entry)}, expected an optimizer of bl.optim. {hint}")


def plain_value(value: Any) -> Any:
    """Return a NumPy number as one of Python, which rows show as it is written."""
    return cast("Any", value).item() if isinstance(value, np.generic) else value


def field_paths(optimizer: Entry) -> dict[str, tuple[str, ...]]:
    """The fields that a sweep may change, by name: all of the optimizer's own, and the live ones of its parts."""
    live = {one.name: one.path for one in live_fields(optimizer)} if isinstance(optimizer, Optimizer) else {}
    return {f.name: (f.name,) for f in fields(cast("Any", optimizer)) if f.init} | live


def _with(part: Any, path: tuple[str, ...], value: Any) -> Any:
    if not path:
        return value
    return replace(part, **{path[0]: _with(getattr(part, path[0]), path[1:], value)})
