"""An optimizer's update as a graph: traced once, with its hyperparameters and the step as inputs."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from burlab.errors import ArgumentError, DTypeError, ShapeError
from burlab.graph import Graph, Node, tree
from burlab.graph.node import as_node
from burlab.graph.numpy_api.promotion import as_dtype
from burlab.graph.signatures import ALL
from burlab.graph.tracing.trace import trace
from burlab.runtime.plain import as_array

from .live import Live, acting, live_fields
from .optimizer import Optimizer, Vector, advance
from .per_leaf import flat_face
from .queries import Queries

Form = tuple[tuple[int, ...], "np.dtype[Any]"]


@dataclass(frozen=True)
class Rule:
    """A traced update.

    graph: inputs g, x, t (int64), the hyperparameters, the leaves of the state, the batch's value at x, the step's key
    and the address of the oracle that answers queries; outputs x, the leaves of the state, and for each scheduled
    hyperparameter the value that the step used (float64). hyper: start values, where NaN means that the schedule is
    followed; schedules: of the scheduled ones, in order; state: shapes and dtypes of its leaves. queries: their
    names, and "key" where the key is used.
    """

    graph: Graph
    hyper: dict[str, float]
    schedules: dict[str, Callable[[Any], Any]]
    state: tuple[Form, ...]
    structure: tree.TreeDef
    queries: tuple[str, ...] = ()


def trace_rule(optimizer: Optimizer, x: Vector, batch: int = 1, like: tree.Tree = None) -> tuple[Rule, list[Vector]]:
    """Trace the update of an optimizer that starts at x, shape (d,). Raises where it is no rule for x and the state.

    Also gives the leaves of the state at step 0, which a rule does not keep: they are as large as the model.
    batch: samples of a step. like: x before it was made flat, for rules that need its shapes.
    """
    kind = type(optimizer).__name__
    optimizer = flat_face(optimizer, x if like is None else like)
    live = live_fields(optimizer)
    leaves, structure = tree.flatten(optimizer.init(x.copy()))
    state = [_state_leaf(leaf, f"{kind}.init") for leaf in leaves]

    queries: tuple[str, ...] = ()

    def step(
        g: Any, x: Any, t: Any, values: tuple[Any, ...], leaves: list[Any], value: Any, key: Any, oracle: Any
    ) -> Any:
        nonlocal queries
        f = Queries(x, g, value, key, oracle, batch)
        used = [_used(field, value, t) for field, value in zip(live, values, strict=True)]
        rule = acting(optimizer, {field.path: value for field, value in zip(live, used, strict=True)})
        before = tree.unflatten(structure, leaves)
        after = _next(advance(rule, g, before, x, t, f), kind, structure)
        queries = f.used
        return *after, [value for field, value in zip(live, used, strict=True) if callable(field.start)]

    t = Node("input", (), "t", (), np.dtype(np.int64), weak=True)
    problem = (np.zeros((), x.dtype), np.zeros(2, np.uint64), np.int64(0))
    examples = [_example(leaf, array) for leaf, array in zip(leaves, state, strict=True)]
    graph = trace(step, (x, x, t, tuple(field.number for field in live), examples, *problem)).graph
    _check(graph, kind, x, state)
    schedules = {field.name: field.start for field in live if callable(field.start)}
    forms = tuple((leaf.shape, leaf.dtype) for leaf in state)
    return Rule(graph, {field.name: field.number for field in live}, schedules, forms, structure, queries), state


def _used(field: Live, value: Node, t: Node) -> Node:
    """The number that a step uses: of the schedule, unless another one has been set."""
    if not callable(field.start):
        return value
    planned = as_node(field.start(t))
    if planned.shape or planned.dtype.kind not in "fi":
        raise ArgumentError(
            f"the schedule of {field.name} gave {planned.dtype} of shape {planned.shape}, expected a number for each t."
        )
    follow = cast("Node", np.isnan(cast("Any", value)))
    return Node("where", (follow, as_dtype(planned, value.dtype), value), None, (), value.dtype, weak=True)


def _state_leaf(leaf: Any, where: str) -> np.ndarray[Any, Any]:
    array: np.ndarray[Any, Any] = np.array(as_array(leaf, f"a leaf of the state of {where}"), order="C")
    if array.dtype not in ALL:
        raise DTypeError(f"{where} gave a state of dtype {array.dtype}; use float32, float64, integers or bool.")
    return array


def _example(leaf: Any, array: np.ndarray[Any, Any]) -> Any:
    """Python numbers in the state stay weak, as they would be in NumPy."""
    weak = type(leaf) in (int, float)
    return Node("input", (), "state", array.shape, array.dtype, weak=True) if weak else array


def _next(result: Any, kind: str, structure: tree.TreeDef) -> Any:
    if not isinstance(result, tuple) or len(cast("tuple[Any, ...]", result)) != 2:
        got = type(cast("object", result)).__name__
        raise ArgumentError(f"{kind}.update returned a {got}, expected the pair (x, state).")
    x, state = cast("tuple[Any, Any]", result)
    leaves, found = tree.flatten(state)
    if found != structure:
        raise ArgumentError(f"{kind}.update returned a state of structure {found}, but init gave {structure}.")
    return x, leaves


def _check(graph: Graph, kind: str, x: Vector, state: list[Vector]) -> None:
    for k, (new, old) in enumerate(zip(graph.outputs, (x, *state), strict=False)):  # the numbers used follow
        what = f"{kind}.update returned {'x' if k == 0 else f'state leaf {k - 1}'}"
        if new.shape != old.shape:
            raise ShapeError(f"{what} with shape {new.shape}, expected {old.shape}, as before the step.")
        if new.dtype != old.dtype:
            raise DTypeError(
                f"{what} as {new.dtype}, expected {old.dtype}. A NumPy number or array in the rule changed the dtype: "
                "hyperparameters and Python numbers do not."
            )
