"""The problem as the optimizer inside of `through` sees it: every question is about T of its point."""

from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from burlab.errors import ArgumentError
from burlab.graph.origin import location
from burlab.graph.query import CLIENT_QUERIES, QUERIES
from burlab.runtime.checks.numbers import shown
from burlab.transforms import vmap

Vector = Any  # shape (d,)
_WITH_GRADIENT = ("value", "grad", "value_and_grad", "full_value", "full_grad", "per_sample_values")


class PlaceQueries:
    """Queries at T of the points that they are about. At x value and gradient are known.

    f: the problem. x: the point of the step; known: value and gradient at T(x), as the optimizer gets them, or None
    before the first step. place: T. mapped: the map of gradients at a point, None for none. logs_value: whether a value
    that the optimizer logs is that of the run. user: the wrapper, in messages.
    """

    def __init__(
        self,
        f: Any,
        x: Vector,
        known: tuple[Any, Any] | None,
        place: Callable[[Vector], Vector],
        mapped: Callable[[Vector, Vector], Vector] | None,
        logs_value: bool,
        user: str,
    ) -> None:
        self._f, self._x, self._known, self._place = f, x, known, place
        self._mapped, self._logs_value, self._user = mapped, logs_value, user

    @property
    def products(self) -> None:
        """None: products of the data with x are not those with T(x)."""

    def log(self, metrics: dict[str, Any]) -> None:
        """Log metrics; a value only where it is one at the point of the run."""
        self._f.log({name: number for name, number in metrics.items() if name != "value" or self._logs_value})

    def log_value(self, value: Any, at: str) -> None:
        """Log the value at the point of an optimizer inside, which has one of its own."""
        if self._logs_value and value is not None:
            self._f.log_value(value, at)

    def value(self, y: Vector, **chosen: Any) -> Any:
        """f(T(y))."""
        if y is self._x and self._known is not None and not chosen:
            return self._known[0]
        return self._f.value(self._place(y), **chosen)

    def grad(self, y: Vector, **chosen: Any) -> Any:
        """The gradient of f at T(y)."""
        return self.value_and_grad(y, **chosen)[1]

    def value_and_grad(self, y: Vector, **chosen: Any) -> tuple[Any, Any]:
        """f and its gradient at T(y)."""
        if y is self._x and self._known is not None and not chosen:
            return self._known
        value, gradient = self._f.value_and_grad(self._place(y), **chosen)
        return value, gradient if self._mapped is None else self._mapped(gradient, y)

    def full_value(self, y: Vector) -> Any:
        """f(T(y)) over all samples."""
        return self.value(y) if self._f.full else self._f.full_value(self._place(y))

    def full_grad(self, y: Vector) -> Any:
        """The gradient over all samples at T(y)."""
        if self._f.full:
            return self.grad(y)
        gradient = self._f.full_grad(self._place(y))
        return gradient if self._mapped is None else self._mapped(gradient, y)

    def client_grads(self, y: Vector, **chosen: Any) -> Any:
        """The gradients of clients at T(y), or each at T of its own point."""
        rows = np.ndim(y) > 1
        found = self._f.client_grads(vmap(self._place)(y) if rows else self._place(y), **chosen)
        if self._mapped is None:
            return found
        return vmap(self._mapped)(found, y if rows else np.broadcast_to(y, found.shape))

    def part(self, name: str | None = None) -> NoReturn:
        """Refuse losses of parts, whose points have no T."""
        raise ArgumentError(
            f"{location()}the optimizer inside of {self._user} asks f.part({shown(name)}), which {self._user} does not "
            f"answer: T is of all of x. Use {self._user} inside of the parts: alternating({{name: {self._user}(rule, "
            "...), ...})."
        )

    def __getattr__(self, name: str) -> Any:
        if (name in QUERIES or name in CLIENT_QUERIES) and self._mapped and name not in _WITH_GRADIENT:
            why = "T.gradient maps single gradients only"
            raise ArgumentError(
                f"{location()}the optimizer inside of {self._user} asks f.{name}, which {self._user} does not answer: "
                f"{why}. Use an optimizer that asks for values and gradients."
            )
        method = getattr(self._f, name)  # raises for what is no query
        if name not in (*QUERIES, "client_hessians", "residual_blocks"):
            return method

        def answer(y: Vector, *others: Any, **chosen: Any) -> Any:
            return method(self._place(y), *others, **chosen)

        return answer
