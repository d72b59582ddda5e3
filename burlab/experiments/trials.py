"""A trial: one run of a sweep."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from burlab.errors import ArgumentError
from burlab.runtime.checks.numbers import shown, whole

from .optimizer_fields import Entry


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


def plain_value(value: Any) -> Any:
    """Return a NumPy number as one of Python, which rows show as it is written."""
    return cast("Any", value).item() if isinstance(value, np.generic) else value
