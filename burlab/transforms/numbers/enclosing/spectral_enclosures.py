"""Enclosures of eigenvalues, singular values, and exponentials of matrices."""

import math
from collections.abc import Sequence

from burlab.graph.linalg.matrices import column, mT, on_diagonal, part
from burlab.graph.linear_nodes import broadcast, concatenate, zeros
from burlab.graph.node import Node
from burlab.graph.operation import make_node
from burlab.transforms.numbers.arithmetic_enclosures import add, div, mul, sub
from burlab.transforms.numbers.pairs import Pair, Value, number, op, pair, up

from .cholesky_enclosure import symmetric
from .matrix_values import everything, holds, identity, middle, product, proved, repeated, size_of, total_above, widened

SQUARINGS, TERMS = 7, 24


def eigenvalues(a: Value) -> Pair:
    """Eigenvalues of symmetric matrices, the lowest first.

    With computed vectors V and d = |V' V - 1| < 1, V' A V has the eigenvalues of A times numbers from 1 - d to 1 + d
    (Ostrowski), and they are those of D up to |V' A V - D| (Weyl): Horn and Johnson 2013, theorems 4.5.9 and 4.3.1.
    """
    a = symmetric(pair(a))
    n = a.low.shape[-1]
    packed = make_node("eigh", True, middle(a))
    values, vectors = part(packed, 0, (n,)), mT(part(packed, n, (n, n)))
    turned = product(product(mT(vectors), a), vectors)
    apart = _norm(sub(turned, on_diagonal(values)))
    skew = _norm(sub(product(mT(vectors), vectors), identity(a.low)))
    one = number(1.0, values)
    found = div(widened(values, _each(apart, values)), widened(one, _each(skew, values)))
    shown = op("logical_and", op("less", skew, number(0.5, skew)), op("less", apart, number(math.inf, apart)))
    clean = holds(op("equal", a.low, a.low))
    wide = everything(values)
    nan = number(math.nan, values)
    shown, clean = _each(shown, values), _each(clean, values)
    ends = zip(found, wide, strict=True)
    return Pair(*(op("where", shown, good, op("where", clean, rest, nan)) for good, rest in ends))


def _norm(x: Value) -> Node:
    """Upper bounds of the norms of symmetric matrices: the largest sum of a row."""
    sums = total_above(size_of(x), (pair(x).low.ndim - 1,))
    return make_node("reduce_max", (sums.ndim - 1,), sums)


def _each(x: Node, like: Node) -> Node:
    return broadcast(column(x), like.shape)


def singular_values(a: Value) -> Pair:
    """Singular values, the largest first: the upper eigenvalues of [[0, A], [A', 0]]."""
    ends: list[Node] = []
    for end in pair(a):
        *lead, m, n = end.shape
        upper = concatenate([zeros((*lead, m, m), end.dtype), end], end.ndim - 1)
        lower = concatenate([mT(end), zeros((*lead, n, n), end.dtype)], end.ndim - 1)
        ends.append(concatenate([upper, lower], end.ndim - 2))
    found = eigenvalues(Pair(*ends))
    k = min(pair(a).low.shape[-2:])
    low, high = (end[..., ::-1][..., :k] for end in found)
    return Pair(op("maximum", low, number(0.0, low)), high)


def expm(_n: Node, xs: Sequence[Value]) -> Pair:
    """Exponentials: Taylor's polynomial of A / 2^7 with a bound of the rest, squared seven times.

    All numbers where the largest sum of a row of |A| is 256 or more.
    """
    scale = number(0.5**SQUARINGS, pair(xs[0]).low)
    a = mul(xs[0], scale)
    one = identity(a.low)
    found = Pair(one, one)
    for k in range(TERMS, 0, -1):
        found = add(one, div(product(a, found), number(k, one)))
    norm = _norm(a)
    rest = op("power", norm, number(TERMS + 1, norm))
    rest = up(op("mul", rest, number(1.2 / math.factorial(TERMS + 1), norm)))
    found = widened(found, repeated(rest, one))
    for _ in range(SQUARINGS):
        found = product(found, found)
    return proved(op("less", norm, number(2.0, norm)), found, (a,), everything(one))
