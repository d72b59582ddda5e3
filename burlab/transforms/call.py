"""One traced call inside another trace: what every transform differentiates, then puts in place of the call."""

from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np

from burlab.errors import ArgumentError, DTypeError, ShapeError
from burlab.graph import Graph, Node, tree
from burlab.graph.autodiff import sweep
from burlab.graph.node import as_node, constant
from burlab.graph.numpy_api.promotion import as_dtype
from burlab.graph.substitute import copy, inline
from burlab.graph.tracing.trace import Spec, spec_of, trace
from burlab.runtime.dtypes import is_narrow_float
from burlab.runtime.plain import as_array, is_complex
from burlab.typing import Tree

Part = tuple[list[Node], tree.TreeDef]
"""The inputs that the leaves of an argument became, and its structure."""


class TracedCall:
    """f traced at some arguments, on inputs of its own: a derivative by them sees no other path to the same values.

    result: what f returned, a tree of nodes. inputs: the nodes of the traced leaves. by: the arguments that a
    derivative is by, what: whose.
    """

    def __init__(
        self,
        f: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        by: Sequence[int] = (),
        what: str = "",
    ) -> None:
        leaves, structure = tree.flatten((args, kwargs))
        if any(map(_is_narrow, leaves)):  # what a derivative is by is a float in which graphs compute
            leaves = [as_node(_array(leaf)) if _is_narrow(leaf) else leaf for leaf in leaves]
            args, kwargs = tree.unflatten(structure, leaves)
        for k in by:  # what cannot be differentiated by is said before f meets it
            check_floating(f, args, k, what)
        self.f = f
        self.args = args
        traced = trace(f, args, kwargs)
        self.inputs = traced.graph.inputs
        self.result = tree.unflatten(traced.result, traced.graph.outputs)
        self._actual = [as_node(_array(leaf)) for leaf in leaves if isinstance(spec_of(leaf), Spec)]

    def place(self, result: tree.Tree) -> tree.Tree:
        """A tree of nodes over this call's inputs, moved to the surrounding trace: over the actual arguments."""
        nodes, structure = tree.flatten(result)
        outputs = inline(Graph(self.inputs, tuple(nodes)), self._actual)
        # arrays of their own: a result may be an argument, or twice the same
        return tree.unflatten(structure, [copy(y, y.inputs) if y.inputs else y for y in outputs])

    def by(self, argnum: int, what: str) -> Part:
        """The inputs that the leaves of one positional argument became. All must be floating."""
        check_floating(self.f, self.args, argnum, what)
        argnum %= len(self.args)
        before = sum(_traced_leaves(arg) for arg in self.args[:argnum])
        leaves, structure = tree.flatten(self.args[argnum])
        return list(self.inputs[before : before + len(leaves)]), structure

    def floating(self) -> list[int]:
        """The positional arguments that hold floating leaves: integers, masks and static ones have no tangent."""
        specs = [[spec_of(leaf) for leaf in tree.flatten(arg)[0]] for arg in self.args]
        return [k for k, row in enumerate(specs) if any(isinstance(s, Spec) and s.dtype.kind == "f" for s in row)]

    def pair(self) -> tuple[Any, Any]:
        """The result of a function with other results. Raises ArgumentError where it is no pair."""
        return pair_of(self.result, self.f)

    def scalar(self, value: Tree, what: str, holomorphic: bool = False) -> Node:
        """The result as one floating number. Raises ShapeError or DTypeError where it is not.

        holomorphic: the result is complex, and its real part is taken: its gradient is then the complex derivative.
        """
        if is_complex(value) != holomorphic:
            raise DTypeError(
                f"{what} needs a function with a real result; {name_of(self.f)} returned {value.dtype}, which has no "
                "one gradient. Return np.abs(y) ** 2, y.real or y.imag, or pass holomorphic=True if it is holomorphic."
                if is_complex(value)
                else f"{what} with holomorphic=True needs a complex result; {name_of(self.f)} returned a real one. "
                "Leave holomorphic out."
            )
        if holomorphic:
            value = value.real
        if not isinstance(value, Node):
            raise ShapeError(
                f"{what} needs a function that returns one number; {name_of(self.f)} returned a "
                f"{type(value).__name__}. Return the number alone, or pass has_aux=True for (number, other results)."
            )
        if value.shape != ():
            raise ShapeError(
                f"{what} needs a function that returns one number; {name_of(self.f)} returned shape {value.shape}. "
                "Reduce it with np.sum or np.mean, or use bl.jacobian."
            )
        if value.dtype.kind != "f":
            raise DTypeError(f"{what} needs a floating result; {name_of(self.f)} returned {value.dtype}.")
        return value


