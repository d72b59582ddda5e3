"""The trials that a sweep has: all combinations, a list, random draws, or what a study of Optuna proposes."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from burlab.errors import ArgumentError
from burlab.runtime.checks.numbers import shown, whole

from .optimizer_fields import Optimizers
from .optuna_search import OptunaSearch, study_of
from .search_space import Space
from .trial_lists import drawn_from, is_list, trials_of
from .trial_source import TrialList, TrialSource
from .trials import seeds_of

MAX_TRIALS = 100_000


def source_of(
    optimizers: Optimizers,
    hypers: Any,
    seeds: int | Sequence[int],
    dependents: Sequence[str],
    search: Any,
    count: int | None,
    numbers: Sequence[str] = (),
) -> TrialSource:
    """Return the trials of a sweep; see `sweep`. numbers: of the loss, by name. Raises ArgumentError."""
    if search is None:
        if count is not None:
            raise ArgumentError(f"trials={shown(count)} is for a search. Pass search='random', or leave it out.")
        return TrialList(trials_of(optimizers, hypers, seeds, dependents, numbers))
    if count is None:
        raise ArgumentError("a search needs to know how many configurations to try. Pass trials=60.")
    count = whole(count, "trials", 1, MAX_TRIALS)
    if is_list(optimizers) or not hypers:
        raise ArgumentError(
            "a search chooses values of hyperparameters, so it needs optimizers and the choices for them, such as "
            "bl.optim.Adam(), {'lr': bl.Between(1e-4, 1e-1, log=True)}."
        )
    space = Space.of(optimizers, hypers, dependents)
    space.ends()  # raises for values that an optimizer cannot have
    if isinstance(search, np.random.Generator) or (isinstance(search, str) and search == "random"):
        generator = np.random.default_rng(0) if isinstance(search, str) else search
        return TrialList(drawn_from(space, count, seeds_of(seeds), generator))
    study = study_of(search)
    if len(found := seeds_of(seeds)) != 1:
        raise ArgumentError(
            f"seeds={shown(seeds)}, but each trial of Optuna is one run. Pass one seed, such as seeds=[0], and sweep "
            "the best configurations over more seeds later."
        )
    return OptunaSearch(study, space, count, found[0])
