"""Still pictures of a traced `Graph`, a `Kernel`, and the graph behind a `Value` with its gradients."""

from collections.abc import Iterator
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from burlab.graph import Graph, Node
from burlab.graph.origin import short_place
from burlab.graph.show import label, sub_graphs
from burlab.runtime.checks.numbers import shown
from burlab.widgets.drawing import Box, draw, framed

from .network import head, known, recorded_head

if TYPE_CHECKING:
    from burlab.compiler.kernel import Kernel
    from burlab.eager import Value

MAX_PICTURE_BOXES = 120  # boxes that a picture can hold and still be read
MAX_PAGE_BOXES = 600  # boxes of a graph with all its sub-graphs: a page stays quick
_MAX_COUNTED = 20_000  # nodes behind a Value that are counted, in a fraction of a second


def graph_svg(graph: Graph) -> str:
    """A drawn graph: blue inputs, orange outputs; numbers that are known stand inside the operation that takes them.

    >>> import numpy as np, burlab as bl
    >>> graph_svg(bl.compile(np.tanh, 0.5).graph).count("<rect")
    2
    """
    outputs = set(graph.outputs)
    shown = _visible(graph)[-MAX_PICTURE_BOXES:]
    drawn = set(shown)
    boxes = {n: _graph_box(graph, n, n in outputs, drawn) for n in shown}
    return draw(boxes, [(x, n) for n in shown for x in n.inputs if x in drawn])


def value_svg(root: "Value") -> str:
    """The graph that a Value was computed by: label, operation, value and gradient of each node.

    Constants stand inside the operation that takes them.

    >>> import burlab as bl
    >>> "· * 2" in value_svg(bl.Value(3.0) * 2)
    True
    """
    from burlab.eager.ancestry import ancestors

    nodes = ancestors(root, MAX_PICTURE_BOXES)
    drawn = {n.index for n in nodes}
    boxes: dict[Any, Box] = {}
    for n in reversed(nodes):
        words = recorded_head(n)
        lines = (words, f"data {n.data:.6g}", f"grad {n.grad:.6g}")
        kind: Any = "output" if n is nodes[0] else "operation" if n.symbol else "input"
        cut = any(parent and parent not in drawn for parent, _ in n.operands)
        boxes[n.index] = Box(lines, kind, f"{words}\ndata {shown(n.data)}\ngrad {shown(n.grad)}", cut)
    return draw(boxes, [(parent, n.index) for n in nodes for parent, _ in n.operands if parent in drawn])


def kernel_html(kernel: "Kernel") -> str:
    """A kernel is shown by its graph, under a line that describes it."""
    return f"{_line(repr(kernel))}{graph_html(kernel.graph)}"


def graph_html(graph: Graph) -> str:
    """The drawing in a frame that scrolls, above those of the sub-graphs that control flow executes.

    What is left out to keep it legible is note above the frame.
    """
    parts = list(_parts(graph, ""))
    sizes = [len(_visible(part)) for _, part in parts]
    boxes = np.minimum(sizes, MAX_PICTURE_BOXES)
    fitting = int(np.searchsorted(np.cumsum(boxes), MAX_PAGE_BOXES, side="right"))
    hidden, absent = sum(sizes) - int(boxes[:fitting].sum()), len(parts) - fitting
    where = f"{absent} whole sub-graphs among them" if absent else "those before the dashed boxes"
    ways = "print(graph) lists all of them, graph.to_dot() writes them for Graphviz"
    note = _note(f"{hidden:,} of {sum(sizes):,} nodes are not drawn, {where}. {ways}.") if hidden else ""
    drawings = "".join((_line(title) if title else "") + graph_svg(part) for title, part in parts[:fitting])
    return note + framed(drawings, "drawn graph")


def value_html(root: "Value") -> str:
    """The drawing in a frame that scrolls; above it stands how much is left out to keep it legible."""
    from burlab.eager.ancestry import ancestors

    count = len(ancestors(root, _MAX_COUNTED))
    hidden = (
        f"{count - MAX_PICTURE_BOXES:,} of {count:,}"
        if count < _MAX_COUNTED
        else f"More than {count - MAX_PICTURE_BOXES - 1:,}"
    )
    words = f"{hidden} nodes are not drawn, those behind the dashed boxes. .dot() writes all of them for Graphviz."
    return (_note(words) if count > MAX_PICTURE_BOXES else "") + framed(value_svg(root), "drawn graph of a value")


def _parts(graph: Graph, title: str) -> Iterator[tuple[str, Graph]]:
    """A graph and, after it, the sub-graphs that its control flow executes, however deep, with their titles."""
    yield title, graph
    for inner_title, inner in sub_graphs(graph):
        yield from _parts(inner, inner_title)


def _visible(graph: Graph) -> list[Node]:
    """The nodes that are boxes: all but numbers inside other boxes."""
    outputs = set(graph.outputs)
    return [n for n in graph.nodes if n in outputs or known(n) is None]


def _line(text: str) -> str:
    return f'<div style="overflow-wrap:anywhere"><code>{escape(text)}</code></div>'


def _note(text: str) -> str:
    return f'<div role="note" style="font-style:italic">{escape(text)}</div>'


def _graph_box(graph: Graph, n: Node, is_output: bool, drawn: set[Node]) -> Box:
    words = f"{label(n)} %{graph.index[n]}" if n.row.parts else head(n)
    lines = (words, f"{n.dtype.name}{list(n.shape) if n.shape else ''}")
    kind: Any = "input" if n.is_input else "output" if is_output else "operation"
    hint = f"%{graph.index[n]} {label(n)}\n{n.dtype.name}{list(n.shape)}\n{short_place(n.origin)} {n.scope}".strip()
    return Box(lines, kind, hint, any(x not in drawn and known(x) is None for x in n.inputs))
