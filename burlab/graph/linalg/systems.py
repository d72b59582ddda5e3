"""Linear systems: factors by elimination, solutions with them, triangular systems, and Cholesky factors.

Derivatives as in Giles 2008, "An extended collection of matrix derivative results for forward and reverse mode", and
of the Cholesky factor as in Murray 2016, arXiv:1602.07527, section 3.1.
"""
# ruff: noqa: D102 - Operation documents the methods

import operator
from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

from burlab.graph.implied import Factorization, unmoved
from burlab.graph.linear import broadcast, reshape, transpose
from burlab.graph.node import Node
from burlab.graph.numpy_api.arguments import broadcast_shape
from burlab.graph.numpy_api.products import matmul
from burlab.graph.numpy_api.promotion import apply
from burlab.graph.operation import Batching, Operation, Shares, Tangents, Unary, made, structural, together
from burlab.graph.origin import location
from burlab.graph.signatures import Form, form_of, require
from burlab.runtime.checks.stored import flag, record

from .matrices import LinAlgError, half_lower, masked, require_matrices, symmetric, turned


@structural
class Lu(Factorization):
    """P A = L U by partial pivoting: the factors by columns, then the exchanged rows (`kernels/linalg/lu.hpp`)."""

    name = "lu"

    def form(self, _: None, inputs: Sequence[Node]) -> Form:
        require(len(inputs) == 1, "it needs one input")
        (a,) = inputs
        require_matrices(a, square_=True)
        return (*a.shape[:-2], a.shape[-1] * (a.shape[-1] + 1)), a.dtype


class _System(Operation):
    """Solutions of A x = b: linear in b, the first input; A is the second."""

    dense_operands = True

    def work(self, n: Node) -> int:
        return n.size * n.shape[-2]

    @abstractmethod
    def transposed(self, n: Node) -> bool:
        """Whether the matrix is transposed."""

    @abstractmethod
    def solved(self, n: Node, b: Node, transposed: bool) -> Node:
        """The solutions for others b of the same matrix, or of its transpose."""

    def read(self, _n: Node, x: Node) -> Node:
        """Of a change of the matrix what the solutions depend on."""
        return x

    def forward(self, n: Node, tangents: Tangents) -> Node | None:
        b, a = n.inputs[:2]
        right = tangents.get(b)
        if a in tangents:
            change = self.read(n, tangents[a])
            moved = matmul(turned(change) if self.transposed(n) else change, n)
            right = apply("neg", moved) if right is None else apply("sub", right, moved)
        return None if right is None else self.solved(n, right, self.transposed(n))

    def reverse(self, n: Node, g: Node, active: set[Node]) -> Shares:
        b, a = n.inputs[:2]
        back = self.solved(n, g, not self.transposed(n))
        shares = [(b, back)] if b in active else []
        if a in active:
            left, right = (n, back) if self.transposed(n) else (back, n)
            shares.append((a, apply("neg", self.read(n, matmul(left, turned(right))))))
        return shares

    def batched(self, n: Node, xs: Sequence[Node], flags: Sequence[bool], many: Batching) -> Node:
        """Many right-hand sides of one matrix are its columns."""
        if any(flags[1:]) or n.ndim > 2:
            return together(n, xs, flags, many.size)
        return _side_by_side(n.op, n.params, *xs)


