"""Functions that NumPy lacks, composed of traced NumPy: activations, softmax, and what stops a derivative."""

from typing import Any

from burlab.graph.linear import broadcast, reshape
from burlab.graph.node import Node, as_node, constant
from burlab.graph.operation import made

from .extremes import extreme
from .promotion import apply, as_dtype, common_shape, promote
from .reduction import sum_


def stop_gradient(x: Any) -> Node:
    """The value, with derivative zero."""
    node = as_node(x)
    return made("stop_gradient", None, node, weak=node.weak)


def straight_through(value: Any, like: Any) -> Node:
    """The value, with the derivative of another one; both in their common shape and floating dtype."""
    pair = promote([as_node(value), as_node(like)], float_only=True)
    shape = common_shape("straight_through", pair)
    return made("surrogate", None, *(broadcast(x, shape) for x in pair), weak=all(x.weak for x in pair))


def peak_of(x: Node, axis: Any) -> Node:
    """The largest entry, kept as an axis, where it is finite: what makes exp safe. Its derivative cancels out."""
    peak = stop_gradient(extreme("reduce_max", x, axis, keepdims=True))
    return apply("where", apply("isfinite", peak), peak, 0.0)


def _floating(x: Any) -> Node:
    node = as_node(x)
    return node if node.dtype.kind == "f" else as_dtype(node, constant(0.0).dtype)


def logsumexp(x: Any, axis: Any = None, keepdims: bool = False) -> Node:
    """log sum exp over axes, shifted by the largest entry."""
    a = _floating(x)
    peak = peak_of(a, axis)
    total = apply("log", sum_(apply("exp", apply("sub", a, peak)), axis, keepdims=True))
    result = apply("add", total, peak)
    return result if keepdims else reshape(result, sum_(a, axis).shape)


def softmax(x: Any, axis: Any = -1) -> Node:
    """exp x / sum exp x over axes, shifted by the largest entry."""
    a = _floating(x)
    peak = stop_gradient(extreme("reduce_max", a, axis, keepdims=True))
    e = apply("exp", apply("sub", a, peak))  # an infinite entry makes all of them nan, as SciPy's and JAX's
    share = apply("div", 1.0, sum_(e, axis, keepdims=True))  # one division for each sum, not for each entry
    return apply("mul", e, share)


def log_softmax(x: Any, axis: Any = -1) -> Node:
    """x - logsumexp x over axes."""
    a = _floating(x)
    return apply("sub", a, logsumexp(a, axis, keepdims=True))
