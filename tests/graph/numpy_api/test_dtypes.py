"""Dtypes follow NumPy's promotion, and float32 that widens is warned of once."""

import itertools
import operator
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import burlab as bl
from burlab.errors import DTypeError
from burlab.graph.numpy_api.promotion import PrecisionWarning
from burlab.graph.tracing.trace import trace
from burlab.runtime.dtypes import computed_in
from tests.engines import GEARS

DTYPES = ("float32", "float64", "int32", "int64", "bool")
ARRAYS = {name: np.array([[1, 2], [1, 1]]).astype(name) for name in DTYPES}
SCALARS: dict[str, Any] = {
    "2": 2, "2.5": 2.5, "True": True, "np.float32": np.float32(2.5), "np.float64": np.float64(2.5),
    "np.int32": np.int32(2), "np.int64": np.int64(2), "0-d float64": np.array(2.5), "0-d int64": np.array(2),
}  # fmt: skip
BINARY: dict[str, Callable[..., Any]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "**": operator.pow,
    "<": operator.lt, "==": operator.eq, "maximum": np.maximum, "arctan2": np.arctan2, "@": operator.matmul,
    "where": lambda a, b: np.where(ARRAYS["bool"], a, b), "concatenate": lambda a, b: np.concatenate([a, b]),
    "stack": lambda a, b: np.stack([a, b]), "dot": np.dot, "einsum": lambda a, b: np.einsum("ij,jk->ik", a, b),
    "clip": lambda a, b: np.clip(a, b, 3),
}  # fmt: skip
UNARY: dict[str, Callable[..., Any]] = {
    name: getattr(np, name)
    for name in "negative abs sqrt square exp sign sin tanh isfinite sum mean max min prod var std cumsum argmax any"
    " all ravel transpose zeros_like ones_like count_nonzero".split()
}
UNARY |= {"norm": np.linalg.norm, "x ** 2": lambda x: x**2, "x ** 0.5": lambda x: x**0.5}
UNARY["reciprocal"] = np.reciprocal
UNARY |= {"sum float32": lambda x: np.sum(x, dtype="f4")}


def dtype_or_error(f: Callable[..., Any], *args: Any) -> Any:
    """NumPy's dtype, or that it refuses."""
    try:
        return computed_in(np.asarray(f(*args)).dtype)  # float32 stands for float16, of functions of masks
    except TypeError:
        return "refused"


def traced_dtype(f: Callable[..., Any], *args: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrecisionWarning)
        try:
            return trace(f, args).graph.outputs[0].dtype
        except TypeError:
            return "refused"


@pytest.mark.parametrize("op", BINARY)
def test_arrays_promote_as_in_numpy(op: str) -> None:
    f = BINARY[op]
    for a, b in itertools.product(DTYPES, repeat=2):
        if op in ("@", "dot", "einsum") and a == b == "bool":
            continue  # refused here: a matrix product of masks is hardly meant
        args = ARRAYS[a], ARRAYS[b]
        assert traced_dtype(f, *args) == dtype_or_error(f, *args), (a, op, b)


@pytest.mark.parametrize("op", ["+", "-", "*", "/", "**", "<", "maximum", "where"])
def test_scalars_promote_as_in_numpy(op: str) -> None:
    """Python's numbers are weak; NumPy's, of whatever shape, are not."""
    f = BINARY[op]
    for dtype, (name, scalar) in itertools.product(DTYPES, SCALARS.items()):
        array = ARRAYS[dtype]
        for g in (lambda x, s=scalar: f(x, s), lambda x, s=scalar: f(s, x)):
            assert traced_dtype(g, array) == dtype_or_error(g, array), (dtype, op, name)


@pytest.mark.parametrize("op", UNARY)
def test_functions_keep_dtypes_as_numpy_does(op: str) -> None:
    for dtype in DTYPES[: 4 if op == "sign" else 5]:
        assert traced_dtype(UNARY[op], ARRAYS[dtype]) == dtype_or_error(UNARY[op], ARRAYS[dtype]), dtype


