"""`locate`: which values are views of others, and which are computed right in the caller's arrays."""

from collections.abc import Container, Mapping
from dataclasses import dataclass, field

from burlab.compiler.ir.options import After, PlanOptions
from burlab.compiler.ir.plan import MemoryKind, MemoryPlace
from burlab.compiler.ir.strides import VIEWS, Shape, StridedView, dense_strides, is_dense, is_whole
from burlab.graph import Graph, Node
from burlab.graph.executions import Execution, executions

from .fusion import loop_shape
from .windows import EvenIndex, window_views, windows_of


@dataclass(frozen=True, slots=True)
class Located:
    """A graph whose values are views of bases. Printed, it has one line per node that is computed.

    Args:
        graph: the graph of the plan.
        options: of the plan.
        views: the value of each node, as a view of its base.
        executions: of sub-graphs.
        loops: the nodes that loops compute, with the shapes of these.
        homes: the bases that are computed in an array of the caller, and its place.
        copies: the other outputs, and their places.
        after: nodes that wait for others besides their operands.
    """

    graph: Graph
    options: PlanOptions
    views: dict[Node, StridedView]
    executions: list[Execution]
    loops: dict[Node, Shape]
    homes: dict[Node, MemoryPlace]
    copies: tuple[tuple[Node, MemoryPlace], ...]
    after: After = field(default_factory=dict[Node, tuple[Node, ...]])

    def is_added(self, n: Node) -> bool:
        """Return True if a value is added to the contents of its array."""
        return n in self.homes and self.homes[n].number < self.options.accumulate

    def __str__(self) -> str:
        index = self.graph.index
        computed = (n for n in self.graph.nodes if not n.row.leaf and self.views[n].base is n)
        lines = [f"%{index[n]} {n.op} {list(n.shape)} {'loop' if n in self.loops else 'kernel'}" for n in computed]
        return "\n".join([*lines, *(f"copy %{index[y]} to output {place.number}" for y, place in self.copies)])


def locate(graph: Graph, options: PlanOptions) -> Located:
    """Find the place of each value: a view of a base, or an array of the caller.

    A view is copied if its consumer needs dense operands, unless it is dense anyway.
    """
    windows = _windows(graph) if options.compiled else ()
    loops = {n: shape for n in graph.nodes if (shape := loop_shape(n, options.gear)) is not None}
    gathers = window_views(graph) if options.gear != "kernels" else {}
    alone = (n for n in graph.nodes if n not in loops and n not in gathers)
    dense = {x for n in alone if (row := n.row).dense_operands or row.elementwise for x in n.inputs}
    views = _views(graph, dense, windows, options.early, gathers)
    homes: dict[Node, MemoryPlace] = {}
    copies: list[tuple[Node, MemoryPlace]] = []
    for k, y in enumerate(graph.outputs):
        view, place = views[y], MemoryPlace(MemoryKind.OUTPUT, k)
        if k < options.accumulate and y.is_zero:
            continue  # it adds nothing
        if not view.base.row.leaf and view.base not in homes and is_whole(view, y):
            homes[view.base] = place
        else:
            copies.append((y, place))
    after = _waiting(graph, views, options.after)
    return Located(graph, options, views, executions(graph), loops, homes, tuple(copies), after)


def _waiting(graph: Graph, views: dict[Node, StridedView], known: After) -> After:
    """The values that nodes wait for besides their operands: those known before, and those that `after` nodes name."""
    if all(n.op != "after" for n in graph.nodes):
        return known
    found = dict(known)
    behind: dict[Node, tuple[Node, ...]] = {}  # of views: what comes before they are read
    for n in graph.nodes:
        if views[n].base is n:
            before = tuple(dict.fromkeys(y for x in n.inputs for y in behind.get(x, ())))
            if before:
                found[n] = (*found.get(n, ()), *before)
        else:
            behind[n] = (*behind.get(n.inputs[0], ()), *(n.inputs[1:] if n.op == "after" else ()))
    return found


def _views(
    graph: Graph,
    dense: Container[Node],
    windows: Container[Node],
    copied: Container[Node],
    gathers: Mapping[Node, EvenIndex],
) -> dict[Node, StridedView]:
    """windows: `pad` nodes that need no array. copied: views that get one. gathers: those that are views."""
    views: dict[Node, StridedView] = {}
    for n in graph.nodes:
        seen = None
        if n.row.view:
            seen = VIEWS[n.op](n, views[n.inputs[0]])
        elif n in windows:
            seen = _window(n, views[n.inputs[0]])
        elif n in gathers and not views[n.inputs[0]].window:
            seen = windows_of(n, gathers[n], views[n.inputs[0]])
        if seen is None and not n.shape:
            views[n] = StridedView(n, 0, ())
            continue
        if seen is None or n in copied or (n in dense and not is_dense(n.shape, seen.strides)):
            seen = StridedView(n, 0, dense_strides(n.shape))
        strides = tuple(0 if size == 1 else stride for size, stride in zip(n.shape, seen.strides, strict=True))
        views[n] = seen._replace(strides=strides)
    return views


def _windows(graph: Graph) -> set[Node]:
    """The `pad` nodes that only loops read: these take what is inside the window, and 0 elsewhere."""
    found = {n for n in graph.nodes if n.row.windowed and _fits_window(n)}
    found.difference_update(graph.outputs)
    for n in graph.nodes:
        if not n.row.elementwise:
            found.difference_update(n.inputs)
    return found


def _fits_window(n: Node) -> bool:
    step: Shape = n.params[1]
    return n.size > 1 and n.inputs[0].size > 0 and all(abs(t) == 1 for t in step)


def _window(n: Node, source: StridedView) -> StridedView:
    """A `pad` of step 1 or -1: its operand inside a window, zeros around it."""
    start: Shape = n.params[0]
    step: Shape = n.params[1]
    strides = tuple(s * t for s, t in zip(source.strides, step, strict=True))
    offset = source.offset - sum(a * s for a, s in zip(start, strides, strict=True))
    inner = n.inputs[0].shape
    window = tuple(
        None if size == full else (a, a + size) if t == 1 else (a - size + 1, a + 1)
        for a, t, size, full in zip(start, step, inner, n.shape, strict=True)
    )
    return StridedView(source.base, offset, strides, window)
