"""Enclosures of Cholesky factors."""

from collections.abc import Sequence

import numpy as np

from burlab.graph.linalg.matrices import column, diagonal, half_lower, lower, mT, row, strictly_lower
from burlab.graph.linear_nodes import broadcast, concatenate, pad
from burlab.graph.node import Node
from burlab.graph.operation import make_node
from burlab.transforms.numbers.arithmetic_enclosures import add, div, mul, square, sub
from burlab.transforms.numbers.pairs import Pair, Value, number, op, pair, rounding_unit, up
from burlab.transforms.numbers.scalar_enclosures import monotone

from .matrix_enclosures import solved
from .matrix_values import holds, identity, middle, norm_above, product, proved, repeated, size_of, widened

MAX_ELIMINATED_ROWS = 8


def cholesky(_n: Node, xs: Sequence[Value]) -> Pair:
    """Lower factors: nan where no proof is found that every matrix is positive definite.

    What a kernel computes is the exact factor of a matrix that differs by (n + 2) u sqrt(a_ii a_jj) at most (Higham
    2002, theorem 10.3), so matrices are widened by twice that.
    """
    a = symmetric(pair(xs[0]))
    like, n = a.low, a.low.shape[-1]
    if not like.size:
        return a
    roots = up(op("sqrt", diagonal(size_of(a))))
    scales = op("mul", broadcast(column(roots), like.shape), broadcast(row(roots), like.shape))
    a = widened(a, up(op("mul", scales, number(2 * (n + 2) * rounding_unit(like.dtype), like)), 2))
    found = _near_the_middle(a)
    if n <= MAX_ELIMINATED_ROWS:
        found = _either(found, _eliminated(a))
    return Pair(*(lower(end) for end in found))


def symmetric(a: Pair) -> Pair:
    """Symmetric matrices, of which the lower triangle is read."""
    return Pair(*(op("add", lower(end), mT(strictly_lower(end))) for end in a))


def _near_the_middle(a: Pair) -> Pair:
    """From X A X' = 1 + G, where X is the inverse of the middle's factor.

    The factor of 1 + G is 1 + Y with Y + Y' = G - Y Y'. So Y is what G has below its diagonal, and half of that, up to
    |Y|^2; and in Frobenius norms sqrt 2 |Y| <= |G| + |Y|^2. The factor of 1 + t G moves from 1 as t grows from 0 to 1,
    so |Y| is below the smaller root, sqrt 2 |G| / (1 + sqrt(1 - 2 |G|)).
    """
    like = a.low
    one = identity(like)
    factor = make_node("cholesky", None, middle(a))
    inverse = lower(make_node("solve_triangular", (True, False, False), one, factor))
    error = sub(product(product(inverse, a), mT(inverse)), one)
    norm = norm_above(error)
    root = op("sqrt", op("sub", number(1.0, norm), op("mul", norm, number(2.0, norm))))
    reach = op("div", op("mul", norm, number(1.4143, norm)), op("add", root, number(0.9999, norm)))
    beyond = lower(repeated(op("mul", op("square", reach), number(1.0001, norm)), like))
    base = solved(one, inverse)
    found = add(base, product(base, widened(Pair(*(half_lower(end) for end in error)), up(beyond))))
    nan = number(np.nan, like)
    return proved(op("less", norm, number(0.499, norm)), found, (a,), Pair(nan, nan))


def _eliminated(a: Pair) -> Pair:
    """By elimination with intervals, which may be wide; they become wider with each row."""
    *lead, n, _ = shape = a.low.shape
    columns: list[Pair] = []
    for k in range(n):
        pivot = monotone("sqrt", _block(a, slice(0, 1), slice(0, 1)))
        parts = [pivot]
        if k + 1 < n:
            below = _block(a, slice(1, None), slice(0, 1))
            tall = below.low.shape
            below = div(below, Pair(*(broadcast(end, tall) for end in pivot)))
            parts.append(below)
            a = sub(_block(a, slice(1, None), slice(1, None)), _outer(below))
        start = (*(0 for _ in lead), k, 0)
        joined = (concatenate([p[end] for p in parts], len(lead)) for end in range(2))
        columns.append(Pair(*(pad(x, start, (1,) * len(shape), (*lead, n, 1)) for x in joined)))
    return Pair(*(concatenate([x[end] for x in columns], len(lead) + 1) for end in range(2)))


def _block(a: Pair, rows: slice, columns: slice) -> Pair:
    return Pair(*(end[..., rows, columns] for end in a))


def _outer(x: Pair) -> Pair:
    """Products of the entries of columns with each other."""
    shape = (*x.low.shape[:-1], x.low.shape[-2])
    left, right = Pair(*(broadcast(end, shape) for end in x)), Pair(*(broadcast(mT(end), shape) for end in x))
    products, squares = mul(left, right), square(left)
    one = identity(products.low)
    on = op("equal", one, number(1.0, one))
    return Pair(*(op("where", on, s, p) for s, p in zip(squares, products, strict=True)))


def _either(x: Pair, y: Pair) -> Pair:
    """The intersection of intervals; where one is not known for a matrix, the other."""
    clean = repeated(holds(op("equal", y.low, y.low)), y.low)
    low, high = op("fmax", x.low, y.low), op("fmin", x.high, y.high)
    return Pair(op("where", clean, low, x.low), op("where", clean, high, x.high))
