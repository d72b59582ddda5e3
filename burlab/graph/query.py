"""Queries in a graph: values that a kernel gets, while it runs, from an oracle, as a callback of its caller.

A node `ask` has two inputs: the address of the oracle (int64, `kernels/ask.hpp`), and the point that the query is
about. Its parameter is the name of the query. The answer is a function of both, with no derivative here.
"""
# ruff: noqa: D102 - Operation documents the methods

from collections.abc import Sequence
from math import prod

from burlab.runtime.checks import one_of

from .faults import no_derivative
from .linear import spread
from .node import Node
from .operation import Batching, Operation, Shares, Tangents, structural
from .signatures import DTYPES, FLOATS, form_of, require

# What an oracle knows of a problem, in the order of their numbers in `cpp/burlab/run/step/query.hpp`.
QUERIES = ("value", "grad", "value_and_grad", "hvp", "full_value", "full_grad", "per_sample_grads")


def query(name: str, oracle: Node, point: Node, shape: tuple[int, ...]) -> Node:
    """The answer, of a shape, in the dtype of the point."""
    return Node("ask", (oracle, point), name, shape, point.dtype)


@structural
class Query(Operation):
    """The answer of an oracle."""

    name = "ask"
    dense_operands = True
    unbounded = True

    def verify(self, n: Node) -> None:
        """Whether the size of the answer is right is for the oracle to check."""
        require(one_of(QUERIES)(n.params) and len(n.inputs) == 2, "it asks nothing that is known")
        oracle, point = n.inputs
        require(form_of(oracle) == ((), DTYPES["int64"]), "it asks nobody")
        require(point.ndim > 0 and point.dtype in FLOATS, "it asks about no vector of floats")
        fits = n.dtype == point.dtype and n.shape[: point.ndim - 1] == point.shape[:-1]
        require(fits, "its answer has another form")

    def forward(self, n: Node, _tangents: Tangents) -> Node | None:
        raise _underivable(n)

    def reverse(self, n: Node, _g: Node, _active: set[Node]) -> Shares:
        raise _underivable(n)

    def batched(self, n: Node, xs: Sequence[Node], flags: Sequence[bool], many: Batching) -> Node:
        oracle, point = xs
        points = point if flags[1] else spread(point, many.size)
        return Node("ask", (oracle, points), n.params, (many.size, *n.shape), n.dtype)


def _underivable(n: Node) -> Exception:
    return no_derivative(n.origin, f"f.{n.params}", "f.grad and f.hvp, which are the problem's derivatives")


def count(n: Node) -> int:
    """How many queries a node stands for: a point has one axis."""
    return prod(n.inputs[1].shape[:-1])
