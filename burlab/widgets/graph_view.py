"""How graphs look in a notebook: a traced `Graph`, a `Kernel`, and the graph behind a `Value` with its gradients."""

from typing import TYPE_CHECKING, Any

from burlab.graph import Graph, Node
from burlab.graph.control import CONTROL
from burlab.graph.origin import short_place
from burlab.graph.rewrite.simplify import known_value
from burlab.graph.show import label, sub_graphs

from .drawing import Box, draw
from .profile_view import profile_html

if TYPE_CHECKING:
    from burlab.compiler.kernel import Kernel
    from burlab.eager import Value

LARGEST = 120  # boxes that a picture can hold and still be read


def graph_svg(graph: Graph) -> str:
    """A drawn graph: blue inputs, orange outputs; numbers that are known stand inside the operation that takes them.

    >>> import numpy as np, burlab as bl
    >>> graph_svg(bl.compile(np.tanh, 0.5).graph).count("<rect")
    2
    """
    outputs = set(graph.outputs)
    visible = [n for n in graph.nodes if n in outputs or _known(n) is None]
    shown = visible[-LARGEST:]
    boxes = {n: _graph_box(graph, n, n in outputs) for n in shown}
    edges = [(x, n) for n in shown for x in n.inputs if x in boxes]
    return draw(boxes, edges, _note(len(shown), len(visible)))


def value_svg(root: "Value") -> str:
    """The graph that a Value was computed by: label, operation, value and gradient of each node."""
    from burlab.eager.ancestry import ancestors

    found = ancestors(root, LARGEST + 1)
    nodes = found[:LARGEST]
    kinds = {nodes[0].index: "output"} | {n.index: "input" for n in nodes if not n.symbol}
    boxes: dict[Any, Box] = {}
    for n in reversed(nodes):
        head = " = ".join(filter(None, (n.label, n.symbol))) or "value"
        lines = (head, f"data {n.data:.6g}", f"grad {n.grad:.6g}")
        kind: Any = kinds.get(n.index, "operation")
        boxes[n.index] = Box(lines, kind, f"{head}\ndata {n.data!r}\ngrad {n.grad!r}")
    edges = [(parent, n.index) for n in nodes for parent, _ in n.operands if parent in boxes]
    note = f"the {LARGEST} nodes nearest to the result; .dot() gives all" if len(found) > LARGEST else ""
    return draw(boxes, edges, note)


def kernel_html(kernel: "Kernel") -> str:
    """A kernel is shown by its graph, under a line that says what it is."""
    return f"<div><code>{_escaped(repr(kernel))}</code></div>{graph_html(kernel.graph)}"


def graph_html(graph: Graph) -> str:
    """The drawing in a frame that scrolls, above those of the sub-graphs that control flow executes."""
    return _framed(_drawings(graph))


def _drawings(graph: Graph) -> str:
    inner = (f"<div><code>{_escaped(title)}</code></div>{_drawings(part)}" for title, part in sub_graphs(graph))
    return "".join([graph_svg(graph), *inner])


def value_html(root: "Value") -> str:
    """The drawing in a frame that scrolls."""
    return _framed(value_svg(root))


def _framed(svg: str) -> str:
    return f'<div style="overflow:auto;max-height:36em">{svg}</div>'


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;")


def _note(shown: int, count: int) -> str:
    return f"the last {shown} of {count} nodes; print(graph) lists all" if shown < count else ""


def _known(n: Node) -> str | None:
    """The number that a node is known to be, in short."""
    value = known_value(n)
    return f"{value.item():.4g}" if value is not None and value.size == 1 else None


def _graph_box(graph: Graph, n: Node, is_output: bool) -> Box:
    operands = [_known(x) for x in n.inputs]
    if n.op == "input":
        head = str(n.params)
    elif n.op in CONTROL:
        head = f"{label(n)} %{graph.index[n]}"
    elif n.op == "constant" or not any(operands):
        head = label(n) if n.op == "constant" else n.op
    else:
        head = f"{n.op}({', '.join(text or '·' for text in operands)})"
    lines = (head, f"{n.dtype.name}{list(n.shape) if n.shape else ''}")
    kind: Any = "input" if n.op == "input" else "output" if is_output else "operation"
    hint = f"%{graph.index[n]} {label(n)}\n{n.dtype.name}{list(n.shape)}\n{short_place(n.origin)} {n.scope}".strip()
    return Box(lines, kind, hint)


def register() -> None:
    """Tell IPython how to show these types, by name: none of them is imported for it."""
    from IPython.core.getipython import get_ipython

    shell: Any = get_ipython()
    if shell is not None:
        html = shell.display_formatter.formatters["text/html"]
        html.for_type_by_name("burlab.graph.graph", "Graph", graph_html)
        html.for_type_by_name("burlab.compiler.kernel", "Kernel", kernel_html)
        html.for_type_by_name("burlab.compiler.inspection.profile", "Profile", profile_html)
        html.for_type_by_name("burlab.eager.value", "Value", value_html)
