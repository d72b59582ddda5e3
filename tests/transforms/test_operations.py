"""Operations of users: right in both gears and modes, in losses, runs and files; wrong ones are refused at once."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import special

import burlab as bl
from burlab.eager.cells import Cells
from burlab.errors import ArgumentError, CompileError, GradientError, GraphError, UnregisteredError

SOFT = """
#include <cmath>
struct Softsign {  // x / sqrt(1 + x^2)
  template <class T> static T primal(T x) { using std::sqrt; return x / sqrt(T(1) + x * x); }
  template <int K, class T> static T partial(T x, T y) {
    using std::sqrt;
    return (T(1) - y * y) / sqrt(T(1) + x * x);
  }
};"""
LENGTH = """
struct Length {
  template <class T> static T primal(T x, T y) { using std::sqrt; return sqrt(x * x + y * y); }
  template <int K, class T> static T partial(T x, T y, T z) { if constexpr (K == 0) return x / z; else return y / z; }
};"""
X, Y = np.array([-1.5, 0.2, 3.0]), np.array([0.5, -2.0, 1.0])


def soft(np: Any, x: Any) -> Any:
    return x / np.sqrt(1 + x * x)


def length(np: Any, x: Any, y: Any) -> Any:
    return np.sqrt(x * x + y * y)


def created() -> Any:
    return bl.operation("softsign", SOFT), bl.operation("length", LENGTH)


@pytest.mark.parametrize("gear", ["compiled", "replay"])
def test_values_and_derivatives_are_those_of_the_same_in_numpy(gear: str) -> None:
    s, h = created()

    def by_struct(x: Any, y: Any) -> Any:
        return np.sum(s(x) ** 3 * h(x, y) + h(s(y), 2.0))

    def by_words(x: Any, y: Any) -> Any:
        return np.sum(soft(np, x) ** 3 * length(np, x, y) + length(np, soft(np, y), 2.0))

    def all_orders(f: Any) -> Any:
        return lambda x, y: (f(x, y), *bl.grad(f, (0, 1))(x, y), bl.hessian(f)(x, y),
                             bl.jvp(bl.hessian(f), (x, y), (y, x))[1])  # fmt: skip

    got, wanted = (bl.compile(all_orders(f), X, Y, gear=gear)(X, Y) for f in (by_struct, by_words))
    for a, b in zip(got, wanted, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-13)


def test_numbers_integers_and_single_precision() -> None:
    s, h = created()
    assert s(3) == s(3.0) == 3 / np.sqrt(10)
    assert h(np.float32(3), np.float32(4)).dtype == np.float32
    np.testing.assert_array_equal(h(np.array([3, 6]), np.array([4, 8])), [5.0, 10.0])
    np.testing.assert_array_equal(bl.vmap(h)(X, Y), h(X, Y))
    assert h(X[:0], Y[:0]).shape == (0,)
    with pytest.raises(ArgumentError, match="expected 2"):
        h(X)


def test_a_cell_uses_cells_before_it() -> None:
    cells = Cells()
    cells.run("template <class T> T half(T x) { return T(0.5) * x; }")
    found = cells.run("""
struct Unused {};
struct HalfSquare {
  template <class T> static T primal(T x) { return half(x) * x; }
  template <int K, class T> static T partial(T x, T) { return x; }
};
struct Last {};""")
    f = bl.operation("half_square", found["HalfSquare"])
    assert (f(3.0), bl.grad(f)(3.0), bl.grad(bl.grad(f))(3.0)) == (4.5, 3.0, 1.0)


def test_a_rule_of_a_domain_is_checked_at_its_points() -> None:
    text = """
