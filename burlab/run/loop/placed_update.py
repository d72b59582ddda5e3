"""Updates that read one gradient, at a point that they compute from x and the state, as `bl.optim.through` does.

As one kernel, such a step is that point leaf by leaf, the loss there, and the update with this gradient.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from burlab.graph import Graph, Node
from burlab.graph.node import constant
from burlab.optim.batches import GRADIENT_NORM, VALUE
from burlab.optim.rule import UpdateRule, reads_input

from .leaf_pieces import Known, Pieces, by_leaves

QUESTION = "value_and_grad"


@dataclass(frozen=True)
class PlacedUpdate:
    """An update with one question. point: what it is about. value, gradient: nodes of the update that hold the answer.

    outputs: of the update, without the norm and the value that the step knows anyway.
    """

    update: Graph
    point: Node
    values: frozenset[Node]
    gradients: frozenset[Node]
    outputs: tuple[Node, ...]

    @staticmethod
    def of(update: Graph, rule: UpdateRule) -> "PlacedUpdate | None":
        """Return the parts of an update; None for one that asks for more, or reads the gradient or the value at x."""
        asked = [n for n in update.nodes if n.op == "ask"]
        if rule.queries != (QUESTION,) or len(asked) != 1 or not rule.logs_norm:
            return None
        answer, d = asked[0], asked[0].inputs[1].size
        readers = [n for n in update.nodes if any(x is answer for x in n.inputs)]
        values = frozenset(n for n in readers if n.params == ((0,), (1,), (1,)))
        gradients = frozenset(n for n in readers if n.params == ((1,), (1,), (d,)))
        g, *_, value, _, _, _ = update.inputs
        if len(readers) != len(values) + len(gradients) or any(reads_input(x, update) for x in (g, value)):
            return None
        first = len(update.outputs) - len(rule.logged)
        noted = dict(zip(rule.logged, update.outputs[first:], strict=True))
        if not _is_norm(noted[GRADIENT_NORM], gradients):
            return None
        if rule.logs_value and not _is_same(noted[VALUE], values):
            return None
        zero = constant(0.0, np.dtype(np.float64))
        kept = [zero if name in (GRADIENT_NORM, VALUE) else n for name, n in noted.items()]
        return PlacedUpdate(update, answer.inputs[1], values, gradients, (*update.outputs[:first], *kept))

    def place(self, known: Known, shapes: Sequence[tuple[int, ...]]) -> Pieces | None:
        """Return the leaves of the point. known: pieces of x and of the state, and numbers. shapes: of leaves."""
        found = by_leaves([self.point], known, shapes)
        return None if found is None or not isinstance(found[0], tuple) else found[0]

    def after(
        self, known: Known, gradient: Pieces, value: Node, shapes: Sequence[tuple[int, ...]]
    ) -> list[Node | Pieces] | None:
        """Return the outputs of the update, given the answer."""
        answers: Known = dict.fromkeys(self.gradients, gradient) | dict.fromkeys(self.values, value)
        return by_leaves(self.outputs, known | answers, shapes)


def _is_same(n: Node, values: frozenset[Node]) -> bool:
    """Return True if a number is one of these, in another shape or dtype."""
    while n not in values and n.op in ("convert", "reshape"):
        n = n.inputs[0]
    return n in values


def _is_norm(n: Node, gradients: frozenset[Node]) -> bool:
    """Return True if a number is the Euclidean norm of one of these."""
    while n.op in ("convert", "call", "sqrt", "sum", "reshape"):
        n = n.inputs[0]
    return n.op in ("mul", "square") and all(x in gradients for x in n.inputs)
