"""Forms of values that control flow hands on: shape, dtype, whether a number is weak; and what two forms share."""

import sys
from collections.abc import Iterable
from typing import Any

import numpy as np

from burlab.errors import DTypeError, ShapeError, TraceError
from burlab.graph import Graph, Node, tree
from burlab.graph.node import as_node
from burlab.graph.numpy_api.promotion import as_dtype
from burlab.graph.origin import location
from burlab.graph.tracing.trace import Spec, spec_of
from burlab.typing import Operand, Tree

_ORDER = "biuf"  # kinds of dtypes: a Python number takes on one to the right of its own


def form_of(leaf: Operand, what: str) -> Spec:
    """The form of an array or number. Raises DTypeError or TraceError for anything else; what: its place, in words."""
    try:
        spec = spec_of(leaf)
    except DTypeError as error:
        raise DTypeError(f"{location()}{what}: {error}") from None
    if isinstance(spec, Spec):
        return spec
    if isinstance(leaf, (bool, int)):
        return Spec((), np.asarray(leaf).dtype, weak=type(leaf) is int)
    if _on_tape(leaf):
        return Spec((), np.dtype(np.float64), weak=True)
    raise TraceError(
        f"{location()}{what} is a {type(leaf).__name__}, expected an array or a number. "
        "Let the functions read other things from around them."
    )


def _on_tape(leaf: object) -> bool:
    eager = sys.modules.get("burlab.eager")  # no tape, no Value: asking must not start the compiler
    return eager is not None and isinstance(leaf, eager.Value)


def common(one: Spec, other: Spec) -> Spec | None:
    """The form that values of both can take without a loss: a Python number takes on the dtype of an array."""
    if one.shape != other.shape:
        return None
    if one.dtype == other.dtype:
        return Spec(one.shape, one.dtype, one.weak and other.weak)
    for weak, strong in ((one, other), (other, one)):
        if weak.weak and _ORDER.index(weak.dtype.kind) <= _ORDER.index(strong.dtype.kind):
            return strong
    return None


def node_of(leaf: Operand, what: str) -> Node:
    """An array or number as a node."""
    form_of(leaf, what)
    return as_node(leaf)


def in_form(n: Node, form: Spec) -> Node:
    """A node in a form that it shares."""
    n = as_dtype(n, form.dtype)
    return n if n.weak == form.weak else Node("reshape", (n,), n.shape, n.shape, n.dtype, form.weak)


def example(n: Node) -> Node:
    """An input of a node's form: what a sub-graph is traced with."""
    return Node("input", (), None, n.shape, n.dtype, n.weak)


def in_forms(graph: Graph, forms: list[Spec]) -> Graph:
    """A graph whose outputs are in forms that they share."""
    return Graph(graph.inputs, tuple(in_form(y, form) for y, form in zip(graph.outputs, forms, strict=True)))


def bit(leaf: Operand) -> Any:
    """A Python bool as NumPy's, whose ~ is what it is in a trace: not."""
    return np.bool_(leaf) if isinstance(leaf, bool) else leaf


def settled(pairs: Iterable[tuple[Spec, Spec]], state: Tree, name: str, what: str) -> list[Spec]:
    """The forms that the leaves of a state can have both before and after a turn.

    state: the tree that they belong to, called `name`; what: what changes it, in words. Raises ShapeError or DTypeError
    where there is no such form.
    """
    return [_settled(before, after, state, k, name, what) for k, (before, after) in enumerate(pairs)]


def _settled(before: Spec, after: Spec, state: Tree, k: int, name: str, what: str) -> Spec:
    form = common(before, after)
    if form is not None:
        return form
    leaf = f"{name}{tree.leaf_names(state)[k]}"
    if before.shape != after.shape:
        raise ShapeError(
            f"{location()}{what} turns {leaf} of shape {before.shape} into {after.shape}. "
            f"A {name} keeps its shapes: start with an array of the final shape."
        )
    raise DTypeError(
        f"{location()}{what} turns {leaf} of {before.dtype} into {after.dtype}. "
        f"A {name} keeps its dtypes: start with the dtype that the body gives, or convert there with .astype."
    )
