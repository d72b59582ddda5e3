"""SciPy's own functions on traced values: those that ask for numbers are named, and what `bl.scipy` has instead."""

from collections.abc import Callable
from inspect import getmembers, isfunction
from typing import Any

import numpy as np
import pytest
import scipy.integrate
import scipy.linalg
from scipy import special, stats

import burlab as bl
from burlab.graph.scipy_words import WORDS

X = np.array([[0.25, 0.0], [0.5, 2.0]])
METHODS = "cdf sf logcdf logsf ppf".split()
CALLS: dict[str, Callable[[Any], Any]] = {
    "linalg.expm": scipy.linalg.expm,
    "linalg.solve_triangular": lambda x: scipy.linalg.solve_triangular(x, X),
    "linalg.cholesky": scipy.linalg.cholesky,
    "special.logsumexp": special.logsumexp,
    "special.lambertw": special.lambertw,
    "stats.norm.logpdf": stats.norm.logpdf,
    "stats.norm.fit": lambda x: stats.norm.fit([x, x]),
    "stats.gamma.cdf": lambda x: stats.gamma(2.0, scale=x).cdf(1.0),
    "stats.multivariate_normal.logpdf": stats.multivariate_normal.logpdf,
    "stats.zscore": stats.zscore,
    "integrate.quad": lambda x: scipy.integrate.quad(lambda t: t * np.sum(x), 0, 1),
}


@pytest.mark.parametrize(("name", "x"), [(name, x) for x in (X, 0.25) for name in CALLS])
def test_a_function_that_asks_for_numbers_is_named(name: str, x: Any) -> None:
    here = f'File "{__file__}", line '
    ours = f"use bl.scipy.{name}" if name in WORDS else "bl.scipy has no function of this name"
    with pytest.raises(bl.errors.TraceError) as caught:
        bl.jit(CALLS[name])(x)
    message = str(caught.value)
    assert message.startswith(here)
    assert f": scipy.{name} cannot be traced: SciPy asks for its numbers; {ours}. " in message


def test_the_words_are_those_that_are_there() -> None:
    homes = (bl.scipy.linalg, bl.scipy.special)
    there = {f"{home.__name__.split('.')[-1]}.{name}" for home in homes for name in home.__all__}
    for name in bl.scipy.stats.__all__:
        distribution = getattr(bl.scipy.stats, name)
        rules = getattr(distribution, "rules", ())
        methods = {m for m, _ in getmembers(type(distribution), isfunction) if not m.startswith("_")}
        has = methods - {m for m in METHODS if m not in rules} if rules else methods
        there |= {f"stats.{name}.{m}" for m in has}
    assert there == WORDS


def test_a_function_of_the_users_that_scipy_calls_is_the_users() -> None:
    def f(x: Any) -> Any:
        return scipy.integrate.quad(lambda t: float(x) * t, 0, 1)[0]

    with pytest.raises(bl.errors.TraceError, match=r"line \d+: float\(\), math"):
        bl.grad(f)(0.5)
