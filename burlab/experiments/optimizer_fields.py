"""Optimizers of a sweep, and the same ones with some of their fields changed."""

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import Any, cast

from burlab.errors import ArgumentError, BurlabError
from burlab.optim import Optimizer, SciPy
from burlab.optim.live_fields import live_fields
from burlab.runtime.checks.numbers import shown

Entry = Optimizer | SciPy
Optimizers = Entry | Sequence[Entry] | Sequence[Mapping[str, Any]] | Mapping[str, Entry]
"""What a sweep tries: one, several, or a list of runs."""
EXAMPLE = "{'Adam': bl.optim.Adam()}"  # in messages


def field_paths(optimizer: Entry) -> dict[str, tuple[str, ...]]:
    """The fields that a sweep may change, by name: all of the optimizer's own, and the live ones of its parts."""
    live = {one.name: one.path for one in live_fields(optimizer)} if isinstance(optimizer, Optimizer) else {}
    return {f.name: (f.name,) for f in fields(cast("Any", optimizer)) if f.init} | live


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


def checked_optimizer(what: str, entry: Any) -> Entry:
    """Return the optimizer. Raises ArgumentError for something else. what: describes it."""
    if isinstance(entry, (Optimizer, SciPy)):
        return entry
    hint = f"Call it: bl.optim.{entry.__name__}()." if isinstance(entry, type) else "Pass bl.optim.Adam(lr=1e-3)."
    if isinstance(entry, str):
        what, hint = "an optimizer", f"Pass it as an object, such as bl.optim.{entry}()."
    raise ArgumentError(f"{what} is {shown(entry)}, expected an optimizer of bl.optim. {hint}")


def checked_name(name: Any) -> str:
    """Return the name of an optimizer. Raises ArgumentError unless it is text."""
    if not isinstance(name, str) or not name.strip():
        raise ArgumentError(f"the name of an optimizer must be text, as in {EXAMPLE}; got {shown(name)}.")
    return name


def _with(part: Any, path: tuple[str, ...], value: Any) -> Any:
    if not path:
        return value
    return replace(part, **{path[0]: _with(getattr(part, path[0]), path[1:], value)})
