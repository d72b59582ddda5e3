"""SciPy's functions that met a traced value, and those of them that `bl.scipy` has."""

import sys
from types import FrameType

import numpy as np

from .origin import caller, is_users

_FUNCTIONS = """
    linalg.cho_factor linalg.cho_solve linalg.expm linalg.solve_triangular
    signal.convolve signal.fftconvolve
    special.log_softmax special.logsumexp special.multigammaln special.polygamma special.softmax
"""
_DENSITY, _WHOLE = "logpdf pdf", "logpmf pmf cdf sf"
_ALL = "logpdf pdf cdf sf logcdf logsf ppf"
_METHODS = {
    **dict.fromkeys("norm lognorm expon laplace uniform logistic cauchy t gamma chi2 beta".split(), _ALL),
    **dict.fromkeys("rayleigh weibull_min halfnorm gumbel_l gumbel_r pareto lomax".split(), _ALL),
    **dict.fromkeys("gompertz halfcauchy halflogistic hypsecant maxwell".split(), _ALL),
    **dict.fromkeys("arcsine burr12 chi fisk gengamma invgamma invweibull".split(), _ALL),
    **dict.fromkeys("johnsonsu levy loggamma moyal nakagami powerlaw".split(), _ALL),
    "multivariate_normal": f"{_DENSITY} entropy",
    "dirichlet": _DENSITY,
    **dict.fromkeys("poisson binom bernoulli".split(), _WHOLE),
}
WORDS = frozenset(_FUNCTIONS.split()).union(
    f"stats.{name}.{method}" for name, methods in _METHODS.items() for method in methods.split()
)
"""What `bl.scipy` has, by SciPy's names."""
_NUMPYS = {
    "linalg": "cholesky det eigh eigvalsh inv lstsq norm pinv qr solve svd svdvals",
    "fft": "fft fft2 fftn hfft ifft ifft2 ifftn ihfft irfft irfft2 irfftn rfft rfft2 rfftn",
}
SUBSTITUTES = {
    **{f"{home}.{word}": f"np.{home}.{word}" for home, words in _NUMPYS.items() for word in words.split()},
    "signal.correlate": "np.correlate",
    "integrate.odeint": "bl.odeint",
    "integrate.solve_ivp": "bl.odeint",
    "optimize.fixed_point": "bl.fixed_point",
    "optimize.root": "bl.root",
}
"""Functions of SciPy's that NumPy or burlab has by another name."""


_SCALINGS = {
    **dict.fromkeys(("__mul__", "multiply"), "np.multiply(A, x)"),
    **dict.fromkeys(("__truediv__", "_divide"), "np.divide(A, x)"),
}
"""Methods of sparse matrices that ask an operand for its numbers before its protocols, and NumPy's functions."""


def remedy(name: str) -> str:
    """Return the advice in place of one of SciPy's functions.

    >>> remedy("linalg.expm"), remedy("linalg.inv"), remedy("special.lambertw")
    ('use bl.scipy.linalg.expm', 'use np.linalg.inv', 'bl.scipy has no function of this name')
    >>> remedy("sparse.csr_array.__mul__")
    'write np.multiply(A, x), for the matrix A'
    """
    if name.startswith("sparse."):
        scaling = _SCALINGS.get(name.rpartition(".")[2])
        other = "pass the matrix as an argument of the function, or use its x.toarray()"
        return f"write {scaling}, for the matrix A" if scaling else other
    if name in WORDS:
        return f"use bl.scipy.{name}"
    return f"use {SUBSTITUTES[name]}" if name in SUBSTITUTES else "bl.scipy has no function of this name"


def in_scipy() -> bool:
    """Return True if Python code of SciPy's called burlab."""
    frame = caller()
    return frame is not None and _module(frame) == "scipy"


def is_special(ufunc: np.ufunc) -> bool:
    """Return True for a ufunc of SciPy's: some have NumPy's names. SciPy is not imported to find out."""
    special = sys.modules.get("scipy.special._ufuncs")
    return special is not None and getattr(special, ufunc.__name__, None) is ufunc


def scipy_function() -> str | None:
    """The function of SciPy's that the user called and that met a traced value, as `stats.norm.logpdf`; else None."""
    frame, found = caller(), None
    while frame is not None and not is_users(frame.f_code.co_filename):
        if _module(frame) == "scipy":
            found = _scipy_name(frame) or found
        frame = frame.f_back
    return found


def _module(frame: FrameType) -> str:
    return frame.f_globals.get("__name__", "").partition(".")[0]


def _scipy_name(frame: FrameType) -> str | None:
    """The public name of the function or method that a frame runs; None for SciPy's own helpers."""
    module, name, owner = frame.f_globals["__name__"], frame.f_code.co_name, frame.f_locals.get("self")
    if owner is not None:  # a distribution, perhaps with its parameters frozen
        kind = type(getattr(owner, "dist", owner)).__name__.removesuffix("_gen").removesuffix("_frozen")
        if name == "__init__":
            return _public(module, kind)
        method = _public(module, kind) if hasattr(owner, name) else None
        return f"{method}.{name}" if method else None
    inside = [f for f in frame.f_locals.values() if callable(f)]  # what a decorator's function calls
    pairs = [(module, name), *((f.__module__, f.__name__) for f in inside if hasattr(f, "__name__"))]
    return next((found for pair in pairs if (found := _public(*pair))), None)


def _public(module: str | None, name: str) -> str | None:
    """The public name of an object that is defined in a module of SciPy; None if it has none."""
    home = (module or "").split(".")[1:2]
    known = home and not name.startswith("_") and hasattr(sys.modules.get(f"scipy.{home[0]}"), name)
    return f"{home[0]}.{name}" if known else None
