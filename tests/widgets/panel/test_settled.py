"""When a run has come to rest: steps within a few roundings of its point, and no longer ones."""

import numpy as np
import pytest

from burlab.widgets.panel.run_rest import within_rounding


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("x", [np.array([3.0]), np.full((10, 10), 0.5), np.array([1e-8, 0.0])])
def test_a_few_roundings_are_rest_and_ten_are_not(x, dtype):
    point = x.astype(dtype)
    rounding = float(np.finfo(dtype).eps) * float(np.linalg.norm(x))
    assert within_rounding(point, 3 * rounding)
    assert not within_rounding(point, 10 * rounding)


def test_at_zero_any_step_moves():
    assert not within_rounding(np.zeros(3), 1e-300)
    assert within_rounding(np.zeros(3), 0.0)
