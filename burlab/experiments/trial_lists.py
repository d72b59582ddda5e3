"""The trials of a sweep that are known at its start: a product of choices, random draws, or a list."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product
from typing import Any, cast

import numpy as np

from burlab.errors import ArgumentError
from burlab.runtime.checks.numbers import shown, whole

from .optimizer_fields import Optimizers, checked_name, checked_optimizer, field_paths, optimizer_with
from .search_space import DIRECT, Between, Choices, Space
from .trials import Trial, plain_value, seeds_of

_KEYS = ("optimizer", "name", "seed")  # of an entry of a list; its other keys are hyperparameters
_MAX_DRAWS = 1000  # for one configuration that is new


def trials_of(
    optimizers: Optimizers,
    hypers: Any,
    seeds: int | Sequence[int],
    dependents: Sequence[str] = (),
    numbers: Sequence[str] = (),
) -> list[Trial]:
    """Return all trials in order: seeds change fastest, then the last hyperparameter. Raises ArgumentError.

    An optimizer is tried with those hyperparameters that it has. dependents: names that arguments of the call read.
    numbers: of the loss, by name, which an entry of a list may set.
    """
    if is_list(optimizers):
        if hypers is not None or seeds != 1:
            raise ArgumentError(
                "the runs are listed one by one, so hypers and seeds are part of the list: "
                "[{'optimizer': bl.optim.GD(), 'lr': 0.1, 'seed': 3}, ...]. Leave the two arguments out."
            )
        found = list(_listed(cast("Sequence[Mapping[str, Any]]", optimizers), dependents, numbers))
    else:
        space = Space.of(optimizers, hypers, dependents)
        if space.ranges:
            raise ArgumentError(
                f"the hyperparameter {shown(space.ranges[0])} has a range, expected a list of values, "
                "as this is not a search. List them, or pass search='random' or a sampler of Optuna, and trials=60."
            )
        found = list(_numbered(space, _product(space), seeds_of(seeds)))
    keys = [(trial.label, trial.seed) for trial in found]
    if twice := [key for key in keys if keys.count(key) > 1][:1]:
        raise ArgumentError(f"the sweep has {twice[0][0]} of seed {twice[0][1]} twice. Name each run once.")
    return found


def drawn_from(space: Space, count: int, seeds: tuple[int, ...], generator: np.random.Generator) -> list[Trial]:
    """Return random configurations, all different, each with every seed. Raises ArgumentError if there are too few."""
    rows: dict[str, tuple[str, dict[str, Any]]] = {}
    for _ in range(count):
        for _ in range(_MAX_DRAWS):
            name, chosen = _drawn(space, generator)
            label = repr((name, chosen))
            if label not in rows:
                rows[label] = name, chosen
                break
        else:
            raise ArgumentError(
                f"trials={count}, but only {len(rows)} different configurations were found. Pass fewer, or ranges."
            )
    return list(_numbered(space, rows.values(), seeds))


def is_list(optimizers: Optimizers) -> bool:
    """Return True for a list of runs."""
    return isinstance(optimizers, (list, tuple)) and any(
        isinstance(entry, Mapping) for entry in cast("Sequence[Any]", optimizers)
    )


def _drawn(space: Space, generator: np.random.Generator) -> tuple[str, dict[str, Any]]:
    names = list(space.optimizers)
    name = names[int(generator.integers(len(names)))]
    return name, {hyper: _draw(space.hypers[hyper], generator) for hyper in space.names(name)}


def _draw(choices: Choices, generator: np.random.Generator) -> Any:
    if isinstance(choices, Between):
        return choices.at(float(generator.random()))
    return choices[int(generator.integers(len(choices)))]


def _product(space: Space) -> Iterator[tuple[str, dict[str, Any]]]:
    choices = cast("Mapping[str, Sequence[Any]]", space.hypers)
    for name in space.optimizers:
        names = space.names(name)
        for values in product(*(choices[hyper] for hyper in names)):
            yield name, dict(zip(names, values, strict=True))


def _numbered(space: Space, rows: Iterable[tuple[str, dict[str, Any]]], seeds: tuple[int, ...]) -> Iterator[Trial]:
    number = 0
    for name, chosen in rows:
        changed = space.optimizer(name, chosen)
        for seed in seeds:
            yield Trial(number, name, changed, chosen, seed)
            number += 1


def _listed(entries: Sequence[Mapping[str, Any]], dependents: Sequence[str], numbers: Sequence[str]) -> Iterator[Trial]:
    for number, entry in enumerate(entries):
        where = f"entry {number} of the list"
        if not isinstance(entry, Mapping) or "optimizer" not in entry:  # pyright: ignore[reportUnnecessaryIsInstance] - users
            raise ArgumentError(
                f"{where} is {shown(entry)}, expected a mapping such as {{'optimizer': bl.optim.GD(0.1)}}."
            )
        optimizer = checked_optimizer(where, entry["optimizer"])
        name = entry.get("name", type(optimizer).__name__)
        chosen = {key: plain_value(value) for key, value in entry.items() if key not in _KEYS}
        own = field_paths(optimizer)
        if missing := [key for key in chosen if key not in (*own, *DIRECT, *dependents, *numbers)]:
            has = ", ".join(own) + (f"; the loss: {', '.join(numbers)}" if numbers else "")
            raise ArgumentError(f"{where} sets {shown(missing[0])}, but {type(optimizer).__name__} has: {has}.")
        seed = whole(entry.get("seed", 0), f"the seed of {where}", 0)
        if lost := [key for key in dependents if key not in chosen]:
            raise ArgumentError(
                f"an argument of the sweep depends on {shown(lost[0])}, which {where} does not set. Add it."
            )
        changed = optimizer_with(str(name), optimizer, {key: value for key, value in chosen.items() if key in own})
        yield Trial(number, checked_name(name), changed, chosen, seed)
