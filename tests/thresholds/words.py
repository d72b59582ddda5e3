"""The words of threshold programs, each on two engines: burlab's, and NumPy's complex numbers.

A complex number a + ih b with a tiny h carries a value and its derivative along a direction, exact to rounding (Squire
and Trapp 1998, "Using complex variables to estimate derivatives of real functions"), through every word that is
analytic or chooses by real parts. So NumPy is an engine of derivatives of its own, at the speed of NumPy.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

import burlab as bl
from burlab.graph.buffers.buffer_functions import at_add
from burlab.graph.node import as_node
from burlab.graph.sparse import SparseArray

Word = Callable[..., Any]
_MAX_UNKNOWNS = 33  # of a system of linear equations
_MAX_DENSE = 600  # columns of a sparse matrix, which NumPy has as a dense one


class Real:
    """Number on which NumPy's choices work and which burlab traces."""

    abs, maximum, minimum, sort = np.abs, np.maximum, np.minimum, np.sort
    max, min, argmax, argsort = np.max, np.min, np.argmax, np.argsort
    max_over = np.max
    cond, at_add = bl.cond, at_add

    @staticmethod
    def scan(step: Word, start: Any, rows: Any) -> Any:
        return bl.scan(lambda carry, row: (step(carry, row),) * 2, start, rows)[1]

    @staticmethod
    def real(a: Any) -> Any:
        """Return the number that is compared."""
        return a

    @staticmethod
    def csr(values: Any, columns: Any, counts: Any, size: int) -> Any:
        """Return a sparse matrix of so many entries in each row."""
        ends = np.cumsum(counts)
        if isinstance(values, np.ndarray):
            return sparse.csr_array((values, columns, [0, *ends]), (len(counts), size))
        return SparseArray(*map(as_node, (values, columns, ends - counts, ends)), size, 2)

    @staticmethod
    def astype(a: Any, dtype: Any) -> Any:
        return a.astype(dtype)


class Complex:
    """The same by real parts, for numbers that carry a derivative in their imaginary parts."""

    @staticmethod
    def real(a: Any) -> Any:
        return a.real

    @staticmethod
    def astype(a: Any, dtype: Any) -> Any:  # numbers are exact here
        return a

    @staticmethod
    def csr(values: Any, columns: Any, counts: Any, size: int) -> Any:
        if size > _MAX_DENSE:
            raise ValueError
        dense = np.zeros((len(counts), size), complex)
        np.add.at(dense, (np.repeat(np.arange(len(counts)), counts), columns), values)
        return dense

    @staticmethod
    def at_add(a: Any, index: Any, value: Any) -> Any:
        np.add.at(a, index, value)
        return a

    @staticmethod
    def cond(choice: Any, true: Word, false: Word, *operands: Any) -> Any:
        return (true if choice else false)(*operands)

    @staticmethod
    def scan(step: Word, start: Any, rows: Any) -> Any:
        found = [start]
        for row in rows:
            found.append(step(found[-1], row))
        return np.stack(found[1:])

    @staticmethod
    def abs(a: Any) -> Any:
        return np.where(a.real < 0, -a, a)

    @staticmethod
    def maximum(a: Any, b: Any) -> Any:
        return np.where(a.real > b.real, a, b)

    @staticmethod
    def minimum(a: Any, b: Any) -> Any:
        return np.where(a.real < b.real, a, b)

    @staticmethod
    def argmax(a: Any, axis: int) -> Any:
        return np.argmax(a.real, axis)

    @staticmethod
    def argsort(a: Any, axis: int) -> Any:
        return np.argsort(a.real, axis, kind="stable")

    @staticmethod
    def sort(a: Any, axis: int) -> Any:
        return np.take_along_axis(a, np.argsort(a.real, axis, kind="stable"), axis)

    @staticmethod
    def max(a: Any, axis: int, keepdims: bool = False) -> Any:
        found = np.take_along_axis(a, np.argmax(a.real, axis, keepdims=True), axis)
        return found if keepdims else np.squeeze(found, axis)

    @staticmethod
    def max_over(a: Any, axes: tuple[int, ...]) -> Any:
        for axis in sorted(axes, reverse=True):
            a = Complex.max(a, axis)
        return a

    @staticmethod
    def min(a: Any, axis: int, keepdims: bool = False) -> Any:
        found = np.take_along_axis(a, np.argmin(a.real, axis, keepdims=True), axis)
        return found if keepdims else np.squeeze(found, axis)


