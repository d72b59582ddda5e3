"""`counts`: the elementary operations of a function, without compiling it."""

from collections.abc import Callable
from typing import Any

from burlab.compiler.inspection.operation_counts import Counts, counts_of
from burlab.graph.tracing.trace import trace
from burlab.runtime.checks.callable import check_takes
from burlab.typing import Tree


def counts(f: Callable[..., Any], *examples: Tree) -> Counts:
    """Return the elementary operations of f for arguments like `examples`. Nothing is compiled.

    Args:
        f: A function of arrays, numbers and trees of them, such as what `bl.grad`, `bl.jit` and `bl.compile` return.
        examples: One for each argument. Only shapes and dtypes matter.

    Returns:
        Multiplications, additions, transcendental operations, comparisons, elements moved and bytes, by operation and
        by module: see its docstring for what each of them is. A `scan` counts all its iterations, a `while_loop` one,
        a `cond` its costlier side.

    Raises:
        ArgumentError: f takes another number of arguments.
        TraceError: f cannot be traced.

    >>> import numpy as np, burlab as bl
    >>> layer = lambda w, x: np.sum(np.tanh(w @ x))
    >>> c = bl.counts(layer, np.ones((3, 4)), np.ones(4))
    >>> c.multiplications, c.additions, c.transcendental, c.flops
    (12, 15, 3, 30)
    >>> bl.counts(bl.grad(layer), np.ones((3, 4)), np.ones(4)).by_operation["contract"].flops
    36
    """
    check_takes(f, "f", f"{len(examples)} examples", "Pass one for each argument: bl.counts(f, x, y).", len(examples))
    return counts_of(trace(f, examples).graph, getattr(f, "__name__", type(f).__name__))