struct Entropy {
  template <class T> static T primal(T x) { using std::log; return x * log(x); }
  template <int K, class T> static T partial(T x, T) { using std::log; return T(1) + log(x); }
};"""
    f = bl.operation("entropy", text)
    np.testing.assert_allclose(f(X[1:]), special.xlogy(X[1:], X[1:]), rtol=1e-14)
    far = text.replace("log(x)", "log(x - T(9))")
    with pytest.raises(ArgumentError, match="points="):
        bl.operation("entropy", far)
    with pytest.raises(GradientError):
        bl.operation("entropy", far, points=[np.array([10.0, 12.0])])


@pytest.mark.parametrize("wrong", [
    SOFT.replace("y * y", "y"),
    LENGTH.replace("return y / z", "return x / z"),
    SOFT.replace("T(1) - y * y", "T(1.00001) - y * y"),
])  # fmt: skip
def test_a_wrong_partial_is_refused(wrong: str) -> None:
    with pytest.raises(GradientError):
        bl.operation("wrong", wrong)


@pytest.mark.parametrize(("name", "text", "error", "words"), [
    ("f", "int k;", ArgumentError, "has no struct"),
    ("f", "struct A { };", ArgumentError, "primal takes"),
    ("F", SOFT, ArgumentError, "small letters"),
    ("f", SOFT.replace("return", "retrun"), CompileError, "retrun"),
    ("f", SOFT.replace("partial", "other"), CompileError, "partial"),
    ("f", SOFT.replace("using std::sqrt; ", "").replace("sqrt(", "std::sqrt("), CompileError, "using std::sin"),
    ("f", 3, ArgumentError, "expected the text"),
])  # fmt: skip
def test_invalid_operations_raise(name: str, text: Any, error: type, words: str) -> None:
    for _ in range(2):
        with pytest.raises(error, match=words):
            bl.operation(name, text)


def test_another_rule_is_another_operation() -> None:
    first = bl.operation("scaled", "struct S { template <class T> static T primal(T x) { return T(2) * x; }"
                         " template <int K, class T> static T partial(T, T) { return T(2); } };")  # fmt: skip
    second = bl.operation("scaled", "struct S { template <class T> static T primal(T x) { return T(3) * x; }"
                          " template <int K, class T> static T partial(T, T) { return T(3); } };")  # fmt: skip
    both = bl.grad(lambda x: first(x) + 10.0 * second(x))(1.0)
    assert (first(1.0), second(1.0), both) == (2.0, 3.0, 32.0)


LOADER = """
import sys
import numpy as np
import burlab as bl
if sys.argv[2]:
    bl.operation("softsign", sys.argv[2])
run = bl.load_run(sys.argv[1], np.array([0.3, -1.0, 2.0]))
run.step(5)
print(run.x.tobytes().hex())
"""


def test_a_run_goes_on_from_a_file_where_the_operation_is_registered(tmp_path: Path) -> None:
    s, _ = created()
    problem = bl.FiniteSum(lambda x, a: (s(x[0] * a) - x[1]) ** 2, np.array([0.3, -1.0, 2.0]))
    run = bl.minimize(problem, np.array([0.5, 0.1]), bl.optim.Adam(0.05), batch=2)
    run.step(20)
    run.save(tmp_path / "run")
    run.step(5)

    def load(text: str) -> Any:
        command = [sys.executable, "-c", LOADER, str(tmp_path / "run"), text]
        return subprocess.run(command, check=False, capture_output=True, text=True)

    done = load("// as it was\n" + SOFT)
    assert done.stdout.strip() == run.x.tobytes().hex(), done.stderr
    assert "UnregisteredError: " in (missing := load("").stderr)
    assert "softsign is not registered here" in missing
    assert 'bl.operation("softsign", text)' in missing
    assert "with another rule" in load(SOFT.replace("T(1) + x * x", "T(1) + T(1) * x * x")).stderr


def test_a_graph_names_what_is_missing() -> None:
    s, _ = created()
    text = bl.compile(s, X).graph.to_json()
    assert bl.Graph.from_json(text).to_json() == text
    op = next(n.op for n in bl.Graph.from_json(text).nodes if n.op.startswith("softsign"))
    with pytest.raises(UnregisteredError, match="softsign is registered here with another rule"):
        bl.Graph.from_json(text.replace(op, f"{op[:-8]}01234567"))
    with pytest.raises(GraphError, match="is not an operation"):
        bl.Graph.from_json(text.replace(op, "softsign"))
