"""Arguments that the gate accepts, converts and refuses, without leaks or crashes."""

import array
import gc
import subprocess
import sys
import threading
import weakref
from pathlib import Path
from types import BuiltinFunctionType

import numpy as np
import pytest

from burlab.compiler import build
from burlab.errors import ArgumentError, DTypeError, LayoutError, ShapeError
from burlab.runtime import gate
from tests.compiler.trace import traced

ROOT = Path(__file__).parents[2]
X = np.arange(6.0).reshape(2, 3)
DTYPES = ["float64", "float32", "int64", "int32", "bool"]


def opened(function, *examples, **options):
    """An executable whose next call goes through the gate: the first two make it."""
    exe = build(traced(function, *examples), **options)
    exe(*examples)
    exe(*examples)
    assert isinstance(exe.__call__, BuiltinFunctionType)
    return exe


@pytest.fixture(scope="module", params=["compiled", "replay"])
def double(request):
    return opened(lambda x: x + x, X, gear=request.param)


@pytest.fixture(scope="module")
def scalars():
    return opened(lambda a, b: (a * b, a - b), 1.0, 2.0)


def fresh():
    return build(traced(lambda x: x + x, X))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(), (0,), (1,), (5,), (2, 3), (2, 0, 3), (1, 1, 4)])
def test_every_dtype_and_shape(dtype, shape):
    x = (np.arange(np.prod(shape, dtype=int)).reshape(shape) % 2).astype(dtype)
    exe = build(traced(lambda x: np.where(x > 0, x, x), x), gear="replay")
    for _ in range(3):
        (y,) = exe(x)
        assert y.dtype == dtype
        assert y.shape == shape
        np.testing.assert_array_equal(y, x)


def test_first_calls_and_later_ones_agree():
    exe = fresh()
    results = [exe(X)[0] for _ in range(4)]
    assert all(np.array_equal(y, 2 * X) for y in results)
    assert len({y.ctypes.data for y in results}) == 4, "results must not share memory"


FITTING = {
    "read-only": lambda: np.frombuffer(X.tobytes()).reshape(2, 3),
    "strided": lambda: np.repeat(X, 2, axis=1)[:, ::2],
    "reversed": lambda: X[::-1, ::-1].copy()[::-1, ::-1],
    "Fortran": lambda: np.asfortranarray(X),
    "transposed": lambda: X.T.copy().T,
    "big-endian": lambda: X.astype(">f8"),
    "unaligned": lambda: np.frombuffer(b"x" + X.tobytes(), np.uint8)[1:].view("f8").reshape(2, 3),
    "memory map": lambda: X.view(np.memmap),
}


@pytest.mark.parametrize("make", FITTING.values(), ids=FITTING)
def test_gate_accepts_equivalent_inputs(make, double):
    value = make()
    for exe in (double, fresh()):
        np.testing.assert_array_equal(exe(value)[0], 2 * X)


WRONG = {
    "transposed shape": (X.T, ShapeError, r"x0 must have shape \(2, 3\), got \(3, 2\)"),
    "flat": (X.ravel(), ShapeError, "got \\(6,\\)"),
    "more axes": (X[None], ShapeError, "got \\(1, 2, 3\\)"),
    "scalar": (1.0, ShapeError, "got \\(\\)"),
    "empty": (np.empty((0, 3)), ShapeError, "got \\(0, 3\\)"),
    "float32": (X.astype("f4"), DTypeError, r"x0 must be float64, got float32.*astype\(np.float64\)"),
    "integers": (X.astype(int), DTypeError, "got int64"),
    "bool": (X > 0, DTypeError, "got bool"),
    "complex": (X.astype(complex), DTypeError, "complex128"),
    "long double": (X.astype("g"), DTypeError, "longdouble|float128"),
    "objects": (X.astype(object), DTypeError, "object"),
    "dates": (X.astype("M8[s]"), DTypeError, "datetime64"),
    "structured": (np.zeros((2, 3), [("a", "f8")]), DTypeError, "a"),
    "bytes": (X.tobytes(), DTypeError, "bytes"),
    "list": (X.tolist(), DTypeError, r"got list.*np.asarray"),
    "None": (None, DTypeError, "NoneType"),
    "text": ("x", DTypeError, "str"),
    "function": (len, DTypeError, "builtin_function_or_method"),
    "array.array": (array.array("f", [1.0] * 6), DTypeError, r"got array.*np.asarray"),
    "memoryview": (memoryview(X), DTypeError, r"got memoryview.*np.asarray"),
    "matrix": (X.view(np.matrix), DTypeError, r"x0 is a np.matrix.*np.asarray\(x\), and write @"),
    "masked": (np.ma.array(X, mask=X > 3), DTypeError, r"x0 is a masked array, whose mask would be lost.*filled"),
    "subclass": (X.view(type("Metres", (np.ndarray,), {})), DTypeError, r"Metres.*np.asarray\(x\)"),
}


