"""Divergences between distributions over classes, and the loss of a student that learns from a teacher."""

from typing import Any, cast

import numpy as np

from burlab.errors import DTypeError, ShapeError
from burlab.functions import log_softmax
from burlab.runtime.ranges import POSITIVE, SHARE, number_in
from burlab.typing import Operand

from .layer import numbers
from .losses import cross_entropy


def kl_divergence(logits: Operand, target: Operand) -> Any:
    """Return KL(p || softmax(logits)) = sum_k p_k (log p_k - log softmax(logits)_k), averaged over all rows.

    Args:
        logits: Scores of the classes, shape (..., classes).
        target: The probabilities p, floats of the same shape. Whether these sum to 1 is not checked.

    Returns:
        A number, shape ().

    Raises:
        ShapeError: The shapes differ.
        DTypeError: The target is not of floats.

    >>> import numpy as np
    >>> round(float(kl_divergence(np.array([0.0, 0.0]), np.array([1.0, 0.0]))), 6)
    0.693147
    """
    logits, target = _rows("kl_divergence", logits, target, "target")
    if target.dtype.kind != "f":
        raise DTypeError(f"the target of kl_divergence holds probabilities, floats; got {target.dtype}.")
    # 0 log 0 is 0.
    log_target = np.log(np.where(target > 0.0, target, 1.0))
    return _divergence(target, log_target, log_softmax(logits, axis=-1))


def distillation(
    logits: Operand, teacher: Operand, target: Operand | None = None, *, temperature: float = 2.0, weight: float = 0.5
) -> Any:
    """Return w T^2 KL(softmax(teacher / T) || softmax(logits / T)) + (1 - w) cross_entropy(logits, target).

    Hinton, Vinyals and Dean 2015, "Distilling the knowledge in a neural network", arXiv:1503.02531v1, section 2: by the
    factor T^2 the gradient of the first term keeps its size at each temperature. It differs from their cross entropy
    with soft targets by the entropy of the teacher, which does not depend on the student.

    Args:
        logits: Scores of the student, shape (..., classes).
        teacher: Scores of the teacher, of the same shape.
        target: As of `cross_entropy`; None for the first term alone, whatever the weight.
        temperature: T, positive.
        weight: w, from 0 to 1.

    Returns:
        A number, shape ().

    Raises:
        ShapeError: The shapes do not fit.
        ArgumentError: temperature or weight is out of range.

    >>> import numpy as np
    >>> scores = np.array([2.0, 0.0])
    >>> float(distillation(scores, scores)), round(float(distillation(scores, scores, 0)), 6)
    (0.0, 0.063464)
    """
    logits, teacher = _rows("distillation", logits, teacher, "teacher")
    temperature = number_in(POSITIVE, temperature, "temperature of distillation")
    weight = number_in(SHARE, weight, "weight of distillation")
    log_p, log_q = (log_softmax(scores / temperature, axis=-1) for scores in (teacher, logits))
    soft = temperature * temperature * _divergence(np.exp(log_p), log_p, log_q)
    return soft if target is None else weight * soft + (1.0 - weight) * cross_entropy(logits, target)


def _divergence(p: Any, log_p: Any, log_q: Any) -> Any:
    """Return the mean over rows; a class of probability 0 counts nothing, though its logarithms may be -inf."""
    gaps = np.where(p == 0.0, 0.0, log_p) - np.where((p == 0.0) & (log_q == -np.inf), 0.0, log_q)
    return cast("Any", np).mean(np.sum(p * gaps, axis=-1))


def _rows(name: str, logits: Operand, other: Operand, called: str) -> tuple[Any, Any]:
    """Return both as arrays. Raises ShapeError where they are not rows of one shape."""
    logits, other = numbers(logits, f"logits of {name}"), numbers(other, f"{called} of {name}")
    if not np.shape(logits) or np.shape(logits) != np.shape(other):
        raise ShapeError(
            f"{name} expects logits and {called} of one shape (..., classes), got {np.shape(logits)} and "
            f"{np.shape(other)}."
        )
    return logits, other
