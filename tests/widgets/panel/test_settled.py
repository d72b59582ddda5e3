"""When a run has come to rest: steps within a few roundings of its point, and no longer ones."""

import numpy as np
import pytest

from burlab.widgets.panel.run_rest import moves_no_more


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("x", [np.array([3.0]), np.full((10, 10), 0.5), np.array([1e-8, 0.0])])
def test_a_few_roundings_are_rest_and_ten_are_not(x, dtype):
    point = x.astype(dtype)
    rounding = float(np.finfo(dtype).eps) * float(np.linalg.norm(x))
    assert moves_no_more(point, 3 * rounding)
    assert not moves_no_more(point, 10 * rounding)


def test_at_zero_any_step_moves():
    assert not moves_no_more(np.zeros(3), 1e-300)
    assert moves_no_more(np.zeros(3), 0.0)
