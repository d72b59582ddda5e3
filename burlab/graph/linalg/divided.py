"""Divided differences of a function of eigenvalues, which is given by the nodes that compute it.

A function of singular values s is one of eigenvalues, too: of s, -s and 0, those of [[0, A], [A', 0]].
"""

from functools import partial, reduce
from typing import NamedTuple, TypeVar

import numpy as np

from burlab.graph import hooks
from burlab.graph.linear_nodes import broadcast, concatenate, zeros
from burlab.graph.node import Node, constant
from burlab.graph.numpy_api.elementwise import where
from burlab.graph.numpy_api.promotion import apply, node

from .eigenvalue_reader import Reader
from .matrices import column, diagonal, mT, row, symmetric, zero_or_nan
from .mirrored import Mirrored, reflected, split

T = TypeVar("T", Node, Mirrored)

_POINTS, _WEIGHTS = np.polynomial.legendre.leggauss(3)
MAX_ROUNDINGS = 64  # by which a difference and the integral of a derivative may differ where they are equal


class Differences(NamedTuple):
    """The function of each eigenvalue, made of the node of these, and its divided differences."""

    f: Node
    ratios: Node


class SecondDifferences(NamedTuple):
    """Differences w_j - w_i, f[w_i, w_j], and f[w_i, w_i, w_j]."""

    gaps: Node
    ratios: Node
    ends: Node


class MirroredDifferences(NamedTuple):
    """The same of s and -s, f[w_i, 0, w_j], and f[s, 0, 0]."""

    gaps: Mirrored
    ratios: Mirrored
    ends: Mirrored
    with_zero: Mirrored
    far: Node


class _Means(NamedTuple):
    """Integrals of d and (1 - t) d, d a derivative of f_i from w_i to w_j; those of f_j, or None if it is the same."""

    mean: Node
    half: Node
    others: Node | None


def differences(w: Node, f: Node) -> Differences | None:
    """Return (f_j - f_i) / (w_j - w_i), and f' on the diagonal; None where f is not a function of each w.

    Differences cancel where two eigenvalues are close. There the mean of f' between them is taken, by Gauss's rule,
    wherever it equals the difference up to rounding, so that derivatives of every order are right where eigenvalues are
    equal. Elsewhere equal eigenvalues give 0 / 0 or 1 / 0, as f depends on more than w.
    """
    own = Reader(w, w).at(f)
    if own is None:
        return None  # `own` reads no other node of the eigenvalues, by which what it shares could reach it
    gap, step, size = row(w) - column(w), row(own) - column(own), abs(row(own)) + abs(column(own))
    return Differences(own, _ratios(step, gap, size, _means(w, w, own, 1)))


def second_differences(w: Node, f: Node, ratios: Node) -> SecondDifferences:
    """Return (ratio_ij - f_i') / (w_j - w_i), which is f[w_i, w_i, w_j], and f'' / 2 on the diagonal."""
    gap = row(w) - column(w)
    return SecondDifferences(gap, ratios, _ends(ratios, gap, _means(w, w, f, 2)))


def mirrored_differences(s: Node, f: Node, sign: float, at_zero: Node) -> MirroredDifferences:
    """Return the differences between s, -s and 0 of a function that is odd or even, f(-s) = sign f(s).

    at_zero: f(0), which may be another number than f continues to if no s is 0, as an array of one entry.
    """
    k, axis = s.shape[-1], s.ndim - 1
    w = concatenate([reflected(s, -1.0), zeros(at_zero.shape, s.dtype)], axis)
    y = concatenate([reflected(f, sign), at_zero], axis)
    gap, step, size = row(w) - column(s), row(y) - column(f), abs(row(y)) + abs(column(f))
    ratios = _ratios(step, gap, size, _means(s, w, f, 1, sign))
    means = _means(s, w, f, 2, sign)
    ends = _ends(ratios, gap, means)
    to_zero, near = ratios[..., 2 * k], ends[..., 2 * k]  # f[s, 0], f[s, s, 0]
    from_zero = (means.mean - means.half)[..., 2 * k]
    far = _either(explained(to_zero, s * from_zero, abs(to_zero)), from_zero, to_zero, s)
    both, mean = row(reflected(to_zero, -sign)), (row(reflected(near, sign)) + column(near)) * 0.5
    step, gap, size = both - column(to_zero), gap[..., : 2 * k], abs(both) + abs(column(to_zero))
    with_zero = quotient(explained(step, gap * mean, size), mean, step, gap)
    return MirroredDifferences(split(gap, -1.0), split(ratios, -sign), split(ends, sign), split(with_zero, sign), far)


