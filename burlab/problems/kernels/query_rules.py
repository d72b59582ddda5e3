"""The queries about a loss as functions of x, a sample and a key, which are traced."""

from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np

from burlab import transforms
from burlab.errors import ArgumentError, ShapeError
from burlab.graph import Node, tree
from burlab.graph.linear_nodes import concatenate, reshape
from burlab.graph.node import as_node
from burlab.graph.numpy_api.promotion import as_dtype
from burlab.graph.rewrite.entries import entries
from burlab.optim.missing_links import with_blocks, zero_blocks
from burlab.problems.trainable import CHANGE
from burlab.runtime.checks.numbers import shown
from burlab.runtime.coerce import Array
from burlab.transforms import jvp, vmap
from burlab.typing import ArrayLike

from .steepest import grad, hvp, value_and_grad

Function = Callable[..., Any]
Names = tuple[str, ...]  # of parts of x


def value_alone(loss: Function, x: tree.Tree, *sample: Any, **key: Any) -> Any:
    """The value."""
    return (value_and_grad(loss, x, *sample, **key)[0],)  # checks that the loss is one number


def _value_like(loss: Function, x: tree.Tree, *sample: Any, **key: Any) -> Any:
    """The value in x's dtype."""
    return (value_alone(loss, x, *sample, **key)[0].astype(_dtype(x)),)


def _gradient(loss: Function, x: tree.Tree, *sample: Any, **key: Any) -> Any:
    return (grad(loss, x, *sample, **key),)


def _training(loss: Function, x: tree.Tree, *sample: Any, **key: Any) -> Any:
    """Value and gradient in one dtype, the gradient's."""
    value, gradient = value_and_grad(loss, x, *sample, **key)
    return value.astype(_dtype(x)), gradient


def _measured(loss: Function, x: tree.Tree, *sample: Any, **key: Any) -> Any:
    """Value, gradient, and the metrics that the loss returns with its value, in one dtype."""
    (value, metrics), gradient = transforms.value_and_grad(loss, has_aux=True)(x, *sample, **key)
    return value.astype(_dtype(x)), tree.conjugated(gradient), _numbers(metrics, _dtype(x))


def _measured_value(loss: Function, x: tree.Tree, *sample: Any, **key: Any) -> Any:
    """Value and metrics, with nothing in the place of a gradient."""
    value, _, metrics = _measured(loss, x, *sample, **key)
    return value, (), metrics


def _stateful(loss: Function, x: tree.Tree, *sample: Any, **key: Any) -> Any:
    """Value, gradient, metrics, and the leaves of the state that the loss returns with its value."""
    (value, (state, metrics)), gradient = transforms.value_and_grad(loss, has_aux=True)(x, *sample, **key)
    return value.astype(_dtype(x)), tree.conjugated(gradient), _numbers(metrics, _dtype(x)), tuple(state)


def _stateful_value(loss: Function, x: tree.Tree, *sample: Any, **key: Any) -> Any:
    """Value, metrics and state, with nothing in the place of a gradient."""
    value, _, metrics, state = _stateful(loss, x, *sample, **key)
    return value, (), metrics, state


def _numbers(metrics: object, dtype: "np.dtype[Any]") -> dict[str, Node]:
    if not isinstance(metrics, dict) or not all(isinstance(name, str) for name in cast("dict[Any, Any]", metrics)):
        raise ArgumentError(
            f"with has_aux=True the loss returns (value, {{name: number, ...}}), but the second is {shown(metrics)}."
        )
    nodes = {name: as_node(number) for name, number in cast("dict[str, Any]", metrics).items()}
    for name, node in nodes.items():
        if node.shape:
            raise ShapeError(f"the metric {shown(name)} has shape {node.shape}, expected (). Sum it, or take its mean.")
    return {name: as_dtype(node, dtype) for name, node in nodes.items()}


def _difference(loss: Function, x: tree.Tree, y: tree.Tree, *sample: Any, **key: Any) -> Any:
    at_x, structure = tree.flatten(grad(loss, x, *sample, **key))
    at_y = tree.flatten(grad(loss, y, *sample, **key))[0]
    return (tree.unflatten(structure, [a - b for a, b in zip(at_x, at_y, strict=True)]),)


def _partial(loss: Function, x: tree.Tree, coordinates: ArrayLike, *sample: Any, **key: Any) -> Any:
    """Entries of the gradient, computed without the others where that is cheaper."""
    return (entries(_flat(grad(loss, x, *sample, **key)), as_node(coordinates)),)


