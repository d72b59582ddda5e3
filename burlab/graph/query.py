"""Questions in a graph: values that a kernel gets, while it runs, from whoever called it.

A node `ask` has two inputs: the address of the one who answers (int64, `kernels/ask.hpp`), and the numbers that the
question is about; its parameter is the question's name. The answer is a function of both, with no derivative here.
"""

from collections.abc import Sequence
from math import prod

from burlab.runtime.checks import one_of

from .linear import spread
from .node import Node
from .signatures import DTYPES, FLOATS, form_of, require

# What may be asked about a problem, in the order of their numbers in `cpp/burlab/run/step/query.hpp`.
QUERIES = ("value", "grad", "value_and_grad", "hvp", "full_value", "full_grad", "per_sample_grads")


def ask(question: str, oracle: Node, about: Node, shape: tuple[int, ...]) -> Node:
    """The answer, of a shape, in the dtype of the numbers that the question is about."""
    return Node("ask", (oracle, about), question, shape, about.dtype)


def check(n: Node) -> None:
    """Raise GraphError, unless a node can be an answer. Whether its size is right is for who answers to check."""
    require(one_of(QUERIES)(n.params) and len(n.inputs) == 2, "it asks nothing that is known")
    oracle, about = n.inputs
    require(form_of(oracle) == ((), DTYPES["int64"]), "it asks nobody")
    require(about.ndim > 0 and about.dtype in FLOATS, "it asks about no vector of floats")
    fits = n.dtype == about.dtype and n.shape[: about.ndim - 1] == about.shape[:-1]
    require(fits, "its answer has another form")


def batched(n: Node, xs: Sequence[Node], flags: Sequence[bool], size: int) -> Node:
    """The same question about every sample."""
    oracle, about = xs
    return Node("ask", (oracle, about if flags[1] else spread(about, size)), n.params, (size, *n.shape), n.dtype)


def rows(n: Node) -> int:
    """How many questions a node stands for: what they are about has one axis."""
    about = n.inputs[1]
    return prod(about.shape[:-1])
