"""Derivatives of one's own: `stop_gradient`, `straight_through`, and `custom_vjp` with its check."""

from collections.abc import Callable
from typing import Any, cast

import numpy as np

from burlab.compiler.function import Function
from burlab.errors import ArgumentError, GradientError, ShapeError
from burlab.graph import Call as SubGraph, Graph, Node, tree
from burlab.graph.graph import Region
from burlab.graph.halves_nodes import halves
from burlab.graph.linear_nodes import zeros
from burlab.graph.node import as_node
from burlab.graph.numpy_api import composites
from burlab.graph.numpy_api.arguments import broadcast_shape
from burlab.graph.operation import make_node
from burlab.graph.origin import location
from burlab.graph.signatures import form_of
from burlab.graph.tracing.trace import Spec, spec_of, trace
from burlab.runtime.plain import as_array, as_floats
from burlab.typing import Tree

from .call import name_of
from .gradients import jit, vjp


def stop_gradient(x: Tree) -> Tree:
    """Return x itself, with derivative zero.

    Args:
        x: an array, a number, a traced value, or a tree of them.

    Returns:
        A tree like x.

    >>> import burlab as bl
    >>> float(bl.grad(lambda x: x * bl.stop_gradient(x))(3.0))
    3.0
    """
    leaves, structure = tree.flatten(x)
    return tree.unflatten(
        structure, [composites.stop_gradient(leaf) if isinstance(leaf, Node) else leaf for leaf in leaves]
    )


def straight_through(value: Tree, like: Tree) -> Tree:
    """Return the value, to the bit, with the derivative of `like`: Bengio, Leonard and Courville 2013, arXiv:1308.3432.

    `w + stop_gradient(q - w)` has the same derivative, but is q up to rounding only.

    Args:
        value: an array, number or traced value, or a tree of them.
        like: another one of the same structure. They broadcast against each other, in their common floating dtype.

    Returns:
        A tree like value.

    Raises:
        ArgumentError: if the structures differ.
        ShapeError: if shapes do not broadcast.

    >>> import numpy as np, burlab as bl
    >>> quantized = lambda w: bl.straight_through(np.round(w), w)
    >>> float(quantized(0.7)), float(bl.grad(lambda w: quantized(w) ** 2)(0.7))
    (1.0, 2.0)
    """
    values, structure = tree.flatten(value)
    likes, other = tree.flatten(like)
    if structure != other:
        raise ArgumentError(
            f"{location()}value and like of straight_through are trees of different structure. Pass two of the same."
        )
    pairs = zip(values, likes, strict=True)
    return tree.unflatten(structure, [_straight_through(*pair) for pair in pairs])


def _straight_through(value: Tree, like: Tree) -> Any:
    if isinstance(value, Node) or isinstance(like, Node):
        return composites.straight_through(value, like)
    known = [as_array(x, f"{name} of straight_through") for x, name in ((value, "value"), (like, "like"))]
    shape = broadcast_shape(*(x.shape for x in known))
    if shape is None:
        raise ShapeError(
            f"{location()}value and like of straight_through have shapes {known[0].shape} and {known[1].shape}, which "
            "do not broadcast. Reshape one."
        )
    if any(x.dtype.kind not in "fciub" for x in known):
        known = [as_floats(x, f"{name} of straight_through") for x, name in zip(known, ("value", "like"), strict=True)]
        value, like = known
    dtype = np.result_type(value, like)
    return np.broadcast_to(known[0].astype(dtype if dtype.kind in "fc" else float), shape).copy()[()]


