"""Distributions under SciPy's names and with its arguments, for traced values, arrays and numbers.

`norm.logpdf(x, loc, scale)` and its kin have derivatives of every order by x and by the parameters. Parameters of no
distribution, such as a negative scale, give nan.
"""

from .continuous import (
    beta as beta,
    cauchy as cauchy,
    chi2 as chi2,
    expon as expon,
    gamma as gamma,
    laplace as laplace,
    logistic as logistic,
    lognorm as lognorm,
    norm as norm,
    t as t,
    uniform as uniform,
)
from .discrete import bernoulli as bernoulli, binom as binom, poisson as poisson
from .gamma_transforms import (
    chi as chi,
    gengamma as gengamma,
    invgamma as invgamma,
    levy as levy,
    loggamma as loggamma,
    moyal as moyal,
    nakagami as nakagami,
)
from .heavy_tails import (
    arcsine as arcsine,
    burr12 as burr12,
    fisk as fisk,
    invweibull as invweibull,
    johnsonsu as johnsonsu,
    powerlaw as powerlaw,
)
from .lifetimes import (
    gompertz as gompertz,
    gumbel_l as gumbel_l,
    gumbel_r as gumbel_r,
    halfcauchy as halfcauchy,
    halflogistic as halflogistic,
    halfnorm as halfnorm,
    hypsecant as hypsecant,
    lomax as lomax,
    maxwell as maxwell,
    pareto as pareto,
    rayleigh as rayleigh,
    weibull_min as weibull_min,
)
from .multivariate import dirichlet as dirichlet, multivariate_normal as multivariate_normal

__all__ = [
    "arcsine", "bernoulli", "beta", "binom", "burr12", "cauchy", "chi", "chi2", "dirichlet", "expon", "fisk", "gamma",
    "gengamma", "gompertz", "gumbel_l", "gumbel_r", "halfcauchy", "halflogistic", "halfnorm", "hypsecant", "invgamma",
    "invweibull", "johnsonsu", "laplace", "levy", "loggamma", "logistic", "lognorm", "lomax", "maxwell", "moyal",
    "multivariate_normal", "nakagami", "norm", "pareto", "poisson", "powerlaw", "rayleigh", "t", "uniform",
    "weibull_min",
]  # fmt: skip
