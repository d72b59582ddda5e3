"""Queries in a graph: values that a kernel gets, while it runs, from an oracle, as a callback of its caller.

A node `ask` has two inputs: the address of the oracle (int64, `kernels/oracle_query.hpp`), and the point of the
query; a third, of whole numbers (int64), where they are chosen: coordinates, then samples, that it is about. Its
parameter is the name of the query.
The answer is a function of all of them, with no derivative here.
"""
# ruff: noqa: D102 - Operation documents the methods

from collections.abc import Sequence
from math import prod
from typing import NamedTuple

from burlab.runtime.checks.stored import one_of

from .faults import no_derivative
from .node import Node
from .operation import Batching, Operation, Shares, Tangents, repeated, structural
from .signatures import DTYPES, FLOATS, form_of, require
from .tally import NOTHING, Tally

# The kinds of queries, in the order of their numbers in `cpp/burlab/run/step/query_kind.hpp`.
QUERIES = (
    "value",
    "grad",
    "value_and_grad",
    "hvp",
    "full_value",
    "full_grad",
    "per_sample_grads",
    "jvp",
    "partial_grad",
    "resampled_grad",
    "targets",
    "surrogate",
    "per_sample_values",
    "hessian",
    "residuals_and_jacobian",
    "part_value_and_grad",
    "part_value",
    "part_hvp",
    "link_grads",
)
# Those about the loss of a part of x: their entries are the number of a `PartForm`.
PART_QUERIES = ("part_value_and_grad", "part_value", "part_hvp")
# Those about what a model gives: their entries are numbers of a target.
TARGET_QUERIES = ("targets", "surrogate", "residuals_and_jacobian")
# Those that name whole numbers, of which each gets its answer, or all together one.
ENTRY_QUERIES = ("partial_grad", "link_grads")
# About clients of a federation; their numbers follow.
CLIENT_QUERIES = ("client_grads", "client_hessians", "client_values_and_grads")


_WHOLE = 128  # dimensions


def is_whole(dimension: int) -> bool:
    """Return True if Hessians of clients are computed as a whole, not product by product.

    Their samples then meet in one product of matrices, which takes the memory of d products for each sample of a tile.
    """
    return dimension <= _WHOLE


class Question(NamedTuple):
    """A query by its name, over how many chosen samples it is, 0: over those of the step, or all; of how many entries.

    Of `PART_QUERIES`, entries are the number of a form.

    >>> str(Question("grad", 3)), str(Question("partial_grad", 3, 2)), Question.of("grad[3]")
    ('grad[3]', 'partial_grad{2}[3]', Question(name='grad', chosen=3, entries=0))
    """

    name: str
    chosen: int = 0
    entries: int = 0

    @staticmethod
    def of(text: str) -> "Question":
        """The question that a text names."""
        name, _, chosen = text.partition("[")
        name, _, entries = name.partition("{")
        return Question(name, int(chosen.rstrip("]") or 0), int(entries.rstrip("}") or 0))

    def __str__(self) -> str:
        entries = f"{{{self.entries}}}" if self.entries else ""
        return f"{self.name}{entries}[{self.chosen}]" if self.chosen else f"{self.name}{entries}"


class PartForm(NamedTuple):
    """Form of a query about a part's loss: which loss, by which parts it derives, and along which.

    >>> PartForm.of(PartForm(1, (0, 1), (0,)).number(2), 2)
    PartForm(loss=1, by=(0, 1), along=(0,))
    """

    loss: int
    by: tuple[int, ...] = ()
    along: tuple[int, ...] = ()

    def number(self, parts: int) -> int:
        """Return its number, from 1, among the forms of so many parts."""
        by, along = (sum(1 << k for k in chosen) for chosen in (self.by, self.along))
        return 1 + self.loss + parts * (by + (along << parts))

    @staticmethod
    def of(number: int, parts: int) -> "PartForm":
        """Return the form of a number."""
        sets, loss = divmod(number - 1, parts)
        by, along = (tuple(k for k in range(parts) if sets >> shift + k & 1) for shift in (0, parts))
        return PartForm(loss, by, along)


def query(name: str, oracle: Node, point: Node, shape: tuple[int, ...], chosen: Node | None = None) -> Node:
    """The answer, of a shape, in the dtype of the point. chosen: the samples, where they are chosen."""
    return Node("ask", (oracle, point) if chosen is None else (oracle, point, chosen), name, shape, point.dtype)


@structural
class QueryOperation(Operation):
    """The answer of an oracle."""

    name = "ask"
    dense_operands = True
    unbounded = True

    def verify(self, n: Node) -> None:
        """Raise GraphError for wrong parameters or inputs. The oracle checks the size of the answer."""
        require(
            one_of((*QUERIES, *CLIENT_QUERIES))(n.params) and len(n.inputs) in (2, 3),
            "its query must be one that oracles answer, with 2 or 3 inputs",
        )
        oracle, point, *chosen = n.inputs
        require(form_of(oracle) == ((), DTYPES["int64"]), "its first input must be an oracle")
        require(point.ndim > 0 and point.dtype in FLOATS, "its point must be a vector of floats")
        fits = n.dtype == point.dtype and n.shape[: point.ndim - 1] == point.shape[:-1]
        require(fits, "its answer has another form")
        for x in chosen:
            listed = x.dtype == DTYPES["int64"] and x.ndim == point.ndim and x.shape[:-1] == point.shape[:-1]
            require(listed and x.shape[-1] > 0, "its samples must be a list for each point")

    def tally(self, n: Node) -> Tally:  # noqa: ARG002
        """Return none: those of the answer are the oracle's."""
        return NOTHING

    def forward(self, n: Node, _tangents: Tangents) -> Node | None:
        raise _underivable(n)

    def reverse(self, n: Node, _g: Node, _active: set[Node]) -> Shares:
        raise _underivable(n)

    def batched(self, n: Node, xs: Sequence[Node], flags: Sequence[bool], many: Batching) -> Node:
        oracle, *others = xs
        spreads = [x if flag else repeated(x, many.size) for x, flag in zip(others, flags[1:], strict=True)]
        return Node("ask", (oracle, *spreads), n.params, (many.size, *n.shape), n.dtype)


def _underivable(n: Node) -> Exception:
    return no_derivative(n.origin, f"f.{n.params}", "f.grad and f.hvp, which are the problem's derivatives")


def count(n: Node) -> int:
    """Return the number of queries of a node: a point has one axis."""
    return prod(n.inputs[1].shape[:-1])
