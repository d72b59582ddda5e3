"""`checkpoint`: a function of which the backward pass keeps the arguments and computes the rest again."""

from collections.abc import Callable
from typing import Any, Literal, ParamSpec, TypeVar

from burlab.compiler.function import Function
from burlab.errors import ArgumentError
from burlab.graph import tree
from burlab.graph.checkpoint_nodes import checkpoint_nodes
from burlab.graph.node import as_node
from burlab.graph.origin import recording
from burlab.graph.regions import closed
from burlab.graph.tracing.trace import Spec, spec_of, trace
from burlab.runtime.checks.callable import check_function
from burlab.runtime.checks.numbers import shown

_OPS: dict[str | None, str] = {None: "checkpoint", "contractions": "checkpoint_contractions"}

P = ParamSpec("P")
R = TypeVar("R")


def checkpoint(f: Callable[P, R], *, policy: Literal["contractions"] | None = None) -> Callable[P, R]:
    """Return f with a backward pass that keeps its arguments and computes its other values again.

    As `jax.checkpoint` and `torch.utils.checkpoint`: one more forward pass of f, for less memory. Values and gradients
    have the same bits. Where the backward pass of f follows its forward pass at once, as at the end of a loss, nothing
    is computed again. It may be nested, and is the same in all transforms: second derivatives compute the backward pass
    again, too. `bl.compile(..., remat=)` chooses by itself what is computed again.

    Chen et al. 2016, "Training deep nets with sublinear memory cost", arXiv:1604.06174.

    Args:
        f: a function of arrays, numbers, trees of them and static arguments. It may read values from around it, which
            are kept like arguments.
        policy: "contractions" keeps the results of matrix products besides, so that only what is cheap is computed
            again; None keeps the arguments alone.

    Returns:
        A function with the arguments and results of f.

    Raises:
        ArgumentError: if the policy is another one, or f is not callable.

    >>> import numpy as np, burlab as bl
    >>> layer = bl.checkpoint(lambda x: np.sin(np.tanh(x) * 2))
    >>> bl.grad(lambda x: np.sum(layer(layer(x))))(np.array([0.0, 0.5]))
    array([4.       , 0.2573941])
    """
    if not isinstance(policy, (str, type(None))) or policy not in _OPS:  # pyright: ignore[reportUnnecessaryIsInstance] - users pass anything
        raise ArgumentError(f'policy must be "contractions" or None, got {shown(policy)}.')
    check_function(f)

    def rule(*args: Any, **kwargs: Any) -> Any:
        leaves = tree.flatten((args, kwargs))[0]
        given = [as_node(leaf) for leaf in leaves if isinstance(spec_of(leaf), Spec)]
        with recording() as recorded:
            traced = trace(f, args, kwargs)
        captured, (graph,) = closed((traced.graph,), set(recorded))
        return tree.unflatten(traced.result, checkpoint_nodes(_OPS[policy], graph, (*given, *captured)))

    return Function(rule, f, reads=(f,))
