"""The problems of Moré, Garbow and Hillstrom: published minima, and norms at the start as MINPACK prints them."""

import numpy as np
import pytest
from scipy import optimize

import burlab as bl
from burlab.errors import ArgumentError, ShapeError
from burlab.problems import MGH, mgh
from tests.problems.mgh_loops import LOOPS

# Norms of the residuals at the standard start, to the digits of MINPACK's test output (Moré, Garbow, Hillstrom 1980).
STARTS = {
    "rosenbrock": 4.9193495504995, "freudenstein_roth": 20.0124960961895, "jennrich_sampson": 64.5856498144943,
    "helical_valley": 50.0, "bard": 6.456136295159668, "meyer": 41153.46655430817, "box": 32.1115837449572,
    "powell_singular": 14.6628782986152, "kowalik_osborne": 0.0728915102882945, "brown_dennis": 2815.43839161816,
    "osborne_1": 0.937564021037838, "osborne_2": 1.44686540984712, "watson": 5.47722557505166,
    "brown_almost_linear": 16.5302162063499, "linear_full_rank": 5.0, "linear_rank_1": 291.521868819476,
    "linear_rank_1_zeros": 126.039676292820, "chebyquad": 0.196513862833975,
}  # fmt: skip
# Sums of squares of local minima to which the standard start leads.
LOCAL = {"freudenstein_roth": 48.9842, "trigonometric": 2.79506e-5}
OTHER_SIZES = [
    ("watson", {"n": 9}), ("watson", {"n": 12}), ("penalty_1", {"n": 10}), ("penalty_2", {"n": 10}),
    ("chebyquad", {"n": 7}), ("chebyquad", {"n": 9}), ("chebyquad", {"n": 10}),
    ("box", {"m": 20}), ("linear_full_rank", {"n": 5, "m": 50}), ("linear_rank_1", {"n": 5, "m": 50}),
    ("linear_rank_1_zeros", {"n": 5, "m": 50}), ("boundary_value", {"n": 40}), ("integral_equation", {"n": 1}),
    ("broyden_tridiagonal", {"n": 30}), ("broyden_banded", {"n": 30}), ("brown_almost_linear", {"n": 40}),
    ("extended_rosenbrock", {"n": 20}), ("extended_powell", {"n": 20}), ("variably_dimensioned", {"n": 20}),
]  # fmt: skip


def test_all_are_there_in_the_order_of_the_paper() -> None:
    assert len(MGH) == 35
    assert (MGH[0], MGH[19], MGH[34]) == ("rosenbrock", "watson", "chebyquad")


@pytest.mark.parametrize(("name", "sizes"), [*((name, {}) for name in MGH), *OTHER_SIZES])
def test_the_minimum_is_the_published_one(name: str, sizes: dict[str, int]) -> None:
    """Found from the standard start, by our method; SciPy's MINPACK finds no lower one from there."""
    f = mgh(name, **sizes)
    run = bl.minimize(f, f.start, bl.optim.LevenbergMarquardt(), steps=1000)
    found = 2 * f.value(run.x)
    np.testing.assert_allclose(found, LOCAL.get(name, 2 * f.minimum), rtol=1.1e-5, atol=1e-19)
    with np.errstate(all="ignore"):
        theirs = optimize.least_squares(f.residuals, f.start, f.jacobian, method="lm", xtol=1e-12, ftol=1e-12)
    assert found <= 2 * theirs.cost * (1 + 1e-6) + 1e-19
    for x in f.minima:
        np.testing.assert_allclose(f.value(x), f.minimum, rtol=1e-12, atol=1e-20)


@pytest.mark.parametrize("name", STARTS)
def test_norms_at_the_start_are_minpacks(name: str) -> None:
    f = mgh(name)
    np.testing.assert_allclose(np.linalg.norm(f.residuals(f.start)), STARTS[name], rtol=2e-13)


@pytest.mark.parametrize("name", LOOPS)
def test_formulas_are_the_papers(name: str) -> None:
    """At a point beside the start, where all terms differ: in loops over single numbers."""
    f = mgh(name)
    x = f.start + 0.1 * np.random.default_rng(1).random(f.start.size)
    np.testing.assert_allclose(f.residuals(x), LOOPS[name]([np.nan, *x.tolist()], x.size), rtol=1e-11, atol=1e-12)


def test_every_problem_has_a_second_source() -> None:
    assert set(MGH) == STARTS.keys() | LOOPS.keys()


@pytest.mark.parametrize("name", MGH)
def test_jacobians_are_those_of_differences(name: str) -> None:
    f = mgh(name)
    x = f.start + 0.01 * np.random.default_rng(0).random(f.start.size)
    steps = 1e-6 * np.maximum(np.abs(x), 1e-2) * np.eye(x.size)
    wide = np.stack([(f.residuals(x + h) - f.residuals(x - h)) / (2 * np.max(h)) for h in steps], axis=1)
    rounding = 1e-15 * np.max(np.abs(f.residuals(x))) / np.min(np.max(steps, axis=0))
    np.testing.assert_allclose(f.jacobian(x), wide, rtol=1e-5, atol=1e-7 * np.max(np.abs(wide)) + rounding)


def test_unsuitable_names_and_sizes_raise() -> None:
    for match, name, sizes in [
        ("name is 'rosen', expected one of 'rosenbrock'", "rosen", {}),
        ("the problem bard has one size: leave n= out", "bard", {"n": 3}),
        ("n=7 is not a multiple of 2, as this problem needs. Pass n=8", "extended_rosenbrock", {"n": 7}),
        ("n=1", "watson", {"n": 1}),
        ("m=3", "linear_rank_1", {"n": 4, "m": 3}),
    ]:
        with pytest.raises(ArgumentError, match=match):
            mgh(name, **sizes)
    with pytest.raises(ArgumentError, match="no public constructor"):
        bl.problems.KnownResiduals("bard", None)


def test_a_curve_of_several_inputs() -> None:
    rng = np.random.default_rng(1)
    a, b = rng.normal(size=(30, 2)), rng.normal(size=30)

    def model(x, a, b):
        return np.stack([x @ a + b, np.exp(x[0])])

    f = bl.problems.nonlinear_least_squares(model, (a, b), np.stack([a @ [1.0, 2.0] + b, np.full(30, np.e)], axis=1))
    run = bl.minimize(f, np.zeros(2), bl.optim.LevenbergMarquardt(), steps=20)
    np.testing.assert_allclose(run.x, [1.0, 2.0], rtol=1e-10)
    with pytest.raises(ShapeError, match=r"the model gave shape \(2,\) for one sample, but targets have \(\)"):
        bl.problems.nonlinear_least_squares(model, (a, b), b).value(np.zeros(2))
    with pytest.raises(ArgumentError, match="model cannot be called with x and 1 inputs"):
        bl.problems.nonlinear_least_squares(model, a, b)
