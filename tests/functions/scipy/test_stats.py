"""bl.scipy.stats against scipy.stats at many points and at edges; gradients by every parameter against JAX."""

from typing import Any

import numpy as np
import pytest
from scipy import stats

import burlab as bl
from tests.engines import GEARS, jax_or_skip

INF, NAN = np.inf, np.nan
REAL = np.concatenate([np.linspace(-8, 8, 41), [-1e3, 1e3, 1e-300, -1e-8, 30.5, -INF, INF, NAN]])
POSITIVE = np.concatenate([[0.0, -0.0, -1.0, 1e-12, NAN, 1e4], np.linspace(0.03125, 9, 31)])
UNIT = np.concatenate([[0.0, 1.0, -0.5, 1.5, NAN, 1e-12], np.linspace(0.03125, 0.96875, 31)])
WHOLE = np.array([0.0, 1, 2, 3, 5, 9, 40, -1, 0.5, NAN])
SHAPES: dict[str, tuple[tuple[float, ...], ...]] = {
    "norm": ((),), "laplace": ((),), "logistic": ((),), "cauchy": ((),), "expon": ((),), "uniform": ((),),
    "lognorm": ((0.5,), (2.0,)), "t": ((1.0,), (4.5,), (1e6,), (INF,)), "gamma": ((0.5,), (1.0,), (4.5,), (100.0,)),
    "chi2": ((1.0,), (2.0,), (7.5,)), "beta": ((0.5, 0.5), (1.0, 3.0), (2.5, 40.0)),
    "rayleigh": ((),), "halfnorm": ((),), "gumbel_l": ((),), "gumbel_r": ((),),
    "weibull_min": ((1.0,), (2.5,)), "pareto": ((0.5,), (3.0,)), "lomax": ((0.5,), (3.0,)),
    "maxwell": ((),), "halfcauchy": ((),), "halflogistic": ((),), "hypsecant": ((),), "gompertz": ((0.5,), (2.0,)),
    "invgamma": ((0.5,), (3.0,)), "loggamma": ((0.5,), (3.0,)), "gengamma": ((1.0, 1.5), (2.5, 2.0)),
    "nakagami": ((0.75,), (3.0,)), "chi": ((1.0,), (2.5,)), "levy": ((),), "moyal": ((),), "fisk": ((1.0,), (2.5,)),
    "burr12": ((1.0, 0.5), (2.5, 3.0)), "invweibull": ((0.75,), (2.5,)), "johnsonsu": ((0.5, 1.5), (-1.0, 0.75)),
    "arcsine": ((),), "powerlaw": ((1.0,), (2.5,)),
    "poisson": ((0.0,), (0.75,), (12.5,)), "binom": ((5.0, 0.3), (40.0, 0.0), (9.0, 1.0), (0.0, 0.5)),
    "bernoulli": ((0.3,), (0.0,), (1.0,)),
}  # fmt: skip
WRONG: dict[str, tuple[float, ...]] = {
    "t": (-1.0,), "gamma": (0.0,), "chi2": (-2.0,), "beta": (1.0, -1.0), "lognorm": (-1.0,), "poisson": (-1.0,),
    "binom": (2.5, 0.5), "bernoulli": (1.5,),
}  # fmt: skip
DISCRETE = ("poisson", "binom", "bernoulli")
POINTS = {
    "laplace": REAL[np.abs(REAL) != 1e3],  # SciPy takes the logarithm of a density that underflows
    "t": REAL[REAL != -1e-8],  # nor has it 1e-9 of this one's distribution function
    **dict.fromkeys(("gumbel_l", "gumbel_r", "hypsecant"), np.linspace(-8, 8, 41)),  # farther out SciPy has inf - inf
    **dict.fromkeys(("rayleigh", "weibull_min", "halfnorm", "lomax"), POSITIVE[POSITIVE != 1e4]), "pareto": POSITIVE,
    **dict.fromkeys(("maxwell", "halfcauchy", "halflogistic"), POSITIVE[POSITIVE != 1e4]),
    "gompertz": POSITIVE[POSITIVE < 5],  # farther out SciPy takes the logarithm of what underflows
    **dict.fromkeys(("gamma", "chi2", "lognorm", "expon"), POSITIVE), "beta": UNIT, "uniform": UNIT,
    # Beyond these points SciPy takes logarithms of what underflows, and 1 minus what rounds to 1.
    **dict.fromkeys(("gengamma", "nakagami", "chi", "fisk", "burr12"), POSITIVE[~np.isin(POSITIVE, (1e4, 1e-12))]),
    **dict.fromkeys(("invgamma", "levy"), POSITIVE[POSITIVE != 1e-12]),
    "invweibull": np.concatenate([[0.0, -0.0, -1.0, NAN, 1e4], np.linspace(0.75, 9, 31)]),
    **dict.fromkeys(("arcsine", "powerlaw"), UNIT[UNIT != 1e-12]),
    "loggamma": np.linspace(-8, 5, 41), "moyal": np.linspace(-5, 8, 41), "johnsonsu": np.linspace(-8, 8, 41),
    **dict.fromkeys(DISCRETE, WHOLE),
}  # fmt: skip
METHODS = "logpdf pdf cdf sf logcdf logsf".split()


