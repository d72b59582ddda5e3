"""A graph as text: a listing with one line per node, and Graphviz's DOT."""

from burlab.typing import Params

from .executions import executions
from .graph import Call, Graph
from .node import Node
from .origin import short_place


def listing(graph: Graph) -> str:
    """One line per node: number, operation and parameters, inputs, shape, dtype, the user's line, module scope."""
    rows = [_row(graph, k, n) for k, n in enumerate(graph.nodes)]
    widths = [max((len(row[c]) for row in rows), default=0) for c in range(4)]
    lines = ["  ".join(text.ljust(w) for text, w in zip(row, [*widths, 0], strict=True)).rstrip() for row in rows]
    outputs = ", ".join(f"%{graph.index[y]}" for y in graph.outputs)
    return "\n".join([*lines, f"return {outputs}", *_inner(graph)])


def _inner(graph: Graph) -> list[str]:
    """The sub-graphs of control flow, indented below the graph that executes them."""
    lines: list[str] = []
    for title, inner in sub_graphs(graph):
        lines.append(f"{title}:")
        lines += (f"  {line}" for line in listing(inner).splitlines())
    return lines


def sub_graphs(graph: Graph) -> list[tuple[str, Graph]]:
    """The sub-graphs that control flow executes, under titles such as `body of %5`, which is its first result."""
    return [
        (f"{name} of %{graph.index[execution.nodes[0]]}", inner)
        for execution in executions(graph)
        for name, inner in zip(execution.nodes[0].row.parts, execution.region.graphs, strict=True)
    ]


def _row(graph: Graph, k: int, n: Node) -> list[str]:
    inputs = " ".join(f"%{graph.index[x]}" for x in n.inputs)
    shape = f"{n.dtype.name}{list(n.shape)}" + (" weak" if n.weak else "")
    return [f"%{k}", label(n), inputs, shape, f"{short_place(n.origin)}  {n.scope}".strip()]


def label(n: Node) -> str:
    """The operation with its parameters, short."""
    if n.is_constant:
        return f"constant {n.params.item():.6g}" if n.size == 1 else "constant"
    if isinstance(n.params, Call):
        return f"call {n.params.name}"
    if n.row.parts:
        return f"{n.op} [{n.params.item}]"
    return n.op if n.params is None else f"{n.op} {_short(n.params)}"


def _short(params: Params) -> str:
    return str(params).replace(" ", "")


def dot(graph: Graph) -> str:
    """Graphviz's DOT: boxes for inputs, ovals for operations, a double rim for outputs."""
    head = ["digraph burlab {", '  rankdir="LR"; node [fontname="Helvetica", fontsize=11];']
    return "\n".join([*head, *_dot(graph, "n"), "}"])


def _dot(graph: Graph, prefix: str) -> list[str]:
    """Nodes and edges, then a frame for every sub-graph of control flow."""
    lines: list[str] = []
    for n, k in graph.index.items():
        shape = "box" if n.row.leaf else "ellipse"
        rim = ", peripheries=2" if any(n is y for y in graph.outputs) else ""
        text = _quoted(f"{label(n)}\n{n.dtype.name}{list(n.shape)}")
        lines.append(f"  {prefix}{k} [label={text}, shape={shape}{rim}];")
        lines.extend(f"  {prefix}{graph.index[x]} -> {prefix}{k};" for x in n.inputs)
    for title, inner in sub_graphs(graph):
        name = f"{prefix}{len(lines)}_"
        lines += [f"  subgraph cluster_{name} {{", f"  label={_quoted(title)};", *_dot(inner, name), "  }"]
    return lines


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
