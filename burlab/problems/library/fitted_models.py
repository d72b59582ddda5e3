"""Curves through data."""

from collections.abc import Callable
from typing import Any

import numpy as np

from burlab.errors import ShapeError
from burlab.problems.data import Data
from burlab.problems.residual_sum import Residuals
from burlab.runtime.checks.callable import check_takes
from burlab.runtime.plain import as_array
from burlab.typing import ArrayLike, Vector


def nonlinear_least_squares(
    model: Callable[..., Any],
    inputs: tuple[ArrayLike, ...] | ArrayLike,
    targets: ArrayLike,
    *,
    loss: str = "linear",
    scale: float = 1.0,
) -> Residuals:
    """1/n sum_i |model(x, a_i) - b_i|^2 / 2, or a robust loss: Gauss 1809. `bl.curve_fit` solves it at once.

    Args:
        model: (x, a) -> prediction for one sample, of the shape of a target; (x, a, ...) for several inputs.
        inputs: An array or a tuple of arrays with a leading sample axis, as the data of a `bl.FiniteSum`.
        targets: b, shape (n, ...).
        loss, scale: As for `bl.Residuals`.

    Returns:
        The `bl.Residuals` over x of any form that the model takes.

    >>> import numpy as np, burlab as bl
    >>> a = np.linspace(0.0, 1.0, 20)
    >>> f = bl.problems.nonlinear_least_squares(lambda x, a: x[0] * np.exp(x[1] * a), a, 2 * np.exp(-a))
    >>> bl.minimize(f, np.zeros(2), bl.optim.LevenbergMarquardt(), steps=20).x.round(6)
    array([ 2., -1.])
    """
    given = Data.of(inputs, "inputs").arrays
    goals = as_array(targets, "targets")
    check_takes(model, "model", f"x and {len(given)} inputs", "It is model(x, *inputs).", 1 + len(given))

    def residual(x: Vector, *sample: Any) -> Any:
        found: Any = model(x, *sample[:-1])
        if np.shape(found) != np.shape(sample[-1]):
            raise ShapeError(
                f"the model gave shape {np.shape(found)} for one sample, but targets have {np.shape(sample[-1])}."
            )
        return found - sample[-1]

    return Residuals(residual, (*given, goals), loss=loss, scale=scale)
