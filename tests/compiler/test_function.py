"""Functions and kernels that call the gate themselves: the same results, errors and dispatch as on the long way."""

import gc
import tracemalloc
import weakref
from types import BuiltinFunctionType

import numpy as np
import pytest

import burlab as bl
from burlab.compiler.function import Function
from burlab.errors import ArgumentError, BurlabError, DTypeError, LayoutError, ShapeError, TraceError

X = np.linspace(-1, 2, 5)


def calls_the_gate(function):
    return isinstance(function.__call__, BuiltinFunctionType)


def rosenbrock(x):
    return np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def test_the_gate_answers_from_the_third_call_on():
    g = bl.grad(lambda x: rosenbrock(x) * 1.0)
    results = []
    for expected in (False, False, True, True):
        results.append(g(X))
        assert calls_the_gate(g) == expected or expected is False
    assert calls_the_gate(g)
    assert all(np.array_equal(y, results[0]) for y in results)


def test_other_shapes_and_dtypes_find_their_kernel_and_back():
    g = bl.grad(lambda x: rosenbrock(x) * 1.0)
    for _ in range(3):
        g(X)
    expected = g(X)
    for other in (np.linspace(0, 1, 9), X.astype("f4"), X[::-1], X.astype(">f8"), list(X)[0:1] * 0 or X):
        assert g(other).shape == np.shape(other)
        assert g(other).dtype == (np.float32 if other.dtype == np.float32 else np.float64)
        np.testing.assert_array_equal(g(X), expected)


def test_floats_and_numpy_scalars_keep_their_own_kernels():
    f = bl.jit(lambda a, x: a * x)
    x = np.ones(3, np.float32)
    for _ in range(4):
        assert f(2.0, x).dtype == np.float32
    with pytest.warns(UserWarning, match="float32"):
        assert f(np.float64(2.0), x).dtype == np.float64  # NumPy's own rule: a strong scalar widens
    for _ in range(4):
        assert f(2.0, x).dtype == np.float32
    assert f(np.float64(2.0), x).dtype == np.float64


@pytest.mark.parametrize(
    "nest", [lambda v: v, lambda v: (v,), lambda v: (v, (v * 2, v * 3)), lambda v: ((), (v,)), lambda v: {"a": v}]
)
def test_results_are_nested_as_the_function_nests_them(nest):
    f = bl.jit(lambda x: nest(x * 2.0))
    expected = nest(X * 2)
    for _ in range(4):
        got = f(X)
        assert type(got) is type(expected)
        np.testing.assert_equal(got, expected)


def test_value_and_grad_of_numbers():
    vg = bl.value_and_grad(lambda a, b: 100 * (b - a * a) ** 2 + (1 - a) ** 2, argnums=(0, 1))
    for _ in range(4):
        value, (da, db) = vg(-1.2, 1.0)
    assert calls_the_gate(vg)
    np.testing.assert_allclose([value, da, db], [24.2, -215.6, -88.0])


def test_inside_a_trace_it_is_its_graph():
    inner = bl.grad(lambda x: np.sum(x**3))
    for _ in range(4):
        inner(X)
    assert calls_the_gate(inner)
    np.testing.assert_allclose(bl.grad(lambda x: np.sum(inner(x)))(X), 6 * X)


def test_an_argument_called_out_is_the_functions_own():
    f = bl.jit(lambda x, out: x * out)
    for _ in range(4):
        np.testing.assert_array_equal(f(X, 2.0), 2 * X)
    assert calls_the_gate(f)
    np.testing.assert_array_equal(f(X, out=3.0), 3 * X)
    np.testing.assert_array_equal(f(x=X, out=np.full(5, 2.0)), 2 * X)


def test_errors_are_those_of_the_first_call():
    f = bl.jit(lambda x, i: x[i])
    for bad in range(3):
        f(X, np.array([0, 1]))
        with pytest.raises(IndexError, match=r"test_function\.py"):
            f(X, np.array([0, 5 + bad]))
    assert calls_the_gate(f)
    with pytest.raises(BurlabError):
        f(X.astype(np.longdouble), np.array([0, 1]))
    with pytest.raises(TypeError):
        f(X)


