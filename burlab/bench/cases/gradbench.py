"""The kinds of GradBench: one gradient of each."""

from burlab.bench.problem import Case, Objective, Size

from .objectives import KINDS, objective


def problem(size: Size) -> Objective:
    """The problem of a kind."""
    return objective(size["kind"])


CASE = Case(
    "gradbench",
    "gradbench: one gradient of each of GradBench's kinds (float64)",
    problem,
    {
        "golden": ("loop in C++",),
        "burlab": ("compiled, C++ calls", "compiled, Python calls", "replay, Python calls"),
        "torch": ("eager",),
        "jax": ("jit",),
        "autograd": ("eager",),
    },
    unit="gradient",
    sizes=tuple({"kind": kind} for kind in KINDS),
    quick=tuple({"kind": kind} for kind in KINDS),
)
