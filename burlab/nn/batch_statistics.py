"""Batch normalization, whose running statistics are the state of a loss."""

import math
from collections.abc import Mapping
from typing import Any, cast

import numpy as np

from burlab.errors import ArgumentError, ShapeError
from burlab.runtime.checks.numbers import shown, truth
from burlab.runtime.ranges import NOT_NEGATIVE, SHARE, number_in
from burlab.typing import Operand

from .layer import numbers

_NAMES = "mean", "variance"
Running = Mapping[str, Any]


def batch_norm(
    x: Operand, running: Running, *, training: bool, momentum: float = 0.1, eps: float = 1e-5
) -> tuple[Any, dict[str, Any]]:
    """Return (x - mean) / sqrt(variance + eps), and running statistics (Ioffe and Szegedy 2015, arXiv:1502.03167).

    In training mean and variance are those of the batch, over all axes of x but the last, and the new running ones are
    (1 - momentum) running + momentum batch, with the unbiased variance, as in PyTorch. In evaluation they are the
    running ones, which do not change. Scale and shift are parameters of yours. In a run the running statistics are the
    `loss_state` of a `bl.BatchLoss`.

    Args:
        x: Values of a batch, shape (batch, ..., width); in evaluation of a sample too, (..., width).
        running: "mean" and "variance", shape (width,) each; they start as zeros and ones.
        training: True for statistics of the batch.
        momentum: From 0 to 1.
        eps: At least 0.

    Returns:
        An array of x's shape; and "mean" and "variance".

    Raises:
        ArgumentError: For other running statistics, or an option out of range.
        ShapeError: For a batch of one value, or shapes that do not fit.

    >>> import numpy as np, burlab as bl
    >>> start = {"mean": np.zeros(1), "variance": np.ones(1)}
    >>> y, running = bl.nn.batch_norm(np.array([[1.0], [3.0]]), start, training=True, eps=0.0)
    >>> y.ravel(), running
    (array([-1.,  1.]), {'mean': array([0.2]), 'variance': array([1.1])})
    >>> bl.nn.batch_norm(np.array([1.2]), running, training=False, eps=0.0)[0].round(4)
    array([0.9535])
    """
    x, share, least = numbers(x, "x of batch_norm"), number_in(SHARE, momentum, "momentum"), NOT_NEGATIVE
    mean, variance = _statistics(running, np.shape(x))
    if not truth(training, "training"):
        return (x - mean) * (1 / np.sqrt(variance + number_in(least, eps, "eps"))), {"mean": mean, "variance": variance}
    shape: tuple[int, ...] = np.shape(x)
    axes, count = tuple(range(len(shape) - 1)), math.prod(shape[:-1])
    if len(shape) == 1 or count == 1:
        raise ShapeError(
            f"batch_norm in training needs a batch of at least 2 values for each of the last axis, got x of shape "
            f"{shape}. Take a bl.BatchLoss with batch=2 or more; one sample has training=False."
        )
    centre = np.mean(x, axis=axes)
    centred = x - centre
    spread = np.mean(centred * centred, axis=axes)
    y = centred * (1 / np.sqrt(spread + number_in(least, eps, "eps")))
    return y, {
        "mean": (1 - share) * mean + share * centre,
        "variance": (1 - share) * variance + share * count / (count - 1) * spread,
    }


def _statistics(running: Running, shape: tuple[int, ...]) -> tuple[Any, Any]:
    """Return mean and variance. Raises ArgumentError, ShapeError."""
    if not isinstance(cast("object", running), Mapping) or set(running) != set(_NAMES):
        raise ArgumentError(
            f"running is {shown(running)}, expected {{'mean': np.zeros(width), 'variance': np.ones(width)}}, or what "
            "batch_norm returned."
        )
    found = [numbers(running[name], f"running[{name!r}]") for name in _NAMES]
    for name, leaf in zip(_NAMES, found, strict=True):
        if not shape or np.shape(leaf) != shape[-1:]:
            raise ShapeError(
                f"running[{name!r}] has shape {np.shape(leaf)}, but x has shape {shape}, whose last axis is the width."
            )
    return found[0], found[1]
