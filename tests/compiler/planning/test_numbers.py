"""A known number is an argument of compiled code: with another one nothing is compiled, and no bit is another."""

import gc
from typing import Any

import numpy as np
import pytest

import burlab as bl
from burlab import runtime
from burlab.compiler.executable import _build
from burlab.compiler.function import Program
from burlab.compiler.ir.options import PlanOptions
from burlab.compiler.planning.number_table import numbers_in
from burlab.graph.rewrite.simplify import simplify
from burlab.graph.tracing.trace import trace

pytestmark = pytest.mark.filterwarnings("ignore:.*a float32 array met a float64 one")
X = np.array([0.3, -1.2, 0.7, 2.1, -0.4])

FORMS: dict[str, Any] = {  # of an array and a number
    "a factor": lambda x, c: np.sum(np.tanh(x * c)),
    "a summand": lambda x, c: np.sum((x + c) ** 2),
    "a divisor": lambda x, c: np.sum(np.exp(-x * x / c)),
    "a dividend": lambda x, c: np.sum(c / (1.0 + x * x)),
    "a bound": lambda x, c: np.sum(np.maximum(x, c) * x),
    "a comparison": lambda x, c: np.sum(np.where(x > c, x * x, x)),
    "a number of one element": lambda x, c: x[0] * c + np.sin(c * x[1]) / c,
    "a number in a matrix": lambda x, c: np.sum((np.outer(x, x) + c * np.eye(5)) @ x),
    "a row": lambda x, c: np.sum(bl.softmax(x * c) * x),
    "a fill": lambda x, c: np.sum(np.full(5, c) * x),
    "a part of control flow": lambda x, c: bl.scan(lambda s, e: (s * c + e, s), c * x[0], x)[0],
    "a branch": lambda x, c: bl.cond(x[0] > c, lambda x: np.sum(x * c), lambda x: np.sum(x * x * c), x),
    "a NumPy number": lambda x, c: np.sum(x * np.float64(c)) + np.sum(np.array([c, 2 * c]) * x[:2]),
    "a polynomial": lambda x, c: np.sum(((c * x + 0.3) * x + 0.7 * c) * x),
}
TRANSFORMS: dict[str, Any] = {
    "value": bl.jit,
    "gradient": bl.grad,
    "second derivative": bl.hessian,
    "rows": lambda f: lambda x: bl.vmap(bl.grad(f))(np.stack([x, x + 0.1])),
}


def compiled_by(run):
    """Return the texts that a call compiles, and its result."""
    before = len(runtime.declared())
    result = run()
    return len(runtime.declared()) - before, result


@pytest.mark.parametrize("transform", ["gradient", "rows"])
@pytest.mark.parametrize("name", FORMS)
def test_another_number_compiles_nothing(name, transform):
    f, of = FORMS[name], TRANSFORMS[transform]
    for k, c in enumerate((0.37, 0.41, 3.25)):
        count, result = compiled_by(lambda c=c: of(lambda x: f(x, c))(X))
        assert k == 0 or count == 0
        strict = bl.compile(lambda x, c=c: f(x, c), X, gear="replay", strict=True).value_and_grad(X)[1]
        given = result[0] if transform == "rows" else result
        np.testing.assert_allclose(given, strict, rtol=1e-13, atol=1e-15)