def _exponentials(m: Any, a: Any, axis: int) -> Any:
    return np.exp(a - m.max(a, axis, keepdims=True))


def _softmax(m: Any, a: Any, axis: int) -> Any:
    e = _exponentials(m, a, axis)
    return e / np.sum(e, axis, keepdims=True)


def _centred(a: Any, axis: int) -> Any:
    return a - np.mean(a, axis, keepdims=True)


def _variance(a: Any, axis: int) -> Any:
    return np.mean(_centred(a, axis) * _centred(a, axis), axis, keepdims=True)


def _padded(a: Any, before: int, after: int, axis: int) -> Any:
    return np.pad(a, [(before, after) if k == axis else (0, 0) for k in range(a.ndim)])


def _cut(a: Any, axis: int, start: int | None, stop: int | None, step: int) -> Any:
    return a[(slice(None),) * axis + (slice(start, stop, step),)]


def _first(m: Any, a: Any) -> Any:
    """A choice by one number, of a sample or of what samples share."""
    return m.real(np.reshape(a, -1)[0]) > 0


def _sparse(m: Any, a: Any, size: int) -> Any:
    """A sparse matrix of twice as many entries as rows, times the rows of an array."""
    rows, k = np.reshape(a, (a.shape[0], -1)), np.arange(2 * size)
    values = np.tanh(rows[k * 3 % a.shape[0], 0])
    y = np.zeros((size, rows.shape[1]), a.dtype)
    return m.at_add(y, k * 5 % size, np.reshape(values, (-1, 1)) * rows[k * 7 % a.shape[0]])


def _compressed(m: Any, a: Any, flipped: bool) -> Any:
    """A matrix of rows with none to three entries, or its transpose, times the rows of an array."""
    rows, counts = np.reshape(a, (a.shape[0], -1)), np.arange(a.shape[0]) * 5 % 4
    k = np.arange(counts.sum())
    matrix = m.csr(np.tanh(rows[k * 3 % a.shape[0], 0]), k * 7 % a.shape[0], counts, a.shape[0])
    return np.reshape((matrix.T if flipped else matrix) @ rows, a.shape)


def _by_groups(a: Any, b: Any) -> Any:
    """Polynomials whose coefficients, shape (groups, degree), the columns of a group and all rows share."""
    x = np.reshape(np.tanh(a), (a.shape[0], b.shape[0], -1))
    y = np.reshape(b[:, 0], (-1, 1)) + 0 * x
    for k in range(1, b.shape[1]):
        y = y * x + np.reshape(b[:, k], (-1, 1))
    return np.reshape(y, a.shape)


def _recurrence(m: Any, a: Any, axis: int) -> Any:
    """The states of a network without weights that reads an array along an axis."""
    rows = np.moveaxis(a, axis, 0)
    return np.moveaxis(m.scan(lambda state, row: np.tanh(state / 2 + row), 0 * rows[0], rows), 0, axis)


def _equations(a: Any, axis: int) -> tuple[Any, Any]:
    """Matrices with eigenvalues from 1 to 1 + n, one for each matrix of an array; and the matrices, by columns."""
    rows = np.moveaxis(np.tanh(a), axis, -1)
    if not (rows.ndim > 1 and rows.size and rows.shape[-1] <= _MAX_UNKNOWNS):
        raise ValueError
    columns = np.swapaxes(rows, -1, -2)
    return columns @ rows / rows.shape[-2] + np.eye(rows.shape[-1], dtype=np.float32), columns


