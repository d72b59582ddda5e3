"""A function of rows, its bounds over boxes, its jets, its rounded values, its errors: what other numbers cost."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from burlab.bench.problem import Case, Namespace, OtherNumbers, Size, Timed

ROWS, DIMENSION, RADIUS, ORDER = 1000, 4, 0.01, 8
KINDS = ("values", "intervals", "jets", "rounded", "digits")
AIM = 6.0  # times over the values, of intervals
ROUNDED_AIM = 4.0  # the same of rounded arithmetic
DIGITS_AIM = 12.0  # and of values with their errors, in double-double arithmetic


def griewank(np_: Namespace, x: Any) -> Any:
    """Griewank 1981, for each row. Its product is written out: JAX's jets know none."""
    waves = np_.cos(x / np.sqrt(np.arange(1.0, DIMENSION + 1)))
    product = waves[..., 0]
    for k in range(1, DIMENSION):
        product = product * waves[..., k]
    return 1 + np_.sum(x**2, axis=-1) / 4000 - product


def problem(size: Size) -> OtherNumbers:
    """The problem of a kind of numbers."""
    rng = np.random.default_rng(0)
    points = rng.normal(size=(2, ROWS, DIMENSION))
    return OtherNumbers(size["numbers"], griewank, points, RADIUS, rng.normal(size=points.shape[1:]), ORDER)


def _conclusions(lines: Sequence[Timed]) -> list[str]:
    times = {line.size["numbers"]: line.seconds for line in lines if line.engine == "burlab"}
    plain, bounds, jets, rounded, digits = (times.get(kind) for kind in KINDS)
    found: list[str] = []
    if plain and bounds:
        found.append(f"Intervals take {bounds / plain:.1f} times as long as values (aim: at most {AIM:g}).")
    if plain and jets:
        found.append(f"Jets of order {ORDER} take {jets / plain:.1f} times as long as values.")
    if plain and rounded:
        found.append(f"bfloat16 takes {rounded / plain:.1f} times as long as values (aim: at most {ROUNDED_AIM:g}).")
    if plain and digits:
        found.append(
            f"Errors of all values take {digits / plain:.1f} times as long as values (aim: at most {DIGITS_AIM:g})."
        )
    return found


CASE = Case(
    "numbers",
    f"numbers: Griewank's function of {ROWS:,} rows of {DIMENSION}, its bounds, its jets of order {ORDER}, in bfloat16,"
    " its errors",
    problem,
    {"burlab": ("compiled",), "jax": ("jit",), "mpmath": ("mp, iv",), "pychop": ("NumPy",)},
    unit="call",
    sizes=tuple({"numbers": kind} for kind in KINDS),
    quick=tuple({"numbers": kind} for kind in KINDS),
    conclusions=_conclusions,
)
