"""Linear systems: LU factors, solutions by them, triangular systems, and Cholesky factors.

Derivatives as in Giles 2008, "An extended collection of matrix derivative results for forward and reverse mode", and
of the Cholesky factor as in Murray 2016, arXiv:1602.07527, section 3.1.
"""
# ruff: noqa: D102 - Operation documents the methods

import operator
from abc import abstractmethod
from collections.abc import Sequence

from burlab.graph.implied import Factorization, without_derivative
from burlab.graph.linear_nodes import broadcast, reshape, transpose
from burlab.graph.node import Node
from burlab.graph.numpy_api.arguments import LinAlgError, broadcast_shape
from burlab.graph.operation import Batching, Operation, Shares, Tangents, Unary, make_node, structural, together
from burlab.graph.origin import location
from burlab.graph.signatures import Form, form_of, require
from burlab.graph.tally import Tally
from burlab.runtime.checks.stored import flag, record
from burlab.typing import Params

from .matrices import half_lower, masked, mT, require_matrices, symmetric


@structural
class Lu(Factorization):
    """P A = L U by partial pivoting: the factors by columns, then the exchanged rows (`kernels/linalg/lu.hpp`)."""

    name = "lu"

    def form(self, _: None, inputs: Sequence[Node]) -> Form:
        require(len(inputs) == 1, "it needs one input")
        (a,) = inputs
        require_matrices(a, square=True)
        return (*a.shape[:-2], a.shape[-1] * (a.shape[-1] + 1)), a.dtype

    def tally(self, n: Node) -> Tally:
        """Return (n - k)^2 products and differences, and n - k quotients, in each column k."""
        (a,) = n.inputs
        k = a.shape[-1]
        products = k * (k - 1) * (2 * k - 1) // 6
        return Tally(products + k * (k - 1) // 2, products).times(a.size // max(k * k, 1))


class _System(Operation):
    """Solutions of A x = b: linear in b, the first input; A is the second."""

    dense_operands = True

    def work(self, n: Node) -> int:
        return n.size * n.shape[-2]

    def tally(self, n: Node) -> Tally:
        """Return two triangular systems, one of them with a diagonal of ones."""
        return Tally(n.size * n.shape[-2], n.size * (n.shape[-2] - 1))

    @abstractmethod
    def transposed(self, n: Node) -> bool:
        """Return True if the matrix is transposed."""

    @abstractmethod
    def solved(self, n: Node, b: Node, transposed: bool) -> Node:
        """Return the solutions for other right-hand sides of the same matrix, or of its transpose."""

    def read(self, _n: Node, x: Node) -> Node:
        """Return the part of a change of the matrix that the solutions depend on."""
        return x

    def forward(self, n: Node, tangents: Tangents) -> Node | None:
        b, a = n.inputs[:2]
        right = tangents.get(b)
        if a in tangents:
            change = self.read(n, tangents[a])
            product = (mT(change) if self.transposed(n) else change) @ n
            right = -product if right is None else right - product
        return None if right is None else self.solved(n, right, self.transposed(n))

    def reverse(self, n: Node, g: Node, active: set[Node]) -> Shares:
        b, a = n.inputs[:2]
        back = self.solved(n, g, not self.transposed(n))
        shares = [(b, back)] if b in active else []
        if a in active:
            left, right = (n, back) if self.transposed(n) else (back, n)
            shares.append((a, -self.read(n, left @ mT(right))))
        return shares

    def batched(self, n: Node, xs: Sequence[Node], flags: Sequence[bool], many: Batching) -> Node:
        """Return the solutions for many samples. Right-hand sides of one matrix become its columns."""
        if any(flags[1:]) or n.ndim > 2:
            return together(n, xs, flags, many.size)
        return _side_by_side(n.op, n.params, *xs)


def _side_by_side(op: str, params: Params, b: Node, *known: Node) -> Node:
    """Return the solutions of one matrix for many matrices b of columns."""
    *lead, n, k = b.shape
    last = b.ndim - 2
    wide = reshape(transpose(b, (last, *range(last), last + 1)), (n, b.size // n if n else 0))
    x = reshape(make_node(op, params, wide, *known), (n, *lead, k))
    return transpose(x, (*range(1, last + 1), 0, last + 1))


@structural
class LuSolve(_System):
    """Solutions by factors of the matrix, or of its transpose. Inputs: b, A, the factors of A."""

    name = "lu_solve"
    parameters = flag

    def form(self, _: bool, inputs: Sequence[Node]) -> Form:
        require(len(inputs) == 3, "it needs right-hand sides, a matrix and its factors")
        b, a, factors = inputs
        require_matrices(b, a, square=True)
        require(form_of(factors) == Lu().form(None, (a,)), "its factors are not of its matrix")
        require(b.shape[-2] == a.shape[-1], "its right-hand sides have other rows than its matrix")
        return form_of(b)

    def differentiable_inputs(self, _: Node) -> tuple[int, ...]:
        return 0, 1

    def transposed(self, n: Node) -> bool:
        return n.params

    def solved(self, n: Node, b: Node, transposed: bool) -> Node:
        return make_node(self.name, transposed, b, *n.inputs[1:])


@structural
class SolveTriangular(_System):
    """Solutions for a triangular matrix, whose other triangle is not read. Inputs: b, A.

    Parameters: lower triangle, transposed, diagonal of ones; three flags.
    """

    name = "solve_triangular"
    parameters = record(flag, flag, flag)

    def form(self, _: Params, inputs: Sequence[Node]) -> Form:
        require(len(inputs) == 2, "it needs right-hand sides and a matrix")
        require_matrices(*inputs, square=True)
        b, a = inputs
        require(b.shape[-2] == a.shape[-1], "its right-hand sides have other rows than its matrix")
        return form_of(b)

    def tally(self, n: Node) -> Tally:
        """Return those of the triangle, and a quotient for each number where the diagonal has other numbers than 1."""
        products = n.size * (n.shape[-2] - 1) // 2
        return Tally(products + (0 if n.params[2] else n.size), products)

    def transposed(self, n: Node) -> bool:
        return n.params[1]

    def solved(self, n: Node, b: Node, transposed: bool) -> Node:
        low, _, unit = n.params
        return make_node(self.name, (low, transposed, unit), b, n.inputs[1])

    def read(self, n: Node, x: Node) -> Node:
        low, _, unit = n.params
        return masked(x, _COMPARISONS[low, unit])


_COMPARISONS = {
    (True, False): operator.ge,
    (True, True): operator.gt,
    (False, False): operator.le,
    (False, True): operator.lt,
}


@structural
class Cholesky(Unary):
    """Lower factors L with A = L L', of which the lower triangle is read. A changes as a symmetric matrix does."""

    name = "cholesky"
    dense_operands = True

    def of(self, _: None, x: Node) -> Form:
        require_matrices(x, square=True)
        return form_of(x)

    def work(self, n: Node) -> int:
        return n.size * n.shape[-1]

    def tally(self, n: Node) -> Tally:
        """Return a root for each diagonal entry, a quotient for each one below it, and the products before."""
        k = n.shape[-1]
        products = (k - 1) * k * (k + 1) // 6
        return Tally(products + k * (k - 1) // 2, products, k).times(n.size // max(k * k, 1))

    def forward(self, n: Node, tangents: Tangents) -> Node | None:
        """L' = L half_lower(L^-1 A' L^-T), where half_lower halves the diagonal."""
        inner = solve_triangular(n, symmetric(tangents[n.inputs[0]]))
        return n @ half_lower(mT(solve_triangular(n, mT(inner))))

    def reverse(self, n: Node, g: Node, _active: set[Node]) -> Shares:
        inner = half_lower(mT(n) @ g)
        half = mT(solve_triangular(n, inner, transposed=True))
        return [(n.inputs[0], symmetric(mT(solve_triangular(n, half, transposed=True))))]


def broadcast_leading(b: Node, *known: Node) -> list[Node]:
    """Broadcast the leading axes of right-hand sides, matrices and their factors."""
    lead = broadcast_shape(b.shape[:-2], known[0].shape[:-2])
    if lead is None:
        shapes = f"{known[0].shape} and {b.shape}"
        raise LinAlgError(
            f"{location()}the leading axes of matrices and right-hand sides must broadcast; got {shapes}."
        )
    count = known[0].ndim - 2
    return [broadcast(x, (*lead, *x.shape[x.ndim - 2 if k == 0 else count :])) for k, x in enumerate((b, *known))]


def solve_by_factors(b: Node, a: Node, factors: Node, *, transposed: bool = False) -> Node:
    """Solve systems of factored matrices, or of their transposes. Leading axes broadcast."""
    return _system("lu_solve", transposed, b, a, factors)


def solve_triangular(a: Node, b: Node, *, is_lower: bool = True, transposed: bool = False, unit: bool = False) -> Node:
    """Solve systems of triangular matrices. Leading axes broadcast."""
    return _system("solve_triangular", (is_lower, transposed, unit), b, a)


def _system(op: str, params: Params, b: Node, *known: Node) -> Node:
    if known[0].ndim == 2 and b.ndim > 2:
        return _side_by_side(op, params, b, *known)
    return make_node(op, params, *broadcast_leading(b, *known))


def factored(a: Node) -> Node:
    """Return LU factors of matrices, for `solve_by_factors`, whose derivative reads the matrix."""
    return make_node("lu", None, without_derivative(a))
