"""The problem as the optimizer of a part of x sees it."""

from typing import Any

import numpy as np

from burlab.errors import ArgumentError
from burlab.graph.origin import location
from burlab.graph.query import CLIENT_QUERIES, QUERIES

from .batches import VALUE

Vector = Any  # shape (k,), of a part


class PartQueries:
    """Queries about the loss of one part, at points of this part, with the others constant.

    f: the problem. x: the whole point; part: of it, and own: where it is. number: of the part among `f.parts`.
    """

    def __init__(self, f: Any, x: Any, part: Vector, own: slice, number: int) -> None:
        self._f, self._x, self._part, self._own, self._number = f, x, part, own, number
        self._known: tuple[Any, Any] | None = None

    @property
    def products(self) -> None:
        """None: a part has no products of its own."""

    def value(self, y: Vector, **chosen: Any) -> Any:
        """The loss at y, for the price of the gradient."""
        return self.value_and_grad(y, **chosen)[0]

    def grad(self, y: Vector, **chosen: Any) -> Any:
        """Its gradient by the part at y."""
        return self.value_and_grad(y, **chosen)[1]

    def value_and_grad(self, y: Vector, **chosen: Any) -> tuple[Any, Any]:
        """The loss and its gradient by the part at y; at the part of the step they are computed once."""
        own, at_step = self._own, y is self._part and not chosen
        if at_step and self._known is not None:
            return self._known
        point = self._x if y is self._part else np.concatenate([self._x[: own.start], y, self._x[own.stop :]])
        value, gradient = self._f.part_value_and_grad(point, self._number, **chosen)
        if at_step:
            self._known = value, gradient[own]
        return value, gradient[own]

    def log(self, metrics: dict[str, Any]) -> None:
        """Refuse metrics: steps of other parts have none. A value is that of the part."""
        if others := metrics.keys() - {VALUE}:
            raise ArgumentError(
                f"{location()}an optimizer of alternating logs a metric {min(others)!r}, but steps of other parts have "
                "none. Leave it out."
            )

    def log_value(self, value: Any, at: str) -> None:
        """A value is that of the part."""

    def estimated(self, v: Any) -> Any:
        """v; its norm is not recorded."""
        return v

    def __getattr__(self, name: str) -> Any:
        if name in (*QUERIES, *CLIENT_QUERIES):
            raise ArgumentError(
                f"{location()}an optimizer of alternating asks f.{name}, but losses of parts answer values and "
                "gradients. Use an optimizer that asks for no more."
            )
        return getattr(self._f, name)  # raises for what is no query
