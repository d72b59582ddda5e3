"""Functions that NumPy lacks, composed of traced NumPy: activations, softmax, and `stop_gradient`."""

import math

from burlab.graph.linear_nodes import broadcast, reshape
from burlab.graph.node import Node, as_node, constant
from burlab.graph.operation import make_node
from burlab.typing import ArrayLike, Axis

from .elementwise import exp, isfinite, log, where
from .extremes import extreme
from .promotion import as_dtype, common_shape, promote
from .reduction import sum_


def stop_gradient(x: ArrayLike) -> Node:
    """The value, with derivative zero."""
    node = as_node(x)
    return make_node("stop_gradient", None, node, weak=node.weak)


def straight_through(value: ArrayLike, like: ArrayLike) -> Node:
    """The value, with the derivative of another one; both in their common shape and floating dtype."""
    pair = promote([as_node(value), as_node(like)], float_only=True)
    shape = common_shape("straight_through", pair)
    return make_node("surrogate", None, *(broadcast(x, shape) for x in pair), weak=all(x.weak for x in pair))


def _floating(x: ArrayLike) -> Node:
    node = as_node(x)
    return node if node.dtype.kind == "f" else as_dtype(node, constant(0.0).dtype)


def logsumexp(x: ArrayLike, axis: Axis = None, keepdims: bool = False) -> Node:
    """log sum exp over axes, shifted by the largest entry. Of -inf alone it is -inf, with derivative 0."""
    a = _floating(x)
    peak = stop_gradient(extreme("reduce_max", a, axis, keepdims=True))
    shift = where(isfinite(peak), peak, 0.0)
    total = _positive(sum_(exp(a - shift), axis, keepdims=True))
    result = log(total) + peak
    return result if keepdims else reshape(result, sum_(a, axis).shape)


def _positive(total: Node) -> Node:
    """A sum whose largest term is 1, as it is; 1 where all terms are 0, of which none changes then."""
    return total + as_dtype(total == 0.0, total.dtype)


def softmax(x: ArrayLike, axis: Axis = -1) -> Node:
    """exp x / sum exp x over axes, shifted by the largest entry. Of -inf alone it is nan, with derivative 0."""
    a = _floating(x)
    peak = stop_gradient(extreme("reduce_max", a, axis, keepdims=True))
    empty = peak == -math.inf
    # An entry of inf makes all of them nan, as SciPy's and JAX's.
    e = exp(a - where(empty, 0.0, peak))
    share = 1.0 / _positive(sum_(e, axis, keepdims=True))  # one division for each sum
    value = e * where(empty, math.nan, share)
    return make_node("surrogate", None, value, e * share)


def log_softmax(x: ArrayLike, axis: Axis = -1) -> Node:
    """x - logsumexp x over axes. Of -inf alone it is nan, with derivative 0."""
    a = _floating(x)
    total = logsumexp(a, axis, keepdims=True)
    moving = where(total == -math.inf, 0.0, a)
    return make_node("surrogate", None, a - total, moving - total)
