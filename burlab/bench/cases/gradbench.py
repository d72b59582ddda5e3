"""The kinds of GradBench: one gradient of each."""

from burlab.bench.problem import ArrayObjective, Case, Size

from .objectives import KINDS, objective


def problem(size: Size) -> ArrayObjective:
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
