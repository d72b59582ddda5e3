"""Calls in a graph: nodes that stand for a sub-graph with one output, perhaps with a reverse rule of its own."""

from collections.abc import Sequence
from typing import Any

from .graph import Call
from .node import Node
from .signatures import FLOATS, SIGNATURES, Form, Signature, form_of, forms_of, require


def graphs_of(call: Call) -> list[Any]:
    """The sub-graphs: what is called, then its reverse rule."""
    return [call.graph] if call.backward is None else [call.graph, call.backward]


def _form(call: Call, inputs: Sequence[Node]) -> Form:
    require(len(call.graph.outputs) == 1, "what it calls has not one output")
    (y,) = call.graph.outputs
    require(forms_of(call.graph.inputs) == forms_of(inputs), "what it calls has other inputs")
    if call.backward is not None:
        require(forms_of(call.backward.inputs) == forms_of([*inputs, y, y]), "its reverse rule has other inputs")
        floats = [x for x in inputs if x.dtype in FLOATS]
        require(forms_of(call.backward.outputs) == forms_of(floats), "its reverse rule has other outputs")
    return form_of(y)


def _is_call(params: Any) -> bool:
    return isinstance(params, Call)


SIGNATURES["call"] = Signature(_is_call, _form)
