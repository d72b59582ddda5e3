"""Functions that fill and change arrays, as people write them, and how to run them in the replay gear."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy import zeros as plain_zeros

from burlab.compiler.executable import build
from burlab.compiler.ir.options import Gear
from burlab.graph import tree
from burlab.graph.tracing.trace import trace

X = np.array([0.5, -1.0, 2.0])
M = np.linspace(-1.0, 2.0, 12).reshape(3, 4)


def traced(f: Callable[..., Any], *args: Any, gear: Gear = "replay") -> Any:
    """f by its graph."""
    call = trace(f, args)
    leaves = [leaf for leaf in tree.flatten((args, {}))[0] if isinstance(leaf, (float, np.ndarray))]
    return tree.unflatten(call.result, build(call.graph, gear=gear)(*leaves))


def entry_by_entry(x: Any) -> Any:
    out = np.zeros(3)
    for i in range(3):
        out[i] = x[i] ** 2
    return out


def recurrence(x: Any) -> Any:
    out = np.empty(6)
    out[:2] = 1.0, x[0]
    for i in range(2, 6):
        out[i] = out[i - 1] * x[1] + out[i - 2]
    return out


def in_place(x: Any) -> Any:
    total = np.zeros(3)
    for k in range(4):
        total += k * x
        total *= x
    total -= 1.0
    total /= 2.0
    return total


def rows_and_columns(x: Any) -> Any:
    A = np.zeros((3, 4))
    A[0] = x[0]
    A[1, 1:] = x
    A[:, 3] *= x
    A[-1, ::2] = x[:2]
    A[2, 3:0:-1] += x
    A[..., 0] -= x[2]
    return A


def views(x: Any) -> Any:
    A = np.zeros((3, 4))
    row, column, flat, turned = A[0], A[:, 1], A.reshape(-1), A.T
    row[1] = x[0]
    column[1:] = x[1:]
    flat[::5] = x[2]
    turned[3] += x
    for r in A:
        r[2] = x[0]
    A[1, 1] += row[1]
    return A, row, column, flat, turned


def masks_and_lists(x: Any) -> Any:
    A = np.ones((3, 3))
    A[A > 0.5] = 2.0
    A[np.eye(3, dtype=bool)] = x
    A[[0, 2], [1, 1]] = x[:2]
    A[[0, 1, 0]] += 1.0  # row 0 once
    A[1, [0, 0, 2]] = x  # the last of two
    A[:, [2, 0]] *= x[:, np.newaxis]
    A[np.array([True, False, True]), 1:] -= x[1:]
    return A


def new_axes(x: Any) -> Any:
    A = np.zeros((3, 4))
    A[:, None, 0] = x[:, None]
    A[..., 1:3] = x[:, None]
    A[np.newaxis, 2] = M[1:2]
    return A


def constructors(x: Any) -> Any:
    parts: list[Any] = [
        np.zeros(3), np.ones(3), np.full(3, 2.5), np.empty(3), np.zeros_like(x), np.ones_like(X), np.full_like(x, x[0]),
        np.empty_like(X), np.array([1.0, 2.0, 3.0]), np.asarray([1.0, 2.0, 3.0]), np.arange(3.0), np.linspace(0, 1, 3),
        np.array(x), np.array([x[0], 1.0, x[2]]), np.array(X), plain_zeros(3), np.diag(X)[0], np.copy(X),
        x.copy(), (2 * x).copy(),
    ]  # fmt: skip
    for part in parts:
        part[0] = x[1]
        part[1:] = x[1]
        part[2] += x[2]
    return parts


def helper(n: int) -> Any:
    return plain_zeros(n)


def by_helpers(x: Any) -> Any:
    def inner(A: Any, k: int) -> None:
        A[k] = x[k]

    A = helper(3)
    for k in range(3):
        inner(A, k)
    return A


def functions(x: Any) -> Any:
    A = np.zeros((3, 3))
    np.fill_diagonal(A, x)
    np.copyto(A[0], x, where=np.array([False, True, True]))
    np.put(A, [3, -1], x[:2])
    np.add.at(A, ([0, 0], [1, 1]), x[0])
    np.multiply(A, x, out=A)
    np.sum(A, axis=0, out=A[1])
    np.putmask(A, A.T == 7, 3.0) if False else None
    A[2].fill(x[2])
    B = A.copy()
    B[0, 0] = 5.0
    B[1].sort()
    return A, B, B.sum(axis=0), A.mean(), A @ B, np.dot(A, x), A.reshape(-1)[2:5], A.flatten(), np.concatenate([A, B])


def known_parts(x: Any) -> Any:
    a = np.zeros(4)
    a[1] = x[0]
    a[2] = 3.0
    if a[2] > 2.0:  # a known number, although others are traced
        a[3] = float(a[2]) * x[1]
    a[1] = 1.0  # known again
    assert isinstance(a, np.ndarray)
    return a, a[:1] + np.linalg.inv(np.eye(1) * 2)[0]


def results_of_known(x: Any) -> Any:
    a = 2.0 * np.arange(3.0) + np.ones(3)
    a[1] = x[0]
    b = np.sqrt(np.arange(3.0))[[0, 1, 2]]
    b[:] += x
    return a, b


def chosen_by_traced_masks(x: Any) -> Any:
    a, b = x.copy(), np.zeros((2, 3))
    a[a < 0] = x[0] ** 2
    b[:, x > 0] = x[:2, None]
    b[..., x < 0] = 7.0
    b[x[:2] < 0] = x
    i, m = np.zeros(3, int), np.zeros(3, bool)
    i[x > 0] = 3
    m[x > 1] = True
    np.add.at(a, x > 0, x[1])
    return a, b, i, m


def flat_entries(x: Any) -> Any:
    a, b = np.zeros((2, 3)), np.outer(x, x)
    a.flat[1] = x[0]
    a.flat[[5, 0]] = x[1:]
    a.T.flat[1:3] += x[2]
    b.flat[::4] = x[:2]
    c = np.zeros((2, 2))
    c.flat = x
    return a, b, c, a.flat[1], b.flat[2:5], np.stack([*a.flat]), len(b.flat) * x


def results_put_into_arrays(x: Any) -> Any:
    a, b = np.empty(3), np.empty((2, 3))
    np.cumsum(x, out=a)
    np.clip(x, -0.5, 0.5, out=b[0])
    x.sum(axis=0, keepdims=True, out=b[1, :1])
    np.round(x, 1, out=b[1])
    return a, b, np.mean(np.outer(x, x), axis=1, out=np.zeros(3))


def dtypes(x: Any) -> Any:
    i, s, m = np.zeros(3, int), np.zeros(3, np.float32), np.zeros(3, bool)
    i[:] = x * 1.7
    s[1] = x[0]
    s += x.astype(np.float32)
    m[1:] = x[1:]
    return i, s, m, np.where(m, 1.0, x)


def swap(x: Any) -> Any:
    a = np.array(x)
    a[0], a[1] = a[1], a[0]
    a[:2], a[1:] = a[1:], a[:2] * 2
    a[1:] = a[:-1]
    return a


def read_between(x: Any) -> Any:
    a = np.zeros(3)
    a[:] = x
    first = 2 * a
    a[0] = 5.0
    second = 2 * a
    a[1] = x[0]
    return first, second, 2 * a


def whole(x: Any) -> Any:
    a = np.zeros((2, 3))
    a[:] = x
    a[...] += 1
    b = np.zeros(())
    b[()] = x[0]
    b += 1.0
    c = np.zeros((2, 0, 3))
    c[:] = x
    return a, b, c


PROGRAMS = (
    entry_by_entry, recurrence, in_place, rows_and_columns, views, masks_and_lists, new_axes, constructors, by_helpers,
    chosen_by_traced_masks, flat_entries, results_put_into_arrays,
    functions, known_parts, results_of_known, dtypes, swap, read_between, whole,
)  # fmt: skip
