"""Second derivatives and Jacobians: `hvp`, `jacobian`, `hessian`."""

import math
from collections.abc import Callable
from typing import Any

from burlab.compiler.function import Function
from burlab.errors import ArgumentError
from burlab.graph import Graph, Node, tree
from burlab.graph.autodiff import sweep
from burlab.graph.linear import reshape
from burlab.graph.rewrite.batch import basis, batch, from_front
from burlab.graph.substitute import inline

from .call import Call, match, name_of
from .gradients import grad
from .memo import remembered
from .places import Argnums, known_argnum, known_argnums


def hvp(f: Callable[..., Any], argnums: int = 0) -> Callable[..., Any]:
    """The function (*args, v) -> Hessian of f by one argument, times v: forward over reverse, without forming a matrix.

    v: same structure, shapes and dtypes as the argument. Pearlmutter 1994, Fast exact multiplication by the Hessian.

    >>> import numpy as np, burlab as bl
    >>> bl.hvp(lambda x: np.sum(x**3))(np.array([1.0, 2.0]), np.array([1.0, 1.0]))
    array([ 6., 12.])
    """
    argnums = known_argnum(argnums)

    def rule(*args_and_v: Any, **kwargs: Any) -> Any:
        if len(args_and_v) < 2:
            raise ArgumentError(
                f"hvp of {name_of(f)} got {len(args_and_v)} arguments, expected those of the function and then a "
                "vector. Pass bl.hvp(f)(x, v)."
            )
        *args, v = args_and_v
        call = Call(grad(f, argnums), tuple(args), kwargs, (argnums,), "hvp")
        inputs, structure = call.by(argnums, "hvp")
        outputs, result = tree.flatten(call.result)
        pushed = sweep.jvp(outputs, inputs, match(v, inputs, structure, "the vector of hvp"))
        return call.place(tree.unflatten(result, pushed))

    return remembered(f, ("hvp", argnums), lambda: Function(rule, f, f"hvp({name_of(f)})"))


def jacobian(f: Callable[..., Any], argnums: Argnums = 0) -> Callable[..., Any]:
    """The Jacobian function: for each result of shape s and argument of shape t an array of shape s + t.

    It uses forward mode where the results are at least as many numbers as the arguments, else reverse mode. All columns
    or rows are computed in one batched sweep. Results and arguments may be trees: the Jacobian is a tree of trees.

    >>> import numpy as np, burlab as bl
    >>> bl.jacobian(lambda x: np.array([x[0] * x[1], x[0]]))(np.array([2.0, 3.0]))
    array([[3., 2.],
           [1., 0.]])
    """
    argnums = known_argnums(argnums)

    def rule(*args: Any, **kwargs: Any) -> Any:
        numbers = (argnums,) if isinstance(argnums, int) else argnums
        call = Call(f, args, kwargs, numbers, "jacobian")
        parts = [call.by(k, "jacobian") for k in numbers]
        inputs = [x for nodes, _ in parts for x in nodes]
        outputs, structure = tree.flatten(call.result)
        for y in outputs:
            if y.dtype.kind != "f":
                raise ArgumentError(f"jacobian needs floating results; {name_of(f)} returned {y.dtype}.")
        columns = sum(x.size for x in inputs) <= sum(y.size for y in outputs)
        table = (_by_columns if columns else _by_rows)(call, outputs, inputs)
        blocks: list[Any] = []
        for row in table:
            cells = iter(row)
            trees = tuple(tree.unflatten(s, [next(cells) for _ in nodes]) for nodes, s in parts)
            blocks.append(trees[0] if isinstance(argnums, int) else trees)
        return call.place(tree.unflatten(structure, blocks))

    return remembered(f, ("jacobian", argnums), lambda: Function(rule, f, f"jacobian({name_of(f)})"))


def hessian(f: Callable[..., Any], argnums: Argnums = 0) -> Callable[..., Any]:
    """The matrix of second derivatives of a scalar function, shape s + s for an argument of shape s.

    >>> import numpy as np, burlab as bl
    >>> bl.hessian(lambda x: x[0] ** 2 * x[1])(np.array([1.0, 3.0]))
    array([[6., 2.],
           [2., 0.]])
    """
    return jacobian(grad(f, argnums), argnums)


def _by_columns(call: Call, outputs: list[Node], inputs: list[Node]) -> list[list[Node]]:
    table: list[list[Node]] = [[] for _ in outputs]
    for x in inputs:
        v = _fresh(x)
        graph = Graph((*call.inputs, v), tuple(sweep.jvp(outputs, [x], [v])))
        for row, y, columns in zip(table, outputs, _swept(call, graph, x), strict=True):
            row.append(reshape(from_front(columns, y.ndim), y.shape + x.shape))
    return table


def _by_rows(call: Call, outputs: list[Node], inputs: list[Node]) -> list[list[Node]]:
    table: list[list[Node]] = []
    for y in outputs:
        g = _fresh(y)
        graph = Graph((*call.inputs, g), tuple(sweep.vjp([y], inputs, [g])))
        rows = _swept(call, graph, y)
        table.append([reshape(r, y.shape + x.shape) for r, x in zip(rows, inputs, strict=True)])
    return table


def _fresh(like: Node) -> Node:
    return Node("input", (), "direction", like.shape, like.dtype)


def _swept(call: Call, graph: Graph, space: Node) -> list[Node]:
    """A sweep whose last input is a direction, for all unit directions of a space at once."""
    size = math.prod(space.shape)
    many = batch(graph, [False] * len(call.inputs) + [True], size)
    return inline(many, [*call.inputs, basis(space.shape, space.dtype)])
