"""The origin of wrong numbers: the first node that made an inf or nan, found by a replay that keeps every value."""

from collections.abc import Sequence

import numpy as np

from burlab.errors import BurlabError, NonFiniteError
from burlab.graph import Graph, Node
from burlab.graph.graph import Region
from burlab.graph.scan_nodes import iterations_of
from burlab.runtime.coerce import Array

from .fault import place
from .values import Replay

_MAX_ITERATIONS = 10_000  # of a loop that are looked into, some 50 us each


def culprit(graph: Graph, arrays: Sequence[Array], strict: bool) -> BurlabError | None:
    """The error that names the first node that made a nan out of numbers, or an infinity out of finite numbers.

    arrays: the inputs. None where there is no such node: infinities that the user wrote as constants, such as a mask of
    -inf, are no fault.
    """
    return _first(graph, Replay(graph, strict=strict).values(arrays), strict)


def _first(graph: Graph, values: Sequence[Array], strict: bool) -> BurlabError | None:
    value_of = dict(zip(graph.nodes, values, strict=True))
    for n, value in value_of.items():
        if not n.is_constant and n.dtype.kind == "f":
            found = _new_non_finite(value, [value_of[x] for x in n.inputs if x.dtype.kind == "f"])
            if found:
                inside = _inside(n, [value_of[x] for x in n.inputs], strict) if n.row.parts else None
                return inside or _not_finite(n, value, found, [value_of[x] for x in n.inputs])
    return None


def _inside(n: Node, arrays: list[Array], strict: bool) -> BurlabError | None:
    """The culprit in the sub-graphs of control flow; None if it is too far away, or in one of many rows."""
    if n.params.batch:
        return None
    return _INSIDE[n.op](n.params.region, arrays, strict)


def _in_choice(region: Region, arrays: list[Array], strict: bool) -> BurlabError | None:
    return culprit(region.graphs[0 if arrays[0] else 1], arrays[1:], strict)


def _in_loop(region: Region, arrays: list[Array], strict: bool) -> BurlabError | None:
    condition, body = (Replay(graph, strict=strict) for graph in region.graphs)
    for _ in range(_MAX_ITERATIONS):
        if not condition.values(arrays)[condition.graph.index[condition.graph.outputs[0]]]:
            return None
        values = body.values(arrays)
        if error := _first(body.graph, values, strict):
            return error
        arrays[: len(body.graph.outputs)] = (values[body.graph.index[y]] for y in body.graph.outputs)
    return None


def _in_iterations(region: Region, arrays: list[Array], strict: bool) -> BurlabError | None:
    (graph,), iterations = region.graphs, iterations_of(region)
    body = Replay(graph, strict=strict)
    carries, end = iterations.carries, iterations.carries + iterations.sequences
    state, others = arrays[:carries], arrays[end:]
    for iteration in range(min(iterations.length, _MAX_ITERATIONS)):
        at = iterations.length - 1 - iteration if iterations.reverse else iteration
        values = body.values([*state, *(np.array(x[at]) for x in arrays[carries:end]), *others])
        if error := _first(graph, values, strict):
            return error
        state = [values[graph.index[y]] for y in graph.outputs[:carries]]
    return None


_INSIDE = {"cond": _in_choice, "while": _in_loop, "scan": _in_iterations}


def _new_non_finite(value: Array, inputs: list[Array]) -> str:
    """`nan` or `inf` if a value has one that the inputs do not explain, else nothing."""
    if np.isnan(value).any() and not any(np.isnan(x).any() for x in inputs):
        return "nan"
    if np.isinf(value).any() and all(np.isfinite(x).all() for x in inputs):
        return "inf"
    return ""


def _not_finite(n: Node, value: Array, found: str, inputs: list[Array]) -> NonFiniteError:
    first = np.argwhere(np.isnan(value) if found == "nan" else np.isinf(value))[0]
    at = f"[{', '.join(map(str, first))}]" if n.shape else ""
    if n.is_input:
        return NonFiniteError(f"argument {n.params}{at} is {found}. Pass finite numbers, or leave out check_finite.")
    return NonFiniteError(
        f"{place(n)}: element {at or '()'} of the result of shape {n.shape} is the first {found}"
        f"{_arguments(n, first, inputs)}. "
        "Check the numbers that this line gets, or guard it with np.where on its argument."
    )


def _arguments(n: Node, first: Array, inputs: list[Array]) -> str:
    """Return the numbers that an element was computed from, where the operation works by elements; else nothing."""
    if any(x.shape != n.shape for x in inputs) or not inputs:
        return ""
    numbers = [float(x[tuple(first)]) for x in inputs if x.dtype.kind in "fiu"]
    return f", for {' and '.join(f'{number:.6g}' for number in numbers)}"
