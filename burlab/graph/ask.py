"""Questions in a graph: values that a kernel gets, while it runs, from whoever called it.

A node `ask` has two inputs: the address of the one who answers (int64, `kernels/ask.hpp`), and the numbers that the
question is about; its parameter is the question's name. The answer is a function of both, with no derivative here.
"""

from collections.abc import Sequence
from math import prod

from .linear import spread
from .node import Node

# What may be asked about a problem, in the order of their numbers in `cpp/burlab/run/ask.hpp`.
QUESTIONS = ("value", "grad", "value_and_grad", "hvp", "full_value", "full_grad", "per_sample_grads")


def ask(question: str, asker: Node, about: Node, shape: tuple[int, ...]) -> Node:
    """The answer, of a shape, in the dtype of the numbers that the question is about."""
    return Node("ask", (asker, about), question, shape, about.dtype)


def batched(n: Node, xs: Sequence[Node], flags: Sequence[bool], size: int) -> Node:
    """The same question about every sample."""
    asker, about = xs
    return Node("ask", (asker, about if flags[1] else spread(about, size)), n.params, (size, *n.shape), n.dtype)


def rows(n: Node) -> int:
    """How many questions a node stands for: what they are about has one axis."""
    about = n.inputs[1]
    return prod(about.shape[:-1])
