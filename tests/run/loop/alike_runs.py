"""Two runs that compute the same in another order."""

from typing import Any

import numpy as np

import burlab as bl


def check_alike(one: bl.Run, two: bl.Run, dtype: str) -> None:
    """Compare points and histories, all columns but the times."""
    eps = float(np.finfo(dtype).eps)
    for leaf in one.x:
        np.testing.assert_allclose(two.x[leaf], one.x[leaf], rtol=2000 * eps, atol=200 * eps)
    for column in one.history:
        if column != "time":
            np.testing.assert_allclose(two.history[column], one.history[column], rtol=1e4 * eps, err_msg=column)


def step_of(run: bl.Run) -> Any:
    """The update of a run: a `FusedStep`, or one with kernels of its own."""
    return run._engine.setup.update  # type: ignore[attr-defined]
