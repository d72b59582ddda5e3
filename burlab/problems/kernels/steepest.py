"""Directions of steepest ascent: the gradients of `burlab.transforms`, conjugated for complex arrays.

In real and imaginary parts, as points store them, they are the gradient by both.
"""

from collections.abc import Callable
from typing import Any

from burlab import transforms
from burlab.graph import tree

Function = Callable[..., Any]


def grad(loss: Function) -> Function:
    """Return the function to the direction of steepest ascent."""

    def rule(*args: Any, **kwargs: Any) -> Any:
        return tree.conjugated(transforms.grad(loss)(*args, **kwargs))

    return rule


def value_and_grad(loss: Function, has_aux: bool = False) -> Function:
    """Return the function to the value and the direction of steepest ascent."""

    def rule(*args: Any, **kwargs: Any) -> Any:
        value, gradient = transforms.value_and_grad(loss, has_aux=has_aux)(*args, **kwargs)
        return value, tree.conjugated(gradient)

    return rule


def hvp(loss: Function) -> Function:
    """Return the function to the derivative of that direction along a vector."""

    def rule(*args: Any, **kwargs: Any) -> Any:
        return tree.conjugated(transforms.hvp(loss)(*args, **kwargs))

    return rule
