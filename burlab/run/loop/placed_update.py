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

from .leaf_pieces import Known, Leaves, MixedError, Pieces, by_leaves

QUESTION = "value_and_grad"


@dataclass(frozen=True)
class PlacedUpdate:
    """An update with one question. point: what it is about. answers: slices of the answer, a value and a gradient.

    outputs: of the update, without the norm and the value that the step knows anyway.
    """

    update: Graph
    point: Node
    answers: frozenset[Node]
    outputs: tuple[Node, ...]

    @staticmethod
    def of(update: Graph, rule: UpdateRule) -> "PlacedUpdate | None":
        """Return the parts of an update; None for one that asks for more, or reads the gradient or the value at x."""
        asked = [n for n in update.nodes if n.op == "ask"]
        if rule.queries != (QUESTION,) or len(asked) != 1 or not rule.logs_norm:
            return None
        answer, point = asked[0], asked[0].inputs[1]
        answers = frozenset(n for n in update.nodes if any(x is answer for x in n.inputs))
        g, *_, value, _, _, _ = update.inputs
        if any(n.op != "slice" for n in answers) or any(reads_input(x, update) for x in (g, value)):
            return None
        first = len(update.outputs) - len(rule.logged)
        noted = dict(zip(rule.logged, update.outputs[first:], strict=True))
        if not _is_norm(noted[GRADIENT_NORM], answers, point.shape):
            return None
        if rule.logs_value and not _is_value(noted[VALUE], answers):
            return None
        zero = constant(0.0, np.dtype(np.float64))
        kept = [zero if name in (GRADIENT_NORM, VALUE) else n for name, n in noted.items()]
        return PlacedUpdate(update, point, answers, (*update.outputs[:first], *kept))

    def place(self, known: Known, shapes: Sequence[tuple[int, ...]]) -> Pieces | None:
        """Return the leaves of the point. known: pieces of x and of the state, and numbers. shapes: of leaves."""
        found = by_leaves([self.point], known, shapes)
        return None if found is None or not isinstance(found[0], tuple) else found[0]

    def after(
        self, known: Known, gradient: Pieces, value: Node, shapes: Sequence[tuple[int, ...]]
    ) -> list[Node | Pieces] | None:
        """Return the outputs of the update, given the answer."""
        leaves, answers = Leaves(shapes), Known()
        try:
            for n in self.answers:
                answers[n] = value if _is_first(n) else leaves.sliced(n, n.params[0][0] - 1, gradient)
        except MixedError:
            return None
        return by_leaves(self.outputs, known | answers, shapes)


def _is_first(n: Node) -> bool:
    """Return True if a slice of an answer is the value."""
    return n.params[0] == (0,) and n.shape == (1,)


def _is_value(n: Node, answers: frozenset[Node]) -> bool:
    """Return True if a number is the value, in another shape or dtype."""
    while n not in answers and n.op in ("convert", "reshape"):
        n = n.inputs[0]
    return n in answers and _is_first(n)


def _is_norm(n: Node, answers: frozenset[Node], shape: tuple[int, ...]) -> bool:
    """Return True if a number is the Euclidean norm of the gradient, a vector of this shape."""
    while n.op in ("convert", "call", "sqrt", "sum", "reshape"):
        n = n.inputs[0]
    squared = n.op in ("mul", "square") and all(x in answers for x in n.inputs)
    return squared and all(x.params[0] == (1,) and x.shape == shape for x in n.inputs)
