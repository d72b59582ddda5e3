"""Products of arrays as what a loop can take in, which then stores them nowhere, or reads a matrix once, not twice."""

from burlab.graph import Graph, Node
from burlab.graph.elementwise import node
from burlab.graph.linear import broadcast, transpose
from burlab.graph.origin import derived_from
from burlab.graph.substitute import keep, rebuild

from .domain import REDUCTIONS
from .layout import Shape
from .lower import is_elementwise

_FEW, _LONGEST = 4, 4096  # numbers of a row that are worth lanes; and that lanes of floats add well


def for_loops(graph: Graph) -> Graph:
    """The graph with products that sum nothing, as of two vectors, as products of repeated arrays.

    A matrix times a vector becomes `matvec`, if the matrix is an input that elementwise operations read too: as an
    update does, whose loop then is the last to read it. Its lanes are added by halves.

    >>> import numpy as np
    >>> from burlab.graph.linear import contract
    >>> a, b = (Node("input", (), None, (k,), np.dtype(np.float64)) for k in (2, 3))
    >>> for_loops(Graph((a, b), (contract("a,b->ab", a, b),))).outputs
    (Node(mul, shape=(2, 3), float64),)
    """
    shared = _shared(graph)

    def rule(n: Node, inputs: tuple[Node, ...]) -> Node:
        if n.op != "contract":
            return keep(n, inputs)
        with derived_from(n):
            if _sums_nothing(n.params):
                return _product(n, inputs)
            for matrix, vector in (inputs, inputs[::-1]):
                if matrix in shared and vector.ndim == 1 and _is_rows(n, matrix, vector):
                    repeated = broadcast(vector, matrix.shape, (1,))
                    return Node("matvec", (matrix, repeated), None, n.shape, n.dtype)
        return keep(n, inputs)

    return Graph(graph.inputs, tuple(rebuild(graph.outputs, {x: x for x in graph.inputs}, rule)))


def _shared(graph: Graph) -> set[Node]:
    """Matrices of floats among the inputs that elementwise operations read, of a shape whose rows nobody reduces."""
    reduced: set[Shape] = {n.inputs[0].shape for n in graph.nodes if n.op in REDUCTIONS}
    read = {x for n in graph.nodes if is_elementwise(n) for x in n.inputs}
    return {
        x
        for x in graph.inputs
        if x in read and x.ndim == 2 and x.dtype.kind == "f" and x.shape not in reduced
        and x.shape[0] > 1 and _FEW <= x.shape[1] <= _LONGEST
    }  # fmt: skip


def _is_rows(n: Node, matrix: Node, vector: Node) -> bool:
    """Whether a contraction takes each row of the matrix times the vector."""
    ins, out = n.params.split("->")
    left, right = ins.split(",")
    rows = left if len(left) == 2 else right
    return len(left) + len(right) == 3 and out == rows[0] and vector.size == matrix.shape[1]


def _sums_nothing(letters: str) -> bool:
    ins, out = letters.split("->")
    return set(ins) - {","} == set(out)


def _product(n: Node, inputs: tuple[Node, ...]) -> Node:
    """An elementwise product."""
    ins, out = n.params.split("->")
    return node("mul", *(_spread(x, term, out, n.shape) for x, term in zip(inputs, ins.split(","), strict=True)))


def _spread(x: Node, term: str, out: str, shape: Shape) -> Node:
    """An operand with the letters of the result."""
    own = "".join(letter for letter in out if letter in term)
    return broadcast(transpose(x, tuple(term.index(letter) for letter in own)), shape, tuple(map(out.index, own)))
