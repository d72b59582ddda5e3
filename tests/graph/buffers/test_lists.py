"""Lists of traced values where NumPy takes an array_like: values as NumPy's, derivatives as of the array."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy import maximum, mean

import burlab as bl
from tests.engines import assert_close
from tests.graph.buffers.programs import traced

X, Y = 0.3, 0.7
V = np.array([0.25, -1.5, 2.0])
TABLE = np.array([0.5, 1.5, -2.0, 4.0])

FORMS: dict[str, Callable[[Any, Any, Any, Any], Any]] = {
    "sum": lambda a, x, y, v: np.sum(a(x, y)),
    "keyword": lambda a, x, y, v: np.mean(a=a(x, y, x * y), keepdims=True),
    "bare name": lambda a, x, y, v: mean(a(x, y)),
    "max": lambda a, x, y, v: np.max(a(x, y)) + np.amin(a(y, x)),
    "sort": lambda a, x, y, v: np.sort(a(y, x, x * y)),
    "median": lambda a, x, y, v: np.median(a(y, x, x * y)) + np.ptp(a(x, y)) + np.var(a(x, y), ddof=1),
    "nested": lambda a, x, y, v: np.sum(a(a(x, y), a(y, 2.0)), axis=0),
    "arrays": lambda a, x, y, v: np.mean(a(v, v * v), axis=1),
    "clip": lambda a, x, y, v: np.clip(a(x, y), 0, 0.5),
    "interp": lambda a, x, y, v: np.interp(a(x, y), [0.0, 1.0], a(x, 3.0)),
    "where": lambda a, x, y, v: np.where(a(x > y, True), a(x, y), 0.0),
    "linalg": lambda a, x, y, v: np.linalg.solve(a(a(x, y), [1.0, 2.0]), a(x, 1.0)) * np.linalg.det([a(x, y), v[1:]]),
    "norm": lambda a, x, y, v: np.linalg.norm(a(x, y), ord=3),
    "fft": lambda a, x, y, v: np.fft.fft(a(x, y, 1.0)).real,
    "complex": lambda a, x, y, v: np.abs(np.sum([x + 1j * y, 2.0 * y])),
    "ufunc": lambda a, x, y, v: np.add(np.maximum(a(x, y), a(y, x)), maximum(np.exp(a(x, y)), 1.2)),
    "ufunc.reduce": lambda a, x, y, v: np.maximum.reduce(np.multiply.outer([1.0, 2.0], a(x, y))),
    "comparison": lambda a, x, y, v: np.greater(a(x, y), 0.5) * x + np.isfinite(a(x, y)),
    "polynomial": lambda a, x, y, v: np.polyval(a(x, y, 1.0), 2.0) * np.average([1.0, 2.0], weights=a(x, y)),
    "concatenate": lambda a, x, y, v: np.concatenate([a(x, y), v, [1.0]]),
    "stack": lambda a, x, y, v: np.vstack([a(x, y), [1.0, 2.0]]),
    "select": lambda a, x, y, v: np.select([v > 1, v > 0], a(v, v * v), default=x),
    "take": lambda a, x, y, v: np.take(TABLE, np.argmax(v)) * v + np.take([1.0, 3.0, 2.0], np.argsort(v)),
    "initial": lambda a, x, y, v: np.sum(TABLE, initial=x) + np.max(TABLE[:1], initial=y),
    "pad": lambda a, x, y, v: np.pad(TABLE, 1, constant_values=x),
    "windows": lambda a, x, y, v: np.lib.stride_tricks.sliding_window_view(a(x, y, x * y, 2.0), 2),
    "windows of matrices": lambda a, x, y, v: np.lib.stride_tricks.sliding_window_view(np.outer(v, v), (2, 3)),
    "windows along": lambda a, x, y, v: np.lib.stride_tricks.sliding_window_view(np.outer(v, v), 2, axis=0),
    "r_": lambda a, x, y, v: np.r_[x, v, 1.0, a(x, y), 0:3],
    "r_ alone": lambda a, x, y, v: np.r_[v],
    "r_ with places": lambda a, x, y, v: np.r_["0,2", v, [1.0, 2.0, 3.0]],
    "r_ with columns": lambda a, x, y, v: np.r_["1,2,0", v, TABLE[:3]],
    "r_ along": lambda a, x, y, v: np.r_["-1", np.outer(v, v), np.ones((3, 1))],
    "r_ complex": lambda a, x, y, v: np.real(np.r_[1j * v * x, 2.0]),
    "c_": lambda a, x, y, v: np.c_[a(x, y), [1.0, 2.0]],
    "c_ of vectors": lambda a, x, y, v: np.c_[v, v * x, TABLE[:3], np.outer(v, v)],
    "c_ of numbers": lambda a, x, y, v: np.c_[x, y],
}  # fmt: skip


def tuples(*items: Any) -> Any:
    return items


def lists(*items: Any) -> Any:
    return [*items]


def whole(join: Any, x: Any, y: Any, v: Any) -> dict[str, Any]:
    return {name: form(join, x, y, v) for name, form in FORMS.items()}


def total(join: Any, x: Any, y: Any, v: Any) -> Any:
    values = whole(join, x, y, v).values()
    return sum(np.sum(np.sin((k + 1.0) * value)) for k, value in enumerate(values))


@pytest.mark.parametrize("join", [lists, tuples])
def test_joined_lists_equal_numpy(join: Any) -> None:
    got, wanted = traced(lambda x, y, v: whole(join, x, y, v), X, Y, V), whole(join, X, Y, V)
    for name, value in wanted.items():
        assert np.shape(got[name]) == np.shape(value), name
        np.testing.assert_allclose(got[name], np.asarray(value, float), rtol=1e-13, atol=1e-14, err_msg=name)


def test_derivatives_are_those_of_arrays() -> None:
    def slopes(join: Any) -> Any:
        return traced(bl.grad(lambda x, y, v: total(join, x, y, v), (0, 1, 2)), X, Y, V)

    assert_close(slopes(lists), slopes(lambda *items: np.array([*items])), 1e-12)


def test_dtypes_are_numpys() -> None:
    v = V.astype(np.float32)
    got = traced(lambda v: (np.r_[v, 1.0], np.c_[v, v], np.sum([v, v]), np.r_[v, 1]), v)
    for a, b in zip(got, (np.r_[v, 1.0], np.c_[v, v], np.sum([v, v]), np.r_[v, 1]), strict=True):
        assert a.dtype == b.dtype


def test_unsupported_joins_raise() -> None:
    with pytest.raises(bl.errors.TraceError, match=r"np\.concatenate"):
        traced(lambda v: np.r_["r", v, v], V)
    with pytest.raises(bl.errors.ShapeError, match="equal shapes"):
        traced(lambda x, v: np.sum([v, x]), X, V)


def test_numpy_functions_are_restored_after_tracing() -> None:
    before = [np.sum, np.maximum, np.linalg.det, np.fft.fft, np.r_, np.c_]

    def f(x: Any) -> Any:
        assert np.sum is not before[0]
        assert isinstance(np.maximum, np.ufunc)
        assert np.maximum.nin == 2
        assert np.r_[1.0, 2.0].tolist() == [1.0, 2.0]
        assert len(np.c_) == 0
        return 1 / 0 if x is None else np.max([x, 1.0])

    traced(f, X)
    with pytest.raises(ZeroDivisionError):
        traced(f, None)
    assert all(
        a is b for a, b in zip(before, [np.sum, np.maximum, np.linalg.det, np.fft.fft, np.r_, np.c_], strict=True)
    )