def custom_vjp(
    f: Callable[..., Any],
    backward: Callable[..., Any],
    *examples: Tree,
    forward: Callable[..., Any] | None = None,
    surrogate: bool = False,
) -> Callable[..., Any]:
    """Return f with a reverse rule of its own.

    The rule is checked at once on the examples: its shapes, and its values against the derivative of f's own
    operations. Forward mode is derived from the rule, which is linear in g.

    With `forward` the rule has two halves, as with JAX's `defvjp(fwd, bwd)`: what only the derivative needs is computed
    in the forward pass, and nothing is kept for the backward pass but the residuals.

    Args:
        f: a function that returns one floating array. Its arguments are floating arrays or numbers, or trees of them,
            and integers or static arguments.
        backward: the rule (g, y, *args), y = f(*args), that returns the cotangent of every argument, None for one that
            is not floating; with `forward` the rule (residuals, g).
        examples: arguments of f for the check.
        forward: a function with the arguments of f that returns (y, residuals), any tree of arrays and static values.
            It takes the place of f where a derivative is computed.
        surrogate: the rule differs from the derivative on purpose; of the rule only shapes are checked.

    Returns:
        A function with the arguments and results of f.

    Raises:
        ArgumentError: without examples, or if f or forward returns anything else.
        ShapeError: if a cotangent has another shape.
        GradientError: if the rule differs from the derivative, or the value of forward from that of f.

    >>> import numpy as np, burlab as bl
    >>> clip = bl.custom_vjp(lambda x: x, lambda g, y, x: np.clip(g, -1, 1), 2.0, surrogate=True)
    >>> float(bl.grad(lambda x: 5 * clip(x))(2.0))
    1.0
    >>> sine = bl.custom_vjp(np.sin, lambda cosine, g: g * cosine, 2.0, forward=lambda x: (np.sin(x), np.cos(x)))
    >>> float(bl.grad(sine)(0.0))
    1.0
    """
    if not examples:
        raise ArgumentError("custom_vjp needs example arguments after the rule, such as custom_vjp(f, backward, x).")
    parts = (f, backward) if forward is None else (f, backward, forward)

    def rule(*args: Any) -> Any:
        leaves = tree.flatten(args)[0]
        inputs = tuple(as_node(leaf) for leaf in leaves if isinstance(spec_of(leaf), Spec))
        if forward is not None:
            return halves(_region(f, forward, backward, args), inputs)
        return make_node("call", _sub_graph(f, backward, args), *inputs)

    function: Callable[..., Any] = Function(rule, f, reads=parts)
    if forward is None:
        _sub_graph(f, backward, examples)
    else:
        _region(f, forward, backward, examples)
    if not surrogate:
        _check(f, function, examples)
    if forward is not None:
        _check_value(f, forward, examples)
    return function


def _traced(f: Callable[..., Any], args: tuple[Any, ...]) -> Graph:
    """The graph of f. Raises ArgumentError unless it returns one floating array."""
    traced = trace(f, args)
    if len(traced.graph.outputs) != 1 or not traced.result.is_leaf() or traced.graph.outputs[0].dtype.kind != "f":
        raise ArgumentError(f"custom_vjp needs a function that returns one floating array; {name_of(f)} does not.")
    return traced.graph


def _sub_graph(f: Callable[..., Any], backward: Callable[..., Any], args: tuple[Any, ...]) -> SubGraph:
    graph = _traced(f, args)
    y = graph.outputs[0]

    def reverse(args: tuple[Any, ...], y: Tree, g: Tree) -> list[Any]:
        return _shares(f, backward(g, y, *args), args)

    return SubGraph(name_of(f), graph, trace(reverse, (args, y, y)).graph)


