"""Jacobians as arrays: `jacobian`, and its two modes `jacfwd` and `jacrev`."""

import math
from collections.abc import Callable
from typing import Any, Literal

from burlab.compiler.function import Function
from burlab.errors import ArgumentError, DTypeError
from burlab.graph import Graph, Node, tree
from burlab.graph.autodiff import sweep
from burlab.graph.linear_nodes import reshape
from burlab.graph.rewrite.batching import basis, batch, from_front
from burlab.graph.substitute import inline

from .call import TracedCall, name_of
from .memo import remembered
from .places import Argnums, known_argnums

Mode = Literal["jacobian", "jacfwd", "jacrev"]


def jacobian(f: Callable[..., Any], argnums: Argnums = 0) -> Callable[..., Any]:
    """Return the Jacobian function: for each result of shape s and argument of shape t an array of shape s + t.

    It uses forward mode where the results are at least as many numbers as the arguments, else reverse mode. All columns
    or rows are computed in one batched sweep.

    Args:
        f: a function of real arrays, numbers and trees of them.
        argnums: positions of the arguments to differentiate by; a tuple gives a tuple for each result.

    Returns:
        A function with the arguments of f. For trees the Jacobian is a tree of trees.

    Raises:
        ArgumentError: when called, if a result is not floating.
        DTypeError: when called, if an argument is not floating, or anything is complex.

    >>> import numpy as np, burlab as bl
    >>> bl.jacobian(lambda x: np.array([x[0] * x[1], x[0]]))(np.array([2.0, 3.0]))
    array([[3., 2.],
           [1., 0.]])
    """
    return _build(f, argnums, "jacobian")


def jacfwd(f: Callable[..., Any], argnums: Argnums = 0) -> Callable[..., Any]:
    """Return the Jacobian function by forward mode, all columns in one batched sweep: for tall Jacobians.

    Args, results and errors are those of `jacobian`.

    >>> import numpy as np, burlab as bl
    >>> bl.jacfwd(lambda t: np.array([np.cos(t), np.sin(t)]))(0.0)
    array([-0.,  1.])
    """
    return _build(f, argnums, "jacfwd")


def jacrev(f: Callable[..., Any], argnums: Argnums = 0) -> Callable[..., Any]:
    """Return the Jacobian function by reverse mode, all rows in one batched sweep: for wide Jacobians.

    Args, results and errors are those of `jacobian`.

    >>> import numpy as np, burlab as bl
    >>> bl.jacrev(lambda x: np.stack([np.sum(x), np.sum(x * x)]))(np.array([1.0, 2.0, 3.0]))
    array([[1., 1., 1.],
           [2., 4., 6.]])
    """
    return _build(f, argnums, "jacrev")


def _build(f: Callable[..., Any], argnums: Argnums, mode: Mode) -> Callable[..., Any]:
    argnums = known_argnums(argnums)

    def rule(*args: Any, **kwargs: Any) -> Any:
        numbers = (argnums,) if isinstance(argnums, int) else argnums
        call = TracedCall(f, args, kwargs, numbers, mode)
        parts = [call.by(k, mode) for k in numbers]
        inputs = [x for nodes, _ in parts for x in nodes]
        outputs, structure = tree.flatten(call.result)
        if tree.has_complex(call.result) or any(tree.has_complex(args[k]) for k in numbers):
            raise DTypeError(
                f"{mode} is of real arrays; {name_of(f)} takes or returns complex ones. Let it take or return real and "
                "imaginary part, or use bl.jvp and bl.vjp."
            )
        for y in outputs:
            if y.dtype.kind != "f":
                raise ArgumentError(f"{mode} needs floating results; {name_of(f)} returned {y.dtype}.")
        fewer = sum(x.size for x in inputs) <= sum(y.size for y in outputs)
        columns = mode == "jacfwd" or (mode == "jacobian" and fewer)
        table = (_by_columns if columns else _by_rows)(call, outputs, inputs)
        blocks: list[Any] = []
        for row in table:
            cells = iter(row)
            trees = tuple(tree.unflatten(s, [next(cells) for _ in nodes]) for nodes, s in parts)
            blocks.append(trees[0] if isinstance(argnums, int) else trees)
        return call.place(tree.unflatten(structure, blocks))

    return remembered(f, (mode, argnums), lambda: Function(rule, f, f"{mode}({name_of(f)})"))


def _by_columns(call: TracedCall, outputs: list[Node], inputs: list[Node]) -> list[list[Node]]:
    table: list[list[Node]] = [[] for _ in outputs]
    for x in inputs:
        v = _fresh(x)
        graph = Graph((*call.inputs, v), tuple(sweep.jvp(outputs, [x], [v])))
        for row, y, columns in zip(table, outputs, _swept(call, graph, x), strict=True):
            row.append(reshape(from_front(columns, y.ndim), y.shape + x.shape))
    return table


def _by_rows(call: TracedCall, outputs: list[Node], inputs: list[Node]) -> list[list[Node]]:
    table: list[list[Node]] = []
    for y in outputs:
        g = _fresh(y)
        graph = Graph((*call.inputs, g), tuple(sweep.vjp([y], inputs, [g])))
        rows = _swept(call, graph, y)
        table.append([reshape(r, y.shape + x.shape) for r, x in zip(rows, inputs, strict=True)])
    return table


def _fresh(like: Node) -> Node:
    return Node("input", (), "direction", like.shape, like.dtype)


def _swept(call: TracedCall, graph: Graph, space: Node) -> list[Node]:
    """A sweep whose last input is a direction, for all unit directions of a space at once."""
    size = math.prod(space.shape)
    many = batch(graph, [False] * len(call.inputs) + [True], size)
    return inline(many, [*call.inputs, basis(space.shape, space.dtype)])
