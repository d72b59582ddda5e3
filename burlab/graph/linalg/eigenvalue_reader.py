"""Reading of nodes as functions of single eigenvalues or singular values, which may be evaluated at other points."""

from burlab.graph.linear_nodes import broadcast, convert, pad, slice_
from burlab.graph.node import Node
from burlab.graph.operation import ScalarOperation, make_node


class Reader:
    """Reads f as a function of each eigenvalue: entry i as that of index i, at one point or a row of points."""

    def __init__(self, w: Node, points: Node) -> None:
        self.w, self.points = w, points
        self.indexed = False
        self.shared: dict[Node, None] = {}  # what may move and is the same for all indices
        self._more = points.shape[w.ndim :]
        self._known: dict[Node, Node | None] = {}

    def at(self, f: Node) -> Node | None:
        """f_i at points[..., i] or points[..., i, :]; None where it reads more than that and what all indices share."""
        f = settled(f)
        if f not in self._known:
            self._known[f] = self._read(f)
        return self._known[f]

    def _read(self, n: Node) -> Node | None:
        if (n.op, n.params) == (self.w.op, self.w.params) and n.inputs[1] is self.w.inputs[1]:
            return self.points
        wide = (*n.shape, *self._more)
        if n.op == "broadcast" and n.ndim - 1 not in n.params[1]:
            if not n.inputs[0].is_constant:
                self.shared[n.inputs[0]] = None
            return broadcast(n.inputs[0], wide, n.params[1])
        if _is_known(n):
            self.indexed = True
            return broadcast(n, wide, tuple(range(n.ndim)))
        scalar = isinstance(n.row, ScalarOperation)
        if not n.ndim or not (scalar or n.op in _MOVES or n.op == "convert"):
            return None
        parts = [self.at(x) for x in n.inputs]
        if any(x is None for x in parts):
            return None
        inputs = [x for x in parts if x is not None]
        if scalar:
            return make_node(n.op, n.params, *inputs)
        return convert(inputs[0], n.dtype) if n.op == "convert" else self._repositioned(n, inputs[0])

    def _repositioned(self, n: Node, x: Node) -> Node | None:
        """Return a slice of eigenvalues, or eigenvalues with zeros between them."""
        start, step, shape = n.params
        if shape[:-1] != n.inputs[0].shape[:-1] or any(start[:-1]) or any(s != 1 for s in step[:-1]):
            return None
        self.indexed |= n.op == "pad"
        more = len(self._more)
        return _MOVES[n.op](x, (*start, *(0,) * more), (*step, *(1,) * more), (*shape, *self._more))


_MOVES = {"slice": slice_, "pad": pad}


def _is_known(n: Node) -> bool:
    """Return True if a node is made of constants alone."""
    left, met = [n], set[Node]()
    while left:
        x = left.pop()
        if not (x.inputs or x.is_constant):
            return False
        left += (y for y in x.inputs if y not in met)
        met.update(x.inputs)
    return True


def settled(x: Node) -> Node:
    """Return the node, or an earlier one of the same shape that it only reshapes."""
    found, base = x, x
    while base.op == "reshape":
        (base,) = base.inputs
        if base.shape == x.shape:
            found = base
    return found


def shared_by(w: Node, f: Node) -> tuple[Node, ...] | None:
    """Return the differentiable inputs of f that all w share; None if f has inputs of another kind."""
    reader = Reader(w, w)
    return None if reader.at(f) is None else tuple(reader.shared)
