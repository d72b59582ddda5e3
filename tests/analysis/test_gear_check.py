"""`check_gears` on functions that are right in every gear, and on one fault of each kind that it has to find."""

import math
from collections.abc import Callable
from typing import Any
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from scipy.sparse import csr_array

import burlab as bl
from burlab.analysis import GearReport, GearRow, sum_gears
from burlab.widgets.html_table import gears_html

RNG = np.random.default_rng(3)
ROWS = {
    "replay", "compiled", "compiled, strict", "float32", "vmap", "<g, J v>", "J v", "J^T g, compiled", "J^T g, float32",
}  # fmt: skip


def broken(report: GearReport) -> set[str]:
    return {row.check for row in report.broken}


def tree_of_results(x: Any, k: int) -> Any:
    return {"a": x["w"] @ x["w"].T, "n": np.argmax(x["w"]) + k, "c": x["w"][0] + 1j * x["w"][1]}


RIGHT: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
    (lambda x: np.sum(np.tanh(x) ** 2), (np.array([0.3, -1.0]),)),
    (lambda x: np.sum(np.tanh(x) ** 2), (np.float32([0.3, -1.0]),)),
    (tree_of_results, ({"w": RNG.normal(size=(3, 3))}, 2)),
    (np.linalg.solve, (RNG.normal(size=(4, 4)) + 4 * np.eye(4), RNG.normal(size=4))),
    (lambda x: bl.scan(lambda c, a: (np.sin(c + a), c), 0.5, x), (RNG.normal(size=5),)),
]


@pytest.mark.parametrize(("f", "args"), RIGHT)
def test_right_functions_keep_all_promises(f: Any, args: Any) -> None:
    report = bl.check_gears(f, *args)
    assert report.ok, report
    assert {row.check for row in report.rows} == ROWS
    assert all(row.difference <= row.promise for row in report.rows)


def test_a_wrong_derivative_differs_from_differences() -> None:
    wrong = bl.custom_vjp(lambda x: x**2, lambda g, y, x: g * x, 1.0, surrogate=True)
    report = bl.check_gears(wrong, np.array(3.0))
    assert broken(report) == {"J v"}
    np.testing.assert_allclose(report.broken[0].difference, 0.5, rtol=1e-9)  # half of the derivative


def test_an_overflow_of_float32_is_found() -> None:
    f = lambda x: np.log(np.sum(np.exp(x)))  # noqa: E731
    assert broken(bl.check_gears(f, np.array([100.0, 20.0]))) == {"float32", "J^T g, float32"}
    assert bl.check_gears(bl.logsumexp, np.array([100.0, 20.0])).ok


def test_an_error_of_one_way_is_a_row() -> None:
    report = bl.check_gears(math.sin, 1.0)
    assert broken(report) == ROWS
    assert all(row.error.startswith("TraceError: File") and np.isnan(row.difference) for row in report.rows)
    assert str(report).count("TraceError") == 1  # said once for all rows

    def of_numpy(x: Any) -> Any:
        if isinstance(x, np.ndarray):
            raise ZeroDivisionError("of NumPy alone")
        return x + 1.0

    failing = bl.check_gears(of_numpy, np.ones(2))
    assert broken(failing) == {"replay", "compiled", "vmap", "J v"}
    assert all("ZeroDivisionError: of NumPy alone" in row.error for row in failing.broken)


def test_a_function_that_is_another_one_when_traced_is_found() -> None:
    report = bl.check_gears(lambda x: np.sum(x) if isinstance(x, np.ndarray) else 2 * np.sum(x), np.ones(3))
    assert {"replay", "compiled", "vmap", "J v"} == broken(report)
    shapes = bl.check_gears(lambda x: x if isinstance(x, np.ndarray) else x[:2], np.ones(3))
    assert all("shape" in row.error for row in shapes.broken if row.check in ("replay", "compiled"))


def test_a_wrong_batching_rule_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("burlab.analysis.gear_point.vmap", lambda f: bl.vmap(lambda x: f(x)[::-1]))
    assert broken(bl.check_gears(np.cumsum, np.arange(1.0, 5.0))) == {"vmap"}


def squared(x: Any, a: Any, b: Any) -> Any:
    return 0.5 * (a @ x - b) ** 2


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_finite_sum_is_the_mean_of_its_samples(dtype: Any) -> None:
    data = RNG.normal(size=(100, 3)).astype(np.float32), RNG.normal(size=100).astype(np.float32)
    problem = bl.FiniteSum(squared, data, regularizer=lambda x: 0.1 * np.sum(x**2))
    report = bl.check_gears(problem, np.ones(3, dtype))
    assert report.ok, report
    assert report.rows[0].against == report.rows[1].against == "mean of samples"


def test_faults_of_a_finite_sum_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = bl.custom_vjp(lambda x: x**2, lambda g, y, x: g * x, 1.0, surrogate=True)
    problem = bl.FiniteSum(lambda x, a: wrong(x - a), np.arange(6.0))
    assert broken(bl.check_gears(problem, np.array(0.5))) == {"<gradient, v>"}
    value = bl.FiniteSum.value
    monkeypatch.setattr(bl.FiniteSum, "value", lambda self, x, k=None: value(self, x, k) * len(k))
    assert "value" in broken(bl.check_gears(bl.FiniteSum(lambda x, a: (x - a) ** 2, np.arange(6.0)), np.array(0.5)))


