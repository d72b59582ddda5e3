"""The namespace that models are written in: NumPy's, plus `relu`, and `logsumexp` and `softmax` of the last axis."""

from collections.abc import Callable
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np

import burlab as bl
from burlab.typing import Array


class Namespace:
    """A module such as NumPy, with functions that it lacks or says differently.

    >>> xp = Namespace(np, relu=lambda x: np.maximum(x, 0))
    >>> float(xp.relu(-1.0)), float(xp.exp(0.0))
    (0.0, 1.0)
    """

    def __init__(self, module: ModuleType, **own: Callable[..., Any]) -> None:
        self._module = module
        self._own = SimpleNamespace(**own)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._own, name, None) or getattr(self._module, name)


def last_axis(reduction: Callable[..., Any]) -> Callable[[Any], Any]:
    """The reduction over the last axis."""

    def reduce(x: Array) -> Any:
        return reduction(x, axis=-1)

    return reduce


def _logsumexp(x: Any) -> Any:
    top = np.max(x.real, axis=-1, keepdims=True)
    return np.log(np.sum(np.exp(x - top), axis=-1)) + np.squeeze(top, -1)


def _softmax(x: Array) -> Any:
    e = np.exp(x - np.max(x, axis=-1, keepdims=True))
    return e / np.sum(e, axis=-1, keepdims=True)


def _relu(x: Array) -> Any:
    return x * (np.real(x) > 0)


# NumPy itself, for complex numbers as well: a step along the imaginary axis differentiates without rounding error.
PLAIN = Namespace(np, relu=_relu, logsumexp=_logsumexp, softmax=_softmax)

# What a user of burlab writes.
BURLAB = Namespace(np, relu=bl.relu, logsumexp=last_axis(bl.logsumexp), softmax=last_axis(bl.softmax), grad=bl.grad)
