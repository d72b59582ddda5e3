"""Functions of matrices by singular values: U diag(f) V', U diag(f) U', V diag(f) V', where f is one of each value.

They are smooth where singular values are repeated, while singular vectors by themselves are not. In the bases U and V
the derivative of U diag(f) V' is that of the symmetric part of a change times (f_j - f_i) / (s_j - s_i), that of the
antisymmetric part times (f_j + f_i) / (s_j + s_i), and f / s outside of them: Noferini 2017, "A formula for the Frechet
derivative of a generalized matrix function"; those of the others follow from A A' and A' A. Products that `scaled.py`
recognizes as such get these derivatives.

Second derivatives are those of functions of M = [[0, A], [A', 0]], whose eigenvectors are (U, V) for s, (U, -V) for -s,
both divided by the root of 2, and bases of what U or V leave free, for 0. An odd function of M has U diag(f) V' in its
upper right block, an even one U diag(f) U' and V diag(f) V' on its diagonal.
"""
# ruff: noqa: D102 - MatrixFunction documents the methods

from functools import partial
from typing import NamedTuple

import numpy as np

from burlab.errors import BurlabError
from burlab.graph.implied import implied
from burlab.graph.linear_nodes import zeros
from burlab.graph.node import Node, constant
from burlab.graph.numpy_api.elementwise import where
from burlab.graph.operation import total

from .divided import MirroredDifferences, differences, mirrored_differences, mirrored_second_order
from .eigenvalue_reader import Reader
from .function_rules import MatrixFunction, register
from .matrices import column, diagonal, eye, mT, off_diagonal, row, symmetric, zero_or_nan
from .mirrored import Mirrored

SIDES = ("left vectors", "right vectors")


class _Change(NamedTuple):
    """A change of M in the basis of eigenvectors.

    inner: between those for s and -s. across: from those for s to those for 0, times the root of 2; from those for -s
    it is the same times sign. free: a matrix whose projection is the change between those for 0.
    """

    inner: Mirrored
    across: Node | None
    sign: float = 0.0
    free: Node | None = None


class SingularValueFunction(MatrixFunction):
    """P diag(f) Q', by names of singular vectors p and q.

    `own` are the vectors of the rows of the function, or of the longer side of the matrix if p and q differ; the matrix
    is transposed where these are right vectors.
    """

    def __init__(self, p: str, q: str, a: Node, *others: Node) -> None:
        super().__init__(a, *others)
        self.name = _name(p, q)
        left, right = self.vectors[0], mT(self.vectors[1])
        self.within = p == q
        self.is_transposed = p == SIDES[1] if self.within else a.shape[-2] < a.shape[-1]
        self.own, self.other = (right, left) if self.is_transposed else (left, right)
        self.p, self.q = (right if side == SIDES[1] else left for side in (p, q))

    def on_values(self, f: Node) -> Node:
        return self.p * row(f) @ mT(self.q)

    def per_value(self, g: Node) -> Node:
        return diagonal(mT(self.p) @ (g @ self.q))

    def first(self, x: Node, ratios: Node, adjoint: bool) -> Node:
        if not self.within:
            return self._oriented(self._between(self._oriented(x), ratios))
        x = (x + mT(x)) @ self.own if adjoint else self._oriented(x) @ self.other
        half = self.own @ (_within(self.w, ratios) * (mT(self.own) @ x))
        if _leaves_free(self.own):
            half = half + _outside(self.own, x * row(self._ratios_with_zero()))
        if adjoint:
            return self._oriented(half @ mT(self.other))
        half = half @ mT(self.own)
        return half + mT(half)

    def _between(self, x: Node, ratios: Node) -> Node:
        """Return the change of u diag(f) v' with the matrix. This map is its own transpose."""
        u, v = self.own, self.other
        along = x @ v
        inner = mT(u) @ along
        even = symmetric(inner)
        odd = self._sums() * (inner - even)
        value = u @ ((ratios * even + odd) @ mT(v))
        if not _leaves_free(u):
            return value
        return value + _outside(u, along * row(self._ratios_with_zero())) @ mT(v)

    def second(self, one: Node, other: Node, cotangents: tuple[bool, bool]) -> Node:
        given = self._second_differences()
        e, h = (self._embedded(x, is_cotangent) for x, is_cotangent in zip((one, other), cotangents, strict=True))
        inner = mirrored_second_order(given, e.inner, h.inner)
        if e.across is not None and h.across is not None:
            inner = inner + given.with_zero * _product(e, h)
        across = total([x for x in (self._across(given, e, h), self._across(given, h, e)) if x is not None])
        if not self.within:
            return self._oriented(self._block(inner, across))
        if any(cotangents):
            return self._oriented(self._block(inner, across)) * 2.0
        return self._own_block(inner, across, e, h, given.far)

    def _oriented(self, x: Node) -> Node:
        return mT(x) if self.is_transposed else x

    def _ratios_with_zero(self) -> Node:
        """Return f / s. At s = 0 it is f', which must be 0 if the function is even."""
        slope = diagonal(self.ratios)
        return _quotient(self.f, self.w, zero_or_nan(slope) if self.within else slope)

    def _sums(self) -> Node:
        """Return (f_j + f_i) / (s_j + s_i)."""
        f, s = (row(x) + column(x) for x in (self.f, self.w))
        return _quotient(f, s, self.ratios)

    def _second_differences(self) -> MirroredDifferences:
        """Return differences of f between s, -s and 0.

        The function is 0 where own vectors leave something free. What the other ones leave free has no part in it: any
        f(0) gives the same derivatives if no s is 0, and only that of the last s if it is 0.
        """
        zero = zeros((*self.w.shape[:-1], 1), self.w.dtype)
        if self.within and _leaves_free(self.other):
            f = Reader(self.w, self.w * 0.0).at(self.f)
            assert f is not None  # f was read before
            zero = where(abs(f[..., -1:]) < np.inf, f[..., -1:], zero)
        return mirrored_differences(self.w, self.f, 1.0 if self.within else -1.0, zero)

    def _embedded(self, x: Node, is_cotangent: bool) -> _Change:
        """Return the change of M for a change of the matrix, or for a cotangent of the function."""
        u, v = self.own, self.other
        if is_cotangent and self.within:
            x = symmetric(x)
            along = x @ u
            half = mT(u) @ along * 0.5
            inner = Mirrored(half, half, 1.0)
            return _Change(inner, _outside(u, along), 1.0, x) if _leaves_free(u) else _Change(inner, None)
        x = self._oriented(x)
        along = x @ v
        inner = mT(u) @ along
        even = symmetric(inner)
        inner = Mirrored(even, even - inner, -1.0)
        if _leaves_free(u):
            return _Change(inner, _outside(u, along), -1.0)
        return _Change(inner, _outside(v, mT(x) @ u) if _leaves_free(v) else None, 1.0)

    def _across(self, given: MirroredDifferences, e: _Change, h: _Change) -> Node | None:
        """Return sums over k of E_0k f[0, w_k, s_j] H_kj, and of H_00 f[0, 0, s_j] E_0j."""
        if e.across is None:
            return None
        inner = given.with_zero * h.inner
        across = e.across @ (inner.same + inner.other * (e.sign * inner.sign))
        return across if h.free is None else across + _outside(self.own, h.free @ (e.across * row(given.far)))

    def _block(self, inner: Mirrored, across: Node | None) -> Node:
        """Return the upper right block of a change of M."""
        u, v = self.own, self.other
        block = u @ ((inner.same - inner.other) @ mT(v))
        if across is None:
            return block
        return block + (across @ mT(v) if _leaves_free(u) else u @ mT(across))

    def _own_block(self, inner: Mirrored, across: Node | None, e: _Change, h: _Change, far: Node) -> Node:
        """Return the block of a change of M in the rows and columns of own vectors."""
        u = self.own
        block = u @ ((inner.same + inner.other) @ mT(u))
        if not _leaves_free(u) or across is None or e.across is None or h.across is None:
            return block
        half = across @ mT(u) + e.across * row(far) @ mT(h.across)
        return block + half + mT(half)


