"""Losses of one sample. Entries of a result that is an array are averaged, as PyTorch's losses do."""

from typing import Any, cast

import numpy as np

from burlab.errors import DTypeError, IndexRangeError, ShapeError
from burlab.functions import log_softmax, logsumexp, softplus
from burlab.graph import Node
from burlab.runtime.ranges import BOUND, SHARE, number_in
from burlab.typing import Operand

from .layer import numbers


def cross_entropy(logits: Operand, target: Operand, *, label_smoothing: float = 0.0) -> Any:
    """Return -sum_k p_k log softmax(logits)_k, averaged over all rows; p is 1 at the target, or given.

    Args:
        logits: Scores of the classes, shape (..., classes).
        target: Numbers of classes, integers of shape (...); or probabilities p, floats of the shape of logits. Whether
            these sum to 1 is not checked.
        label_smoothing: e in (1 - e) p + e / classes, which takes the place of p; from 0 to 1 (Szegedy et al. 2016,
            section 7).

    Returns:
        A number, shape ().

    Raises:
        IndexRangeError: A target is not the number of a class.
        ShapeError: The shapes do not fit.
        DTypeError: One number for each row is not an integer.
        ArgumentError: label_smoothing is outside of 0 to 1.

    >>> import numpy as np
    >>> round(float(cross_entropy(np.zeros(10), 3)), 6)
    2.302585
    >>> round(float(cross_entropy(np.array([0.0, 1.0]), np.array([0.5, 0.5]))), 6)
    0.813262
    """
    logits, target = numbers(logits, "logits of cross_entropy"), numbers(target, "target of cross_entropy")
    smoothing = number_in(SHARE, label_smoothing, "label_smoothing")
    shape, places, kind = np.shape(logits), np.shape(target), _dtype(target).kind
    soft = kind == "f" and places == shape and bool(shape)
    if not shape or not (soft or shape[:-1] == places):
        raise ShapeError(
            f"cross_entropy expects logits of shape (..., classes) and one integer for each of their rows, or "
            f"probabilities of the shape of logits, got logits {shape} and target {places}."
        )
    if not soft and kind not in "iu":
        raise DTypeError(
            f"the target of cross_entropy is the number of a class, an integer; got {_dtype(target)}. Probabilities "
            "have the shape of logits."
        )
    hard = _of_probabilities(logits, target) if soft else _of_classes(logits, target)
    if not smoothing:
        return hard
    return (1.0 - smoothing) * hard - smoothing * _mean(log_softmax(logits, axis=-1))


def _of_classes(logits: Any, target: Any) -> Any:
    places = np.shape(target)
    chosen = np.take_along_axis(logits, np.expand_dims(_class(target, np.shape(logits)[-1]), -1), axis=-1)
    total = logsumexp(logits, axis=-1)
    # Of -inf alone: nan, with derivative 0.
    return _mean(total - np.where(total == -np.inf, -np.inf, np.reshape(chosen, places)))


def _of_probabilities(logits: Any, target: Any) -> Any:
    """A class of probability 0 may have the logit -inf."""
    log_shares = log_softmax(logits, axis=-1)
    counted = np.where((target == 0.0) & (log_shares == -np.inf), 0.0, log_shares)
    return _mean(-_sum(target * counted))


def _class(target: Operand, classes: int) -> Any:
    """The target; -1 is no class, though it would be an index: known ones are refused now, others by the kernel."""
    if isinstance(target, Node):
        index: Any = target.astype(np.int64)
        return np.where(index < 0, classes, index)
    least, most = np.min(target, initial=0), np.max(target, initial=0)
    if not 0 <= least <= most < max(classes, 1):
        raise IndexRangeError(f"target holds {least if least < 0 else most}, but classes are 0 to {classes - 1}.")
    return target


def mse(prediction: Operand, target: Operand) -> Any:
    """Return the mean of (prediction - target)^2.

    Args:
        prediction, target: Numbers of one shape.

    Returns:
        A number, shape ().

    >>> import numpy as np
    >>> float(mse(np.array([1.0, 2.0]), np.array([1.0, 4.0])))
    2.0
    """
    error = _difference("mse", prediction, target)
    return _mean(error * error)


def huber(prediction: Operand, target: Operand, *, delta: float = 1.0) -> Any:
    """Return the mean of e^2 / 2 where |e| <= delta, else delta (|e| - delta / 2), e the error (Huber 1964).

    Args:
        prediction, target: Numbers of one shape.
        delta: Where the square ends, positive.

    Returns:
        A number, shape ().

    >>> float(huber(3.0, 0.0)), float(huber(0.5, 0.0))
    (2.5, 0.125)
    """
    delta = number_in(BOUND, delta, "delta")
    error = _difference("huber", prediction, target)
    inside = np.minimum(np.maximum(error, -delta), delta)  # not by |e|, whose derivative at 0 hides the second one
    return _mean(inside * (error - 0.5 * inside))


def hinge(score: Operand, target: Operand) -> Any:
    """Return the mean of max(0, 1 - target score): the loss of support vector machines.

    Args:
        score, target: Numbers of one shape; the targets are -1 or 1.

    Returns:
        A number, shape ().

    >>> float(hinge(0.25, 1.0)), float(hinge(2.0, 1.0))
    (0.75, 0.0)
    """
    score, target = _same("hinge", score, target)
    return _mean(np.maximum(1.0 - target * score, 0.0))


def logistic(score: Operand, target: Operand) -> Any:
    """Return the mean of log(1 + e^(-target score)), without overflow.

    Args:
        score, target: Numbers of one shape; the targets are -1 or 1.

    Returns:
        A number, shape ().

    >>> round(float(logistic(0.0, -1.0)), 6)
    0.693147
    """
    score, target = _same("logistic", score, target)
    return _mean(softplus(-(target * score)))


def _sum(entries: Operand) -> Any:
    return cast("Any", np).sum(entries, axis=-1)


def _mean(entries: Operand) -> Any:
    return cast("Any", np).mean(entries)  # of a traced array too, which NumPy's types do not know


def _difference(name: str, prediction: Operand, target: Operand) -> Any:
    prediction, target = _same(name, prediction, target)
    return prediction - target


def _same(name: str, prediction: Operand, target: Operand) -> tuple[Any, Any]:
    """The two as arrays. Raises ShapeError where one of them would silently be repeated."""
    prediction, target = (
        numbers(x, f"the {what} of {name}") for x, what in ((prediction, "prediction"), (target, "target"))
    )
    if np.shape(prediction) != np.shape(target):
        raise ShapeError(
            f"{name} expects a prediction and a target of one shape, got {np.shape(prediction)} and "
            f"{np.shape(target)}. Reshape one of them."
        )
    return prediction, target


def _dtype(x: Operand) -> "np.dtype[Any]":
    return x.dtype if hasattr(x, "dtype") else np.asarray(x).dtype
