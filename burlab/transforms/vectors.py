"""Functions of trees as functions of one vector, closed over what they read: what solvers work with."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from burlab.errors import DTypeError, ShapeError, TraceError
from burlab.graph import Graph, Node, tree as trees
from burlab.graph.node import as_node
from burlab.graph.origin import location, recording
from burlab.graph.regions import closed
from burlab.graph.tracing.trace import trace
from burlab.typing import Tree

from . import tree_functions as tree
from .forms import example, form_of


def start_of(state: Tree, what: str) -> Any:
    """All numbers of a start as one vector. Raises DTypeError or TraceError."""
    for leaf, name in zip(trees.flatten(state)[0], trees.leaf_names(state), strict=True):
        form = form_of(leaf, f"start{name} of {what}")
        if form.dtype.kind != "f":
            raise DTypeError(
                f"{location()}start{name} of {what} is {form.dtype}, expected floats. Pass a float, such as 1.0, or "
                "x.astype(float)."
            )
    return as_node(tree.ravel(state))


def on_vectors(f: Callable[..., Any], args: tuple[Any, ...], like: Tree, what: str) -> Callable[..., Any]:
    """f(tree, ..., *args) as a function of a vector (n,) and what follows, which gives one such vector.

    like: the tree that f takes and returns; what: f, in words. Raises TraceError, ShapeError or DTypeError where it
    returns another form.
    """
    leaves, structure = trees.flatten(like)

    def on_vector(v: Node, *rest: Any) -> Node:
        result = f(tree.unravel(v, like), *rest, *args)
        found, form = trees.flatten(result)
        if form != structure:
            raise TraceError(
                f"{location()}{what} gave {trees.describe(form)}, expected {trees.describe(structure)}. "
                "Return the same tree."
            )
        for leaf, x, name in zip(found, leaves, trees.leaf_names(like), strict=True):
            if np.shape(leaf) != np.shape(x):
                raise ShapeError(
                    f"{location()}{what} gave shape {np.shape(leaf)} for its argument{name} of shape {np.shape(x)}. "
                    "Return the shapes that it is given."
                )
        flat = as_node(tree.ravel(result))
        if flat.dtype != v.dtype:
            raise DTypeError(
                f"{location()}{what} gave {flat.dtype} for an argument of {v.dtype}. Convert one with .astype."
            )
        return flat

    return on_vector


def close(f: Callable[..., Node], *examples: Node) -> tuple[list[Node], Graph]:
    """Return what f reads from the trace around it, and its graph over inputs like the examples, then those values."""
    with recording() as recorded:
        traced = trace(f, tuple(map(example, examples)))
    captured, (graph,) = closed((traced.graph,), set(recorded))
    return captured, graph


def floating(nodes: Sequence[Node]) -> list[Node]:
    """Return the nodes that have a derivative."""
    return [n for n in nodes if n.dtype.kind == "f"]
