"""Finite differences, random directions and inner products: what derivatives are compared with."""

from collections.abc import Callable
from typing import Any

import numpy as np

from burlab.graph import tree
from burlab.typing import ArrayLike, Tree


def random_like(leaf: ArrayLike, rng: "np.random.Generator") -> Any:
    """Return normal random numbers in the form of a leaf."""
    array = np.asarray(leaf)
    sample = rng.normal(size=array.shape).astype(array.dtype)
    return float(sample) if type(leaf) is float else sample


def central_difference(f: Callable[..., Any], args: Tree, direction: Tree, step: float) -> Any:
    """Return (f(-2h) - 8 f(-h) + 8 f(h) - f(2h)) / 12 h along a direction: the leaves of the results, in float64."""
    leaves, structure = tree.flatten(args)
    directions = tree.flatten(direction)[0]
    total: list[Any] | None = None
    for k, weight in ((-2, 1.0), (-1, -8.0), (1, 8.0), (2, -1.0)):
        displaced = [
            leaf + np.asarray(leaf).dtype.type(k * step) * v for leaf, v in zip(leaves, directions, strict=True)
        ]
        values = [weight * np.asarray(y, np.float64) for y in tree.flatten(f(*tree.unflatten(structure, displaced)))[0]]
        total = values if total is None else [a + b for a, b in zip(total, values, strict=True)]
    return [y / (12 * step) for y in total or []]


def inner(a: Tree, b: Tree) -> float:
    """Return the inner product of two trees of one structure, in float64."""
    pairs = zip(tree.flatten(a)[0], tree.flatten(b)[0], strict=True)
    return float(sum(np.sum(np.asarray(x, np.float64) * np.asarray(y, np.float64)) for x, y in pairs))
