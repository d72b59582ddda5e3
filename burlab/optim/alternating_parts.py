"""Parts of x in turns, each with an optimizer of its own."""

import copy
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, cast

import numpy as np

from burlab.errors import ArgumentError
from burlab.graph import tree
from burlab.graph.node import as_node
from burlab.graph.numpy_api.promotion import as_dtype
from burlab.runtime.checks.numbers import shown, whole
from burlab.transforms import switch

from .batches import VALUE
from .layout import Layout
from .optimizer import Optimizer, State, Vector, advance, start
from .part_places import part_places
from .part_queries import PartQueries
from .per_leaf import OnLeaves, flat_face
from .queries import Queries
from .step_log import norm_of
from .used_numbers import logged_number, reads


@dataclass(frozen=True)
class PartOptimizer:
    """The optimizer of a part of x, how many steps it takes in a row, and the block that follows."""

    part: str
    optimizer: Optimizer
    steps: int
    then: "PartOptimizer | None"

    @property
    def live_prefix(self) -> str:
        """The beginning of the names of the optimizer's live fields."""
        return f"{self.part}_"

    def __iter__(self) -> Iterator["PartOptimizer"]:
        yield self
        if self.then is not None:
            yield from self.then


@dataclass(frozen=True)
class alternating(OnLeaves):
    """Parts of x in turns, each by its own loss and optimizer: a problem of `bl.problems.Alternating`.

    In its turn a part makes so many steps with its optimizer, which sees this part of x alone, the gradient of its loss
    and its own steps as t; the others wait. Turns are in the order of the dict. With one step each, and f the loss of
    the generator, -f that of the critic, it is alternating gradient descent and ascent; with weights and architecture,
    first-order DARTS (Liu, Simonyan and Yang 2019, arXiv:1806.09055).

    The value of a step is that of the part in turn; columns "value_NAME" have those of each part, nan in the steps of
    others, and so have metrics of its optimizer, "NAME_metric". The gradient norm is that of the part in turn.
    Live fields are called "NAME_lr", for example; schedules are of the steps of the run.
    An optimizer may ask about the losses of other parts: `f.part(name)`, see `bl.optim.bilevel`.
    Cost: one gradient a step, of one loss by one part; keeps the states of all optimizers.

    Args:
        parts: For each key of x an optimizer, or a pair of it and the number of its steps in a row.

    Raises:
        ArgumentError: If keys are not those of x and of the problem, or an optimizer asks for more than values,
            gradients and Hessian-vector products.

    >>> import numpy as np, burlab as bl
    >>> losses = {"a": lambda x: (x["a"] - x["b"]) ** 2, "b": lambda x: (x["b"] - 1.0) ** 2}
    >>> turns = bl.optim.alternating({"a": (bl.optim.GD(0.5), 2), "b": bl.optim.GD(0.25)})
    >>> run = bl.minimize(bl.problems.Alternating(losses), {"a": 3.0, "b": 0.0}, turns, steps=3)
    >>> run.x, run.history["value_b"]
    ({'a': array(0.), 'b': array(0.5)}, array([nan, nan,  1.]))
    """

    parts: Any
    _places: ClassVar[Mapping[str, slice]] = {}  # the entries of parts; a run sets it in a copy

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.parts, PartOptimizer):
            object.__setattr__(self, "parts", _chain(self.parts))

    def on_leaves(self, layout: Layout) -> "alternating":
        """Return the same rule for an x of this form."""
        like = layout.tree(np.zeros(layout.size, layout.floats))
        names = [block.part for block in self.parts]
        if not isinstance(like, dict) or set(cast("dict[str, Any]", like)) != set(names):
            raise ArgumentError(
                f"x0 is {tree.describe(layout.structure)}, but parts of alternating are {', '.join(map(repr, names))}. "
                "Pass a dict with an optimizer for each of its keys."
            )
        bound = copy.copy(self)
        object.__setattr__(bound, "parts", _bound(self.parts, cast("dict[str, Any]", like)))
        object.__setattr__(bound, "_places", {place.name: place.entries for place in part_places(names, like)})
        return bound

    def init(self, x: Vector, *, f: Any = None) -> State:
        """The states of all optimizers."""
        self._check(f.parts)
        states: dict[str, State] = {}
        for block in self.parts:
            own = self._place(block)
            queries: Any = PartQueries(f, x, x[own], own, f.parts.index(block.part))
            states[block.part] = start(block.optimizer, x[own], queries)
        return states

    def output(self, x: Vector, state: State) -> Vector:
        """The points that the optimizers give."""
        before = {block.part: x[self._place(block)] for block in self.parts}
        after = {block.part: block.optimizer.output(before[block.part], state[block.part]) for block in self.parts}
        if all(after[name] is before[name] for name in before):
            return x
        return np.concatenate([after[name] for name in sorted(after)])

    def update(self, g: Vector, state: State, x: Vector, t: int, *, f: Queries) -> tuple[Vector, State]:  # noqa: ARG002
        """A step of the part in turn."""
        blocks = list(self.parts)
        ends = np.cumsum([block.steps for block in blocks])
        rounds, place = t // int(ends[-1]), t % int(ends[-1])
        number = np.sum(place >= ends)

        found: dict[str, None] = {}  # names of metrics of all parts

        def step_of(block: PartOptimizer, end: int, names: tuple[str, ...]) -> Any:
            own = rounds * block.steps + place - (end - block.steps)

            def step() -> Any:
                *after, metrics = self._step(block, state, x, own, f)
                found.update(dict.fromkeys(metrics))
                return *after, {name: metrics.get(name, np.float64(np.nan)) for name in names}

            return step

        def taken(names: tuple[str, ...]) -> Any:
            return switch(number, [step_of(block, int(end), names) for block, end in zip(blocks, ends, strict=True)])

        result = taken(())
        if found:  # all branches of a choice return them, so all names are known before it is traced
            result = taken(tuple(found))
        value, norm, after, states, metrics = result
        values = {f"{VALUE}_{block.part}": np.where(number == k, value, np.nan) for k, block in enumerate(blocks)}
        f.log({**values, **metrics, VALUE: value})
        f.log_gradient(norm)
        return after, states

    def _step(
        self, block: PartOptimizer, state: State, x: Vector, t: Any, f: Queries
    ) -> tuple[Any, Any, Vector, State, dict[str, Any]]:
        """The value, the gradient's norm, x, all states and metrics after a step of a part."""
        own, kind = self._place(block), type(block.optimizer).__name__
        part = x[own]
        queries: Any = PartQueries(f, x, part, own, f.parts.index(block.part))
        value, gradient = queries.value_and_grad(part)
        after, inner = advance(block.optimizer, gradient, state[block.part], part, t, queries)
        moved = np.concatenate([x[: own.start], after, x[own.stop :]])
        found = {f"{block.part}_{name}": number for name, number in queries.logged.items() if name != VALUE}
        if reads((value, gradient), (after, inner, found)):
            norm = norm_of(gradient)
        else:
            queries.forget_step()
            value = queries.logged.get(VALUE)
            value = f.part(block.part).value() if value is None else value
            norm = np.nan if queries.norm is None else queries.norm
        metrics = {name: logged_number(kind, name, number) for name, number in found.items()}
        value, norm = (as_dtype(as_node(number), np.dtype(np.float64)) for number in (value, norm))
        return value, norm, moved, {**state, block.part: inner}, metrics

    def _place(self, block: PartOptimizer) -> slice:
        return self._places[block.part]

    def _check(self, parts: tuple[str, ...]) -> None:
        """Raise ArgumentError unless the losses of a problem are of these parts."""
        names = {block.part for block in self.parts}
        if set(parts) != names:
            known = f"whose losses are of {', '.join(map(repr, parts))}" if parts else "not a bl.problems.Alternating"
            raise ArgumentError(
                f"parts of alternating are {', '.join(map(repr, sorted(names)))}, but the problem is {known}. Create "
                "it as bl.problems.Alternating({name: loss, ...}, data) with the same names."
            )


