"""Errors of tensor operations: sums and products in whatever order their terms are added up, and what moves numbers.

Numbers are split into parts with few digits, each below the last one's: sums of such parts, and of their products, are
exact in any order. Ozaki, Ogita, Oishi and Rump 2012, Error-free transformations of matrix multiplication by using fast
routines of matrix multiplication; Rump, Ogita and Oishi 2008, Accurate floating-point summation, part I.
"""

from collections.abc import Callable, Sequence
from functools import partial, reduce

from burlab.graph.linear_nodes import broadcast, gather
from burlab.graph.node import Node
from burlab.graph.operation import Linearity, make_node
from burlab.graph.signatures import letters_of

from . import doubled as d
from .doubled import Doubled
from .pairs import number, op

_BITS = 53
POSITIONS = {"sort": "argsort", "partition": "argpartition", "kth": "argkth"}


def tensor_error(n: Node, z: Node, xs: Sequence[Doubled]) -> Node:
    """Return the error of the result z of a structural operation. Raises KeyError where there is no rule."""
    if not moves(n) and not all(x.value.size for x in xs):  # sums of nothing
        return number(0.0, z)
    if n.op in LINEAR:
        return d.finite(LINEAR[n.op](n, z, xs))
    if n.op in POSITIONS:
        positions = make_node(POSITIONS[n.op], n.params, xs[0].value)
        return gather(xs[0].error, positions, z.ndim - 1)
    if moves(n):
        return make_node(n.op, n.params, *(x.error for x in xs))
    raise KeyError(n.op)


def moves(n: Node) -> bool:
    """Return True for an operation that moves numbers by what is none of them."""
    return n.row.moves_data and n.row.linearity in (Linearity.FIRST, Linearity.ALL)


def _largest_size(x: Node, axes: Sequence[int]) -> Node:
    sizes = op("abs", x)
    return make_node("reduce_max", tuple(axes), sizes) if axes else sizes


def _power_above(largest: Node, extra: int) -> Node:
    """2^extra times a power of two above a number."""
    exponent = op("add", op("exponent", largest), number(float(extra), largest))
    return op("ldexp", number(1.0, largest), exponent)


def _scale(x: Node, axes: Sequence[int], extra: int) -> Node:
    """2^extra times a power of two above the largest entry along axes, in the shape of x."""
    kept = tuple(k for k in range(x.ndim) if k not in axes)
    return broadcast(_power_above(_largest_size(x, axes), extra), x.shape, kept)


def _split(x: Node, scale: Node) -> tuple[Node, Node]:
    """The digits of x down to 2^-52 of the scale, and those below: the sum is x."""
    high = op("sub", op("add", x, scale), scale)
    return high, op("sub", x, high)


def _added_up(n: Node, z: Node, xs: Sequence[Doubled], scales: Sequence[Node], terms: int) -> Node:
    """The error of a sum: of two parts that add up without error, and of what is left."""
    floats = len(scales)
    others = [x.value for x in xs[floats:]]
    less = 2.0 ** (terms.bit_length() + 2 - _BITS)
    firsts, seconds, rests = list[Node](), list[Node](), list[Node]()
    for x, scale in zip(xs, scales, strict=False):
        first, rest = _split(x.value, scale)
        second, rest = _split(rest, op("mul", scale, number(less, scale)))
        firsts.append(first)
        seconds.append(second)
        rests.append(op("add", rest, x.error))
    first, second, rest = (make_node(n.op, n.params, *part, *others) for part in (firsts, seconds, rests))
    return op("sum_error", first, number(0.0, z), second, rest, z)


def _sum(n: Node, z: Node, xs: Sequence[Doubled]) -> Node:
    x = xs[0].value
    terms = x.size // max(z.size, 1)
    return _added_up(n, z, xs, [_scale(x, n.params, terms.bit_length() + 1)], terms)


def _cumsum(n: Node, z: Node, xs: Sequence[Doubled]) -> Node:
    x = xs[0].value
    axis: int = n.params[0]
    terms = x.shape[axis]
    return _added_up(n, z, xs, [_scale(x, (axis,), terms.bit_length() + 1)], terms)


def _scattered(n: Node, z: Node, xs: Sequence[Doubled]) -> Node:
    """Sums of any entries: one scale for all."""
    floats = [x.value for x in xs[: len(xs) - n.row.indexed]]
    terms = sum(x.size for x in floats)
    largest = reduce(partial(op, "maximum"), [_largest_size(x, tuple(range(x.ndim))) for x in floats])
    power = _power_above(largest, terms.bit_length() + 1)
    return _added_up(n, z, xs, [broadcast(power, x.shape, ()) for x in floats], terms)


def _put(n: Node, z: Node, xs: Sequence[Doubled]) -> Node:
    if n.params[1]:
        return _scattered(n, z, xs)
    return make_node(n.op, n.params, xs[0].error, xs[1].error, xs[2].value)


def _contract(n: Node, z: Node, xs: Sequence[Doubled]) -> Node:
    """Products of leading parts are exact; what is below them is added to the errors of the operands."""
    left, right, out = letters_of(n.params)
    terms = n.row.work(n) // max(z.size, 1)
    bits = (_BITS - terms.bit_length()) // 2
    x, y = xs

    def parts(v: Node, letters: str) -> tuple[Node, Node, Node, Node]:
        scale = _scale(v, [k for k, letter in enumerate(letters) if letter not in out], _BITS - bits)
        first, rest = _split(v, scale)
        second, rest = _split(rest, op("mul", scale, number(2.0 ** (1 - bits), scale)))
        return first, second, op("add", first, second), rest

    def product(a: Node, b: Node) -> Node:
        return make_node(n.op, n.params, a, b)

    (a1, a2, a, a_rest), (b1, b2, _, b_rest) = parts(x.value, left), parts(y.value, right)
    total = d.plus(d.exact(product(a1, b1)), d.exact(product(a1, b2)))
    total = d.plus(d.plus(total, d.exact(product(a2, b1))), d.exact(product(a2, b2)))
    rest = op("add", product(op("add", a_rest, x.error), y.value), product(a, b_rest))
    rest = op("add", rest, product(d.whole(x), y.error))
    return op("sum_error", *total, number(0.0, z), rest, z)


def _largest(n: Node, z: Node, xs: Sequence[Doubled]) -> Node:
    """The extreme one of the exact entries, less the computed one."""
    x = xs[0]
    kept = tuple(k for k in range(x.value.ndim) if k not in n.params)
    return make_node(n.op, n.params, op("add", op("sub", x.value, broadcast(z, x.value.shape, kept)), x.error))


def _convert(_n: Node, z: Node, xs: Sequence[Doubled]) -> Node:
    """The error of what has become a float from another dtype: a mask, an integer, or a float in float64."""
    x = xs[0]
    if x.value.dtype.kind != "f":
        return number(0.0, z)
    return x.error


def _norm(_n: Node, z: Node, xs: Sequence[Doubled]) -> Node:
    """Roots of means."""
    return d.root_error(z, xs[0])


def _first(_n: Node, _z: Node, xs: Sequence[Doubled]) -> Node:
    return xs[0].error


LINEAR: dict[str, Callable[[Node, Node, Sequence[Doubled]], Node]] = {
    "sum": _sum, "cumsum": _cumsum, "scatter": _scattered, "put": _put, "contract": _contract, "convert": _convert,
    "norm": _norm, **dict.fromkeys(("reduce_max", "reduce_min"), _largest),
    **dict.fromkeys(("surrogate", "stop_gradient", "after", "implied"), _first),
}  # fmt: skip