def _links(loss: Function, x: tree.Tree, firsts: ArrayLike, *sample: Any, **key: Any) -> Any:
    """The gradient by a block of the matrix of each sparse layer of x, all in one vector. firsts: of their rows.

    x holds digits of links, so blocks are added where the layers are put together.
    """
    blocks: list[Any] = []

    def at(entries: Sequence[Any]) -> Any:
        def changed(seen: tree.Tree) -> tree.Tree:
            return with_blocks(seen, entries, firsts)

        return loss(x, *sample, **{CHANGE: changed}, **key)

    def collect(seen: tree.Tree) -> tree.Tree:
        blocks.extend(zero_blocks(seen))
        return seen

    loss(x, *sample, **{CHANGE: collect}, **key)
    return (_flat(transforms.grad(at)(blocks)),)


def _curvature(loss: Function, x: tree.Tree, v: tree.Tree, *sample: Any, **key: Any) -> Any:
    return (hvp(loss, x, *sample, v, **key),)


def _hessian(loss: Function, x: tree.Tree, *sample: Any, **key: Any) -> Any:
    """Second derivatives by all numbers of x, shape (d, d): row k is the product with unit vector k."""
    leaves, structure = tree.flatten(x)
    ends = np.cumsum([leaf.size for leaf in leaves])[:-1]

    def row(unit: Array) -> Any:
        parts = [np.reshape(v, leaf.shape) for v, leaf in zip(np.split(unit, ends), leaves, strict=True)]
        return _flat(hvp(loss, x, *sample, tree.unflatten(structure, parts), **key))

    return (vmap(row)(np.eye(sum(leaf.size for leaf in leaves), dtype=leaves[0].dtype)),)


def _directional(loss: Function, x: tree.Tree, v: tree.Tree, *sample: Any, **key: Any) -> Any:
    """The derivative along a vector, in x's dtype."""

    def at(y: tree.Tree) -> Any:
        return loss(y, *sample, **key)

    slope = jvp(at, (x,), (v,))[1]
    return (as_dtype(as_node(slope), _dtype(x)),)


def _dtype(x: tree.Tree) -> "np.dtype[Any]":
    return tree.flatten(x)[0][0].dtype


def _flat(gradient: tree.Tree) -> Node:
    """All leaves as one vector."""
    return concatenate([reshape(as_node(leaf), (as_node(leaf).size,)) for leaf in tree.flatten(gradient)[0]], 0)


def _part_value(loss: Function, _by: Names, _along: Names, x: Any, *sample: Any, **key: Any) -> Any:
    """The value in x's dtype."""
    return _value_like(loss, x, *sample, **key)


def _part_gradient(loss: Function, by: Names, _along: Names, x: Any, *sample: Any, **key: Any) -> Any:
    """Value and gradient by some parts of x, 0 for the others, in x's dtype."""
    value, slopes = value_and_grad(_by_some(loss, x, sample, key), _some(x, by))
    return value.astype(_dtype(x)), _with_zeros(x, slopes)


def _part_curvature(loss: Function, by: Names, along: Names, x: Any, v: Any, *sample: Any, **key: Any) -> Any:
    """The derivative of the gradient by some parts of x along a vector of some, 0 for the others."""

    def slopes(moved: Any) -> Any:
        y = {**x, **moved}
        return grad(_by_some(loss, y, sample, key), _some(y, by))

    return (_with_zeros(x, jvp(slopes, (_some(x, along),), (_some(v, along),))[1]),)


def _by_some(loss: Function, x: Any, sample: tuple[Any, ...], key: dict[str, Any]) -> Function:
    """Return a loss as a function of some parts of x."""

    def of_some(parts: Any) -> Any:
        return loss({**x, **parts}, *sample, **key)

    return of_some


def _some(x: Any, names: Names) -> Any:
    """Return some parts of x."""
    return {name: x[name] for name in names}


def _with_zeros(x: Any, parts: Any) -> Any:
    """Return a tree like x with zeros in place of other parts."""
    return {
        name: parts[name] if name in parts else transforms.tree.map(np.zeros_like, part) for name, part in x.items()
    }


PART_RULES: dict[str, Callable[..., Any]] = {
    "part_value": _part_value,
    "part_grad": _part_gradient,
    "part_curvature": _part_curvature,
}
"""Kernels about the loss of a part of x, which is a dict: by some of its parts, along some."""

QUERY_RULES: dict[str, Callable[..., Any]] = {
    "value": value_alone,
    "value_like": _value_like,
    "value_and_grad": value_and_grad,
    "grad": _gradient,
    "training": _training,
    "measured": _measured,
    "measured_value": _measured_value,
    "stateful": _stateful,
    "stateful_value": _stateful_value,
    "grad_difference": _difference,
    "partial_grad": _partial,
    "resampled_grad": _gradient,
    "hvp": _curvature,
    "jvp": _directional,
    "hessian": _hessian,
    "link_grads": _links,
}
STATEFUL = {"stateful": "measured", "stateful_value": "measured_value"}
"""Rules of losses with a state, and what they give besides it."""
