"""The test problems of Moré, Garbow and Hillstrom."""

import inspect
from collections.abc import Callable
from typing import Any, final

import numpy as np

from burlab.errors import ArgumentError
from burlab.problems.residual_sum import Residuals
from burlab.runtime.checks.numbers import one_of
from burlab.runtime.coerce import Array

from . import mgh_data, mgh_large, mgh_small
from .mgh_form import MghForm

_FORMS: tuple[Callable[..., MghForm], ...] = (
    mgh_small.rosenbrock, mgh_small.freudenstein_roth, mgh_small.powell_badly_scaled, mgh_small.brown_badly_scaled,
    mgh_small.beale, mgh_small.jennrich_sampson, mgh_small.helical_valley, mgh_data.bard, mgh_data.gaussian,
    mgh_data.meyer, mgh_data.gulf, mgh_data.box, mgh_small.powell_singular, mgh_small.wood, mgh_data.kowalik_osborne,
    mgh_small.brown_dennis, mgh_data.osborne_1, mgh_data.biggs_exp6, mgh_data.osborne_2, mgh_data.watson,
    mgh_large.extended_rosenbrock, mgh_large.extended_powell, mgh_large.penalty_1, mgh_large.penalty_2,
    mgh_large.variably_dimensioned, mgh_large.trigonometric, mgh_large.brown_almost_linear, mgh_large.boundary_value,
    mgh_large.integral_equation, mgh_large.broyden_tridiagonal, mgh_large.broyden_banded, mgh_large.linear_full_rank,
    mgh_large.linear_rank_1, mgh_large.linear_rank_1_zeros, mgh_large.chebyquad,
)  # fmt: skip
_BY_NAME = {form.__name__: form for form in _FORMS}
MGH = tuple(_BY_NAME)
"""Names of the problems, in the order of the paper: the first has number 1."""


@final
class KnownResiduals(Residuals):
    """Residuals of x alone with a standard start and a known minimum: `bl.problems.mgh` creates it.

    It is a `bl.Residuals`, and more: name. start: float64, shape (d,). minimum: f at its minimum, half of the sum of
    squares that the literature states; nan where it states none for this size. minima: known minimizers, shape (k, d).

    >>> import burlab as bl
    >>> f = bl.problems.mgh("bard")
    >>> float(f.minimum), f.start
    (0.004107435, array([1., 1., 1.]))
    """

    def __init__(self, name: str, form: MghForm) -> None:
        if not isinstance(form, MghForm):  # pyright: ignore[reportUnnecessaryIsInstance] - users pass anything
            raise ArgumentError("KnownResiduals has no public constructor. Call bl.problems.mgh(name).")
        super().__init__(form.residuals)
        self.name = name
        self.start: Array = np.array(form.start, np.float64)
        self.minimum = form.squares / 2
        self.minima: Array = np.array(form.minimizers, np.float64).reshape(-1, self.start.size)

    def __repr__(self) -> str:
        return f"<{self.name}, {self.start.size} unknowns, minimum {self.minimum:.6g}>"


def mgh(name: str, *, n: int | None = None, m: int | None = None) -> KnownResiduals:
    """Moré, Garbow and Hillstrom 1981, Testing unconstrained optimization software, section 3.

    ACM Transactions on Mathematical Software 7, 17-41, doi:10.1145/355934.355936.

    Args:
        name: One of the 35, as `bl.problems.MGH` lists them.
        n: Number of unknowns, for problems 20 to 35; None: a usual one.
        m: Number of residuals, for problems 11, 12, 18 and 32 to 35; None: a usual one.

    Returns:
        A `bl.Residuals` of x, shape (n,), with start and minimum. f(x) is half of the paper's sum of squares.

    Raises:
        ArgumentError: For another name, or a size that the problem does not have.

    >>> import burlab as bl
    >>> f = bl.problems.mgh("watson", n=9)
    >>> run = bl.minimize(f, f.start, bl.optim.LevenbergMarquardt(), steps=20)
    >>> f, float(2 * f.value(run.x))
    (<watson, 9 unknowns, minimum 6.9988e-07>, 1.39976...e-06)
    """
    form = _BY_NAME[one_of(name, MGH, "name")]
    sizes = {key: size for key, size in {"n": n, "m": m}.items() if size is not None}
    if foreign := set(sizes).difference(inspect.signature(form).parameters):
        raise ArgumentError(f"the problem {name} has one size: leave {min(foreign)}= out.")
    chosen: Any = sizes
    return KnownResiduals(name, form(**chosen))
