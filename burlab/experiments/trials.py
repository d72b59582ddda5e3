"""The trials of a sweep: the product of optimizers, hyperparameters and seeds, or a list."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from itertools import product
from typing import Any, cast

import numpy as np

from burlab.errors import ArgumentError, BurlabError
from burlab.optim import Optimizer, SciPy
from burlab.optim.live_fields import live_fields
from burlab.runtime.checks.numbers import shown, whole

Entry = Optimizer | SciPy
Optimizers = Entry | Sequence[Entry] | Sequence[Mapping[str, Any]] | Mapping[str, Entry]
"""What a sweep tries: one, several, or a list of runs."""
ENTRY_KEYS = ("optimizer", "name", "seed")  # of an entry of a list; its other keys are hyperparameters
_EXAMPLE = "{'Adam': bl.optim.Adam()}"


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


def trials_of(
    optimizers: Optimizers, hypers: Mapping[str, Sequence[Any]] | None, seeds: int | Sequence[int]
) -> list[Trial]:
    """All trials in order: seeds change fastest, then the last hyperparameter. Raises ArgumentError.

    An optimizer is tried with those hyperparameters that it has.
    """
    if _is_list(optimizers):
        if hypers is not None or seeds != 1:
            raise ArgumentError(
                "the runs are listed one by one, so hypers and seeds are part of the list: "
                "[{'optimizer': bl.optim.GD(), 'lr': 0.1, 'seed': 3}, ...]. Leave the two arguments out."
            )
        found = list(_listed(cast("Sequence[Mapping[str, Any]]", optimizers)))
    else:
        found = list(_grid(_named(optimizers), _values(hypers), seeds_of(seeds)))
    keys = [(trial.label, trial.seed) for trial in found]
    if twice := [key for key in keys if keys.count(key) > 1][:1]:
        raise ArgumentError(f"the sweep has {twice[0][0]} of seed {twice[0][1]} twice. Name each run once.")
    return found


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
        optimizer = _with(optimizer, _paths(optimizer)[name], value)
    return optimizer


def _grid(
    optimizers: Mapping[str, Entry], hypers: Mapping[str, Sequence[Any]], seeds: tuple[int, ...]
) -> Iterator[Trial]:
    owned = {name: [hyper for hyper in hypers if hyper in _paths(entry)] for name, entry in optimizers.items()}
    known = {hyper for names in owned.values() for hyper in names}
    if missing := [hyper for hyper in hypers if hyper not in known]:
        fields_of = "; ".join(f"{name}: {', '.join(_paths(entry))}" for name, entry in optimizers.items())
        raise ArgumentError(f"no optimizer has a hyperparameter {shown(missing[0])}. There are, of {fields_of}.")
    number = 0
    for name, entry in optimizers.items():
        for values in product(*(hypers[hyper] for hyper in owned[name])):
            chosen = dict(zip(owned[name], values, strict=True))
            changed = _optimizer_with(name, entry, chosen)
            for seed in seeds:
                yield Trial(number, name, changed, chosen, seed)
                number += 1


def _listed(entries: Sequence[Mapping[str, Any]]) -> Iterator[Trial]:
    for number, entry in enumerate(entries):
        where = f"entry {number} of the list"
        if not isinstance(entry, Mapping) or "optimizer" not in entry:  # pyright: ignore[reportUnnecessaryIsInstance] - users
            raise ArgumentError(
                f"{where} is {shown(entry)}, expected a mapping such as {{'optimizer': bl.optim.GD(0.1)}}."
            )
        optimizer = _checked(where, entry["optimizer"])
        name = entry.get("name", type(optimizer).__name__)
        chosen = {key: _plain(value) for key, value in entry.items() if key not in ENTRY_KEYS}
        if missing := [key for key in chosen if key not in _paths(optimizer)]:
            has = ", ".join(_paths(optimizer))
            raise ArgumentError(f"{where} sets {shown(missing[0])}, but {type(optimizer).__name__} has: {has}.")
        seed = whole(entry.get("seed", 0), f"the seed of {where}", 0)
        yield Trial(number, _name(name), _optimizer_with(str(name), optimizer, chosen), chosen, seed)


def _optimizer_with(name: str, optimizer: Entry, chosen: Mapping[str, Any]) -> Entry:
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


def _named(optimizers: Optimizers) -> dict[str, Entry]:
    if isinstance(optimizers, Mapping):
        given = dict(cast("Mapping[Any, Any]", optimizers))
    else:
        listed = list(cast("Any", optimizers)) if isinstance(optimizers, (list, tuple)) else [optimizers]
        kinds = [(entry if isinstance(entry, type) else type(entry)).__name__ for entry in listed]
        given = {
            name: _checked(f"the optimizer {shown(name)}", entry) for name, entry in zip(kinds, listed, strict=True)
        }
        if len(given) < len(listed):
            raise ArgumentError(f"several optimizers are of one class. Give them names: {_EXAMPLE}.")
    if not given:
        raise ArgumentError(f"optimizers is empty, expected them by name, such as {_EXAMPLE}.")
    return {_name(name): _checked(f"the optimizer {shown(name)}", entry) for name, entry in given.items()}


def _name(name: Any) -> str:
    if not isinstance(name, str) or not name.strip():
        raise ArgumentError(f"the name of an optimizer must be text, as in {_EXAMPLE}; got {shown(name)}.")
    return name


def _checked(what: str, entry: Any) -> Entry:
    if isinstance(entry, (Optimizer, SciPy)):
        return entry
    hint = f"Call it: bl.optim.{entry.__name__}()." if isinstance(entry, type) else "Pass bl.optim.Adam(lr=1e-3)."
    if isinstance(entry, str):
        what, hint = "an optimizer", f"Pass it as an object, such as bl.optim.{entry}()."
    raise ArgumentError(f"{what} is {shown(entry)}, expected an optimizer of bl.optim. {hint}")


def _values(hypers: Any) -> dict[str, Sequence[Any]]:
    if hypers is None:
        return {}
    if not isinstance(hypers, Mapping):
        raise ArgumentError(f"hypers is {shown(hypers)}, expected values by name, such as {{'lr': [0.1, 0.01]}}.")
    found: dict[str, Sequence[Any]] = {}
    for name, values in cast("Mapping[Any, Any]", hypers).items():
        if not isinstance(values, (list, tuple, range, np.ndarray)) or not len(cast("Any", values)):
            raise ArgumentError(
                f"hypers[{shown(name)}] is {shown(values)}, expected a list of values, such as [0.1, 0.01]."
            )
        plain = [_plain(value) for value in cast("Any", values)]
        if any(isinstance(value, float) and math.isnan(value) for value in plain):
            raise ArgumentError(f"hypers[{shown(name)}] must not hold NaN. Take it out.")
        found[name] = plain
    return found


def _plain(value: Any) -> Any:
    """Return a NumPy number as one of Python, which rows show as it is written."""
    return cast("Any", value).item() if isinstance(value, np.generic) else value


def _is_list(optimizers: Optimizers) -> bool:
    return isinstance(optimizers, (list, tuple)) and any(
        isinstance(entry, Mapping) for entry in cast("Sequence[Any]", optimizers)
    )


def _paths(optimizer: Entry) -> dict[str, tuple[str, ...]]:
    """The fields that a sweep may change, by name: all of the optimizer's own, and the live ones of its parts."""
    live = {one.name: one.path for one in live_fields(optimizer)} if isinstance(optimizer, Optimizer) else {}
    return {f.name: (f.name,) for f in fields(cast("Any", optimizer)) if f.init} | live


def _with(part: Any, path: tuple[str, ...], value: Any) -> Any:
    if not path:
        return value
    return replace(part, **{path[0]: _with(getattr(part, path[0]), path[1:], value)})
