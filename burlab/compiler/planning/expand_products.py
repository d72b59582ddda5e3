"""Products of arrays as what a loop can take in, which then stores them nowhere, or reads a matrix once, not twice."""

import numpy as np

from burlab.compiler.ir.strides import Shape
from burlab.graph import Graph, Node
from burlab.graph.linear_nodes import broadcast, transpose
from burlab.graph.node import constant
from burlab.graph.numpy_api.promotion import FLOAT64, node
from burlab.graph.numpy_api.reduction import sum_of_squares
from burlab.graph.operation import Ending
from burlab.graph.origin import derived_from
from burlab.graph.signatures import letters_of
from burlab.graph.substitute import keep, rebuild

_MAX_FINITE_SQUARE = float(np.finfo(np.float32).max) ** 2
_MIN_ROW, _MAX_ROW = 4, 4096  # numbers of a row that are worth lanes; and that lanes of floats add well


def expand_products(graph: Graph) -> Graph:
    """The graph with products that sum nothing, as of two vectors, as products of repeated arrays.

    A matrix times a vector becomes `matvec`, if the matrix is an input that elementwise operations read too: as an
    update does, whose loop then is the last to read it. Its lanes are added by halves. The squares of a product of
    floats that sums nothing are those of its factors, multiplied.

    >>> import numpy as np
    >>> from burlab.graph.linear_nodes import contract
    >>> a, b = (Node("input", (), None, (k,), np.dtype(np.float64)) for k in (2, 3))
    >>> expand_products(Graph((a, b), (contract("a,b->ab", a, b),))).outputs
    (Node(mul, shape=(2, 3), float64),)
    """
    shared = _shared(graph)
    known = {x: x for x in graph.inputs}
    squares: dict[Node, Node] = {}

    def rule(n: Node, inputs: tuple[Node, ...]) -> Node:
        row = n.row
        if not row.multiplies and row.epilogue is not Ending.SQUARES:
            return keep(n, inputs)
        with derived_from(n):
            if row.epilogue is Ending.SQUARES:
                (x,) = n.inputs
                factors = [known[y] for y in x.inputs] if _is_outer(x) else inputs
                return _squares_of_product(*(squares.setdefault(y, sum_of_squares(y)) for y in factors))
            if _sums_nothing(n.params):
                return _product(n, inputs)
            for matrix, vector in (inputs, inputs[::-1]):
                if matrix in shared and vector.ndim == 1 and _is_rows(n, matrix, vector):
                    repeated = broadcast(vector, matrix.shape, (1,))
                    return Node("matvec", (matrix, repeated), None, n.shape, n.dtype)
        return keep(n, inputs)

    return Graph(graph.inputs, tuple(rebuild(graph.outputs, known, rule)))


def _is_outer(n: Node) -> bool:
    """Return True if a node multiplies each number with each, in float32, whose squares float64 always holds."""
    if not n.row.multiplies or n.dtype != np.float32:
        return False
    left, right, _ = letters_of(n.params)
    return _sums_nothing(n.params) and set(left).isdisjoint(right)


def _squares_of_product(first: Node, *second: Node) -> Node:
    """From the squares of its factors; infinite where a number of the product, in float32, may be."""
    if not second:
        return first
    product, infinity = node("mul", first, *second), constant(np.inf, FLOAT64)
    return node("where", node("greater", product, constant(_MAX_FINITE_SQUARE, FLOAT64)), infinity, product)


def _shared(graph: Graph) -> set[Node]:
    """Matrices of floats among the inputs that elementwise operations read, of a shape whose rows no node reduces."""
    reduced: set[Shape] = {n.inputs[0].shape for n in graph.nodes if n.row.reduction}
    read = {x for n in graph.nodes if n.row.elementwise for x in n.inputs}
    return {
        x
        for x in graph.inputs
        if x in read and x.ndim == 2 and x.dtype.kind == "f" and x.shape not in reduced
        and x.shape[0] > 1 and _MIN_ROW <= x.shape[1] <= _MAX_ROW
    }  # fmt: skip


def _is_rows(n: Node, matrix: Node, vector: Node) -> bool:
    """Return True if a contraction takes each row of the matrix times the vector."""
    left, right, out = letters_of(n.params)
    rows = left if len(left) == 2 else right
    return len(left) + len(right) == 3 and out == rows[0] and vector.size == matrix.shape[1]


def _sums_nothing(spec: str) -> bool:
    left, right, out = letters_of(spec)
    return set(left + right) == set(out)


def _product(n: Node, inputs: tuple[Node, ...]) -> Node:
    """An elementwise product."""
    *terms, out = letters_of(n.params)
    return node("mul", *(_spread(x, term, out, n.shape) for x, term in zip(inputs, terms, strict=True)))


def _spread(x: Node, term: str, out: str, shape: Shape) -> Node:
    """An operand with the letters of the result."""
    own = "".join(letter for letter in out if letter in term)
    return broadcast(transpose(x, tuple(term.index(letter) for letter in own)), shape, tuple(map(out.index, own)))