def test_a_python_float_argument_is_weak() -> None:
    """So a learning rate does not widen float32 parameters; a np.float64 is an array and does."""
    x = np.ones(3, np.float32)
    assert bl.jit(lambda x, rate: x * rate)(x, 0.1).dtype == np.float32
    with pytest.warns(PrecisionWarning):
        assert bl.jit(lambda x, rate: x * rate)(x, np.float64(0.1)).dtype == np.float64


@pytest.mark.parametrize("gear", GEARS)
def test_float32_stays_float32_through_value_and_gradient(gear: str) -> None:
    def loss(p: Any, x: Any) -> Any:
        h = np.tanh(x @ p["w"] + p["b"]) / 3 * 0.5
        return (
            np.mean((h - np.mean(h)) ** 2)
            + np.max(h)
            + np.linalg.norm(h)
            + bl.logsumexp(h)
            + np.sum(np.where(h > 0, h, 0))
        )

    p = {"w": np.ones((4, 2), np.float32), "b": np.ones(2, np.float32)}
    value, gradient = bl.compile(loss, p, np.ones((3, 4), np.float32), gear=gear).value_and_grad(
        p, np.ones((3, 4), np.float32)
    )
    assert value.dtype == gradient["w"].dtype == gradient["b"].dtype == np.float32


def test_gradient_has_the_dtype_of_its_argument() -> None:
    """Also where the computation is of another dtype: x is float32, y float64."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrecisionWarning)
        gx, gy = bl.grad(lambda x, y: np.sum(x * y), (0, 1))(np.ones(2, np.float32), np.ones(2))
    assert (gx.dtype, gy.dtype) == (np.float32, np.float64)
    assert bl.grad(lambda x: (x.astype(np.float32) ** 2).sum())(np.array([0.1])).dtype == np.float64


WIDENING = (
    lambda x: x / np.sqrt(4),
    lambda x: np.zeros(3) + x,
    lambda x: x * np.arange(3),
)


@pytest.mark.parametrize("widen", WIDENING)
def test_widening_is_warned_of_once_with_the_users_line(widen: Callable[..., Any]) -> None:
    x = np.ones(3, np.float32)
    with pytest.warns(
        PrecisionWarning, match=rf'test_dtypes.py", line {widen.__code__.co_firstlineno}: a float32'
    ) as caught:
        trace(widen, (x,))
    assert caught[0].filename == __file__
    assert caught[0].lineno == widen.__code__.co_firstlineno
    trace(widen, (x,))  # a second warning would be an error


def test_float16_is_widened_and_foreign_dtypes_are_refused() -> None:
    assert trace(lambda x: x, (np.ones(2, np.float16),)).graph.outputs[0].dtype == np.float32
    assert bl.jit(lambda x: x + 1)(np.ones(2, np.int16)).tolist() == [2, 2]
    assert bl.jit(lambda x: x * 2)(np.ones(2, ">f8")).tolist() == [2, 2]
    for dtype in ("U3", object, "datetime64[s]", np.longdouble):
        with pytest.raises(DTypeError, match=r"argument x has dtype .* can be traced"):
            bl.jit(lambda x: x)(np.zeros(2).astype(dtype))


def test_python_integers_that_do_not_fit_are_refused_as_in_numpy() -> None:
    with pytest.raises(DTypeError, match="met an array of int32, which cannot hold it"):
        trace(lambda x: x + 2**40, (np.ones(2, np.int32),))
    assert bl.jit(lambda x: x + 2**40)(np.array([1])).tolist() == [2**40 + 1]


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_whole_numbers_stay_whole(dtype: Any) -> None:
    x = np.array([[1, -1], [3, 2**40 if dtype is np.int64 else 2**14]], dtype)
    for f in (np.reciprocal, lambda a: np.linalg.matrix_power(a, 1), lambda a: np.linalg.matrix_power(a[:, ::-1], 2)):
        got, wanted = bl.compile(f, x, gear="replay")(x), f(x)
        assert got.dtype == wanted.dtype
        np.testing.assert_array_equal(got, wanted)
