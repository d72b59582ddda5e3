"""Gradients as directions: those of `burlab.transforms`, but by a complex array the conjugate, which points uphill.

In real and imaginary parts, which is how points are held, they are the gradient by both.
"""

from collections.abc import Callable
from typing import Any

from burlab import transforms
from burlab.graph import tree

Function = Callable[..., Any]


def grad(loss: Function) -> Function:
    """The direction of steepest ascent."""

    def rule(*args: Any, **kwargs: Any) -> Any:
        return tree.conjugated(transforms.grad(loss)(*args, **kwargs))

    return rule


def value_and_grad(loss: Function, has_aux: bool = False) -> Function:
    """The value, and the direction of steepest ascent."""

    def rule(*args: Any, **kwargs: Any) -> Any:
        value, gradient = transforms.value_and_grad(loss, has_aux=has_aux)(*args, **kwargs)
        return value, tree.conjugated(gradient)

    return rule


def hvp(loss: Function) -> Function:
    """How that direction changes along a vector."""

    def rule(*args: Any, **kwargs: Any) -> Any:
        return tree.conjugated(transforms.hvp(loss)(*args, **kwargs))

    return rule
