"""Linear algebra of complex matrices a + i b by the real matrices [[a, -b], [b, a]], whose products are the same."""

import numpy as np

from burlab.graph.faults import unsupported
from burlab.graph.node import FUNCTIONS as REAL, Node
from burlab.runtime.checks.numbers import shown
from burlab.typing import ArrayLike, Axis

from .array import FUNCTIONS, Complex
from .complex_arithmetic import absolute
from .parts import as_complex, pair


def blocks(a: ArrayLike) -> Node:
    """Return the real matrices [[a, -b], [b, a]] of twice the size."""
    z = as_complex(a)
    upper = REAL[np.concatenate]([z.real, -z.imag], axis=-1)
    return REAL[np.concatenate]([upper, REAL[np.concatenate]([z.imag, z.real], axis=-1)], axis=-2)


def solve(a: ArrayLike, b: ArrayLike) -> Complex:
    """Solve a x = b as np.linalg.solve, with the right-hand sides [real; imaginary]."""
    z = as_complex(b)
    vector = z.ndim == 1
    sides = [part[..., None] if vector else part for part in (z.real, z.imag)]
    n = sides[0].shape[-2]
    x = REAL[np.linalg.solve](blocks(a), REAL[np.concatenate](sides, axis=-2))
    real, imag = x[..., :n, :], x[..., n:, :]
    return pair(real[..., 0], imag[..., 0]) if vector else pair(real, imag)


def inv(a: ArrayLike) -> Complex:
    """Return inverses, as np.linalg.inv."""
    x = REAL[np.linalg.inv](blocks(a))
    n = as_complex(a).shape[-1]
    return pair(x[..., :n, :n], x[..., n:, :n])


def norm(x: ArrayLike, ord: float | str | None = None, axis: int | tuple[int, ...] | None = None,  # noqa: A002
         keepdims: bool = False) -> Node:  # fmt: skip
    """Return norms, as np.linalg.norm: those of the absolute values of the entries, except for orders 2 and nuc."""
    z = as_complex(x)
    axes = 2 if axis is None and z.ndim == 2 else np.size(axis or 0)
    if ord in ("nuc", 2, -2) and axes == 2:
        raise unsupported(f"np.linalg.norm(ord={shown(ord)}) of a complex matrix", "the default order, 1 or np.inf")
    return REAL[np.linalg.norm](absolute(z), ord, axis, keepdims)


def matrix_power(a: ArrayLike, n: int) -> Complex:
    """Return a power of matrices by repeated squaring, as np.linalg.matrix_power."""
    z = as_complex(a)
    if n < 0:
        return matrix_power(inv(z), -n)
    if n == 0:
        return pair(REAL[np.broadcast_to](z.real * 0 + np.eye(z.shape[-1]), z.shape), 0.0)
    half = z if n == 1 else matrix_power(z @ z, n // 2)
    return half @ z if n % 2 and n > 1 else half


def vector_norm(x: ArrayLike, /, *, axis: Axis = None, keepdims: bool = False,
                ord: float | str | None = 2) -> Node:  # fmt: skip  # noqa: A002
    """Return norms of vectors, as np.linalg.vector_norm."""
    return REAL[np.linalg.vector_norm](absolute(as_complex(x)), axis=axis, keepdims=keepdims, ord=ord)


FUNCTIONS.update({
    np.linalg.solve: solve, np.linalg.inv: inv, np.linalg.norm: norm, np.linalg.matrix_power: matrix_power,
    np.linalg.vector_norm: vector_norm,
})  # fmt: skip