def _side_by_side(op: str, params: Any, b: Node, *known: Node) -> Node:
    """The solutions of one matrix for many matrices b of columns."""
    *lead, n, k = b.shape
    last = b.ndim - 2
    wide = reshape(transpose(b, (last, *range(last), last + 1)), (n, b.size // n if n else 0))
    x = reshape(made(op, params, wide, *known), (n, *lead, k))
    return transpose(x, (*range(1, last + 1), 0, last + 1))


@structural
class LuSolve(_System):
    """Solutions by factors of the matrix, or of its transpose. Inputs: b, A, the factors of A."""

    name = "lu_solve"
    parameters = flag

    def form(self, _: bool, inputs: Sequence[Node]) -> Form:
        require(len(inputs) == 3, "it needs right-hand sides, a matrix and its factors")
        b, a, factors = inputs
        require_matrices(b, a, square_=True)
        require(form_of(factors) == Lu().form(None, (a,)), "its factors are not of its matrix")
        require(b.shape[-2] == a.shape[-1], "its right-hand sides have other rows than its matrix")
        return form_of(b)

    def transposed(self, n: Node) -> bool:
        return n.params

    def solved(self, n: Node, b: Node, transposed: bool) -> Node:
        return made(self.name, transposed, b, *n.inputs[1:])


@structural
class SolveTriangular(_System):
    """Solutions for a triangular matrix, the other triangle of which is not read. Inputs: b, A.

    Parameters: whether it is the lower triangle, whether the matrix is transposed, whether its diagonal counts as 1.
    """

    name = "solve_triangular"
    parameters = record(flag, flag, flag)

    def form(self, _: Any, inputs: Sequence[Node]) -> Form:
        require(len(inputs) == 2, "it needs right-hand sides and a matrix")
        require_matrices(*inputs, square_=True)
        b, a = inputs
        require(b.shape[-2] == a.shape[-1], "its right-hand sides have other rows than its matrix")
        return form_of(b)

    def transposed(self, n: Node) -> bool:
        return n.params[1]

    def solved(self, n: Node, b: Node, transposed: bool) -> Node:
        low, _, unit = n.params
        return made(self.name, (low, transposed, unit), b, n.inputs[1])

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
        require_matrices(x, square_=True)
        return form_of(x)

    def work(self, n: Node) -> int:
        return n.size * n.shape[-1]

    def forward(self, n: Node, tangents: Tangents) -> Node | None:
        """L' = L half_lower(L^-1 A' L^-T), where half_lower halves the diagonal."""
        inner = solve_triangular(n, symmetric(tangents[n.inputs[0]]))
        return matmul(n, half_lower(turned(solve_triangular(n, turned(inner)))))

    def reverse(self, n: Node, g: Node, _active: set[Node]) -> Shares:
        inner = half_lower(matmul(turned(n), g))
        half = turned(solve_triangular(n, inner, transposed=True))
        return [(n.inputs[0], symmetric(turned(solve_triangular(n, half, transposed=True))))]


def together_leading(b: Node, *known: Node) -> list[Node]:
    """Right-hand sides and what is known of matrices, as many of each: their leading axes broadcast."""
    lead = broadcast_shape(b.shape[:-2], known[0].shape[:-2])
    if lead is None:
        shapes = f"{known[0].shape} and {b.shape}"
        raise LinAlgError(f"{location()}matrices and right-hand sides of shapes {shapes}: leading axes must broadcast.")
    count = known[0].ndim - 2
    return [broadcast(x, (*lead, *x.shape[x.ndim - 2 if k == 0 else count :])) for k, x in enumerate((b, *known))]


def solve_by_factors(b: Node, a: Node, factors: Node, transposed: bool = False) -> Node:
    """Solutions of systems whose matrices have been factored; leading axes broadcast."""
    return _system("lu_solve", transposed, b, a, factors)


def solve_triangular(a: Node, b: Node, *, is_lower: bool = True, transposed: bool = False, unit: bool = False) -> Node:
    """Solutions for triangular matrices; leading axes broadcast."""
    return _system("solve_triangular", (is_lower, transposed, unit), b, a)


def _system(op: str, params: Any, b: Node, *known: Node) -> Node:
    if known[0].ndim == 2 and b.ndim > 2:
        return _side_by_side(op, params, b, *known)
    return made(op, params, *together_leading(b, *known))


def factored(a: Node) -> Node:
    """The factors of matrices, for solutions that know the matrix itself."""
    return made("lu", None, unmoved(a))
