"""Directions of steepest ascent: the gradients of `burlab.transforms`, conjugated for complex arrays.

In real and imaginary parts, as points store them, they are the gradient by both.
"""

from collections.abc import Callable
from typing import Any

from burlab import transforms
from burlab.graph import tree

Function = Callable[..., Any]


def grad(loss: Function, *args: Any, **kwargs: Any) -> Any:
    """Return the direction of steepest ascent."""
    return tree.conjugated(transforms.grad(loss)(*args, **kwargs))


def value_and_grad(loss: Function, *args: Any, **kwargs: Any) -> Any:
    """Return the value and the direction of steepest ascent."""
    value, gradient = transforms.value_and_grad(loss)(*args, **kwargs)
    return value, tree.conjugated(gradient)


def hvp(loss: Function, *args: Any, **kwargs: Any) -> Any:
    """Return the derivative of that direction along a vector, the last argument."""
    return tree.conjugated(transforms.hvp(loss)(*args, **kwargs))
