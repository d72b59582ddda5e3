"""`associative_scan`: all prefixes of a sequence, combined by an associative function."""

from collections.abc import Callable
from typing import Any

import numpy as np

from burlab.errors import ArgumentError, ShapeError
from burlab.graph import tree
from burlab.graph.numpy_api.arguments import normal_axis
from burlab.graph.origin import location
from burlab.runtime.checks.callable import check_takes
from burlab.runtime.checks.numbers import flag
from burlab.typing import Tree

from .scan import scan

_UFUNCS = (np.add, np.multiply, np.maximum, np.minimum)
"""Associative ufuncs, whose `accumulate` is a kernel of the library."""


def associative_scan(fn: Callable[[Any, Any], Any], elems: Tree, reverse: bool = False, axis: int = 0) -> Tree:
    """Return x0, fn(x0, x1), fn(fn(x0, x1), x2), ... for the slices of arrays along an axis: JAX's associative_scan.

    The slices are combined in order, by one loop in C++ inside of a traced function, as `bl.scan`; on plain arrays by a
    Python loop, so wrap long ones in `bl.jit`. The function has to be associative, as JAX groups in another order.
    np.add, np.multiply, np.maximum and np.minimum are computed by their `accumulate`.

    Args:
        fn: an associative function of two trees like `elems`, which acts on each slice by itself: its arguments keep
            the axis, here with length 1. It returns a tree with the shapes of an argument.
        elems: an array of shape (..., n, ...), or a tree of arrays with n slices each.
        reverse: begin with the last slice; each result stays at the place of its slice.
        axis: the axis of the slices, from the end where negative.

    Returns:
        A tree like elems. It has derivatives of every order.

    Raises:
        ArgumentError: if fn returns a tree of another structure, or elems has no array.
        ShapeError: if lengths differ, or fn returns other shapes.

    >>> import numpy as np, burlab as bl
    >>> bl.associative_scan(lambda a, b: a * b, np.array([1.0, 2.0, 3.0]))
    array([1., 2., 6.])
    >>> step = lambda a, b: (a[0] * b[0], b[0] * a[1] + b[1])  # of x -> m x + c
    >>> bl.associative_scan(step, (np.full(3, 0.5), np.ones(3)))[1]
    array([1.  , 1.5 , 1.75])
    """
    check_takes(fn, "fn of associative_scan", "two trees", "It combines two slices: def fn(a, b).", 2, where=location)
    reverse = flag(reverse, "reverse")
    leaves, form = tree.flatten_whole(elems)
    axes = _axes(leaves, axis)
    if leaves[0].shape[axes[0]] < 2:
        return elems
    if fn in _UFUNCS and all(x.dtype.kind == "f" for x in leaves):
        return tree.unflatten(form, [_accumulated(fn, x, k, reverse) for x, k in zip(leaves, axes, strict=True)])

    def part(key: slice) -> Tree:
        return tree.unflatten(form, [x[(slice(None),) * k + (key,)] for x, k in zip(leaves, axes, strict=True)])

    def iteration(carry: Tree, x: Tree) -> tuple[Tree, Tree]:
        slices = [np.expand_dims(leaf, k) for leaf, k in zip(tree.flatten_whole(x)[0], axes, strict=True)]
        result = _checked(fn(carry, tree.unflatten(form, slices)), carry, form)
        return result, result

    first, rest = (slice(-1, None), slice(None, -1)) if reverse else (slice(1), slice(1, None))
    start, others = part(first), tree.flatten_whole(part(rest))[0]
    xs = tree.unflatten(form, [np.moveaxis(x, k, 0) for x, k in zip(others, axes, strict=True)])
    _, found = scan(iteration, start, xs, reverse=reverse)
    columns = zip(tree.flatten_whole(start)[0], tree.flatten_whole(found)[0], axes, strict=True)
    return tree.unflatten(form, [_joined(one, many, k, reverse) for one, many, k in columns])


def _axes(leaves: list[Any], axis: int) -> list[int]:
    """Return the axis of each leaf. Raises ShapeError where leaves have no such axis, or several lengths."""
    if not leaves:
        raise ArgumentError(
            f"{location()}associative_scan got a tree without arrays. Pass an array, or a tree of them."
        )
    for k, leaf in enumerate(leaves):
        if not hasattr(leaf, "dtype"):
            leaves[k] = np.asarray(leaf)
    axes = [normal_axis(axis, leaf.ndim, "axis of associative_scan") for leaf in leaves]
    lengths = [leaf.shape[k] for leaf, k in zip(leaves, axes, strict=True)]
    if len(set(lengths)) > 1:
        raise ShapeError(
            f"{location()}associative_scan needs arrays of one length along axis {axis}, got lengths "
            f"{', '.join(map(str, lengths))}."
        )
    return axes


def _checked(result: Tree, like: Tree, form: tree.TreeDef) -> Tree:
    """Return what fn returned. Raises for another structure or other shapes than those of its arguments."""
    leaves, found = tree.flatten_whole(result)
    if found != form:
        raise ArgumentError(
            f"{location()}fn of associative_scan returned {tree.describe(found)}, but its arguments are "
            f"{tree.describe(form)}. Return the same tree."
        )
    for y, x in zip(leaves, tree.flatten_whole(like)[0], strict=True):
        if np.shape(y) != np.shape(x):
            raise ShapeError(
                f"{location()}fn of associative_scan returned the shape {np.shape(y)} for arguments of shape "
                f"{np.shape(x)}. Keep the axis of the slices, here of length 1."
            )
    return result


def _accumulated(ufunc: Any, x: Any, axis: int, reverse: bool) -> Any:
    if reverse:
        return np.flip(ufunc.accumulate(np.flip(x, axis), axis), axis)
    return ufunc.accumulate(x, axis)


def _joined(one: Any, many: Any, axis: int, reverse: bool) -> Any:
    """Return the first result and the stacked others, of shape (n - 1, ..., 1, ...), as one array."""
    others = np.moveaxis(np.squeeze(many, axis + 1), 0, axis)
    return np.concatenate([others, one] if reverse else [one, others], axis=axis)