@pytest.mark.parametrize(("value", "error", "words"), WRONG.values(), ids=WRONG)
def test_gate_error_names_expected_and_given(value, error, words, double):
    for exe in (double, fresh()):
        with pytest.raises(error, match=words):
            exe(value)


def test_wrong_number_of_arguments_and_unknown_keywords(double):
    for exe in (double, fresh()):
        for arguments in ((), (X, X)):
            with pytest.raises(ArgumentError, match=f"1 arrays were expected.*got {len(arguments)}"):
                exe(*arguments)
        with pytest.raises(TypeError, match="where"):
            exe(X, where=1)
        with pytest.raises(TypeError, match="where"):
            exe(X, out=None, where=1)


SCALARS = {
    "float": 3.0,
    "int": 3,
    "numpy scalar": np.float64(3),
    "0-d array": np.array(3.0),
    "big-endian 0-d": np.array(3.0, ">f8"),
}


@pytest.mark.parametrize("a", SCALARS.values(), ids=SCALARS)
def test_numbers(a, scalars):
    product, difference = scalars(a, 2.0)
    assert (product, difference) == (6.0, 1.0)
    assert type(product) is type(difference) is np.float64


@pytest.mark.parametrize("a", [np.float32(3), np.int64(3), True, 3j, [3.0], np.array([3.0]), "3", None, 10**400])
def test_numbers_that_do_not_fit(a, scalars):
    with pytest.raises((DTypeError, ShapeError)):
        scalars(a, 2.0)


@pytest.mark.parametrize("dtype", DTYPES)
def test_results_without_axes_are_numpy_scalars(dtype):
    exe = opened(lambda x: np.where(x > 0, x, x), np.ones((), dtype))
    value = np.zeros((), dtype)
    for given in (value, np.ones((), dtype), value.item(), np.dtype(dtype).type(1)):
        (y,) = exe(given)
        assert type(y) is np.dtype(dtype).type
        assert y == given


@pytest.mark.parametrize(("dtype", "number"), [("float32", 0.1), ("int32", 7), ("bool", True)])
def test_python_numbers_take_the_dtype_of_the_argument(dtype, number):
    exe = opened(lambda x: np.where(x > 0, x, x), np.ones((), dtype))
    assert exe(number)[0] == np.dtype(dtype).type(number)


def test_an_integer_that_does_not_fit_is_refused():
    exe = opened(lambda x: np.where(x > 0, x, x), np.ones((), "int32"))
    with pytest.raises(DTypeError, match="does not fit"):
        exe(2**40)


def test_out_is_written_and_returned(double, scalars):
    for exe in (double, fresh()):
        buffer = np.empty_like(X)
        (y,) = exe(X, out=buffer)
        assert y is buffer
        np.testing.assert_array_equal(buffer, 2 * X)
        buffer[:] = 0
        assert exe(X, out=(buffer,))[0] is buffer
        assert buffer[1, 2] == 10
    pair = np.empty(()), np.empty(())
    assert scalars(3.0, 2.0, out=pair)[1] is pair[1]
    assert [y.item() for y in pair] == [6.0, 1.0]


READ_ONLY = np.empty((2, 3))
READ_ONLY.flags.writeable = False
BAD_OUT = {
    "read-only": (READ_ONLY, LayoutError, "read-only"),
    "strided": (np.empty((2, 6))[:, ::2], LayoutError, "contiguous"),
    "Fortran": (np.empty((3, 2)).T, LayoutError, "contiguous"),
    "big-endian": (np.empty((2, 3), ">f8"), LayoutError, "byte order"),
    "unaligned": (np.empty(49, np.uint8)[1:].view("f8").reshape(2, 3), LayoutError, "aligned"),
    "dtype": (np.empty((2, 3), "f4"), DTypeError, "float64, got float32"),
    "shape": (np.empty((3, 2)), ShapeError, r"\(2, 3\), got \(3, 2\)"),
    "list": ([[0.0] * 3] * 2, LayoutError, "list"),
    "too many": ((np.empty((2, 3)), np.empty((2, 3))), ArgumentError, "1 arrays were expected"),
    "masked": (np.ma.array(np.empty((2, 3)), mask=X > 3), DTypeError, "out for result 0 is a masked array"),
    "none in a tuple": ((None,), LayoutError, "NoneType"),
    "no buffers": ((), ArgumentError, "got 0"),
}


@pytest.mark.parametrize(("out", "error", "words"), BAD_OUT.values(), ids=BAD_OUT)
def test_out_that_cannot_be_written_is_refused(out, error, words, double):
    for exe in (double, fresh()):
        with pytest.raises(error, match=words):
            exe(X, out=out)


