"""A layer of products whose matrix is two block-diagonal ones with a permutation between them."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from burlab.errors import ArgumentError, ShapeError
from burlab.graph.numpy_api.indexing import asarray
from burlab.graph.tree import pytree
from burlab.runtime.checks.numbers import flag, shown
from burlab.runtime.plain import as_array, as_floats
from burlab.typing import ArrayLike, DTypeLike, Key

from . import init
from .layer import Array, Layer, check, floating, keys, sizes


@pytree
@dataclass(frozen=True, eq=False, repr=False, init=False)
class Monarch(Layer):
    """y = x @ W + bias for a Monarch matrix W, of blocks (in + out) numbers (Dao et al. 2022, arXiv:2204.00595).

    x is cut into r = blocks parts: W[(r s), (p k)] = right[r, k, s] left[k, p, r], so that x is multiplied by r blocks
    of shape (blocks, in / r), and what comes out, in another order, by k = blocks ones of shape (out / k, blocks). The
    order of paper and code: parts of x are neighbours, an output (p k) has k last. bias: shape [out], or None. x: shape
    (..., in); the result has shape (..., out).

    Args:
        inputs, outputs: Sizes in and out, multiples of `blocks`.
        blocks: Number of blocks of either factor; the paper takes the square root of inputs = outputs.
        key: A key, shape (2,), uint64, for the start: uniform, with the variances that outputs of a `Linear` have.
        bias: False for none.
        dtype: float32 or float64.

    Raises:
        ArgumentError: A size is no multiple of blocks.

    >>> import numpy as np, burlab as bl
    >>> layer = bl.nn.Monarch(16, 16, blocks=4, key=bl.random.key(0))
    >>> layer, layer(np.ones(16, np.float32)).shape
    (<Monarch: 144 parameters, float32>, (16,))
    """

    right: Array
    left: Array
    bias: Array | None

    def __init__(
        self,
        inputs: int,
        outputs: int,
        *,
        blocks: int,
        key: Key,
        bias: bool = True,
        dtype: DTypeLike = np.float32,
    ) -> None:
        sizes(inputs=inputs, outputs=outputs)
        _check_blocks(blocks, inputs, outputs)
        r, w, b = keys(key, 3)
        kind = floating(dtype)
        self._fill(
            right=_within(r, (blocks, blocks, inputs // blocks), math.sqrt(3 * blocks / inputs), kind),
            left=_within(w, (blocks, outputs // blocks, blocks), blocks**-0.5, kind),
            bias=_within(b, (outputs,), inputs**-0.5, kind) if flag(bias, "bias") else None,
        )

    def __call__(self, x: Array) -> Array:
        """x @ W + bias."""
        blocks, _, part = self.right.shape
        check(self, x, self.right, blocks * part)
        parts = np.reshape(asarray(x), (*np.shape(x)[:-1], blocks, part))
        inner = np.einsum("rks,...rs->...kr", self.right, parts)
        outer = np.einsum("kpr,...kr->...pk", self.left, inner)
        y = np.reshape(outer, (*np.shape(x)[:-1], blocks * self.left.shape[1]))
        return y if self.bias is None else y + self.bias

    def dense(self) -> Array:
        """The matrix W, shape [in, out]."""
        blocks, _, part = self.right.shape
        matrix = np.einsum("rks,kpr->rspk", self.right, self.left)
        return np.reshape(matrix, (blocks * part, blocks * self.left.shape[1]))

    @staticmethod
    def nearest(weight: ArrayLike, *, blocks: int, bias: ArrayLike | None = None) -> "Monarch":
        """Return the Monarch layer whose matrix is nearest to a dense one, by the sum of squared differences.

        Each slice W[(r, :), (:, k)] of a Monarch matrix has rank one, so the nearest one has the largest singular
        value and vectors of every slice: the paper's algorithm 1.

        Args:
            weight: A matrix, shape [in, out], of floating or complex numbers, as `Linear.weight`.
            blocks: Number of blocks of either factor, which divides in and out.
            bias: Shape [out], or None for none.

        Raises:
            ShapeError: The weight is no matrix, or the bias does not fit it.
            ArgumentError: A size is no multiple of blocks, or a number is not finite.

        >>> import numpy as np, burlab as bl
        >>> layer = bl.nn.Monarch(6, 4, blocks=2, key=bl.random.key(0), dtype=np.float64)
        >>> again = bl.nn.Monarch.nearest(layer.dense(), blocks=2)
        >>> bool(np.allclose(again.dense(), layer.dense()))
        True
        """
        matrix = _finite(weight, "weight of Monarch.nearest")
        if matrix.ndim != 2:
            raise ShapeError(f"weight of Monarch.nearest has shape {matrix.shape}, expected (in, out).")
        inputs, outputs = matrix.shape
        sizes(inputs=inputs, outputs=outputs)
        _check_blocks(blocks, inputs, outputs)
        slices = np.reshape(matrix, (blocks, inputs // blocks, outputs // blocks, blocks)).transpose(3, 0, 2, 1)
        u, s, vh = np.linalg.svd(slices, full_matrices=False)  # of each (k, r): a matrix of shape (p, s)
        scale = np.sqrt(s[..., :1])
        left, right = u[..., 0] * scale, vh[..., 0, :] * scale
        shift = None if bias is None else _finite(bias, "bias of Monarch.nearest").astype(matrix.dtype)
        if shift is not None and shift.shape != (outputs,):
            raise ShapeError(f"bias of Monarch.nearest has shape {shift.shape}, expected ({outputs},).")
        layer = object.__new__(Monarch)
        layer._fill(right=right.transpose(1, 0, 2).copy(), left=left.transpose(0, 2, 1).copy(), bias=shift)
        return layer


def _check_blocks(blocks: Any, inputs: int, outputs: int) -> None:
    """Raise ArgumentError where the sizes are not multiples of blocks."""
    sizes(blocks=blocks)
    if inputs % blocks or outputs % blocks:
        raise ArgumentError(f"blocks={shown(blocks)} of Monarch must divide inputs={inputs} and outputs={outputs}.")


def _within(key: Key, shape: tuple[int, ...], bound: float, dtype: Any) -> Array:
    return init.uniform(key, shape, dtype, low=-bound, high=bound)


def _finite(value: ArrayLike, name: str) -> Array:
    """An array of finite floating or complex numbers, of single or double precision."""
    array = as_array(value, name)
    array = array if array.dtype.char in "fdFD" else as_floats(array, name)
    if not np.all(np.isfinite(array)):
        raise ArgumentError(f"{name} holds a number that is not finite. Pass finite numbers.")
    return array