def methods(name: str) -> list[str]:
    if name in DISCRETE:
        return ["logpmf", "pmf", "cdf", "sf"]
    rules = getattr(bl.scipy.stats, name).rules
    return [m for m in METHODS if m in rules or m == "pdf"]


def everything(home: Any, name: str, x: Any, places: list[tuple[Any, ...]]) -> list[Any]:
    return [getattr(getattr(home, name), m)(x, *place) for place in places for m in methods(name)]


def places_of(name: str) -> list[tuple[Any, ...]]:
    shifted = (0.5, 2.0) if name not in DISCRETE else (1.0,)
    return [place for shapes in SHAPES[name] for place in (shapes, (*shapes, *shifted))]


@pytest.mark.parametrize("gear", GEARS)
@pytest.mark.parametrize("name", SHAPES)
def test_distributions_equal_scipy(name: str, gear: Any) -> None:
    x, places = POINTS.get(name, REAL), places_of(name)
    got = bl.compile(lambda x: everything(bl.scipy.stats, name, x, places), x, gear=gear)(x)
    with np.errstate(all="ignore"):
        wanted = everything(stats, name, x, places)
    labels = [(place, m) for place in places for m in methods(name)]
    for label, a, b in zip(labels, got, wanted, strict=True):
        coarse = 3e-16 if label[1] in ("logcdf", "logsf") else 1e-300  # SciPy takes the logarithm of the other tail
        np.testing.assert_allclose(a, b, rtol=2e-13, atol=coarse, err_msg=f"{name} {label}")


@pytest.mark.parametrize("name", [name for name in SHAPES if name not in DISCRETE])
def test_quantiles_have_their_probabilities(name: str) -> None:
    ours = getattr(bl.scipy.stats, name)
    q = np.array([0.03125, 0.25, 0.5, 0.75, 0.875])
    for shapes in SHAPES[name] if {"cdf", "sf"} <= ours.rules.keys() else ():
        x = ours.ppf(q, *shapes)
        assert (np.diff(x) > 0).all()
        np.testing.assert_allclose(ours.cdf(x, *shapes), q, rtol=1e-12, err_msg=str(shapes))
        np.testing.assert_allclose(ours.sf(x, *shapes), 1 - q, rtol=1e-12, err_msg=str(shapes))


INEXACT = ("fisk", "invgamma", "moyal")
"""Distributions whose quantiles SciPy gives to fewer digits: 1 / q - 1 cancels, and 1 - q."""


