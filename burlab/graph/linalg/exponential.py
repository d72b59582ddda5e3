"""The exponential of matrices.

Its derivative along E is the upper right block of the exponential of [[A, E], [0, A]]: Van Loan 1978, "Computing
integrals involving the matrix exponential". Being an exponential again, it has derivatives of every order.
"""
# ruff: noqa: D102 - Operation documents the methods

from burlab.graph.linear_nodes import concatenate, zeros
from burlab.graph.node import Node
from burlab.graph.operation import Shares, Tangents, Unary, make_node, structural
from burlab.graph.signatures import Form, form_of
from burlab.graph.tally import Tally, halves

from .matrices import mT, require_matrices


@structural
class Expm(Unary):
    """Exponentials of square matrices."""

    name = "expm"
    dense_operands = True

    def of(self, _: None, x: Node) -> Form:
        require_matrices(x, square=True)
        return form_of(x)

    def work(self, n: Node) -> int:
        return 16 * n.size * n.shape[-1]

    def tally(self, n: Node) -> Tally:
        """Return 6 products and a system, as a Pade approximant of degree 13 takes; squarings depend on the numbers."""
        k = n.shape[-1]
        return halves((12 + 8 / 3) * k**3).times(n.size // max(k * k, 1))

    def forward(self, n: Node, tangents: Tangents) -> Node | None:
        (a,) = n.inputs
        return _derivative_along(a, tangents[a])

    def reverse(self, n: Node, g: Node, _active: set[Node]) -> Shares:
        (a,) = n.inputs
        return [(a, _derivative_along(mT(a), g))]


def _derivative_along(a: Node, change: Node) -> Node:
    n = a.shape[-1]
    upper = concatenate([a, change], a.ndim - 1)
    lower = concatenate([zeros(a.shape, a.dtype), a], a.ndim - 1)
    return make_node("expm", None, concatenate([upper, lower], a.ndim - 2))[..., :n, n:]
