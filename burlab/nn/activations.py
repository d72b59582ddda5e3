"""Activations by name, so that a layer that is saved knows its own."""

from collections.abc import Callable
from typing import Any

import numpy as np

from burlab.errors import ArgumentError
from burlab.functions import gelu, relu, sigmoid, silu, softplus
from burlab.runtime.checks.numbers import shown
from burlab.typing import Operand

from .layer import numbers

Activation = str | Callable[[Any], Any]
"""relu, gelu, silu, tanh, sigmoid, softplus or identity; or a function, with which a run can be saved but not loaded
without `like=`."""


def tanh(x: Operand) -> Any:
    """The hyperbolic tangent of every entry: NumPy's own.

    >>> float(tanh(0.0))
    0.0
    """
    return np.tanh(numbers(x, "x of tanh"))


def identity(x: Operand) -> Any:
    """x itself.

    >>> identity(3.0)
    3.0
    """
    return x


_BY_NAME: dict[str, Callable[[Any], Any]] = {
    f.__name__: f for f in (relu, gelu, silu, tanh, sigmoid, softplus, identity)
}


def known(activation: Activation) -> Activation:
    """The activation as it was given. Raises ArgumentError for one that does not exist."""
    function(activation)
    return activation


def function(activation: Activation) -> Callable[[Any], Any]:
    """The function that an activation names."""
    if callable(activation):
        return activation
    if not isinstance(activation, str) or activation not in _BY_NAME:  # pyright: ignore[reportUnnecessaryIsInstance] - users pass anything
        raise ArgumentError(
            f"activation={shown(activation)} is unknown. Use one of {', '.join(_BY_NAME)}, or a function of an array."
        )
    return _BY_NAME[activation]