def _region(
    f: Callable[..., Any], forward: Callable[..., Any], backward: Callable[..., Any], args: tuple[Any, ...]
) -> Region:
    """The graphs of f and of the two halves of its rule."""
    graph = _traced(f, args)
    y = graph.outputs[0]
    leaves: list[Any] = []
    structure = tree.flatten(())[1]

    def first(*args: Any) -> Any:
        nonlocal leaves, structure
        result = forward(*args)
        if not isinstance(result, (tuple, list)) or len(cast("Any", result)) != 2:
            raise ArgumentError(
                f"{location()}the forward half {name_of(forward)} must return a pair (y, residuals), y = "
                f"{name_of(f)}(*args), got a {type(cast('object', result)).__name__}."
            )
        value, residuals = cast("Any", result)
        leaves, structure = tree.flatten(residuals)
        return value, [leaf for leaf in leaves if isinstance(spec_of(leaf), Spec)]

    traced = trace(first, args)
    half = traced.graph
    if not traced.result.children()[0].is_leaf() or form_of(half.outputs[0]) != form_of(y):
        raise ArgumentError(
            f"the forward half {name_of(forward)} must return what {name_of(f)} returns and residuals, y of shape "
            f"{y.shape} and {y.dtype} first."
        )

    def second(residuals: list[Any], g: Tree) -> list[Any]:
        arrays = iter(residuals)
        whole = [next(arrays) if isinstance(spec_of(leaf), Spec) else leaf for leaf in leaves]
        return _shares(f, backward(tree.unflatten(structure, whole), g), args)

    return Region((graph, half, trace(second, (list(half.outputs[1:]), y)).graph))


def _shares(f: Callable[..., Any], found: Any, args: tuple[Any, ...]) -> list[Any]:
    """The cotangents of the floating leaves, in order, from what a rule returned; None stands for zero."""
    shares = cast("tuple[Any, ...]", found) if isinstance(found, tuple) else (found,)
    if len(shares) != len(args):
        raise ShapeError(
            f"the rule of {name_of(f)} must give {len(args)} cotangents, one per argument, got {len(shares)}."
        )
    result: list[Any] = []
    for k, (share, arg) in enumerate(zip(shares, args, strict=True)):
        likes = tree.flatten(arg)[0]
        parts = [None] * len(likes) if share is None else tree.flatten(tree.conjugated(share))[0]
        if len(parts) != len(likes):
            raise ShapeError(f"the rule of {name_of(f)}: cotangent {k} must have the structure of its argument.")
        for part, like in zip(parts, likes, strict=True):
            spec = spec_of(like)
            if not isinstance(spec, Spec) or spec.dtype.kind != "f":
                continue
            node = zeros(spec.shape, spec.dtype) if part is None else as_node(part)
            if node.shape != spec.shape:
                raise ShapeError(
                    f"the rule of {name_of(f)}: cotangent {k} must have shape {spec.shape}, got {node.shape}."
                )
            result.append(node)
    return result


def _check_value(f: Callable[..., Any], forward: Callable[..., Any], examples: Tree) -> None:
    """Compare the value of a forward half with that of f."""

    def value(*args: Any) -> Any:
        return forward(*args)[0]

    wanted, got = np.asarray(jit(f)(*examples)), np.asarray(jit(value)(*examples))
    tolerance = 1e-3 if wanted.dtype == np.float32 else 1e-7
    if not np.allclose(got, wanted, rtol=tolerance, atol=tolerance, equal_nan=True):
        raise GradientError(
            f"the forward half {name_of(forward)} returns another value than {name_of(f)} on the examples, by up to "
            f"{float(np.max(np.abs(got - wanted))):.3g}. Return the same value from both."
        )


def _check(f: Callable[..., Any], function: Callable[..., Any], examples: Tree) -> None:
    """Compare the rule with the derivative of what f is composed of, along one random cotangent."""
    y = np.asarray(jit(f)(*examples))
    g = np.random.Generator(np.random.Philox(0)).normal(size=y.shape).astype(y.dtype)
    wanted, got = (tree.flatten(vjp(h, *examples)[1](g))[0] for h in (f, function))
    tolerance = 1e-3 if y.dtype == np.float32 else 1e-7
    for a, b in zip(wanted, got, strict=True):
        if not np.allclose(a, b, rtol=tolerance, atol=tolerance):
            worst = float(np.max(np.abs(np.asarray(a) - np.asarray(b))))
            raise GradientError(
                f"the rule of {name_of(f)} differs from its derivative by up to {worst:.3g} on the examples. "
                "Correct it, or pass surrogate=True if it is meant to differ."
            )