def test_kernels_too():
    k = bl.compile(rosenbrock, X)
    for _ in range(4):
        value, gradient = k.value_and_grad(X)
        assert k(X) == value
    assert calls_the_gate(k)
    assert isinstance(k.value_and_grad, BuiltinFunctionType)
    buffer = np.empty(5), np.empty(())
    k.value_and_grad(X, out=(buffer[1], buffer[0]))
    np.testing.assert_array_equal(buffer[0], gradient)
    for bad in (X[:3], X.astype("f4"), "x"):
        with pytest.raises(BurlabError):
            k(bad)


def test_functions_are_freed():
    g = Function(lambda x: x * 3.0)  # not bl.jit, which remembers what it made
    for _ in range(4):
        g(X)
    assert calls_the_gate(g)
    gone = weakref.ref(g)
    del g
    gc.collect()
    assert gone() is None


SCALE = 2.0
TABLE = np.array([1.0, 2.0, 3.0, 4.0, 5.0])


def scaled(x):
    return np.sum(helper(x) * TABLE)


def helper(x):
    return SCALE * x


def test_gate_checks_captured_values(monkeypatch):
    g = bl.grad(scaled)
    for _ in range(4):
        np.testing.assert_array_equal(g(X), 2 * TABLE)
    assert calls_the_gate(g)
    changes = [
        lambda: monkeypatch.setitem(globals(), "SCALE", 3.0),
        lambda: monkeypatch.setitem(globals(), "helper", lambda x: SCALE * x * x),
        lambda: monkeypatch.setitem(globals(), "TABLE", TABLE * 10),
        lambda: TABLE.__setitem__(2, -1.0),
        lambda: monkeypatch.setitem(globals(), "SCALE", np.float64(-1.0)),
    ]
    for change in changes:
        change()
        expected = jacobian_by_differences(scaled)
        for _ in range(4):
            np.testing.assert_allclose(g(X), expected, rtol=1e-6, atol=1e-6)
        assert calls_the_gate(g)


def jacobian_by_differences(f):
    return np.array([(f(X + e) - f(X - e)) / 2e-6 for e in 1e-6 * np.eye(X.size)])


def test_closure_cells_are_watched():
    def make():
        factor = 2.0

        def set_factor(value):
            nonlocal factor
            factor = value

        return bl.jit(lambda x: x * factor), set_factor

    f, set_factor = make()
    for value in (2.0, 5.0, 7, 5.0):
        set_factor(value)
        for _ in range(4):
            np.testing.assert_array_equal(f(X), X * value)
        assert calls_the_gate(f)


@pytest.mark.parametrize("holder", [[3.0], {"a": 3.0}, (np.ones(5), [3.0])], ids=["list", "dict", "nested"])
def test_gate_checks_values_inside_containers(holder):
    def read():
        return holder["a"] if isinstance(holder, dict) else holder[-1][0] if isinstance(holder, tuple) else holder[0]

    def write(value):
        target = holder[-1] if isinstance(holder, tuple) else holder
        target["a" if isinstance(holder, dict) else 0] = value

    f = bl.jit(lambda x: x * read())
    for value in (3.0, 4.0):
        write(value)
        for _ in range(4):
            np.testing.assert_array_equal(f(X), X * value)
        assert calls_the_gate(f)


def test_an_object_may_hide_an_attribute_of_its_class():
    class Model:
        scale = 2.0

        def __call__(self, x):
            return np.sum(x) * self.scale

    model = Model()
    g = bl.grad(model)
    for scale in (2.0, 3.0):
        if scale != Model.scale:
            model.scale = scale
        for _ in range(4):
            np.testing.assert_array_equal(g(X), np.full(5, scale))


def test_arrays_in_tuples_are_watched():
    tables = (np.ones(5), 2.0)
    f = bl.jit(lambda x: x * tables[0] * tables[1])
    for value in (1.0, 6.0):
        tables[0][:] = value
        for _ in range(4):
            np.testing.assert_array_equal(f(X), X * value * 2)
        assert calls_the_gate(f)


GRAD = bl.grad(lambda x: np.sum(x**3))