@pytest.mark.parametrize("name", [name for name in SHAPES if name not in (*DISCRETE, *INEXACT)])
def test_quantiles_are_scipys(name: str) -> None:
    q = np.array([0.0, 1.0, 0.5, 1e-10, 1 - 1e-10, 0.03125, 0.25, 0.75, 0.875, -0.1, 1.1, NAN])
    for place in places_of(name):
        got = getattr(bl.scipy.stats, name).ppf(q, *place)
        np.testing.assert_allclose(got, getattr(stats, name).ppf(q, *place), rtol=1e-14, err_msg=str(place))


@pytest.mark.parametrize("name", SHAPES)
def test_float32_stays_and_arguments_are_taken_by_name(name: str) -> None:
    distribution, shapes = getattr(bl.scipy.stats, name), SHAPES[name][0]
    x = np.float32([0.25, 0.75, 3.0]) if name not in DISCRETE else np.float32([0, 1, 3])
    whole = everything(bl.scipy.stats, name, x.astype(float), [(*shapes, 1.0)])
    for m, wanted in zip(methods(name), whole, strict=True):
        names = dict(zip(distribution.shapes, shapes, strict=True))
        got = getattr(distribution, m)(x, **names, loc=1)
        assert got.dtype == np.float32
        np.testing.assert_allclose(got, wanted, rtol=3e-5, atol=1e-6)
        np.testing.assert_array_equal(getattr(distribution(*shapes, loc=1.0), m)(x), got)


@pytest.mark.parametrize("name", WRONG)
def test_parameters_of_no_distribution_give_nan(name: str) -> None:
    for m in methods(name):
        assert np.isnan(getattr(getattr(bl.scipy.stats, name), m)(1.0, *WRONG[name]))
    assert np.isnan(bl.scipy.stats.norm.logpdf(0.5, 0.0, -1.0))
    assert np.isnan(bl.scipy.stats.expon.ppf(0.5, scale=0.0))


GRADIENTS: dict[str, tuple[float, ...]] = {
    "norm": (0.75, -0.25, 1.5), "laplace": (0.75, -0.25, 1.5), "logistic": (0.75, -0.25, 1.5),
    "cauchy": (0.75, -0.25, 1.5), "expon": (0.75, -0.25, 1.5), "uniform": (0.75, -0.25, 1.5),
    "t": (0.75, 4.5, -0.25, 1.5), "gamma": (0.75, 2.5, -0.25, 1.5), "chi2": (0.75, 2.5, -0.25, 1.5),
    "beta": (0.75, 2.5, 3.5, -0.25, 1.5), "poisson": (3.0, 2.5), "binom": (3.0, 7.0, 0.25), "bernoulli": (1.0, 0.25),
    "gumbel_l": (0.75, -0.25, 1.5), "gumbel_r": (0.75, -0.25, 1.5), "pareto": (2.75, 2.5, -0.25, 1.5),
}  # fmt: skip


@pytest.mark.parametrize("name", GRADIENTS)
def test_gradients_by_every_parameter_are_jaxs(name: str) -> None:
    jax = jax_or_skip()
    log = "logpmf" if name in DISCRETE else "logpdf"
    ours, theirs = (getattr(getattr(home, name), log) for home in (bl.scipy.stats, jax.scipy.stats))
    at = GRADIENTS[name]
    by = tuple(range(name in DISCRETE, len(at)))
    by = by[1:] if name == "binom" else by  # JAX's n is whole
    by = by[:-1] if name.startswith("gumbel") else by  # JAX 0.10 raises TypeError for derivatives by the scale

    def both(grad: Any, f: Any) -> Any:
        return lambda *p: (grad(f, by)(*p), [grad(grad(f, k), by)(*p) for k in by])

    np.testing.assert_allclose(ours(*at), theirs(*at), rtol=1e-13)
    slopes, second = bl.compile(both(bl.grad, ours), *at, gear="replay")(*at)
    wanted, curvature = jax.jit(both(jax.grad, theirs))(*at)
    np.testing.assert_allclose(slopes, wanted, rtol=1e-12)
    np.testing.assert_allclose(second, curvature, rtol=1e-10, atol=1e-14)


