"""Enclosures of linear systems and determinants.

A kernel computes an approximation from the middle of the matrices; products of intervals then show how far all exact
values are from it: Rump 2010, Verification methods, Acta Numerica 19, section 10. What a kernel computes for a
matrix is exact for one nearby (Higham 2002, theorems 8.5 and 9.3), so matrices are widened by that much first.
"""

from collections.abc import Callable, Sequence
from operator import ge, le

import numpy as np

from burlab.graph.linalg.matrices import diagonal, masked, mT, part, strictly_lower
from burlab.graph.linalg.systems import factored
from burlab.graph.linear_nodes import broadcast, concatenate, reshape, sum_over
from burlab.graph.node import Node, constant
from burlab.graph.operation import make_node
from burlab.transforms.numbers.arithmetic_enclosures import add, mul, square, sub
from burlab.transforms.numbers.pairs import Pair, Value, down, number, op, pair, rounding_unit, up
from burlab.transforms.numbers.scalar_enclosures import monotone
from burlab.transforms.numbers.tensor_enclosures import added_up_over

from .matrix_values import (
    everything,
    holds,
    identity,
    middle,
    norm_above,
    of_columns,
    permuted,
    product,
    proved,
    size_of,
    transposed,
    widened,
)

GROWTH = 4  # of the entries of a column in elimination, up to which computed values are inside, too


def solved(b: Value, a: Value) -> Pair:
    """All x with A x = b: all numbers where no proof is found that every A is regular."""
    x, y = pair(a).low, pair(b).low
    if not y.size:
        return pair(b)
    centre = middle(a)
    factors = factored(centre)
    inverse = make_node("lu_solve", False, identity(x), centre, factors)
    guess = make_node("lu_solve", False, middle(b), centre, factors)
    error = size_of(sub(identity(x), product(inverse, a)))
    rest = product(inverse, sub(b, product(a, guess)))
    bound, regular = _dominating(error, size_of(rest))
    found = add(guess, widened(rest, product(error, bound).high))
    return proved(regular, found, (a, b), everything(y))


def _dominating(m: Node, z: Node) -> tuple[Node, Node]:
    """w with z + m w <= w for matrices m >= 0, and whether this and that all |eigenvalues| of m are below 1 was shown.

    The latter follows from a vector p > 0 with m p < p (Collatz 1942); then |y| <= z + m |y| implies |y| <= w.
    """
    n = z.shape[-2]
    ones = number(1.0, z[..., :1])
    gap = op("sub", identity(m), m)
    factors = factored(gap)
    p = make_node("lu_solve", False, ones, gap, factors)
    w = op("abs", make_node("lu_solve", False, z, gap, factors))
    margin = 64 * (n + 4) * rounding_unit(m.dtype)
    largest = of_columns(make_node("reduce_max", (z.ndim - 2,), z), z)
    added = op("mul", largest, number(margin, z))
    added = op("add", added, number(float(np.finfo(m.dtype).tiny), z))
    w = op("add", op("mul", w, number(1 + margin, w)), op("mul", broadcast(p, z.shape), added))
    shown = [
        op("greater", p, number(0.0, p)), op("greater", down(op("sub", p, product(m, p).high)), number(0.0, p)),
        op("greater_equal", down(op("sub", w, product(m, w).high)), z),
    ]  # fmt: skip
    regular = holds(shown[0])
    for mask in shown[1:]:
        regular = op("logical_and", regular, holds(mask))
    return w, regular


def lu_solve(n: Node, xs: Sequence[Value]) -> Pair:
    """Solutions for matrices that are factored, or their transposes."""
    a = by_elimination(xs[1])
    return solved(xs[0], transposed(a) if n.params else a)


def by_elimination(a: Value) -> Pair:
    """Matrices with those nearby whose exact factors elimination computes."""
    size = size_of(a)
    largest = make_node("reduce_max", (size.ndim - 2,), size)
    by = number(GROWTH * size.shape[-1] * rounding_unit(size.dtype), size)
    return widened(a, up(op("mul", of_columns(largest, size), by)))


