"""Functions of a user, called at one step of `through`."""

from dataclasses import dataclass
from typing import Any

from burlab.transforms import random

from .layout import Layout
from .per_leaf import LeafQueries
from .place_map import as_defined, check_state, flat_like, map_arguments, named, split_state, taken

X, T_OF_X = "x", "T(x)"
Vector = Any  # shape (d,)
State = Any


@dataclass(frozen=True)
class PlaceStep:
    """T at one step, for flat vectors.

    state: of T, before the step. t: the step, from 0. f: queries, with the key of the step. layer: number of such
    wrappers inside, so that each draws numbers of its own.
    """

    T: Any
    layout: Layout
    state: State
    t: Any
    f: Any
    layer: int

    def initial_state(self, x: Vector) -> State:
        """The state of T at step 0; {} where it takes none."""
        if not any("state" in names for names in map_arguments(self.T)):
            return {}
        with named(self.T, "T"):
            return self.T.init(self.layout.tree(x))

    def place(self, x: Vector) -> Vector:
        """T(x); x itself where T returns it."""
        return self.with_state(x)[0]

    def with_state(self, x: Vector) -> tuple[Vector, State]:
        """T(x), and the state of T after it."""
        seen, names = self.layout.tree(x), map_arguments(self.T).place
        given = {name: self._given(name, x, seen) for name in names}
        with named(self.T, "T"):
            found, state = self.T(seen, **given), self.state
            if "state" in names:
                found, state = split_state(self.T, "T", found)
                check_state(state, self.state, as_defined(self.T, "T"))
        return flat_like(found, seen, x, self.layout, as_defined(self.T, "T")), state

    @property
    def mapped(self) -> Any:
        """T.gradient as a function of g and x, which does not change the state; None if T has none."""
        if not hasattr(self.T, "gradient"):
            return None

        def mapped(g: Vector, x: Vector) -> Vector:
            return self.seen_gradient(g, x, self.state)[0]

        return mapped

    def seen_gradient(self, g: Vector, x: Vector, state: State) -> tuple[Vector, State]:
        """T.gradient(g, x), and the state after it; g itself if T has no such method."""
        if not hasattr(self.T, "gradient"):
            return g, state
        f, name = self.T.gradient, "T.gradient"
        slope, names = self.layout.tree(g), map_arguments(self.T).gradient
        given = {one: state if one == "state" else self._given(one, x, None) for one in names}
        with named(f, name):
            found = f(slope, self.layout.tree(x), **given)
            if "state" in names:
                found, after = split_state(f, name, found)
                check_state(after, state, as_defined(f, name))
                state = after
        return flat_like(found, slope, g, self.layout, as_defined(f, name)), state

    def point(self, at: Any, x: Vector) -> Vector:
        """The point of the run: x, T(x), or what a function of x gives."""
        if at == X:
            return x
        if at == T_OF_X:
            return self.place(x)
        seen = self.layout.tree(x)
        given = {name: self._given(name, x, seen) for name in taken(at, "at", ("x",), ("state", "t"))}
        with named(at, "at"):
            found = at(seen, **given)
        return flat_like(found, seen, x, self.layout, as_defined(at, "at"))

    def _given(self, name: str, x: Vector, seen: Any) -> Any:
        """An argument of a function by its name."""
        if name == "key":
            return random.fold_in(self.f.key, -1 - self.layer)
        if name == "f":
            return LeafQueries(self.f, x, seen, self.layout.tree, self._flat)
        return {"state": self.state, "t": self.t}[name]

    def _flat(self, y: Any, what: str) -> Vector:
        """The vector of a point that T asks f about."""
        return self.layout.flat(y, f"{as_defined(self.T, 'T')}: its {what}")
