"""The problem as the optimizer of a part of x sees it."""

from typing import Any

import numpy as np

from burlab.errors import ArgumentError
from burlab.graph.origin import location
from burlab.graph.query import CLIENT_QUERIES, QUERIES, PartForm

from .batches import VALUE
from .part_loss import PartLoss
from .step_log import norm_of

Vector = Any  # shape (k,), of a part


class PartQueries:
    """Queries about the loss of one part, at points of this part, with the others constant.

    f: the problem. x: the whole point; part: of it, and own: where it is. number: of the part among `f.parts`.
    logged: metrics of the optimizer by name, its own value among them. norm: of the gradient that it names, or None.
    """

    def __init__(self, f: Any, x: Any, part: Vector, own: slice, number: int) -> None:
        self._f, self._x, self._part, self._own, self._number = f, x, part, own, number
        self._known: tuple[Any, Any] | None = None
        self.logged: dict[str, Any] = {}
        self.norm: Any = None

    @property
    def products(self) -> None:
        """None: a part has no products of its own."""

    def value(self, y: Vector, *, indices: Any = None) -> Any:
        """The loss at y."""
        if self._is_known(y, indices):
            return self._step_answer()[0]
        return self._f.part_query("part_value", PartForm(self._number), self._point(y), indices=indices)

    def grad(self, y: Vector, *, indices: Any = None) -> Any:
        """Its gradient by the part at y."""
        return self.value_and_grad(y, indices=indices)[1]

    def value_and_grad(self, y: Vector, *, indices: Any = None) -> tuple[Any, Any]:
        """The loss and its gradient by the part at y; at the part of the step they are computed once."""
        if self._is_known(y, indices):
            return self._step_answer()
        value, gradient = self._f.part_query("part_value_and_grad", self._form, self._point(y), indices=indices)
        return value, gradient[self._own]

    def hvp(self, y: Vector, v: Vector, *, indices: Any = None) -> Any:
        """The Hessian of the loss by the part at y times v."""
        form, zero = PartForm(self._number, (self._number,), (self._number,)), np.zeros_like(self._x)
        along = np.concatenate([zero[: self._own.start], v, zero[self._own.stop :]])
        return self._f.part_query("part_hvp", form, self._point(y), along, indices=indices)[self._own]

    def part(self, name: str | None = None) -> PartLoss:
        """The loss of any part, as a function of all of them; None: of the part in turn."""
        return self._f.part(self._f.parts[self._number] if name is None else name)

    def forget_step(self) -> None:
        """Take back the query about the part of the step, which nothing reads."""
        self._f.forget("part_value_and_grad", self._form)

    def log(self, metrics: dict[str, Any]) -> None:
        """Log metrics of the part; a "value" is that of the step if the optimizer does not read its gradient."""
        if taken := metrics.keys() & self.logged.keys():
            raise ArgumentError(f"{location()}two rules of this part log a metric {min(taken)!r}. Rename one.")
        self.logged |= metrics

    def log_value(self, value: Any, at: str) -> None:  # noqa: ARG002 - a column of several points
        """Log the value of the step, unless a rule inside has logged one; None for that at the part of the step."""
        if value is not None and VALUE not in self.logged:
            self.log({VALUE: value})

    def log_gradient(self, gradient: Any) -> None:
        """Name the gradient of the step, whose norm is logged if the optimizer does not read the part's own."""
        self.norm = norm_of(gradient)

    def estimated(self, v: Any) -> Any:
        """v; its norm is not recorded."""
        return v

    @property
    def _form(self) -> PartForm:
        return PartForm(self._number, (self._number,))

    def _is_known(self, y: Vector, indices: Any) -> bool:
        return y is self._part and indices is None

    def _step_answer(self) -> tuple[Any, Any]:
        if self._known is None:
            value, gradient = self._f.part_query("part_value_and_grad", self._form, self._x)
            self._known = value, gradient[self._own]
        return self._known

    def _point(self, y: Vector) -> Any:
        """All of x with y in the place of the part."""
        return (
            self._x if y is self._part else np.concatenate([self._x[: self._own.start], y, self._x[self._own.stop :]])
        )

    def __getattr__(self, name: str) -> Any:
        if name in (*QUERIES, *CLIENT_QUERIES):
            raise ArgumentError(
                f"{location()}an optimizer of alternating asks f.{name}, but losses of parts answer values, gradients "
                "and Hessian-vector products. Use an optimizer that asks for no more."
            )
        return getattr(self._f, name)  # raises for what is no query