def test_distribution_functions_of_whole_numbers_have_derivatives_by_chances() -> None:
    s = bl.scipy.stats
    k = np.arange(5.0)
    bl.check_grads(lambda mu: s.poisson.cdf(k, mu) ** 2 + s.poisson.sf(k, mu), 1.5, order=2)
    bl.check_grads(lambda p: s.binom.cdf(k, 4, p) ** 2 + s.binom.sf(k, 4, p), 0.25, order=2)
    bl.check_grads(lambda p: s.bernoulli.cdf(k, p) ** 2 + s.bernoulli.sf(k, p), 0.25, order=2)


@pytest.mark.parametrize("name", [name for name in SHAPES if name not in DISCRETE])
def test_distribution_functions_differentiate_to_the_density(name: str) -> None:
    ours = getattr(bl.scipy.stats, name)
    at = (*SHAPES[name][0], -0.25, 1.5)
    x = np.array([0.25, 0.75, 1.0]) + 1.5 * max(ours.low, 0.0)
    if "cdf" in ours.rules:
        density = ours.pdf(x, *at)
        for m, wanted in {
            "cdf": density, "sf": -density, "logcdf": density / ours.cdf(x, *at), "logsf": -density / ours.sf(x, *at),
        }.items():  # fmt: skip
            method = getattr(ours, m)
            np.testing.assert_allclose(bl.vmap(bl.grad(lambda x, f=method: f(x, *at)))(x), wanted, rtol=1e-13)
            bl.check_grads(lambda *p, f=method: np.sum(f(x, *p)), at, order=2)
    if "ppf" in ours.rules:
        q = np.array([0.125, 0.5, 0.75])
        slope = bl.vmap(bl.grad(lambda q: ours.ppf(q, *at)))(q)
        np.testing.assert_allclose(slope * ours.pdf(ours.ppf(q, *at), *at), 1, rtol=1e-13)
        bl.check_grads(lambda *p: np.sum(ours.ppf(q, *p)), at, order=2)


@pytest.mark.parametrize("name", [name for name in SHAPES if name not in DISCRETE])
def test_gradients_outside_of_the_support_are_finite(name: str) -> None:
    ours = getattr(bl.scipy.stats, name)
    x = np.array([-2.0, 0.5, 40.0])

    def total(*p: Any) -> Any:
        inside = ours.logpdf(x, *p)
        return np.sum(np.where(np.isfinite(inside), inside, 0.0))

    at = (*SHAPES[name][0], 0.25, 1.5)
    for k in range(len(at)):
        assert np.isfinite(bl.grad(total, k)(*at))


LIFETIMES = (
    "rayleigh", "weibull_min", "halfnorm", "gumbel_l", "gumbel_r", "pareto", "lomax", "maxwell", "halfcauchy",
    "halflogistic", "hypsecant", "gompertz", "invgamma", "loggamma", "gengamma", "nakagami", "chi", "levy", "moyal",
    "fisk", "burr12", "invweibull", "johnsonsu",
)  # fmt: skip


@pytest.mark.parametrize("name", LIFETIMES)
def test_log_densities_have_derivatives_by_every_parameter(name: str) -> None:
    ours = getattr(bl.scipy.stats, name)
    x = np.array([1.75, 2.5])
    bl.check_grads(lambda x, *p: np.sum(ours.logpdf(x, *p)), (x, *SHAPES[name][-1], 0.25, 1.25), order=2)


def test_arguments_that_are_not_there_are_refused() -> None:
    s = bl.scipy.stats
    wrong = [
        lambda: s.norm.logpdf(0.5, 1.0, 2.0, 3.0), lambda: s.norm.logpdf(0.5, 1.0, loc=2.0), lambda: s.t.pdf(0.5),
        lambda: s.norm.cdf(0.5, mean=1.0), lambda: s.poisson.pmf(2, 1.5, scale=2.0), lambda: s.gamma(loc=1.0),
    ]  # fmt: skip
    for call in wrong:
        with pytest.raises(bl.errors.ArgumentError, match="takes"):
            call()