def _chain(parts: object) -> PartOptimizer:
    """The blocks of a dict of optimizers."""
    if not isinstance(parts, Mapping) or not parts:
        raise ArgumentError(f"parts of alternating is {shown(parts)}, expected a dict of optimizers by keys of x.")
    then: PartOptimizer | None = None
    for name, given in reversed(list(cast("Mapping[Any, Any]", parts).items())):
        pair: tuple[Any, ...] = cast("Any", given) if isinstance(given, tuple) else (given, 1)
        if not isinstance(name, str) or len(pair) != 2 or not isinstance(pair[0], Optimizer):
            raise ArgumentError(
                f"parts of alternating has {shown(name)}: {shown(given)}, expected a key of x and an optimizer, or a "
                "pair of it and its number of steps: {'w': (bl.optim.Adam(1e-3), 5), ...}."
            )
        then = PartOptimizer(name, pair[0], whole(pair[1], f"steps of {name}", 1), then)
    return cast("PartOptimizer", then)


def _bound(chain: PartOptimizer, like: dict[str, Any]) -> PartOptimizer:
    """The chain with optimizers for parts of this form."""
    return PartOptimizer(
        chain.part,
        flat_face(chain.optimizer, like[chain.part]),
        chain.steps,
        None if chain.then is None else _bound(chain.then, like),
    )