def second_order(given: SecondDifferences, e: Node, h: Node) -> Node:
    """Return sum_k f[w_i, w_k, w_j] (E_ik H_kj + H_ik E_kj) for symmetric E and H.

    f[w_i, w_k, w_j] is the difference of two ratios by w_j - w_i. Where this is 0 or small, it is the mean of
    f[w_i, w_i, w_k] and f[w_j, w_j, w_k] wherever these explain the difference.
    """
    gap, ratios, ends = given
    size = [abs(x) for x in (ratios, e, h)]
    steps, total, means = (_both(*x) for x in ((ratios, e, h), size, (ends, e, h)))
    step, mean = mT(steps) - steps, symmetric(means)
    return quotient(explained(step, gap * mean, total + mT(total)), mean, step, gap)


def mirrored_second_order(given: MirroredDifferences, e: Mirrored, h: Mirrored) -> Mirrored:
    """Return the same sum over s and -s."""
    ratios, gaps = given.ratios, given.gaps
    size = [abs(x) for x in (ratios, e, h)]
    steps, total, means = (_both(*x) for x in ((ratios, e, h), size, (given.ends, e, h)))
    step, mean, size = steps.transposed - steps, means + means.transposed, total + total.transposed
    same, other = mean.same * 0.5, mean.other * 0.5
    return Mirrored(
        quotient(explained(step.same, gaps.same * same, size.same), same, step.same, gaps.same),
        _either(explained(step.other, gaps.other * other, size.other), other, step.other, gaps.other),
        mean.sign,
    )


def _both(ratios: T, e: T, h: T) -> T:
    """Return sum_k ratio_ik (E_ik H_kj + H_ik E_kj)."""
    return ratios * e @ h + ratios * h @ e


def explained(step: Node, change: Node, size: Node) -> Node:
    """Return True where a difference of numbers of a size equals a change, up to rounding."""
    eps = float(np.finfo(step.dtype).eps)
    return abs(step - change) <= size * (MAX_ROUNDINGS * eps)


def quotient(smooth: Node, mean: Node, step: Node, gap: Node) -> Node:
    """Return the mean on the diagonal and where a function is smooth, elsewhere step / gap."""
    rows, columns = gap.shape[-2:]
    on_diagonal = constant(np.eye(rows, columns), gap.dtype) == constant(1.0, gap.dtype)
    return _either(smooth | on_diagonal, mean, step, gap)


def _either(is_mean: Node, mean: Node, step: Node, gap: Node) -> Node:
    return where(is_mean, mean, step / where(is_mean, 1.0, gap))


def _ratios(step: Node, gap: Node, size: Node, means: _Means) -> Node:
    return quotient(_is_smooth(explained(step, gap * means.mean, size), means), means.mean, step, gap)


def _ends(ratios: Node, gap: Node, means: _Means) -> Node:
    slope = column(diagonal(ratios))
    step = ratios - slope
    smooth = explained(step, gap * means.half, abs(ratios) + abs(slope))
    return quotient(_is_smooth(smooth, means), means.half, step, gap)


def _is_smooth(explained: Node, means: _Means) -> Node:
    """Return True also where the functions of i and of j have the same mean derivative: one can't tell them apart."""
    if means.others is None:
        return explained
    mean, other = means.mean, means.others
    most = (abs(mean) + abs(other)) * float(np.finfo(mean.dtype).eps) ** 0.5
    return node("logical_and", explained, abs(mean - other) <= most)


def _means(w: Node, ends: Node, f: Node, order: int, sign: float = 0.0) -> _Means:
    """Return the means of a derivative between w and ends, also of a function that is mirrored at 0 by a sign."""
    terms: list[tuple[Node, Node]] = []
    reader = None
    one = broadcast(constant(1.0, w.dtype), (*w.shape, ends.shape[-1]))
    for t, weight in zip((_POINTS + 1) / 2, _WEIGHTS / 2, strict=True):
        x = column(w) * float(1 - t) + row(ends) * float(t)
        reader = Reader(w, x * where(x < 0.0, -one, one) if sign else x)
        y = reader.at(f)
        assert y is not None  # f was read before
        y = y * where(x < 0.0, one * sign, one) if sign else y
        for _ in range(order):
            (y,) = hooks.sweeps.jvp([y], [x], [one])
        if sign * (-1) ** order < 0:  # two different limits at 0 if it is not 0
            y = where(x == 0.0, zero_or_nan(y), y)
        terms.append((y * float(weight), y * float(weight * (1 - t))))
    assert reader is not None  # there are three points
    mean, half = (reduce(partial(apply, "add"), xs) for xs in zip(*terms, strict=True))
    return _Means(mean, half, _others(mean, sign * (-1) ** order) if reader.indexed else None)


def _others(mean: Node, sign: float) -> Node:
    """Return the means of the functions of j, also of those that are mirrored at 0."""
    k = mean.shape[-2]
    if not sign:
        return mT(mean)
    return concatenate([mT(mean[..., :k]), mT(mean[..., k : 2 * k]) * sign, mean[..., 2 * k :]], mean.ndim - 1)
