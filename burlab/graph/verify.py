"""Whether nodes are what their operations can produce: the check of graphs from a file, and of our own in tests.

Kernels trust a graph: an index or a region outside of an array would read foreign memory.
"""

from collections.abc import Callable
from typing import Any, cast

import numpy as np

from burlab.errors import GraphError

from .ask import QUESTIONS
from .control import chosen_inputs
from .graph import Call, Graph, Result
from .linear import LINEAR
from .node import Node
from .scalar import arity, is_mask, scalar_ops
from .scan import form_of_result

DTYPES = {name: np.dtype(name) for name in ("float32", "float64", "int32", "int64", "uint64", "bool")}


def verify(graph: Graph) -> None:
    """Raise GraphError, naming the first node that is malformed."""
    inputs = set(graph.inputs)
    _require(len(inputs) == len(graph.inputs), None, "an input is named twice")
    _require(all(x.op == "input" for x in inputs), None, "one of its inputs is the result of an operation")
    for n in graph.nodes:
        _require(n.op != "input" or n in inputs, n, "it is not among the inputs of the graph")
        _require(n.dtype in DTYPES.values(), n, f"its dtype is none of {', '.join(DTYPES)}")
        _require(all(type(d) is int and d >= 0 for d in n.shape), n, "its shape is not of sizes")
        _rule(n)(n)


def _require(fits: bool, n: Node | None, what: str) -> None:
    if not fits:
        raise GraphError(f"the graph is malformed: {what}{'' if n is None else f' ({n})'}.")


def _rule(n: Node) -> Callable[[Node], None]:
    if n.op in LINEAR:
        return _linear
    if n.op in OTHERS:
        return OTHERS[n.op]
    _require(n.op.partition("'")[0] in scalar_ops(), n, "this burlab has no such operation")
    return _scalar


def _scalar(n: Node) -> None:
    _require(len(n.inputs) == arity(n.op), n, f"it needs {arity(n.op)} inputs")
    _require(all(x.shape == n.shape for x in n.inputs), n, "its inputs have other shapes")
    values = n.inputs[1:] if n.op.startswith("where") else n.inputs
    _require(len({x.dtype for x in values}) == 1, n, "its inputs differ in dtype")
    _require(n.dtype == (bool if is_mask(n.op) else values[0].dtype), n, "its dtype is not that of its inputs")
    _require(values is n.inputs or n.inputs[0].dtype == bool, n, "its condition is not a mask")


def _linear(n: Node) -> None:
    row = LINEAR[n.op]
    indexed = n.op in ("gather", "scatter")
    count = len(n.inputs) if row.linear_inputs is None else row.linear_inputs + indexed
    _require(0 < count == len(n.inputs), n, f"it needs {count} inputs")
    _require(row.shape(n.params, [x.shape for x in n.inputs]) == n.shape, n, "its shape is not what its inputs give")
    if indexed:
        _require(n.inputs[1].dtype.kind == "i", n, "its index is not of integers")
    dtypes = {x.dtype for x in n.inputs[: len(n.inputs) - indexed]}
    _require(dtypes == {n.dtype} or n.op == "convert", n, "its dtype is not that of its inputs")
    _require(n.op != "convert" or n.params == n.dtype.name, n, "its dtype is not the one it converts to")


def _input(n: Node) -> None:
    _require(not n.inputs and (n.params is None or isinstance(n.params, str)), n, "an input has a name and no inputs")


def _constant(n: Node) -> None:
    _require(isinstance(n.params, np.ndarray), n, "it has no array")
    array = cast("np.ndarray[Any, Any]", n.params)
    _require((array.shape, array.dtype) == (n.shape, n.dtype) and not n.inputs, n, "its array does not fit")


def _reduction(n: Node) -> None:
    _require(len(n.inputs) == 1 and n.inputs[0].dtype == n.dtype, n, "its dtype is not that of its input")
    x = n.inputs[0].shape
    axes: tuple[int, ...] = n.params
    _require(all(x[a] > 0 for a in axes), n, "an axis of size 0 has no extreme value")
    _require(LINEAR["sum"].shape(axes, [x]) == n.shape, n, "its shape is not what its input gives")


def _squares(n: Node) -> None:
    fits = len(n.inputs) == 1 and n.inputs[0].dtype.kind == "f"
    _require(fits and (n.shape, n.dtype) == ((), np.float64), n, "squares of floats add up to one float64")


def _position(n: Node) -> None:
    x = n.inputs[0].shape
    axis: int = n.params
    _require(len(n.inputs) == 1 and n.dtype == np.int64, n, "a position is int64")
    _require(x[axis] > 0, n, "an axis of size 0 has no extreme value")
    _require(LINEAR["sum"].shape((axis,), [x]) == n.shape, n, "its shape is not what its input gives")


def _same(n: Node) -> None:
    count = 2 if n.op == "surrogate" else 1
    fits = len(n.inputs) == count and all((x.shape, x.dtype) == (n.shape, n.dtype) for x in n.inputs)
    _require(fits, n, "its inputs have another shape or dtype")


def _key(n: Node) -> tuple[int, ...]:
    key = n.inputs[0]
    _require(key.dtype == np.uint64 and key.shape[-1:] == (2,), n, "its key is not a pair of uint64 words")
    return key.shape[:-1]


def _uniform(n: Node) -> None:
    shape, dtype = n.params
    _require(len(n.inputs) == 1 and (*_key(n), *shape) == n.shape, n, "its shape is not the one it asks for")
    _require(n.dtype.kind == "f" and n.dtype.name == dtype, n, "its dtype is not the one it asks for")


