"""Spectra against matrices whose eigenvalues are known."""

import numpy as np
import pytest

import burlab as bl
from burlab.analysis import spectra, spectrum, spectrum_chart
from burlab.analysis.lanczos import lanczos
from burlab.errors import ArgumentError, NonFiniteError

RNG = np.random.default_rng(5)


def symmetric(d: int) -> np.ndarray:
    a = RNG.normal(size=(d, d))
    return a + a.T


def test_a_small_hessian_is_exact():
    a = symmetric(20)
    found = spectrum(lambda x: 0.5 * x @ (a @ x), np.zeros(20))
    exact = np.linalg.eigvalsh(a)
    assert found.exact
    np.testing.assert_allclose(found.values, exact, atol=1e-12)
    assert found.trace == pytest.approx(np.trace(a))


def test_the_ends_and_the_mass_of_a_large_hessian_are_close():
    d = 600
    scale = np.linspace(0.1, 5.0, d) ** 2
    scale[-1] = 80.0
    found = spectrum(lambda x: 0.5 * np.sum(scale * x**2), np.zeros(d), steps=60, probes=8)
    assert not found.exact
    assert found.largest == pytest.approx(80.0, rel=1e-6)
    assert found.smallest == pytest.approx(scale.min(), abs=0.05)
    # Signs see the trace of a diagonal matrix without error.
    assert found.trace == pytest.approx(scale.sum(), rel=1e-10)
    for cut in (1.0, 4.0, 16.0):
        assert found.weights[found.values < cut].sum() == pytest.approx((scale < cut).mean(), abs=0.06)


def test_a_density_has_the_mass_one():
    found = spectrum(lambda x: np.sum(np.cos(x)), RNG.normal(size=300))
    at = np.linspace(found.smallest - 1, found.largest + 1, 20_001)
    assert np.trapezoid(found.density(at), at) == pytest.approx(1.0, abs=1e-6)


def test_the_spectrum_of_a_finite_sum_is_that_of_its_mean():
    a, b = RNG.normal(size=(40, 6)), RNG.normal(size=40)
    problem = bl.FiniteSum(lambda x, row, y: 0.5 * (row @ x - y) ** 2, (a, b))
    np.testing.assert_allclose(spectrum(problem, np.ones(6)).values, np.linalg.eigvalsh(a.T @ a / 40), atol=1e-12)
    some = np.array([3, 5, 8, 9, 11, 2, 0])
    chosen = spectrum(problem, np.ones(6), indices=some)
    np.testing.assert_allclose(chosen.values, np.linalg.eigvalsh(a[some].T @ a[some] / 7), atol=1e-12)


def test_blocks_are_those_of_the_hessian():
    a = symmetric(7)

    def f(p: dict[str, np.ndarray]) -> float:
        x = np.concatenate([np.ravel(p["bias"]), np.ravel(p["weight"])])
        return 0.5 * x @ (a @ x)

    found = spectra(f, {"bias": np.zeros(3), "weight": np.zeros((2, 2))})
    assert [(s.name, s.size) for s in found] == [("bias", 3), ("weight", 4)]
    np.testing.assert_allclose(found[0].values, np.linalg.eigvalsh(a[:3, :3]), atol=1e-12)
    np.testing.assert_allclose(found[1].values, np.linalg.eigvalsh(a[3:, 3:]), atol=1e-12)


def test_a_run_is_seen_where_it_is():
    run = bl.minimize(lambda x: np.sum(x**4), np.full(3, 2.0), bl.optim.GD(1e-3), steps=50)
    np.testing.assert_allclose(spectrum(run).values, np.sort(12 * run.x**2), rtol=1e-12)


def test_lanczos_stops_where_its_start_spans_no_more():
    matrix = np.diag([1.0, 1.0, 1.0, 7.0])
    found = lanczos(lambda v: matrix @ v, np.ones(4), 4)
    np.testing.assert_allclose(found.values, [1.0, 7.0])
    np.testing.assert_allclose(found.weights, [0.75, 0.25])


def test_vectors_of_lanczos_are_eigenvectors():
    a = symmetric(30)
    found = lanczos(lambda v: a @ v, RNG.normal(size=30), 30)
    np.testing.assert_allclose(found.values, np.linalg.eigvalsh(a), atol=1e-10)
    np.testing.assert_allclose(found.vectors @ found.vectors.T, np.eye(30), atol=1e-10)
    np.testing.assert_allclose(a @ found.vectors.T, found.vectors.T * found.values, atol=1e-9)


def test_a_chart_marks_where_gradient_descent_diverges():
    (part,) = spectrum_chart(spectrum(lambda x: np.sum(x**2), np.zeros(3)), lr=0.5).parts
    assert part.marks[0].at == 4.0
    assert "from 2 to 2" in part.note


def test_spectrum_with_wrong_arguments_raises():
    with pytest.raises(ArgumentError, match="x is missing"):
        spectrum(np.sum)
    with pytest.raises(ArgumentError, match="int"):
        spectrum(3, np.zeros(2))  # pyright: ignore[reportArgumentType]
    with pytest.raises(ArgumentError, match="indices choose samples"):
        spectrum(np.sum, np.zeros(2), indices=[0])
    with pytest.raises(ArgumentError, match="steps"):
        spectrum(np.sum, np.zeros(2), steps=1)
    with pytest.raises(NonFiniteError, match="not finite"):
        spectrum(lambda x: np.sum(np.sqrt(x)), np.zeros(2))
    with pytest.raises(ArgumentError, match="width"):
        spectrum(lambda x: np.sum(x**2), np.zeros(2)).density(np.zeros(1), width=0.0)
