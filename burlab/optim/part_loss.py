"""The loss of a part of x as a function of all parts, for rules that ask about more than one problem."""

import copy
from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np

from burlab.errors import ArgumentError, ShapeError
from burlab.graph.origin import location
from burlab.graph.query import PartForm
from burlab.runtime.checks.numbers import shown
from burlab.typing import ArrayLike

from .part_places import PartPlace

Part = Any  # shape (k,), the entries of a part; for a rule with trees the tree of a part
Parts = Mapping[str, Part]


class PartLoss:
    """The loss of one part of a `bl.problems.Alternating`, as a rule asks about it: `f.part(name)`.

    A point y is a dict: parts of x that it leaves out are those of the step, so that None is the point of the step. A
    direction v is such a dict, and 0 for other parts. by: a part's name, for one array, or several names, for a dict;
    None for the part whose loss it is. Parts are flat, shape (k,), of x's dtype; trees for rules with `per_leaf`.
    Each answer is one pass over the batch of the step, or over the samples `indices`.

    >>> from dataclasses import dataclass
    >>> import numpy as np, burlab as bl
    >>> @dataclass(frozen=True)
    ... class Extragradient(bl.optim.Optimizer):  # Korpelevich 1976, both players at once
    ...     lr: bl.optim.Hyper = 0.1
    ...     def update(self, g, state, x, t, *, f):
    ...         a, b = f.part("a"), f.part("b")
    ...         ahead = {"a": a.x - self.lr * a.grad(), "b": b.x - self.lr * b.grad()}
    ...         return x - self.lr * np.concatenate([a.grad(ahead), b.grad(ahead)]), state
    >>> saddle = bl.problems.Alternating({"a": lambda x: x["a"] * x["b"], "b": lambda x: -x["a"] * x["b"]})
    >>> bl.minimize(saddle, {"a": 1.0, "b": 1.0}, Extragradient(0.5), steps=1).x
    {'a': array(0.25), 'b': array(1.25)}
    """

    def __init__(self, f: Any, name: str | None, x: Any) -> None:
        """f: the problem. x: the point of the step, shape (d,)."""
        places: tuple[PartPlace, ...] = f.part_places
        if name is None:
            raise ArgumentError(
                f"{location()}f.part() is the loss of the part in turn, but this rule is not for a part of "
                "bl.optim.alternating. Name the part, or use the rule there: alternating({name: rule, ...})."
            )
        if name not in [place.name for place in places]:
            known = f"are {', '.join(repr(place.name) for place in places)}"
            has = f"whose parts {known}" if places else "which is not a bl.problems.Alternating"
            raise ArgumentError(f"{location()}f.part({shown(name)}) is about a part of the problem, {has}.")
        self._f, self._x, self._places, self._trees = f, x, places, False
        self.name = name

    def as_trees(self) -> "PartLoss":
        """Return it for a rule whose points are trees."""
        other = copy.copy(self)
        other._trees = True  # noqa: SLF001 - its own class
        return other

    @property
    def x(self) -> Part:
        """The part at the point of the step."""
        return self._out(self._place(self.name), self._x)

    def value(self, y: Parts | None = None, *, indices: ArrayLike | None = None) -> Any:
        """The loss at y."""
        return self._f.part_query("part_value", PartForm(self._number(self.name)), self._point(y), indices=indices)

    def grad(
        self, y: Parts | None = None, *, by: str | Sequence[str] | None = None, indices: ArrayLike | None = None
    ) -> Any:
        """The gradient at y by a part, or by several."""
        return self.value_and_grad(y, by=by, indices=indices)[1]

    def value_and_grad(
        self, y: Parts | None = None, *, by: str | Sequence[str] | None = None, indices: ArrayLike | None = None
    ) -> tuple[Any, Any]:
        """The loss and its gradient at y, for the price of the gradient."""
        form = PartForm(self._number(self.name), self._numbers(by))
        value, gradient = self._f.part_query("part_value_and_grad", form, self._point(y), indices=indices)
        return value, self._chosen(gradient, by)

    def hvp(
        self,
        y: Parts | None,
        v: Parts,
        *,
        by: str | Sequence[str] | None = None,
        indices: ArrayLike | None = None,
    ) -> Any:
        """The derivative at y of the gradient by a part, or by several, along v: with another part a mixed product."""
        if not isinstance(v, Mapping) or not v:  # pyright: ignore[reportUnnecessaryIsInstance] - users pass anything
            raise ArgumentError(f"{location()}v of f.part({self.name!r}).hvp is {shown(v)}, expected a dict of parts.")
        form = PartForm(self._number(self.name), self._numbers(by), self._numbers(tuple(v)))
        along = self._merged(v, np.zeros_like(self._x))
        return self._chosen(self._f.part_query("part_hvp", form, self._point(y), along, indices=indices), by)

    def _point(self, y: Parts | None) -> Any:
        return self._x if y is None else self._merged(y, self._x)

    def _merged(self, given: Parts, base: Any) -> Any:
        """Return a vector like base with some parts in place of its own."""
        if not isinstance(given, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance] - users pass anything
            raise ArgumentError(
                f"{location()}f.part({self.name!r}) was asked about {shown(given)}, expected a dict of parts: "
                f"{{{self.name!r}: ...}}; those that it leaves out are as in the step."
            )
        self._numbers(tuple(given))
        pieces: list[Any] = []
        for place in self._places:
            if place.name not in given:
                pieces.append(base[place.entries])
                continue
            piece: Any = given[place.name]
            if self._trees:
                piece = place.form.flat(piece, f"f.part({self.name!r}) was asked about {place.name!r}")
            if np.shape(piece) != (place.form.size,):
                raise ShapeError(
                    f"{location()}f.part({self.name!r}) was asked about {place.name!r} of shape {np.shape(piece)}, "
                    f"expected {(place.form.size,)}, all its entries. An update sees parts as flat vectors."
                )
            pieces.append(piece)
        return np.concatenate(pieces)

    def _chosen(self, gradient: Any, by: str | Sequence[str] | None) -> Any:
        if by is None or isinstance(by, str):
            return self._out(self._place(by or self.name), gradient)
        return {name: self._out(self._place(name), gradient) for name in by}

    def _out(self, place: PartPlace, whole: Any) -> Part:
        piece = whole[place.entries]
        return place.form.tree(piece) if self._trees else piece

    def _place(self, name: str) -> PartPlace:
        return self._places[self._number(name)]

    def _numbers(self, names: str | Sequence[str] | None) -> tuple[int, ...]:
        if names is None or isinstance(names, str):
            return (self._number(self.name if names is None else names),)
        if not names:
            raise ArgumentError(f"{location()}by of f.part({self.name!r}) is {shown(names)}, expected names of parts.")
        return tuple(sorted({self._number(name) for name in names}))

    def _number(self, name: str) -> int:
        names = [place.name for place in self._places]
        if name not in names:
            raise ArgumentError(
                f"{location()}f.part({self.name!r}) was asked about {shown(cast('object', name))}, but the parts are "
                f"{', '.join(map(repr, names))}."
            )
        return names.index(name)