_BY_ENTRIES = "grad", "vjp"
"""Derivatives by a sparse matrix: they have its entries. A direction would need the same ones."""


def shares_of(outputs: Sequence[Node], parts: Sequence[Part], cotangents: Sequence[Node]) -> list[tree.Tree]:
    """Return the cotangent of each argument by reverse mode. parts: of arguments, as `TracedCall.by` gives them.

    The indices of a sparse matrix have none: its cotangent has the same ones.
    """
    floats = [x for nodes, _ in parts for x in nodes if x.dtype.kind == "f"]
    shares = dict(zip(floats, sweep.vjp(outputs, floats, cotangents), strict=True))
    return [tree.conjugated(tree.unflatten(structure, [shares.get(x, x) for x in nodes])) for nodes, structure in parts]


def check_floating(f: Callable[..., Any], args: tuple[Any, ...], argnum: int, what: str) -> None:
    """Raise where a function with these arguments has no derivative by one of them."""
    if not -len(args) <= argnum < len(args):
        raise ArgumentError(
            f"{what} is by argnums={argnum}, but {name_of(f)} got {len(args)} arguments. "
            "Pass it, or choose other argnums; they count from 0."
        )
    arg = args[argnum]
    if arg is None:
        raise DTypeError(f"{what} by argument {argnum % len(args)} needs floats, got None. Pass a float, such as 3.0.")
    for leaf, path, index in zip(tree.flatten(arg)[0], tree.leaf_names(arg), tree.are_indices(arg), strict=True):
        spec = spec_of(leaf)
        if index and what in _BY_ENTRIES:
            continue
        if index:
            raise DTypeError(
                f"{what} by argument {argnum % len(args)}, a sparse matrix, is not defined; grad and vjp are. Read the "
                f"matrix from around {name_of(f)}, or differentiate by an array of its entries."
            )
        if not isinstance(spec, Spec) or spec.dtype.kind != "f":
            kind = spec.dtype.name if isinstance(spec, Spec) else type(leaf).__name__
            raise DTypeError(
                f"{what} by argument {argnum % len(args)}{path} needs floats, got {kind}. "
                "Pass a float (3.0) or x.astype(float), or choose other argnums."
            )


def _is_narrow(leaf: Tree) -> bool:
    spec = spec_of(leaf)
    return isinstance(spec, Spec) and is_narrow_float(spec.dtype)


def _array(leaf: Tree) -> Any:
    known = isinstance(leaf, (Node, float, np.ndarray, np.generic))
    return cast("Any", leaf) if known else as_array(leaf, "an argument")


def _traced_leaves(arg: Tree) -> int:
    return sum(isinstance(spec_of(leaf), Spec) for leaf in tree.flatten(arg)[0])


def pair_of(result: Tree, f: Callable[..., Any]) -> tuple[Any, Any]:
    """Return the pair that f with has_aux=True returned. Raises ArgumentError for anything else."""
    if not isinstance(result, (tuple, list)) or len(cast("Any", result)) != 2:
        got = "one number or array" if isinstance(result, Node) else f"a {type(cast('object', result)).__name__}"
        raise ArgumentError(
            f"with has_aux=True a function returns (number, other results); {name_of(f)} returned {got}. "
            "Return that pair, or leave has_aux out."
        )
    value, aux = cast("Any", result)
    return value, aux


def name_of(f: Callable[..., Any]) -> str:
    """Return the name of a function for a message."""
    return getattr(f, "__name__", type(f).__name__)


def one(y: Node) -> Node:
    """Return the cotangent 1 of a scalar."""
    return constant(1.0, y.dtype)


def match(value: tree.Tree, like: Sequence[Node], structure: tree.TreeDef, what: str) -> list[Node]:
    """The leaves of a tangent or cotangent as nodes. Raises where structure, shapes or dtypes differ from `like`."""
    leaves, got = tree.flatten(value)
    if len(leaves) != len(like) or got != structure:
        raise ShapeError(f"{what} must be {tree.describe(structure)}, got {tree.describe(got)}.")
    nodes: list[Node] = []
    for leaf, x in zip(leaves, like, strict=True):
        node = as_node(_array(leaf))
        if node.shape != x.shape:
            raise ShapeError(f"{what} must have shape {x.shape}, got {node.shape}.")
        if node.dtype != x.dtype:
            if not node.is_constant and not node.weak:
                raise DTypeError(f"{what} must have dtype {x.dtype}, got {node.dtype}. Convert it with .astype.")
            node = as_dtype(node, x.dtype)
        nodes.append(node)
    return nodes