def test_out_must_not_overlap(double):
    memory = np.arange(12.0)
    x, shifted = memory[:6].reshape(2, 3), memory[3:9].reshape(2, 3)
    two = opened(lambda x: (x + x, x * x), X)
    for exe, out in ((double, x), (double, shifted), (two, (shifted, memory[6:].reshape(2, 3)))):
        with pytest.raises(LayoutError, match="overlap"):
            exe(x, out=out)
    assert double(x, out=memory[6:].reshape(2, 3))[0][1, 2] == 10


def test_arguments_may_be_the_same_array(scalars):
    exe = opened(lambda a, b: a + b, X, X)
    np.testing.assert_array_equal(exe(X, X)[0], 2 * X)


def test_more_arguments_than_the_gate_has_room_for():
    exe = build(traced(lambda *xs: sum(xs[1:], xs[0]), *map(float, range(300))), gear="replay")
    for _ in range(3):
        assert exe(*map(float, range(300))) == (sum(range(300)),)


def test_no_outputs_and_no_inputs():
    exe = build(traced(lambda x: (), X), gear="replay")
    assert [exe(X) for _ in range(3)] == [(), (), ()]
    exe = build(traced(lambda: np.ones(2)))
    assert [exe()[0].tolist() for _ in range(3)] == [[1.0, 1.0]] * 3


def test_outputs_that_are_inputs_constants_and_twice():
    exe = opened(lambda x: (x, x, x.T, 2.0, x + x, x[0]), X)
    y = exe(X)
    for a, b in zip(y, (X, X, X.T, 2.0, 2 * X, X[0]), strict=True):
        np.testing.assert_array_equal(a, b)
    y[0][:] = -1
    assert X[0, 0] == 0
    assert y[1][0, 0] == 0


def growth(gear):
    """References and blocks of memory that 200 rounds of calls, right and wrong, leave behind."""
    double = opened(lambda x: x + x, X, gear=gear)
    x, buffer, bad = X.copy(), np.empty_like(X), np.ones(3)
    held = (x, buffer, bad, X.dtype, float)

    def call(rounds):
        for _ in range(rounds):
            double(x), double(x, out=buffer), double(x, out=(buffer,))
            for wrong in ({}, {"out": buffer}, {"out": bad}):
                with pytest.raises(ShapeError):
                    double(bad, **wrong)
            with pytest.raises(ShapeError):
                double(x, out=bad)
        gc.collect()

    call(20)
    before, blocks = [sys.getrefcount(v) for v in held], sys.getallocatedblocks()
    call(200)
    after = [sys.getrefcount(v) for v in held]
    return [*(a - b for a, b in zip(after, before, strict=True)), sys.getallocatedblocks() - blocks]


@pytest.mark.parametrize("gear", ["compiled", "replay"])
def test_arguments_and_results_are_not_leaked(gear):
    """In a process of its own: in this one, others hold dtypes and types too, and let them go when they like."""
    program = f"from tests.compiler.test_gate import growth; print(*growth({gear!r}))"
    said = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    *references, blocks = map(int, said.split())
    assert all(abs(n) <= 2 for n in references), references
    assert blocks < 100


def test_an_executable_dies_with_its_last_handle_and_its_call_lives_on_its_own():
    exe = opened(lambda x: x * x + np.arange(3.0), X)
    gone = weakref.ref(exe)
    call = exe.__call__
    del exe
    gc.collect()
    assert gone() is None
    np.testing.assert_array_equal(call(X)[0], X * X + np.arange(3.0))
    np.testing.assert_array_equal(call(X[:, ::-1])[0], X[:, ::-1] ** 2 + np.arange(3.0))


@pytest.mark.parametrize("size", [50, 40_000], ids=["with the lock", "without"])
def test_threads_may_call_one_executable_at_once(size):
    exe = opened(lambda x: np.sum(np.cumsum(x * x)[::2] + x[::2]) + x * 2.0, np.zeros(size))
    wrong = []

    def work(seed):
        x = np.random.default_rng(seed).normal(size=size)
        expected = np.sum(np.cumsum(x * x)[::2] + x[::2]) + x * 2
        for _ in range(20):
            (y,) = exe(x)
            if not np.allclose(y, expected, rtol=1e-11, atol=1e-9):
                wrong.append(seed)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_a_callable_outlives_the_memory_of_its_maker():
    # Threads that make the first callable together each make a method of CPython; the one forgotten must not be freed.
    gate._method.cache_clear()
    exe = opened(lambda x: x + x, X)
    method = weakref.ref(gate._method())
    gate._method.cache_clear()
    gc.collect()
    assert method() is not None
    assert np.array_equal(exe(X)[0], X + X)
