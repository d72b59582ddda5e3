"""Networks with a narrower residual stream: SliceGPT."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from burlab.errors import ArgumentError, ShapeError
from burlab.runtime.checks.numbers import shown, whole
from burlab.runtime.plain import as_floats
from burlab.typing import ArrayLike, Numbers


@dataclass(frozen=True, slots=True, eq=False)
class SlicedPart:
    """A part of a network whose stream was sliced: x <- x @ shortcut + f(rms(x) @ inputs) @ outputs.

    inputs: shape (keep, h). outputs: shape (k, keep). shortcut: shape (keep, keep). All float64.
    """

    inputs: Numbers
    outputs: Numbers
    shortcut: Numbers


@dataclass(frozen=True, slots=True, eq=False)
class SlicedStream:
    """Result of `slice_rms`.

    embed: shape (n, keep). parts: in order. head: shape (keep, classes). energy: of each place of the stream the share
    of the squared signal that is kept, shape (parts + 1,). All float64.
    """

    embed: Numbers
    parts: tuple[SlicedPart, ...]
    head: Numbers
    energy: Numbers

    def __repr__(self) -> str:
        return (
            f"<SlicedStream of width {len(self.head)}, {len(self.parts)} parts, energy {shown(self.energy.round(3))}>"
        )


def slice_rms(
    embed: ArrayLike,
    parts: Sequence[tuple[ArrayLike, ArrayLike]],
    head: ArrayLike,
    signals: Sequence[ArrayLike],
    keep: int,
) -> SlicedStream:
    """Rotate the residual stream of a network to its principal directions, and keep the first ones.

    SliceGPT, Ashkboos et al. 2024, arXiv:2401.15024: x = embed[token], then x <- x + f(rms(x) @ inputs) @ outputs for
    each part, and rms(x) @ head. An RMSNorm without weights commutes with rotations Q_l; its weights are absorbed
    before: inputs <- weight[:, None] * inputs. So embed <- embed Q_0, inputs <- Q_l' inputs,
    outputs <- outputs Q_{l+1}, head <- Q_L' head, and x is multiplied by Q_l' Q_{l+1} beside each part. It is the same
    network until columns of Q_l are left out. Q_l are the eigenvectors of the second moment of the signal that enters
    part l. The norm must go on to divide by the old width: rms(x) = x / sqrt(sum(x^2) / d + eps).

    Args:
        embed: All that is added up to the first signal, such as rows of tokens and positions, shape (n, d).
        parts: Of each part the matrix that reads the stream, shape (d, h), and the one that writes, shape (k, d).
        head: Shape (d, classes).
        signals: What enters each part, and the head, on calibration data: parts + 1 arrays, shape (tokens, d).
        keep: New width, from 1 to d; d only rotates.

    Returns:
        The matrices of the network with the narrower stream.

    Raises:
        ArgumentError: keep is out of range, or signals are not one more than parts.
        ShapeError: A matrix does not fit the width of embed.

    >>> import numpy as np, burlab as bl
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=(9, 2)) @ rng.normal(size=(2, 4))  # of rank 2
    >>> found = bl.analysis.slice_rms(x, [], np.eye(4), [x], keep=2)
    >>> bool(np.allclose(found.embed @ found.head, x)), found.energy.round(6)
    (True, array([1.]))
    """
    first, last = as_floats(embed, "embed of slice_rms"), as_floats(head, "head of slice_rms")
    if first.ndim != 2:
        raise ShapeError(f"embed of slice_rms has shape {first.shape}, expected (n, d).")
    width = first.shape[1]
    count = whole(keep, "keep of slice_rms", 1, width)
    _check_lists(parts, signals)
    found = [_basis(one, width, k, count) for k, one in enumerate(signals)]
    bases = [basis for basis, _ in found]
    sliced = [
        SlicedPart(q.T @ _fit(part[0], 0, width, k), _fit(part[1], 1, width, k) @ after, q.T @ after)
        for k, (part, q, after) in enumerate(zip(parts, bases[:-1], bases[1:], strict=True))
    ]
    if last.ndim != 2 or len(last) != width:
        raise ShapeError(f"head of slice_rms has shape {last.shape}, expected ({width}, classes), as embed has width.")
    return SlicedStream(first @ bases[0], tuple(sliced), bases[-1].T @ last, np.array([share for _, share in found]))


def _check_lists(parts: Any, signals: Any) -> None:
    """Raise ArgumentError unless there are pairs of matrices, and one signal more."""
    for name, given in {"parts": parts, "signals": signals}.items():
        if not isinstance(given, (list, tuple)):
            raise ArgumentError(f"{name} of slice_rms is {shown(given)}, expected a list.")
    pair: Any
    for k, pair in enumerate(parts):
        if not isinstance(pair, (list, tuple)) or len(cast("list[Any]", pair)) != 2:
            raise ArgumentError(f"parts[{k}] of slice_rms is {shown(pair)}, expected a pair: what reads, what writes.")
    if len(signals) != len(parts) + 1:
        raise ArgumentError(
            f"slice_rms got {len(signals)} signals for {len(parts)} parts, expected one for each part and the head's."
        )


def _basis(signal: ArrayLike, width: int, number: int, keep: int) -> tuple[Numbers, float]:
    """Return the principal directions of a signal, shape (width, keep), and the share of its square in them."""
    rows = as_floats(signal, f"signals[{number}] of slice_rms")
    if rows.ndim != 2 or rows.shape[1] != width:
        raise ShapeError(f"signals[{number}] of slice_rms has shape {rows.shape}, expected (tokens, {width}).")
    values, vectors = np.linalg.eigh(rows.T @ rows)
    total = float(values.sum())
    kept = float(values[::-1][:keep].sum())
    return np.ascontiguousarray(vectors[:, ::-1][:, :keep]), kept / total if total > 0 else 1.0


def _fit(matrix: Any, axis: int, width: int, number: int) -> Numbers:
    """Return a matrix of a part whose axis is the stream."""
    found = as_floats(matrix, f"parts[{number}] of slice_rms")
    if found.ndim != 2 or found.shape[axis] != width:
        wanted = f"({width}, h)" if axis == 0 else f"(k, {width})"
        raise ShapeError(f"parts[{number}][{axis}] of slice_rms has shape {found.shape}, expected {wanted}.")
    return found
