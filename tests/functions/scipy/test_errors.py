"""SciPy's own functions on traced values: those that ask for numbers are named, and what `bl.scipy` has instead."""

from collections.abc import Callable
from inspect import getmembers, isfunction
from typing import Any

import numpy as np
import pytest
import scipy.fft
import scipy.integrate
import scipy.linalg
import scipy.optimize
import scipy.signal
from scipy import special, stats

import burlab as bl
from burlab.graph.node import FUNCTIONS
from burlab.graph.scipy_words import SUBSTITUTES, WORDS

X = np.array([[0.25, 0.0], [0.5, 2.0]])
METHODS = "cdf sf logcdf logsf ppf".split()
CALLS: dict[str, Callable[[Any], Any]] = {
    "linalg.expm": scipy.linalg.expm,
    "linalg.solve_triangular": lambda x: scipy.linalg.solve_triangular(x, X),
    "linalg.cholesky": scipy.linalg.cholesky,
    "linalg.inv": lambda x: scipy.linalg.inv(x * X),
    "signal.convolve": lambda x: scipy.signal.convolve(x, X[:, 0] if np.ndim(x) < 1 else X),
    "fft.rfft": scipy.fft.rfft,
    "special.logsumexp": special.logsumexp,
    "special.lambertw": special.lambertw,
    "stats.norm.logpdf": stats.norm.logpdf,
    "stats.norm.fit": lambda x: stats.norm.fit([x, x]),
    "stats.gamma.cdf": lambda x: stats.gamma(2.0, scale=x).cdf(1.0),
    "stats.multivariate_normal.logpdf": stats.multivariate_normal.logpdf,
    "stats.zscore": stats.zscore,
    "integrate.quad": lambda x: scipy.integrate.quad(lambda t: t * np.sum(x), 0, 1),
}
OURS = {
    "linalg.expm": "use bl.scipy.linalg.expm",
    "linalg.solve_triangular": "use bl.scipy.linalg.solve_triangular",
    "linalg.cholesky": "use np.linalg.cholesky",
    "linalg.inv": "use np.linalg.inv",
    "signal.convolve": "use bl.scipy.signal.convolve",
    "fft.rfft": "use np.fft.rfft",
    "special.logsumexp": "use bl.scipy.special.logsumexp",
    "stats.norm.logpdf": "use bl.scipy.stats.norm.logpdf",
    "stats.gamma.cdf": "use bl.scipy.stats.gamma.cdf",
    "stats.multivariate_normal.logpdf": "use bl.scipy.stats.multivariate_normal.logpdf",
}


@pytest.mark.parametrize(("name", "x"), [(name, x) for x in (X, 0.25) for name in CALLS])
def test_function_that_needs_numbers_is_named(name: str, x: Any) -> None:
    here = f'File "{__file__}", line '
    ours = OURS.get(name, "bl.scipy has no function of this name")
    with pytest.raises(bl.errors.TraceError) as caught:
        bl.jit(CALLS[name])(x)
    message = str(caught.value)
    assert message.startswith(here)
    assert f": scipy.{name} cannot be traced: SciPy asks for its numbers; {ours}. " in message


def test_the_words_are_those_that_are_there() -> None:
    there = {f"{home}.{name}" for home in ("linalg", "signal", "special") for name in getattr(bl.scipy, home).__all__}
    for name in bl.scipy.stats.__all__:
        distribution = getattr(bl.scipy.stats, name)
        rules = getattr(distribution, "rules", ())
        methods = {m for m, _ in getmembers(type(distribution), isfunction) if not m.startswith("_")}
        has = methods - {m for m in METHODS if m not in rules} if rules else methods
        there |= {f"stats.{name}.{m}" for m in has}
    assert there == WORDS


@pytest.mark.parametrize("name", SUBSTITUTES)
def test_suggested_substitutes_exist(name: str) -> None:
    home, _, word = name.partition(".")
    assert hasattr(getattr(scipy, home), word)
    module, _, ours = SUBSTITUTES[name].rpartition(".")
    found = getattr({"np": np, "bl": bl}.get(module) or getattr(np, home), ours)
    assert module == "bl" or found in FUNCTIONS


def test_a_function_of_the_users_that_scipy_calls_is_the_users() -> None:
    def f(x: Any) -> Any:
        return scipy.integrate.quad(lambda t: float(x) * t, 0, 1)[0]

    with pytest.raises(bl.errors.TraceError, match=r"line \d+: float\(\), math"):
        bl.grad(f)(0.5)