def test_out_is_written_and_returned_by_every_transform():
    out, pair = np.empty(5), (np.empty(()), np.empty(5))
    square, both = bl.jit(lambda x: x * x), bl.value_and_grad(rosenbrock)
    for k in range(1, 5):  # the third call and later ones go through the gate
        x = X * k
        assert square(x, out=out) is out
        np.testing.assert_array_equal(out, x * x)
        assert GRAD(x, out=out) is out
        np.testing.assert_array_equal(out, 3 * x**2)
        value, gradient = both(x, out=pair)
        assert value is pair[0]
        assert gradient is pair[1]
        np.testing.assert_array_equal(pair[1], both(x)[1])
        assert pair[0] == both(x)[0]
    assert calls_the_gate(square)
    assert calls_the_gate(both)
    np.testing.assert_array_equal(bl.jit(np.sin)(X, out=out), np.sin(X))
    np.testing.assert_array_equal(square(X, out=None), X * X)


def test_out_has_the_structure_of_the_result():
    f = bl.jit(lambda p: {"b": [p["w"] * 2, np.sum(p["w"])], "a": (p["w"] + 1,)})
    out = {"b": [np.empty(5), np.empty(())], "a": (np.empty(5),)}
    for _ in range(3):
        assert f({"w": X}, out=out) is out
    np.testing.assert_array_equal(out["b"][0], 2 * X)
    assert out["b"][1] == np.sum(X)
    np.testing.assert_array_equal(out["a"][0], X + 1)
    with pytest.raises(DTypeError, match=r"out for the result\['b'\]\[0\] must be float64, got float32"):
        f({"w": X}, out=out | {"b": [np.empty(5, np.float32), np.empty(())]})


@pytest.mark.parametrize("calls", [0, 3])
@pytest.mark.parametrize(
    ("out", "error", "words"),
    [
        (lambda _: np.empty(4), ShapeError, r"out for the result must have shape \(5,\), got \(4,\)"),
        (lambda _: np.empty(5, np.float32), DTypeError, "out for the result must be float64, got float32"),
        (lambda _: np.broadcast_to(np.empty(5), 5), LayoutError, "read-only"),
        (lambda _: np.empty(10)[::2], LayoutError, "not contiguous"),
        (lambda _: (np.empty(5),), ArgumentError, r"out is the tree \(\*,\), but the result is an array or number"),
        (lambda _: [np.empty(5), np.empty(5)], ArgumentError, r"out is the tree \[\*, \*\]"),
        (lambda _: 3.0, LayoutError, "must be a NumPy array"),
        (lambda x: x, LayoutError, "must not overlap an argument"),
        (lambda x: x[::-1][::-1], LayoutError, "must not overlap an argument"),
    ],
)
def test_out_that_does_not_fit_is_refused(calls, out, error, words):
    x = X.copy()
    f = bl.grad(lambda x: np.sum(np.sin(x)))
    for _ in range(calls):
        f(x)
    with pytest.raises(error, match=words):
        f(x, out=out(x))
    np.testing.assert_array_equal(x, X)


def test_a_pair_of_out_may_not_overlap_and_a_tuple_of_one_stays_one():
    both, one, buffer = bl.value_and_grad(rosenbrock), bl.jit(lambda x: (x + 1,)), np.empty(6)
    for _ in range(4):
        with pytest.raises(LayoutError, match="must not overlap"):
            both(X, out=(buffer[0:1].reshape(()), buffer[:5]))
        with pytest.raises(ArgumentError, match="out is an array or number"):
            one(X, out=buffer[:5])
        assert one(X, out=(buffer[:5],))[0].base is buffer


def test_out_inside_of_a_trace_is_refused():
    with pytest.raises(TraceError, match="has no memory"):
        bl.jit(lambda x: GRAD(x, out=np.empty(5)))(X)


def test_out_allocates_no_array():
    x, out = np.ones(300_000), np.empty(300_000)
    f = bl.grad(lambda x: np.sum(np.sin(x) * np.cumsum(x)))  # the sum is stored: a workspace
    for _ in range(3):
        f(x, out=out)
    tracemalloc.start()
    try:
        f(x, out=out)
        assert tracemalloc.get_traced_memory()[1] < 20_000
    finally:
        tracemalloc.stop()
