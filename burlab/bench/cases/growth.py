"""Cost against the size of a graph: a quartic oscillator by the leapfrog method, five operations per step.

Each operation uses its neighbours only, and neither values nor derivatives grow faster than the number of steps, so
that a graph of a million operations can still be judged.
"""

from typing import Any

import numpy as np

from burlab.bench.problem import Case, Namespace, Scalar, Size

STEP, PER_STEP = 5e-4, 5
# The largest graphs that each variant is asked for, and what happens beyond.
MAX_NODES = {
    "eager, Python": (100_000, "this many Python objects take minutes"),
    "replay, C++ calls": (100_000, "tracing this much Python takes minutes"),
    "compiled, C++ calls": (2_000, "beyond 3,000 operations a graph is replayed, not compiled"),
    "torch": (10_000, "this takes minutes"),
    "jax": (100, "XLA compiles for a minute, and for hours beyond"),
    "autograd": (10_000, "this takes minutes"),
    "micrograd": (500, "its recursion ends at Python's limit"),
}


def problem(size: Size) -> Scalar:
    """The position after as many steps as the number of operations allows, by position and momentum at the start."""
    steps = size["nodes"] // PER_STEP

    def oscillator(_: Namespace, q: float, p: float) -> Any:
        for _step in range(steps):
            p = p - q**3 * STEP
            q = q + p * STEP
        return q

    formula = f"""T q = x[0], p = x[1];
      for (int i = 0; i < {steps}; ++i) {{
        p = p - cube(q) * {STEP};
        q = q + p * {STEP};
      }}
      return q;"""
    points = np.random.default_rng(0).uniform(0.5, 1.0, (8, 2))
    return Scalar(oscillator, points, ("q", "p"), formula)


def skip(size: Size, engine: str, variant: str) -> str:
    """The reason why a variant is not asked for a graph of this size."""
    most, why = MAX_NODES.get(variant) or MAX_NODES.get(engine) or (size["nodes"], "")
    return why if size["nodes"] > most else ""


CASE = Case(
    "growth",
    "growth: one gradient of a graph of so many operations (float64)",
    problem,
    {
        "burlab": ("eager, loop in C++", "eager, Python", "replay, C++ calls", "compiled, C++ calls"),
        "torch": ("eager",),
        "jax": ("jit",),
        "autograd": ("eager",),
        "micrograd": ("eager",),
    },
    unit="gradient",
    sizes=tuple({"nodes": 10**k} for k in range(1, 7)),
    quick=({"nodes": 10}, {"nodes": 100}, {"nodes": 1000}),
    axis="nodes",
    skip=skip,
)