def _fold_in(n: Node) -> None:
    key, data = n.inputs
    _require(_key(n) == data.shape and data.dtype == np.int64, n, "its data are not one int64 per key")
    _require((n.shape, n.dtype) == (key.shape, key.dtype), n, "it is not a key")


def _call(n: Node) -> None:
    call: Any = n.params
    _require(isinstance(call, Call), n, "it calls nothing")
    _fits(n, call.graph, [*n.inputs], [n])
    if call.backward is not None:
        _fits(n, call.backward, [*n.inputs, n, n], [x for x in n.inputs if x.dtype.kind == "f"])


def _fits(n: Node, graph: Graph, inputs: list[Node], outputs: list[Node]) -> None:
    verify(graph)
    for inside, outside in ((graph.inputs, inputs), (graph.outputs, outputs)):
        same = [(x.shape, x.dtype) for x in inside] == [(x.shape, x.dtype) for x in outside]
        _require(same, n, "what it calls has other inputs or outputs")


def _while(n: Node) -> None:
    result: Any = n.params
    _require(isinstance(result, Result) and len(result.region.graphs) == 2, n, "it has no condition and body")
    condition, body = result.region.graphs
    _executes(n)
    _require([(y.shape, y.dtype) for y in condition.outputs] == [((), np.bool_)], n, "its condition is not one bool")
    state = [(x.shape, x.dtype) for x in body.inputs[: len(body.outputs)]]
    _require(state == [(y.shape, y.dtype) for y in body.outputs], n, "its body changes the form of the state")
    _is_result(n, body)


def _cond(n: Node) -> None:
    result: Any = n.params
    _require(isinstance(result, Result) and len(result.region.graphs) == 2, n, "it has no two sides")
    choice = n.inputs[0] if n.inputs else n
    _require(choice.dtype == np.bool_ and choice.shape in ((), result.batch), n, "it is not chosen by a bool")
    _executes(n)
    true, false = ([(y.shape, y.dtype) for y in graph.outputs] for graph in result.region.graphs)
    _require(true == false, n, "its sub-graphs give different results")
    _is_result(n, result.region.graphs[0])


def _scan(n: Node) -> None:
    result: Any = n.params
    _require(isinstance(result, Result) and len(result.region.graphs) == 1, n, "it has no body")
    (body,), turns, item = result.region.graphs, result.region.turns, result.item
    _require(turns is not None and result.batch == (), n, "it does not say what it repeats")
    carries, sequences, length, reverse = cast("tuple[Any, ...]", turns)
    verify(body)
    counts = all(type(k) is int and k >= 0 for k in (carries, sequences, length)) and type(reverse) is bool
    fits = counts and carries <= len(body.outputs) and carries + sequences <= len(body.inputs) == len(n.inputs)
    _require(fits, n, "its body has other inputs or outputs")
    state = [(x.shape, x.dtype) for x in body.inputs[:carries]]
    _require(state == [(y.shape, y.dtype) for y in body.outputs[:carries]], n, "its body changes the form of a carry")
    for k, (x, y) in enumerate(zip(body.inputs, n.inputs, strict=True)):
        shape = (length, *x.shape) if carries <= k < carries + sequences else x.shape
        _require((shape, x.dtype) == (y.shape, y.dtype), n, "its body has other inputs")
    _require(type(item) is int and 0 <= item < len(body.outputs) + carries, n, "it has no such result")
    _require(form_of_result(result.region, item) == (n.shape, n.dtype), n, "its result has another form")


def _executes(n: Node) -> None:
    """Sub-graphs that take the inputs of the node, or one row of each that has the batch's axes."""
    outside, batch = chosen_inputs(n), n.params.batch
    for graph in n.params.region.graphs:
        verify(graph)
        same = len(graph.inputs) == len(outside) and all(
            y.shape in (x.shape, (*batch, *x.shape)) and x.dtype == y.dtype
            for x, y in zip(graph.inputs, outside, strict=False)
        )
        _require(same, n, "what it executes has other inputs")


def _is_result(n: Node, graph: Graph) -> None:
    item: int = n.params.item
    _require(type(item) is int and 0 <= item < len(graph.outputs), n, "it has no such result")
    y = graph.outputs[item]
    _require(((*n.params.batch, *y.shape), y.dtype) == (n.shape, n.dtype), n, "its result has another form")


def _ask(n: Node) -> None:
    _require(len(n.inputs) == 2 and n.params in QUESTIONS, n, "it asks nothing that is known")
    asker, about = n.inputs
    _require((asker.shape, asker.dtype) == ((), np.int64), n, "it asks nobody")
    _require(about.ndim > 0 and about.dtype.kind == "f", n, "it asks about no vector of floats")
    _require(n.dtype == about.dtype and n.shape[: about.ndim - 1] == about.shape[:-1], n, "its answer has another form")


# Every operation that is neither in the C++ table of scalar operations nor linear.
OTHERS: dict[str, Callable[[Node], None]] = {
    "input": _input, "constant": _constant, "reduce_max": _reduction, "reduce_min": _reduction, "argmax": _position,
    "argmin": _position, "stop_gradient": _same, "surrogate": _same, "uniform": _uniform, "fold_in": _fold_in,
    "call": _call, "while": _while, "cond": _cond, "scan": _scan, "ask": _ask,
    "squares": _squares,
}  # fmt: skip
