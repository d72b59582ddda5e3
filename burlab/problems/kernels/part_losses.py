"""Losses of the parts of x."""

from collections.abc import Callable
from typing import Any, NamedTuple

from burlab.graph.query import PartForm, Question

from .query_rules import PART_RULES


class PartLosses(NamedTuple):
    """Losses of the parts of x. names: of the parts, in order. losses: of each (x, *sample) -> number."""

    names: tuple[str, ...]
    losses: tuple[Callable[..., Any], ...]

    def map(self, change: Callable[[Callable[..., Any]], Callable[..., Any]]) -> "PartLosses":
        """Return them with another function in place of each loss."""
        return PartLosses(self.names, tuple(map(change, self.losses)))

    def rule(self, kernel: str) -> Callable[..., Any]:
        """Return what a kernel, as `part_grad{3}`, computes of points, a sample and a key."""
        question = Question.of(kernel)
        form = PartForm.of(question.entries, len(self.names))
        by, along = (tuple(self.names[k] for k in chosen) for chosen in (form.by, form.along))
        loss, derive = self.losses[form.loss], PART_RULES[question.name]

        def rule(*arguments: Any, **key: Any) -> Any:
            return derive(loss, by, along, *arguments, **key)

        return rule
