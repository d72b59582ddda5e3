"""Vectorised mapping: a function of one sample becomes a function of many, by each operation's batching rule."""

from collections.abc import Callable
from typing import Any

from burlab.compiler.function import Function
from burlab.errors import ArgumentError, ShapeError
from burlab.graph import Graph, Node, tree
from burlab.graph.node import as_node
from burlab.graph.numpy_api.arguments import normal_axis
from burlab.graph.rewrite.batching import batch, from_front, to_front
from burlab.graph.substitute import inline
from burlab.graph.tracing.trace import Spec, spec_of, trace

from .call import name_of
from .memo import remembered
from .places import Axes, known_axes, known_axis


def vmap(f: Callable[..., Any], in_axes: Axes = 0, out_axes: int = 0) -> Callable[..., Any]:
    """Map f over an axis of its arguments, as one batched computation.

    Args:
        f: a function of one sample.
        in_axes: the axis of all arguments, or a tuple with one entry per argument; None for an argument that all
            samples share.
        out_axes: the position of the new axis in the results.

    Returns:
        A function of many samples.

    Raises:
        ShapeError: when called, if the mapped axes differ in size.

    >>> import numpy as np, burlab as bl
    >>> bl.vmap(np.dot, in_axes=(0, None))(np.eye(2), np.array([3.0, 4.0]))
    array([3., 4.])
    """
    in_axes, out_axes = known_axes(in_axes), known_axis(out_axes, "out_axes")

    def rule(*args: Any) -> Any:
        axes = _axes_of(f, in_axes, args)
        leaves, structure = tree.flatten(args)
        examples, nodes, size = _samples(f, leaves, axes)
        traced = trace(f, tree.unflatten(structure, examples))
        mapped = [axis is not None for leaf, axis in zip(leaves, axes, strict=True) if isinstance(spec_of(leaf), Spec)]
        many = batch(traced.graph, mapped, size)
        outputs = inline(Graph(many.inputs, many.outputs), nodes)
        return tree.unflatten(
            traced.result, [from_front(y, normal_axis(out_axes, y.ndim, "out_axes")) for y in outputs]
        )

    return remembered(f, ("vmap", in_axes, out_axes), lambda: Function(rule, f, f"vmap({name_of(f)})"))


def _axes_of(f: Callable[..., Any], in_axes: Axes, args: tuple[Any, ...]) -> list[int | None]:
    """The axis of every leaf."""
    per_argument = in_axes if isinstance(in_axes, tuple) else (in_axes,) * len(args)
    if len(per_argument) != len(args):
        raise ArgumentError(
            f"vmap got in_axes for {len(per_argument)} arguments, {name_of(f)} was called with {len(args)}."
        )
    for k, (arg, axis) in enumerate(zip(args, per_argument, strict=True)):
        if axis is not None and any(tree.are_indices(arg)):
            raise ArgumentError(
                f"vmap maps argument {k} of {name_of(f)}, a sparse matrix, whose rows differ in length. Use in_axes="
                "None for it, or a product with the whole matrix: A @ X."
            )
    return [axis for arg, axis in zip(args, per_argument, strict=True) for _ in tree.flatten(arg)[0]]


def _samples(f: Callable[..., Any], leaves: list[Any], axes: list[int | None]) -> tuple[list[Any], list[Node], int]:
    """Examples of one sample, the actual values with the mapped axis in front, and its size."""
    examples: list[Any] = []
    nodes: list[Node] = []
    sizes: dict[int, str] = {}
    for k, (leaf, axis) in enumerate(zip(leaves, axes, strict=True)):
        spec = spec_of(leaf)
        if not isinstance(spec, Spec):
            examples.append(leaf)
            continue
        node = as_node(leaf)
        if axis is not None:
            if not node.shape:
                raise ShapeError(
                    f"vmap of {name_of(f)}: argument leaf {k} is a scalar and has no axis to map. Use None."
                )
            node = to_front(node, normal_axis(axis, node.ndim, f"in_axes of argument leaf {k}:"))
            sizes.setdefault(node.shape[0], f"leaf {k} of shape {spec.shape}")
            examples.append(Node("input", (), "sample", node.shape[1:], node.dtype))
        else:
            examples.append(leaf)
        nodes.append(node)
    if len(sizes) != 1:
        found = ", ".join(f"{d} ({where})" for d, where in sizes.items()) or "none"
        raise ShapeError(f"vmap of {name_of(f)} needs mapped axes of one size, got {found}.")
    return examples, nodes, next(iter(sizes))
