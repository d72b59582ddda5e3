"""Random rounding as a meaning of nodes: each result is rounded up or down at random, as in CADNA.

The result of an operation is one of the two numbers next to the exact one. An operation whose result is exact changes
nothing. Vignes 2004, Discrete stochastic arithmetic for validating results of numerical software.
"""

from collections.abc import Callable, Sequence
from random import Random
from typing import Any, cast

import numpy as np

from burlab.graph.linear_nodes import reshape, slice_
from burlab.graph.node import Node, as_node
from burlab.graph.numpy_api.elementwise import exponent, ldexp, mantissa
from burlab.graph.numpy_api.promotion import as_dtype
from burlab.graph.rewrite.interpret import NodeRule
from burlab.graph.substitute import keep
from burlab.transforms.random.fixed_distributions import uniform_node
from burlab.transforms.random.keys import fold_in
from burlab.typing import Shape

from .exact_operations import EXACT_AT, adds_up, is_exact, largest_whole

_np: Any = np  # whose stubs know nothing of nodes
_ONLY_ADD = frozenset("sum cumsum scatter put".split())
"""Sums without products: where at most one addend is not 0, they are exact."""
_RANGES = {
    **dict.fromkeys("sin cos tanh erf sinc".split(), (-1.0, 1.0)),
    **dict.fromkeys("sigmoid stdtr gammainc gammaincc betainc betaincc".split(), (0.0, 1.0)),
    "erfc": (0.0, 2.0),
    "cosh": (1.0, np.inf),
}
"""Numbers between which results are: what is rounded to the first or last of them was not beyond it."""


class RandomRounding(NodeRule):
    """Rule of random rounding for nodes.

    key: of the random numbers. mirrored: a traced bool, whether to round the other way. reserve: how many numbers are
    drawn at once, of which nodes then read runs that begin anywhere; 0: each node draws its own.
    """

    def __init__(self, key: Any, mirrored: Any, reserve: int = 0) -> None:
        self._key, self._mirrored, self._draws = key, mirrored, 0
        self._reserve = uniform_node(fold_in(key, 0), (reserve,), "float64") if reserve else None
        self._factors = set[Node]()  # results of lu, which hold numbers of rows, too

    def of(self, n: Node, xs: Sequence[Node]) -> Node:
        """The operation on the numbers of this run, rounded at random."""
        y = keep(n, tuple(xs))
        z = as_node(self._rounded(n, y, xs)) if y.dtype.kind == "f" else y
        if n.op == "lu" or (n.row.moves_data and not self._factors.isdisjoint(xs)):
            self._factors.add(z)
        return z

    def threaded(self) -> tuple[Node, ...]:
        """A key for a sub-graph, and whether to round the other way."""
        return as_node(self._draw()), as_node(self._mirrored)

    def within(self, threaded: tuple[Node, ...]) -> "RandomRounding":
        """The same, drawing by a key that the sub-graph gets."""
        key, mirrored = threaded
        return RandomRounding(key, mirrored)

    def handed_on(self) -> tuple[Node, ...]:
        """The key of the next iteration."""
        return self.threaded()

    def _draw(self) -> Any:
        self._draws += 1
        return fold_in(self._key, self._draws)

    def _uniform(self, y: Node) -> Any:
        """Numbers in [0, 1), those of a mirrored run 1 minus those of the other."""
        u: Any = as_dtype(self._numbers(y.shape, y.size), y.dtype)
        return _np.where(self._mirrored, 1 - u, u)

    def _numbers(self, shape: Shape, size: int) -> Node:
        if self._reserve is None or size > self._reserve.size:
            return uniform_node(self._draw(), shape, "float64")
        self._draws += 1
        start = Random(self._draws).randrange(self._reserve.size - size + 1)
        return reshape(slice_(self._reserve, (start,), (1,), (size,)), shape)

    def _rounded(self, n: Node, y: Any, xs: Sequence[Any]) -> Any:
        if is_exact(n):
            return y
        if n.op in _ERRORS:
            return self._directed(y, _ERRORS[n.op](y, *(as_dtype(x, y.dtype) for x in xs)))
        if n.op == "convert":
            return self._directed(y, _conversion_error(y, xs[0]))
        if adds_up(n):
            return self._added(n, y, xs)
        if n.row.elementwise:
            moved = self._either(y, _RANGES.get(n.op))
            return _np.where(EXACT_AT[n.op](y, *xs), y, moved) if n.op in EXACT_AT else moved
        # A factorization, or what reads one: the error of its result is that of arguments with errors of one rounding.
        disturbed = (self._either(x) if x.dtype.kind == "f" and x not in self._factors else x for x in xs)
        return keep(n, tuple(map(as_node, disturbed)))

    def _either(self, y: Any, range_: tuple[float, float] | None = None) -> Any:
        """The number next to y on either side; 0, inf and nan stay, and the ends of its range are not passed."""
        moved = _np.where(self._uniform(y) < 0.5, _above(y), _below(y))
        moved = moved if range_ is None else _np.clip(moved, *range_)
        return _np.where(_np.isfinite(moved) & _np.isfinite(y) & (y != 0), moved, y)

    def _directed(self, y: Any, error: Any) -> Any:
        """y, or the number on the other side of the exact result, which is y + error; inf neither comes nor goes."""
        up = self._uniform(y) < 0.5
        moved = _np.where((error > 0) & up, _above(y), _np.where((error < 0) & ~up, _below(y), y))
        return _np.where(_np.isfinite(moved) & _np.isfinite(y), moved, y)

    def _added(self, n: Node, y: Any, xs: Sequence[Any]) -> Any:
        """A sum, with an error of the size that one of absolute values has; sums of whole numbers are exact."""
        floats = [x for x in xs if x.dtype.kind == "f"]
        bound = _with_floats(n, xs, _np.abs)
        exact: Any = bound <= largest_whole(y)
        for x in floats:
            exact = exact & _np.all(x == _np.rint(x))
        if n.op in _ONLY_ADD:
            exact = exact | (_with_floats(n, xs, lambda x: as_dtype(x != 0, x.dtype)) <= 1)
        eps = float(np.finfo(cast("np.dtype[Any]", y.dtype)).eps)
        noisy = y + (2 * self._uniform(y) - 1) * (eps * bound)
        return _np.where(exact | ~_np.isfinite(bound), y, noisy)


