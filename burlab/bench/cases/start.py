"""From the start of a process to the first gradient: of the tiny graph, written in each engine's own way."""

from burlab.bench.problem import Case, Size, Start

from . import tiny


def problem(size: Size) -> Start:
    """The tiny graph."""
    return Start(tiny.problem(size))


CASE = Case(
    "start",
    "start: from a new process to the first gradient of the tiny graph",
    problem,
    {
        "burlab": ("eager", "replay", "compiled"),
        "torch": ("eager",),
        "jax": ("jit",),
        "autograd": ("eager",),
        "micrograd": ("eager",),
    },
    unit="process",
)