def solve_triangular(n: Node, xs: Sequence[Value]) -> Pair:
    """Solutions for triangles, which are read as they are."""
    is_lower, is_transposed, unit = n.params
    b, a = xs
    ends = [masked(end, ge if is_lower else le) for end in pair(a)]
    if unit:
        diagonal_ = identity(ends[0])
        ends = [op("add", masked(end, lambda i, j: i != j), diagonal_) for end in ends]
    by = number((ends[0].shape[-1] + 2) * rounding_unit(n.dtype), ends[0])
    triangle = Pair(*ends)
    triangle = widened(triangle, up(op("mul", size_of(triangle), by)))
    return solved(b, transposed(triangle) if is_transposed else triangle)


def log_determinant(a: Value) -> tuple[Pair, Pair]:
    """Signs of determinants, and logarithms of their absolute values. Without a proof they are below Hadamard's bound.

    X_U X_L P A = 1 + E for inverses X of the triangles of the middle, so log det A = log det(1 + E) - log |det X_U|,
    and log det(1 + E) is tr E up to |E|^2 / (2 - 2 |E|).
    """
    a = by_elimination(a)
    like, n = a.low, a.low.shape[-1]
    one = identity(like)
    centre = middle(a)
    packed = factored(centre)
    swaps = part(packed, n * n, (n,))
    plain = concatenate([reshape(one, (*one.shape[:-2], n * n)), swaps], one.ndim - 2)
    rows = make_node("lu_solve", False, one, centre, plain)
    triangles = mT(part(packed, 0, (n, n)))
    left = op("add", strictly_lower(make_node("solve_triangular", (True, False, True), one, triangles)), one)
    right = masked(make_node("solve_triangular", (False, False, False), one, triangles), le)
    error = sub(product(right, product(left, permuted(rows, a))), one)
    trace = added_up_over(Pair(*(diagonal(end) for end in error)), (like.ndim - 2,))
    norm = norm_above(error)
    unit, half = number(1.0, norm), number(0.5, norm)
    rest = up(op("div", up(op("square", norm)), op("mul", op("sub", unit, norm), number(1.999, norm))), 4)
    rounding = number(GROWTH * n * rounding_unit(like.dtype), norm)
    pivots = diagonal(right)
    logs = added_up_over(monotone("log", op("abs", pivots)), (pivots.ndim - 1,))
    log = widened(sub(trace, logs), up(op("add", rest, rounding)))
    sign = _product_of_signs(concatenate([diagonal(left), pivots], pivots.ndim - 1), swaps)
    hadamard = monotone("log", added_up_over(square(a), (like.ndim - 1,)))
    hadamard = mul(added_up_over(hadamard, (hadamard.low.ndim - 1,)), half)
    shown = op("less", norm, half)
    infinite = number(np.inf, norm)
    return (
        proved(shown, Pair(sign, sign), (a,), Pair(op("neg", unit), unit)),
        proved(shown, log, (a,), Pair(op("neg", infinite), hadamard.high)),
    )


def _product_of_signs(x: Node, swaps: Node) -> Node:
    """1 or -1: the product of the signs of a row, and of -1 for each exchange."""
    places = broadcast(constant(np.arange(swaps.shape[-1]), swaps.dtype), swaps.shape)
    negative = sum_over(op("less", x, number(0.0, x)), (x.ndim - 1,))
    exchanged = sum_over(op("not_equal", swaps, places), (swaps.ndim - 1,))
    count = op("add", negative, exchanged)
    odd = op("equal", op("remainder", count, number(2, count)), number(1, count))
    one = number(1.0, x[..., 0])
    return op("where", odd, op("neg", one), one)


def _log_det(a: Value) -> Pair:
    return log_determinant(a)[1]


def _det_sign(a: Value) -> Pair:
    return log_determinant(a)[0]


def _det(a: Value) -> Pair:
    sign, log = log_determinant(a)
    return mul(sign, monotone("exp", log))


RULES: dict[str, Callable[[Node, Sequence[Value]], Pair]] = {"lu_solve": lu_solve, "solve_triangular": solve_triangular}
"""The rules of operations on matrices."""
OF_MATRICES: dict[str, Callable[[Value], Pair]] = {"det": _det, "log_det": _log_det, "sign of det": _det_sign}
"""The rules of values that a matrix implies (`graph/implied.py`)."""
