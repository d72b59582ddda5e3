"""Untraceable code raises TraceError with the user's line and the remedy."""
# ruff: noqa: PLW0108 - the lambdas are the user's code, whose line is looked for

import copy
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import burlab as bl
from burlab.errors import ArgumentError, DTypeError, ShapeError, TraceError
from burlab.graph.tracing.trace import trace

X = np.array([0.5, -1.0, 2.0])
M = np.ones((3, 4))
INDEX = np.array(1)
TABLE = np.arange(5.0)
OUTSIDE = np.zeros(5)


def assign(x: Any) -> Any:
    OUTSIDE[0] = x[0]
    return OUTSIDE


def assign_array(x: Any) -> Any:
    OUTSIDE[:3] = x
    return OUTSIDE


def accumulate(x: Any) -> Any:
    x[0] = 1.0
    return x


def in_place(x: Any) -> Any:
    total = OUTSIDE[:3]
    total += x
    return total


def loop(x: Any) -> Any:
    while np.sum(x) > 1:
        x = x / 2
    return x


# name: function of one traced argument, what it is called with, words of the message that tell the remedy
CASES: dict[str, tuple[Callable[..., Any], Any, str]] = {
    "branch": (lambda x: x if x > 0 else -x, 1.0, "np.where"),
    "and": (lambda x: x[0] > 0 and x[1], X, "np.where"),
    "while": (loop, X, "np.where"),
    "max of python": (lambda x: max(x[0], x[1]), X, "np.where"),
    "sorted of python": (lambda x: sorted([x[0], x[1]])[0], X, "np.where"),
    "in": (lambda x: x[0] in (1.0, 2.0), X, "np.where"),
    "float()": (lambda x: float(x[0]), X, "the function of the same name in np"),
    "int()": (lambda x: int(x[0]), X, "integer arrays as arguments"),
    "math.sin": (lambda x: math.sin(x), 1.0, "the function of the same name in np"),
    "format": (lambda x: f"{x:.2f}", 1.0, "the function of the same name in np"),
    ".item()": (lambda x: x[0].item(), X, "the function of the same name in np"),
    ".tolist()": (lambda x: x.tolist(), X, "np"),
    "acc[k] = t": (assign, X, "bl.zeros"),
    "acc[k] = array": (assign_array, X, "bl.zeros"),
    "x[0] = 1": (accumulate, X, "np.where"),
    "constant += traced": (in_place, X, "assign the result to a name"),
    "array of a library": (lambda x: np.ma.asarray(x), X, "x.filled(0.0)"),
    "plain array[traced]": (lambda i: TABLE[i], INDEX, "bl.asarray(A)[i]"),
    "list[traced]": (lambda i: [1.0, 2.0][i], INDEX, "bl.asarray(A)[i]"),
    "range(traced)": (lambda i: sum(range(i)), INDEX, "Python ints"),
    "traced size": (lambda i: np.zeros(i), INDEX, "Python ints"),
    "traced mask as index": (lambda x: x[x > 0], X, "np.where(mask, x, 0)"),
    "np.where(mask)": (lambda x: np.where(x > 0), X, "np.where(condition, x, y)"),
    "nonzero": (lambda x: np.nonzero(x), X, "cannot be traced"),
    "roots": (lambda x: np.roots(x), X, "np.roots cannot be traced"),
    "ufunc.accumulate": (lambda x: np.hypot.accumulate(x), X, "np.hypot.accumulate cannot be traced"),
    "ufunc.at": (lambda x: np.add.at(OUTSIDE, [0, 1, 1], x), X, "np.add.at cannot be traced"),
    "multiply.at": (lambda x: np.multiply.at(np.zeros(3), [0, 1, 1], x), X, "np.add.at or np.subtract.at"),
    "out=": (lambda x: np.exp(x, out=OUTSIDE), X, "assign the result to a name"),
    "where=": (lambda x: np.exp(x, where=X > 0), X, "np.where(condition, result, other)"),
    "subok=": (lambda x: np.exp(x, subok=False), X, "leave it out"),
    "arange to a traced end": (lambda x: np.arange(x[0]), X, "np.linspace(start, stop, n)"),
    "numbers for a traced mask": (lambda x: np.zeros(3).__setitem__(x > 0, x[:2]), X, "np.where(mask, new, old)"),
    "a traced mask beside others": (lambda x: np.zeros((3, 2)).__setitem__((x > 0, 1), 0.0), X, "takes whole arrays"),
    "method": (lambda x: x.fill(3), X, "y = x.copy()"),
    ".sort()": (lambda x: x.sort(), X, "y = x.copy()"),
    "-mask": (lambda x: -(x > 0), X, "mask"),
    "mask @ mask": (lambda x: (x > 0) @ (x > 0), X, "astype(float)"),
    "long constant": (lambda x: x + np.array([1.5, 0, 0], np.longdouble), X, "float, int or bool"),
    "string": (lambda x: np.add(x, "a"), X, "float, int or bool"),
    "negative power of integers": (lambda i: i**-1, INDEX, "astype(float)"),
    "None with an index array": (lambda x: x[[0, 1], None], X, "two steps"),
    "pad mode": (lambda x: np.pad(x, 1, mode=len), X, "np.concatenate"),
    "astype long": (lambda x: x.astype(np.longdouble), X, "float32"),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_error_names_the_line_and_the_remedy(name: str) -> None:
    f, argument, remedy = CASES[name]
    first = f.__code__.co_firstlineno
    lines = range(first, max(line for *_, line in f.__code__.co_lines() if line) + 1)
    with pytest.raises(TraceError) as caught:
        trace(f, (argument,))
    message = str(caught.value)
    assert remedy in message
    assert any(message.startswith(f'File "{__file__}", line {line}: ') for line in lines), message
    assert message.endswith(".")


# name: function, arguments, error, words
WRONG: dict[str, tuple[Callable[..., Any], tuple[Any, ...], type[Exception], str]] = {
    "shapes": (lambda x, y: x + y, (np.ones(3), np.ones(4)), ShapeError, r"\(3,\) and \(4,\)"),
    "matmul": (lambda x, y: x @ y, (M, M), ShapeError, r"\(3, 4\) and \(3, 4\)"),
    "matmul scalar": (lambda x: x @ 2.0, (M,), ShapeError, r"a \* b"),
    "dot": (np.dot, (M, M), ShapeError, "dot of shapes"),
    "inner": (np.inner, (M, np.ones(3)), ShapeError, "last axes"),
    "vdot": (np.vdot, (X, M), ShapeError, "same number"),
    "tensordot": (lambda x: np.tensordot(x, x, 1), (M,), ShapeError, "axes 1 and 0 differ"),
    "einsum count": (lambda x: np.einsum("ij,jk->ik", x), (M,), ShapeError, "names 2 operands, got 1"),
    "einsum rank": (lambda x: np.einsum("ijk->i", x), (M,), ShapeError, "3 letters"),
    "einsum sizes": (lambda x: np.einsum("ij,jk->ik", x, x), (M,), ShapeError, "sizes 4 and 3"),
    "einsum output": (lambda x: np.einsum("ij->ik", x), (M,), ShapeError, "'k'"),
    "einsum ellipsis": (lambda x: np.einsum("i...->i", x), (M,), ShapeError, r"\.\.\."),
    "reshape": (lambda x: x.reshape(5), (X,), ShapeError, "3 elements"),
    "reshape two": (lambda x: x.reshape(-1, -1), (X,), ValueError, "one size"),
    "broadcast_to": (lambda x: np.broadcast_to(x, (4,)), (X,), (ShapeError, ValueError), "broadcast"),
    "concatenate": (lambda x, y: np.concatenate([x, y], 1), (M, M[:2]), ShapeError, "equal other axes"),
    "concatenate scalars": (lambda x: np.concatenate([x, x]), (1.0,), ShapeError, "np.stack"),
    "stack": (lambda x, y: np.stack([x, y]), (X, M), ShapeError, "equal shapes"),
    "split": (lambda x: np.split(x, 2), (X,), ValueError, "equal parts"),
    "squeeze": (lambda x: np.squeeze(x, 0), (X,), ValueError, "size 1"),
    "transpose": (lambda x: x.transpose(0, 0), (M,), ValueError, "permutation"),
    "axis": (lambda x: np.sum(x, axis=2), (M,), np.exceptions.AxisError, "out of bounds"),
    "axis twice": (lambda x: np.sum(x, axis=(0, -2)), (M,), ValueError, "twice"),
    "max of nothing": (lambda x: np.max(x[:0]), (X,), ValueError, "does not exist"),
    "argmax of nothing": (lambda x: np.argmax(x[:0]), (X,), ValueError, "does not exist"),
    "len": (len, (1.0,), TypeError, "scalar"),
    "iteration": (list, (1.0,), TypeError, "scalar"),
    "out of range": (lambda x: x[3], (X,), IndexError, "index 3 .* size 3"),
    "out of range below": (lambda x: x[-4], (X,), IndexError, "index -4"),
    "known array out of range": (lambda x: x[np.array([0, 5])], (X,), IndexError, f'{__file__}", line .*index 5 .*3'),
    "too many": (lambda x: x[0, 0], (X,), IndexError, "too many indices"),
    "two ellipses": (lambda x: x[..., ...], (M,), IndexError, "one Ellipsis"),
    "float index": (lambda x: x[1.0], (X,), IndexError, "got float"),
    "float array index": (lambda x: x[np.array([0.0])], (X,), IndexError, "astype"),
    "traced float index": (lambda x: x[x], (X,), IndexError, "astype"),
    "take_along_axis": (lambda x: np.take_along_axis(x, np.array([0]), 0), (M,), ValueError, "2 axes"),
    "result": (lambda x: "text", (X,), TraceError, "returned a str"),
    "result set": (lambda x: {1}, (X,), TraceError, "returned a set"),
    "dtype": (lambda x: x, (np.ones(2, np.clongdouble),), DTypeError, "float128"),
    "unhashable": (lambda x: x, ({1, 2},), TraceError, "neither an array nor hashable"),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_trace_error_names_the_given_value(name: str) -> None:
    f, arguments, kind, words = WRONG[name]
    with pytest.raises(kind, match=words):
        trace(f, arguments)


@pytest.mark.parametrize("gear", ["compiled", "replay"])
@pytest.mark.parametrize("bad", [[0, 3], [-4, 1], [2**40, 0]])
def test_a_traced_index_out_of_range_names_the_line(gear: Any, bad: Any) -> None:
    def f(x: Any, i: Any) -> Any:
        return np.sum(x[i])

    k = bl.compile(f, X, np.array([0, 1]), gear=gear)
    assert k(X, np.array([-3, 2])) == X[-3] + X[2]
    for call in (k, k.value_and_grad):
        with pytest.raises(IndexError, match=f"test_trace_errors.py.*line {f.__code__.co_firstlineno + 1}"):
            call(X, np.array(bad))
    assert k(X, np.array([-3, 2])) == X[-3] + X[2]


@pytest.mark.parametrize("bad", [([0, 3], [0, 0]), ([0, 0], [0, 4]), ([-4, 0], [0, 0]), ([0, 0], [-5, 0])])
def test_an_index_out_of_range_lands_in_no_neighbour(bad: Any) -> None:
    """Two index arrays become one index into the flattened axes, where a column too far is the next row."""
    k = bl.compile(lambda x, i, j: x[i, j], M, np.array([0, 1]), np.array([0, 1]), gear="replay")
    with pytest.raises(IndexError):
        k(M, *map(np.array, bad))


def test_copies_hashes_and_identity_of_traced_values_work() -> None:
    """Copies, hashes, identity and attribute questions of traced values."""

    def f(x: Any) -> Any:
        table = {x: "by identity"}
        assert table[x]
        assert copy.copy(x) is x
        assert copy.deepcopy([x])[0] is x
        assert x is not None
        assert not hasattr(x, "nonsense")
        assert x.shape == (3,)
        assert (x.size, x.ndim, x.dtype, x.nbytes, x.itemsize) == (3, 1, np.float64, 24, 8)
        assert "Node" in repr(x)
        return x

    trace(f, (X,))


def test_argnums_out_of_range() -> None:
    with pytest.raises(ArgumentError, match="argnums=2"):
        bl.grad(lambda x: x, argnums=2)(1.0)


@pytest.mark.filterwarnings("ignore:the matrix subclass:PendingDeprecationWarning")
def test_a_matrix_of_a_traced_array_is_refused_as_such() -> None:
    with pytest.raises(TraceError, match=r"np.matrix of a traced array.*Use the array as it is, and @"):
        bl.jit(np.matrix)(X)
