"""Wrappers that take gradients at another point than the one where steps are made."""

import copy
from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

from burlab.errors import ArgumentError
from burlab.runtime.checks.numbers import shown

from .layout import Layout
from .optimizer import State, Vector, advance, start
from .per_leaf import OnLeaves
from .place_map import as_defined, map_arguments, taken
from .place_queries import PlaceQueries
from .place_step import T_OF_X, PlaceStep, X
from .queries import Queries
from .used_numbers import reads
from .wrappers import Wrapper


class PlaceRule(OnLeaves, Wrapper):
    """A rule whose gradients are at a point T(x), and whose steps are made on x. Abstract."""

    _layout: ClassVar[Layout | None] = None  # a run sets it in a copy

    @property
    @abstractmethod
    def place(self) -> Any:
        """T, which gives the point of the gradient from x."""

    @property
    @abstractmethod
    def run_point(self) -> Any:
        """The point of the run: "x", "T(x)", or a function of x."""

    @property
    def _layer(self) -> int:
        """Number of such wrappers inside: each draws numbers of its own."""
        layer, inner = 0, self.inner
        while isinstance(inner, Wrapper):
            layer, inner = layer + isinstance(inner, PlaceRule), inner.inner
        return layer

    def on_leaves(self, layout: Layout) -> "PlaceRule":
        """Return the same rule for an x of this form."""
        bound = copy.copy(self)
        object.__setattr__(bound, "_layout", layout)
        return bound

    def init(self, x: Vector, *, f: Any = None) -> State:
        """The states of the optimizer inside and of T, and the step, from which the point of the run follows."""
        own = self._step({}, 0, f).initial_state(x)
        step = self._step(own, 0, f)
        kind = type(self).__name__
        queries: Any = None if f is None else PlaceQueries(f, x, None, step.place, step.mapped, False, kind)
        state = {"inner": start(self.inner, x, queries), "T": own}
        return {**state, "t": 0} if self.run_point != X else state

    def output(self, x: Vector, state: State) -> Vector:
        """The point of the run."""
        step = self._step(state["T"], state.get("t"), None)
        return step.point(self.run_point, self.inner.output(x, state["inner"]))

    def batch_size(self, state: State) -> Any:
        """Return the batch size of the inner optimizer."""
        return self.inner.batch_size(state["inner"])

    def update(self, g: Vector, state: State, x: Vector, t: int, *, f: Queries) -> tuple[Vector, State]:  # noqa: ARG002
        """The step inside with the gradient at T(x)."""
        if f.elsewhere:
            raise ArgumentError(
                f"{type(self).__name__} asks for the value of a step at T(x), which is about samples, and these are on "
                "a cluster. Build the problem without cluster=, or leave T out."
            )
        step = self._step(state["T"], t, f)
        y, own = step.with_state(x)
        value, gradient = f.value_and_grad(y)
        seen, own = step.seen_gradient(f.estimated(gradient), x, own)
        queries: Any = PlaceQueries(
            f, x, (value, seen), step.place, step.mapped, self.run_point == T_OF_X, type(self).__name__
        )
        after, inner = advance(self.inner, seen, state["inner"], x, t, queries)
        next_state, taken = {"inner": inner, "T": own}, reads(gradient, (after, inner))
        if taken:
            f.log_gradient(gradient)
        if callable(self.run_point):
            point = x if y is x else step.point(self.run_point, x)  # at x the value is known with the gradient
            f.log_value(None if point is x else f.value(point), "x" if point is x else "at(x)")
        elif self.run_point == T_OF_X:
            f.log_value(value if taken else f.value(y), self.run_point)
        else:
            f.log_value(None, self.run_point)
        return after, {**next_state, "t": state["t"] + 1} if self.run_point != X else next_state

    @property
    def layout(self) -> Layout:
        """The form of x."""
        if self._layout is None:
            raise ArgumentError(f"{type(self).__name__} knows the form of x only in a run. Pass it to bl.minimize.")
        return self._layout

    def _step(self, state: State, t: Any, f: Any) -> PlaceStep:
        return PlaceStep(self.place, self.layout, state, t, f, self._layer)


@dataclass(frozen=True)
class through(PlaceRule):
    """The gradient is taken at T(x), and the step is made on x: x <- step(x, gradient of f at T(x)).

    No derivative of T is taken: it is the straight-through estimator of Bengio, Leonard and Courville 2013,
    arXiv:1308.3432, for T that rounds; a T that masks, averages, projects or perturbs gives other methods by name:
    Top-KAST, weight averaging, projected gradients, SAM.

    T is traced NumPy code. It gets x in the structure of x0 and returns a tree of the same form. By name it can also
    take t, the step from 0; key, a random key of the step; f, the queries of an update, so that f.grad(x) is the
    gradient at x, which no other gradient costs if it is asked at x itself; and state. A T that takes state is an
    object with a method init(x), which gives its state at step 0, and returns a pair, T(x) and the next state.
    If T has a method gradient(g, x), the optimizer inside gets what it returns in place of the gradient g at T(x), both
    of x's form; it can take state, t and key, too, and then returns a pair, its result and the next state. Fields of
    type Hyper of a T that is a dataclass are live.

    Every query of the optimizer inside is about T of its point, those about clients too. The gradient norm, in the
    history and for `Stop`, is that at T(x); nan if the optimizer inside reads no gradient. Cost: one gradient; a value
    too, unless at is "T(x)". If the gradient at x is computed, because T returns x or asks for it, values and norms are
    those at x and cost nothing. Metrics of has_aux and the state of a loss are those at x.

    Args:
        inner: The optimizer.
        T: Gives the point of the gradient from x.
        at: The point of the run: `run.x`, the values of the history, validation and files. "x"; "T(x)", if T takes
            neither key nor f; or a function of x, and by name of t and of state as T returned it last.

    >>> import numpy as np, burlab as bl
    >>> rounded = bl.optim.through(bl.optim.GD(0.1), np.round, at="T(x)")
    >>> run = bl.minimize(lambda x: np.sum((x - 1.2) ** 2), np.zeros(2), rounded, steps=4)
    >>> run.x, run.iterate.round(6)
    (array([1., 1.]), array([0.76, 0.76]))
    """

    T: Any
    at: Any = X

    def __post_init__(self) -> None:
        super().__post_init__()
        names = map_arguments(self.T)
        if callable(self.at):
            taken(self.at, "at", ("x",), ("state", "t"))
        elif self.at not in (X, T_OF_X):
            raise ArgumentError(f'at of through is {shown(self.at)}, expected "x", "T(x)" or a function of x.')
        asked = [name for name in ("key", "f") if name in names.place]
        if self.at == T_OF_X and asked:
            raise ArgumentError(
                f'{as_defined(self.T, "T")} takes {asked[0]}, which only a step has, but at="T(x)" asks for T(x) after '
                'a step. Pass at="x", or at= a function of x and state.'
            )

    @property
    def place(self) -> Any:
        """The function T."""
        return self.T

    @property
    def run_point(self) -> Any:
        """The argument at."""
        return self.at