def _convolved(a: Any, b: Any) -> Any:
    """Windows of an image, shape (rows, columns, channels), times weights of shape (rows, columns, in, out)."""
    windows = np.lib.stride_tricks.sliding_window_view(a, b.shape[:2], (0, 1))
    return np.tensordot(windows, np.transpose(b, (2, 0, 1, 3)), 3)


def _contrasted(m: Any, a: Any, b: Any) -> Any:
    """The losses of pairs of rows against all other pairs (InfoNCE, van den Oord et al. 2018)."""
    scores = a @ np.transpose(b)
    return np.log(np.sum(_exponentials(m, scores, 1), 1)) + m.max(scores, 1) - np.diagonal(scores)


# Of one value.
ELEMENTWISE: dict[str, Word] = {
    "sin": lambda m, a: np.sin(a),
    "cos": lambda m, a: np.cos(a),
    "tanh": lambda m, a: np.tanh(a),
    "exp": lambda m, a: np.exp(-a * a),
    "square": lambda m, a: a * a,
    "cube": lambda m, a: a * a * a / 8,
    "neg": lambda m, a: -a,
    "sqrt": lambda m, a: np.sqrt(a * a + 0.5),
    "log": lambda m, a: np.log(a * a + 0.5),
    "reciprocal": lambda m, a: 1 / (a * a + 0.5),
    "arctan": lambda m, a: np.arctan(a / 4),
    "abs": lambda m, a: m.abs(a),
    "relu": lambda m, a: m.maximum(a, 0.0 * a),
    "leaky": lambda m, a: np.where(m.real(a) > 0, a, 0.1 * a),
    "affine": lambda m, a: 1 - 2.0 * a,
    "branch": lambda m, a: m.cond(_first(m, a), lambda x: np.tanh(x) * x, lambda x: 1 - x, a),
    "sparse": lambda m, a: np.reshape(_sparse(m, a, a.shape[0]), a.shape),
    "compressed rows": lambda m, a: _compressed(m, a, False),
    "compressed columns": lambda m, a: _compressed(m, a, True),
    "sparse vector": lambda m, a: np.reshape(_sparse(m, np.reshape(a, -1), a.size), a.shape),
}
# Of a value along an axis.
ALONG: dict[str, Word] = {
    "sum": lambda m, a, k: np.sum(a, k),
    "sum keepdims": lambda m, a, k: np.sum(a, k, keepdims=True),
    "sum of squares": lambda m, a, k: np.sum(a * a, k),
    "mean": lambda m, a, k: np.mean(a, k),
    "max": lambda m, a, k: m.max(a, k),
    "min": lambda m, a, k: m.min(a, k),
    "max keepdims": lambda m, a, k: m.max(a, k, keepdims=True),
    "variance": lambda m, a, k: _variance(a, k),
    "norm": lambda m, a, k: np.sqrt(np.sum(a * a, k) + 0.25),
    "logsumexp": lambda m, a, k: np.log(np.sum(_exponentials(m, a, k), k)) + m.max(a, k),
    "softmax": _softmax,
    "layer norm": lambda m, a, k: _centred(a, k) / np.sqrt(_variance(a, k) + 0.5),
    "by norm": lambda m, a, k: a / np.sqrt(np.sum(a * a, k, keepdims=True) + 0.25),
    "less max": lambda m, a, k: a - m.max(a, k, keepdims=True),
    "cumsum": lambda m, a, k: np.cumsum(a, k),
    "cumprod": lambda m, a, k: np.cumprod(1 + np.tanh(a) / 64, k),
    "prod": lambda m, a, k: np.prod(1 + np.tanh(a) / 64, k),
    "diff": lambda m, a, k: np.diff(a, axis=k),
    "sort": lambda m, a, k: m.sort(a, k),
    "by order": lambda m, a, k: np.take_along_axis(a, m.argsort(a, k), k),
    "at the largest": lambda m, a, k: np.take_along_axis(a, np.expand_dims(m.argmax(a, k), k), k),
    "flip": lambda m, a, k: np.flip(a, k),
    "roll": lambda m, a, k: np.roll(a, 3, k),
    "pad": lambda m, a, k: _padded(a, 1, 2, k),
    "doubled": lambda m, a, k: np.concatenate([a, np.sin(a)], k),
    "halves": lambda m, a, k: _cut(a, k, None, a.shape[k] // 2, 1) - _cut(a, k, a.shape[k] - a.shape[k] // 2, None, 1),
    "every other": lambda m, a, k: _cut(a, k, None, None, 2),
    "backwards by two": lambda m, a, k: _cut(a, k, None, None, -2),
    "inner part": lambda m, a, k: _cut(a, k, 1, -1, 1),
    "to the front": lambda m, a, k: np.moveaxis(a, k, 0),
    "to the end": lambda m, a, k: np.moveaxis(a, k, -1),
    "repeat": lambda m, a, k: np.repeat(a, 2, k),
    "taken": lambda m, a, k: np.take(a, np.arange(2 * a.shape[k]) * 7 % a.shape[k], k),
    "first": lambda m, a, k: np.take(a, 0, k),
    "stack": lambda m, a, k: np.stack([a, a * a], k),
    "expand": lambda m, a, k: np.expand_dims(a, k),
    "recurrence": _recurrence,
    "solved": lambda m, a, k: np.linalg.solve(*_equations(a, k)),
    "determinants": lambda m, a, k: np.log(np.linalg.det(_equations(a, k)[0])),
}
# Of two values whose shapes broadcast.
PAIRS: dict[str, Word] = {
    "add": lambda m, a, b: a + b,
    "subtract": lambda m, a, b: a - b,
    "multiply": lambda m, a, b: a * b,
    "divide": lambda m, a, b: a / (b * b + 0.5),
    "maximum": lambda m, a, b: m.maximum(a, b),
    "minimum": lambda m, a, b: m.minimum(a, b),
    "where": lambda m, a, b: np.where(m.real(a) > m.real(b), np.sin(a), b),
    "scaled": lambda m, a, b: a * np.exp(-b * b),
    "branches": lambda m, a, b: m.cond(_first(m, a), lambda a, b: np.sin(a) * b, lambda a, b: a + b * b / 4, a, b),
    "layers": lambda m, a, b: m.cond(
        _first(m, b), lambda a, b: np.tanh(np.matmul(a, b)), lambda a, b: np.matmul(np.sin(a), b), a, b
    ),
}
# With parameters of their own, which `programs.py` draws.
SHAPED: dict[str, Word] = {
    "transpose": lambda m, a, axes: np.transpose(a, axes),
    "reshape": lambda m, a, shape: np.reshape(a, shape),
    "broadcast": lambda m, a, shape: np.broadcast_to(a, shape),
    "cut": lambda m, a, axis, start, stop, step: _cut(a, axis, start, stop, step),
    "sum over": lambda m, a, axes: np.sum(a, axes),
    "max over": lambda m, a, axes: m.max_over(a, axes),
    "einsum": lambda m, a, b, spec: np.einsum(spec, a, b),
    "matmul": lambda m, a, b: a @ b,
    "dot": lambda m, a, b: np.dot(a, b),
    "tensordot": lambda m, a, b, axes: np.tensordot(a, b, axes),
    "outer": lambda m, a, b: np.outer(a, b),
    "convolve": lambda m, a, b: np.convolve(a, b, "same"),
    "times": lambda m, a, factor: a * factor,
    "widened": lambda m, a, dtype: m.astype(a, dtype),
    "by groups": lambda m, a, b: _by_groups(a, b),
    "convolved": lambda m, a, b: _convolved(a, b),
    "contrasted": _contrasted,
}
WORDS: dict[str, Word] = {**ELEMENTWISE, **ALONG, **PAIRS, **SHAPED}