def _product(e: _Change, h: _Change) -> Mirrored:
    """Return the sum of E_i0 H_0j + H_i0 E_0j over eigenvectors for 0."""
    assert e.across is not None  # the caller tests both
    assert h.across is not None
    product = mT(e.across) @ h.across
    other = product * h.sign + mT(product) * e.sign
    return Mirrored(symmetric(product), other * 0.5, e.sign * h.sign)


def _name(p: str, q: str) -> str:
    return f"function by singular values, from {p} to {q}"


def by_singular_values(value: Node, p: Node, q: Node, f: Node) -> Node | None:
    """Return p diag(f) q' with its derivative, or None if f is not recognized as a function of the singular values.

    p, q: the nodes of left or right vectors of a matrix. f: one number for each of them.
    """
    if p.params > q.params:
        found = by_singular_values(mT(value), q, p, f)
        return None if found is None else mT(found)
    a, *known = p.inputs[1:]
    s = implied("singular values", known[0], a, *known)
    try:
        found = differences(s, f)
    except BurlabError:  # a derivative of f is not known
        return None
    if found is None:
        return None
    vectors = (implied(side, x, a, *known) for side, x in zip(SIDES, known[1:], strict=True))
    return SingularValueFunction(p.params, q.params, a, s, *vectors, found.f, found.ratios).node(value)


def _leaves_free(vectors: Node) -> bool:
    return vectors.shape[-2] > vectors.shape[-1]


def _outside(vectors: Node, x: Node) -> Node:
    """Return the part of x that is orthogonal to the columns of vectors."""
    return x - vectors @ (mT(vectors) @ x)


def _within(s: Node, ratios: Node) -> Node:
    """Return s_j (f_j - f_i) / (s_j^2 - s_i^2), and f' / 2 on the diagonal."""
    size = row(s) + column(s)
    is_zero = size == 0.0
    share = row(s) / where(is_zero, 1.0, size)
    share = where(eye(s.shape[-1], s) == constant(1.0, s.dtype), 0.5, share)
    return where(is_zero, zero_or_nan(off_diagonal(ratios)) + ratios * share, ratios * share)


def _quotient(x: Node, y: Node, limit: Node) -> Node:
    """Return x / y, and the limit where both are 0."""
    is_zero = (x == 0.0) & (y == 0.0)
    return where(is_zero, limit, x / where(is_zero, 1.0, y))


for _p, _q in (SIDES, SIDES[:1] * 2, SIDES[1:] * 2):
    register(_name(_p, _q), partial(SingularValueFunction, _p, _q))
