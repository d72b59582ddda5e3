"""Rules that divide by roots of squares, where the squares of gradients are beyond the range of floats."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import burlab as bl
from burlab import optim

STEP_BOUND_FACTOR = {np.float64: (1e155, 1e160, 1e250), np.float32: (1e19, 1e20, 1e30)}
SLOPE, START = np.array([[1.0, -2.0, 0.5], [0.25, 1.0, -3.0]]), np.array([[1.0, 2.0, -3.0], [0.5, -1.0, 2.0]])
RULES: dict[str, Callable[[], Any]] = {
    "Adam": optim.Adam, "AdamW": optim.AdamW, "AMSGrad": optim.AMSGrad, "NAdam": optim.NAdam,
    "RMSProp": optim.RMSProp, "RMSProp, centered": lambda: optim.RMSProp(centered=True, mu=0.5),
    "Adagrad": optim.Adagrad, "Adadelta": optim.Adadelta, "ScheduleFreeAdamW": optim.ScheduleFreeAdamW,
    "Adafactor": optim.Adafactor, "DoG": optim.DoG, "DoWG": optim.DoWG, "DAdaptSGD": optim.DAdaptSGD,
    "DAdaptAdam": optim.DAdaptAdam, "Prodigy": optim.Prodigy, "Muon": optim.Muon, "Adamax": optim.Adamax,
}  # fmt: skip


def moved(rule: Any, dtype: Any, scale: float, shape: tuple[int, ...]) -> Any:
    """How far three steps along a linear function go."""
    slope, start = (a.reshape(shape).astype(dtype) for a in (SLOPE, START))
    run = bl.minimize(lambda x: np.sum(slope * dtype(scale) * x), start, rule, steps=3)
    assert run.t == 3
    return np.asarray(run.x) - start


@pytest.mark.parametrize("dtype", STEP_BOUND_FACTOR)
@pytest.mark.parametrize("name", RULES)
def test_steps_are_of_the_size_that_they_have_for_other_gradients(name: str, dtype: Any) -> None:
    """Of their signs, and some times shorter or longer: means of squares begin at 0, and are not known there."""
    most = 100 if name == "DAdaptAdam" else 10  # the size of its steps follows from such a mean as well
    for shape in ((6,), (2, 3)):
        near = moved(RULES[name](), dtype, 1.0, shape)
        for scale in STEP_BOUND_FACTOR[dtype]:
            far = moved(RULES[name](), dtype, scale, shape)
            np.testing.assert_array_equal(np.sign(far), np.sign(near))
            quotient = far / near
            assert np.all((quotient > 1 / most) & (quotient < most)), (shape, scale, quotient)
