"""SciPy's minimizers, to be run like any optimizer."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from burlab.errors import ArgumentError
from burlab.runtime.checks.numbers import shown
from burlab.runtime.coerce import Array


class Traits(NamedTuple):
    """Requirements and abilities of a method of SciPy.

    gradient: True if it calls gradients. curvature: "" for none, "hessp" for Hessian-vector products, "hess" for the
    whole Hessian. bounds, constraints: True if it supports them.
    """

    gradient: bool = True
    curvature: str = ""
    bounds: bool = False
    constraints: bool = False


METHODS = {
    "Nelder-Mead": Traits(gradient=False, bounds=True),
    "Powell": Traits(gradient=False, bounds=True),
    "CG": Traits(),
    "BFGS": Traits(),
    "Newton-CG": Traits(curvature="hessp"),
    "L-BFGS-B": Traits(bounds=True),
    "TNC": Traits(bounds=True),
    "COBYLA": Traits(gradient=False, bounds=True, constraints=True),
    "COBYQA": Traits(gradient=False, bounds=True, constraints=True),
    "SLSQP": Traits(bounds=True, constraints=True),
    "trust-constr": Traits(curvature="hessp", bounds=True, constraints=True),
    "dogleg": Traits(curvature="hess"),
    "trust-ncg": Traits(curvature="hessp"),
    "trust-krylov": Traits(curvature="hessp"),
    "trust-exact": Traits(curvature="hess"),
}


@dataclass(frozen=True)
class SciPy:
    """A method of scipy.optimize.minimize as an optimizer: SciPy runs in a Python thread and calls burlab's kernels.

    method: "Nelder-Mead", "Powell", "CG", "BFGS", "Newton-CG", "L-BFGS-B", "TNC", "COBYLA", "COBYQA", "SLSQP",
    "trust-constr", "dogleg", "trust-ncg", "trust-krylov" or "trust-exact". Gradients, Hessian-vector products and
    Hessians are exact. bounds, constraints, tol, options: as SciPy takes them, for x as one flat float64 vector.
    SciPy's own linear algebra has one thread, so that its points do not depend on the machine's cores.

    One step of the run is one iteration, as SciPy's callback reports it (COBYLA's and COBYQA's: one evaluation). When
    SciPy ends, the run rests and `run.stopped` holds its message. `seek` shows the recorded points; SciPy's own state
    is not recorded, so the run goes on from its newest point only, and `run.fork()` starts the method anew from the
    point shown. There are no live hyperparameters and no batches; the samples' losses get one key, made of the seed.

    >>> import numpy as np, burlab as bl
    >>> rosen = lambda x: 100 * (x[1] - x[0] ** 2) ** 2 + (1 - x[0]) ** 2
    >>> run = bl.minimize(rosen, np.zeros(2), bl.optim.SciPy("BFGS"), steps=100)
    >>> run.x.round(4), run.stopped.reason
    (array([1., 1.]), 'finished')
    """

    method: str = "L-BFGS-B"
    bounds: Any = None
    constraints: Any = ()
    tol: float | None = None
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])

    def __post_init__(self) -> None:
        names = {name.lower(): name for name in METHODS}
        if not isinstance(self.method, str) or self.method.lower() not in names:  # pyright: ignore[reportUnnecessaryIsInstance]
            raise ArgumentError(f"method is {shown(self.method)}, expected one of {', '.join(METHODS)}.")
        object.__setattr__(self, "method", names[self.method.lower()])
        if self.bounds is not None and not self.traits.bounds:
            keepers = ", ".join(name for name, traits in METHODS.items() if traits.bounds)
            raise ArgumentError(f"{self.method} cannot keep bounds. Methods that can: {keepers}.")
        if self.bounds is not None:
            limits(self.bounds)
        if _any(self.constraints) and not self.traits.constraints:
            keepers = ", ".join(name for name, traits in METHODS.items() if traits.constraints)
            raise ArgumentError(f"{self.method} cannot keep constraints. Methods that can: {keepers}.")

    @property
    def traits(self) -> Traits:
        """Derivatives that the method uses, and arguments that it takes."""
        return METHODS[self.method]


def limits(bounds: Any) -> tuple[Array, Array]:
    """The least and the largest value of each variable, float64, inf where there is none. Raises ArgumentError.

    >>> limits([(0, 1), (None, 2)])
    (array([  0., -inf]), array([1., 2.]))
    """
    try:
        if hasattr(bounds, "lb"):
            low, high = (np.atleast_1d(np.asarray(part, np.float64)) for part in (bounds.lb, bounds.ub))
            low, high = np.broadcast_arrays(low, high)
        else:
            pairs = [(-np.inf if low is None else low, np.inf if high is None else high) for low, high in bounds]
            low, high = np.array(pairs, np.float64).reshape(len(pairs), 2).T
    except (TypeError, ValueError) as error:
        raise ArgumentError(
            f"bounds of SciPy is {shown(bounds)}, expected (low, high) for each variable, None for no limit, such as "
            "[(0, 1), (None, 2)], or a scipy.optimize.Bounds."
        ) from error
    if (wrong := np.flatnonzero(~(low <= high))).size:
        k = int(wrong[0])
        raise ArgumentError(
            f"bounds of SciPy are {low[k]:g} to {high[k]:g} for variable {k}: no number lies between. "
            "Put the lower one first."
        )
    return low, high


def _any(constraints: object) -> bool:
    """Return True if there are constraints: one of SciPy's, or a sequence that is not empty."""
    return constraints is not None and not (isinstance(constraints, (tuple, list)) and not constraints)
