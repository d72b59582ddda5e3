"""A user's loss in the forms that kernels are traced from."""

import inspect
from collections.abc import Callable, Sequence
from functools import wraps
from inspect import Parameter
from types import FunctionType
from typing import Any

from burlab.compiler.function import Function as CompiledFunction
from burlab.graph import tree
from burlab.transforms.call import pair_of

Function = Callable[..., Any]


def own(loss: Function) -> Function:
    """Wrap a method, so that caches of transforms, which hold the function, do not hold its object."""
    kind: type[Any] = type(loss)
    if kind in (FunctionType, CompiledFunction):
        return loss

    @wraps(loss, updated=())
    def same(*arguments: Any, **key: Any) -> Any:
        return loss(*arguments, **key)

    return same


def first(loss: Function) -> Function:
    """Return the value of a loss that returns (value, metrics)."""

    @wraps(loss, updated=())
    def value(x: tree.Tree, *sample: Any, **key: Any) -> Any:
        return pair_of(loss(x, *sample, **key), loss)[0]

    return value


def measured(parts: Function) -> Function:
    """Return the pair of value and metrics of a loss that returns (value, (state, metrics))."""

    def pair(x: tree.Tree, *sample: Any, **key: Any) -> Any:
        value, (_, metrics) = parts(x, *sample, **key)
        return value, metrics

    return pair


def weighted(loss: Function) -> Function:
    """Multiply a loss, and its metrics, by the last array of its sample."""

    @wraps(loss, updated=())
    def product(x: tree.Tree, *sample: Any, **key: Any) -> Any:
        *others, weight = sample
        result = loss(x, *others, **key)
        numbers, structure = tree.flatten(result)
        return tree.unflatten(structure, [weight * number for number in numbers])

    return product


def with_zeros(regularizer: Function, metrics: Sequence[str]) -> Function:
    """Return a regularizer with metrics of 0."""

    def rule(x: tree.Tree, *numbers: Any) -> Any:
        return regularizer(x, *numbers), dict.fromkeys(metrics, 0.0)

    return rule


def takes_key(loss: Function) -> bool:
    """Return True for a loss with a parameter `key`, which is a random key for each sample."""
    try:
        key = inspect.signature(loss).parameters.get("key")
    except (TypeError, ValueError):  # a NumPy ufunc has no signature
        return False
    return key is not None and key.kind in (Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY)