def noisy(x: Any, a: Any, hyper: Any, *, key: Any) -> Any:
    return hyper.c * np.sum((x - a) ** 2 * (1 + 0.1 * bl.random.normal(key, (3,))))


DATA = RNG.normal(size=(21, 3))
LAYER = bl.nn.SparseLinear(3, 2, density=0.5, key=bl.random.key(0))
ROWS_OF_SUMS = {
    "value and gradient of 1", "value and gradient of 11", "value and gradient of 21", "strict, compiled",
    "<gradient, v>", "float32", "value, float32", "gradient, float32",
}  # fmt: skip
MEANS, EACH = {"value", "gradient"}, {"gradients of samples"}
SUMS: dict[str, tuple[Any, Any, set[str]]] = {
    "plain": (bl.FiniteSum(squared, (DATA, DATA[:, 0]), lambda x: 0.1 * np.sum(x**2)), np.ones(3), MEANS | EACH),
    "narrow data": (bl.FiniteSum(lambda x, a: np.sum(x * a), DATA.astype(np.float16)), np.ones(3), MEANS | EACH),
    "keys and numbers": (bl.FiniteSum(noisy, DATA, hyper={"c": 2.0}), np.ones(3), EACH),
    "sparse data": (bl.FiniteSum(squared, (csr_array(DATA * (DATA > 0)), DATA[:, 0])), np.ones(3), MEANS),
    "whole numbers": (bl.FiniteSum(lambda m, a: np.sum(np.sin(m(a))), DATA.astype(np.float32)), LAYER, MEANS),
    "a batch": (bl.BatchLoss(lambda x, a: np.var(a @ x), DATA, lambda x: 0.1 * np.sum(x**2)), np.ones(3), set[str]()),
    "chunks": (
        bl.BatchLoss(lambda x, z, a: np.var(z), DATA, embed=lambda x, a: np.tanh(a * x), chunks=4),
        np.ones(3),
        set[str](),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", SUMS)
def test_kernels_of_problems_keep_all_promises(name: str) -> None:
    problem, x, more = SUMS[name]
    report = bl.check_gears(problem, x)
    single = {row.check for row in report.broken if row.error and name == "whole numbers"}  # a layer has one dtype
    assert broken(report) == single, report
    assert {row.check for row in report.rows} == ROWS_OF_SUMS | more


def test_a_wrong_tile_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = SUMS["plain"][0]
    answer = bl.FiniteSum.value_and_grad
    monkeypatch.setattr(
        bl.FiniteSum,
        "value_and_grad",
        lambda self, x, k, **more: answer(self, x, k[:-1] if len(k) == 11 else k, **more),
    )
    assert broken(bl.check_gears(problem, np.ones(3))) == {"value and gradient of 11"}


def test_a_wrong_gear_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def build(graph: Any, *, gear: str, strict: bool) -> Any:
        executable = sum_gears.build_gear(graph, gear=gear, strict=strict)  # type: ignore[attr-defined]
        return lambda *xs: [y * (1 + 1e-3 * (gear == "compiled")) for y in executable(*xs)]

    monkeypatch.setattr(sum_gears, "build_gear", sum_gears.build, raising=False)
    monkeypatch.setattr(sum_gears, "build", build)
    assert broken(bl.check_gears(SUMS["plain"][0], np.ones(3))) == {"strict, compiled"}


def test_a_wrong_row_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = bl.FiniteSum.per_sample_grads
    monkeypatch.setattr(bl.FiniteSum, "per_sample_grads", lambda self, x, k: rows(self, x, k)[::-1])
    assert broken(bl.check_gears(SUMS["plain"][0], np.ones(3))) == {"gradients of samples"}


def test_misuse_is_refused() -> None:
    with pytest.raises(bl.errors.ArgumentError, match="floating"):
        bl.check_gears(np.sin, 3)
    with pytest.raises(bl.errors.BurlabError, match="function"):
        bl.check_gears("f", 3.0)  # pyright: ignore[reportArgumentType] - misuse
    with pytest.raises(bl.errors.ArgumentError, match="its point alone, got 2"):
        bl.check_gears(bl.FiniteSum(lambda x, a: (x - a) ** 2, np.arange(6.0)), 1.0, 2.0)


def test_broken_promises_are_red() -> None:
    rows = GearRow("a<b", "c", 1e-3, 1e-2), GearRow("d", "e", 2e-2, 1e-2), GearRow("f", "g", np.nan, 0.0, "X: <y>")
    report = GearReport("t", rows)
    html = ET.fromstring(f"<div>{gears_html(report)}</div>")
    body = html.find(".//tbody")
    assert body is not None
    assert [row.get("style") for row in body] == [None, "color:#c62828", "color:#c62828"]
    assert "f: X: <y>" in [div.text for div in html.iter("div")]
    assert str(report).splitlines()[-1] == "f: X: <y>"
    assert [line.split()[-1] for line in str(report).splitlines()[3:6]] == ["yes", "NO", "NO"]