@pytest.mark.full  # every transform
@pytest.mark.parametrize("transform", TRANSFORMS)
@pytest.mark.parametrize("name", FORMS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_another_number_compiles_nothing_in_any_transform(name, transform, dtype):
    f, of, x = FORMS[name], TRANSFORMS[transform], X.astype(dtype)
    for k, c in enumerate((0.37, 0.41, -3.25, 1e-3)):
        count, _ = compiled_by(lambda c=c: of(lambda x: f(x, c))(x))
        assert k == 0 or count == 0


def test_the_number_of_one_function_may_change():
    c = 0.31
    gradient = bl.grad(lambda x: np.sum(np.sin(x * c)))
    gradient(X)
    for c in (0.32, 0.33, 7.7):
        count, given = compiled_by(lambda: gradient(X))
        assert count == 0
        np.testing.assert_allclose(given, c * np.cos(X * c), rtol=1e-14)


def test_runs_and_sums_over_samples_compile_nothing_new():
    rng = np.random.default_rng(0)
    data = rng.normal(size=(40, 5)), rng.normal(size=40)

    def run(c):
        problem = bl.FiniteSum(lambda x, a, b: c * (a @ x - b) ** 2, data, lambda x: c * np.sum(np.tanh(x)))
        return bl.minimize(problem, np.zeros(5), bl.optim.GD(lr=0.01), steps=3, batch=8).x

    run(0.37)
    count, first = compiled_by(lambda: run(0.43))
    assert count == 0
    assert not np.array_equal(first, run(0.37))


@pytest.mark.parametrize("f", [lambda x, c: np.sum(np.abs(x) ** c), lambda x, c: np.sum(x[: int(c)])])
def test_exponents_and_sizes_are_text(f):
    graphs = [trace(lambda x, c=c: f(x, c), (X,)).graph for c in (2.3, 3.3)]
    assert all(numbers_in(simplify(graph)) == () for graph in graphs)


@pytest.mark.parametrize("c", [0.0, 1.0, -1.0, 2.0, 0.5, np.inf, -np.inf, np.nan])
def test_numbers_that_the_compiler_can_use_stay_literals(c):
    graph = simplify(trace(lambda x: np.sum(np.maximum(x, c) + np.where(x > 0.0, x, c)), (X,)).graph)
    assert numbers_in(graph) == ()


def test_a_power_of_two_that_divides_is_text_and_another_divisor_is_not():
    of = lambda c: numbers_in(simplify(trace(lambda x: np.sum(np.sin(x) / c), (X,)).graph))  # noqa: E731
    assert of(8.0) == of(0.125) == ()
    assert [float(n.params) for n in of(7.0)] == [7.0]


@pytest.mark.parametrize("name", FORMS)
def test_no_bit_depends_on_where_a_number_stands(name):
    same_bits(name, np.float64, 0.37)


@pytest.mark.full  # numbers at the edges
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", FORMS)
@pytest.mark.parametrize("c", [0.37, -1e-320, 1e300, 3.0, 1.0 + 2.0**-52])
def test_no_bit_depends_on_where_any_number_stands(name, dtype, c):
    same_bits(name, dtype, c)


def same_bits(name, dtype, c):
    x = X.astype(dtype)
    with np.errstate(all="ignore"):
        graph = simplify(trace(bl.value_and_grad(lambda x: FORMS[name](x, c)), (x,)).graph)
        table, text = (_build(graph, PlanOptions(written_out=out)) for out in (False, True))
    assert [np.asarray(y).tobytes() for y in table(x)] == [np.asarray(y).tobytes() for y in text(x)]


def test_source_names_the_number_in_a_comment():
    source = bl.compile(lambda x: x * 0.3125, 1.0).source
    assert "// 0.3125" in source
    assert "0.3125" not in runtime_text(source)


def runtime_text(source):
    """The source without comments."""
    return "\n".join(line.split("//")[0] for line in source.splitlines())


def test_exported_code_has_its_numbers_in_the_text():
    kernel = bl.compile(lambda x: x * 0.3125, 1.0)
    assert "0.3125" in runtime_text(kernel.to_cpp())


def test_a_function_keeps_no_more_than_its_last_programs(monkeypatch):
    monkeypatch.setattr("burlab.compiler.function._MAX_PROGRAMS", 4)
    c = 0.3
    value = bl.jit(lambda x: np.sum(x * c))
    for c in np.linspace(3.1, 4.1, 9).tolist():
        assert value(X) == pytest.approx(np.sum(X * c), rel=1e-14)
    assert len(value._programs) == 4
    c = 3.1
    assert value(X) == pytest.approx(np.sum(X * c), rel=1e-14)


def programs_of_tanh():
    gc.collect()
    return [x for x in gc.get_objects() if type(x) is Program and x.specs and "tanh" in repr(x.executable.plan)]


def test_dead_functions_release_their_programs():
    """Graphs, plans and kernels of a lambda are gone with it; those of other tests may live."""
    before = programs_of_tanh()
    for c in np.linspace(0.31, 0.91, 12).tolist():
        gradient = bl.grad(lambda x, c=c: np.sum(np.tanh(x * c)))
        gradient(X)
    assert len(programs_of_tanh()) > len(before)
    del gradient
    assert [x for x in programs_of_tanh() if x not in before] == []