def _with_floats(n: Node, xs: Sequence[Any], change: Callable[[Any], Any]) -> Any:
    """The operation on changed floats."""
    return keep(n, tuple(as_node(change(x)) if x.dtype.kind == "f" else x for x in xs))


def _above(y: Any) -> Any:
    return _np.nextafter(y, as_dtype(as_node(np.inf), y.dtype))


def _below(y: Any) -> Any:
    return _np.nextafter(y, as_dtype(as_node(-np.inf), y.dtype))


def _sum_error(s: Any, a: Any, b: Any) -> Any:
    """a + b - s, exact. Knuth 1969, The Art of Computer Programming 2, theorem 4.2.2B."""
    rest = s - a
    return (a - (s - rest)) + (b - rest)


def _difference_error(d: Any, a: Any, b: Any) -> Any:
    return _sum_error(d, a, -b)


def _product_error(p: Any, a: Any, b: Any) -> Any:
    """A number of the sign of a b - p. Of mantissas, whose product neither overflows nor underflows as p may have."""
    return _rest(ldexp(p, -exponent(a) - exponent(b)), mantissa(a), mantissa(b))


def _rest(p: Any, a: Any, b: Any) -> Any:
    """a b - p, exact for p next to the product of two numbers that are not small. Dekker 1971."""
    (high, low), (upper, lower) = _halves(a), _halves(b)
    product = a * b
    return (product - p) + (low * lower - (((product - high * upper) - low * upper) - high * lower))


def _square_error(s: Any, a: Any) -> Any:
    return _product_error(s, a, a)


def _halves(a: Any) -> tuple[Any, Any]:
    """Two numbers of half the digits, whose sum is a. Veltkamp 1968; a fused multiply-add changes nothing here."""
    scaled = a * 2.0 ** ((np.finfo(cast("np.dtype[Any]", a.dtype)).nmant + 2) // 2) + a
    high = scaled - (scaled - a)
    return high, a - high


def _quotient_error(q: Any, a: Any, b: Any) -> Any:
    """A number of the sign of a / b - q."""
    scaled = ldexp(q, exponent(b) - exponent(a))
    return -_np.sign(b) * _rest(mantissa(a), scaled, mantissa(b))


def _root_error(r: Any, a: Any) -> Any:
    root = mantissa(r)
    return -_rest(ldexp(a, -2.0 * exponent(r)), root, root)


def _cube_error(c: Any, a: Any) -> Any:
    """The error of (a a) a less that of a a times a, to first order."""
    scaled = mantissa(a)
    square = scaled * scaled
    return _rest(ldexp(c, -3.0 * exponent(a)), square, scaled) + _rest(square, scaled, scaled) * scaled


def _remainder_error(z: Any, x: Any, y: Any) -> Any:
    """The error of adding y to the rest of x / y, which is exact, where their signs differ."""
    left = _np.fmod(x, y)
    return _np.where(z == left, 0.0, _sum_error(z, left, y))


def _scaling_error(y: Any, x: Any, exponent: Any) -> Any:
    return x - ldexp(y, -exponent)


def _conversion_error(y: Any, x: Any) -> Any:
    """The sign of x - y; 0 for masks."""
    if x.dtype.kind == "f":
        return _np.sign(x - as_dtype(y, x.dtype))
    if x.dtype.kind == "b":
        return as_dtype(as_node(0.0), y.dtype)
    inside = y < 2.0 ** (8 * x.itemsize - (x.dtype.kind == "i"))  # else y is just above all numbers of x's dtype
    back = as_dtype(_np.where(inside, y, 0.0), x.dtype)
    error = as_dtype(x > back, y.dtype) - as_dtype(x < back, y.dtype)
    return _np.where(inside, error, -1.0)


_ERRORS: dict[str, Any] = {
    "add": _sum_error,
    "sub": _difference_error,
    "mul": _product_error,
    "square": _square_error,
    "cube": _cube_error,
    "div": _quotient_error,
    "sqrt": _root_error,
    "remainder": _remainder_error,
    "ldexp": _scaling_error,
}
"""The error of an operation: the exact result less the one that came, or a number of its sign."""
