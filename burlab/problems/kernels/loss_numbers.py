"""Inputs of a loss besides x and its sample: named numbers, which change while a run goes on, its step t, its state.

Kernels take them as inputs that all samples share, behind x and the other arguments of a query: first a float64 for
each name, which is NaN where its schedule is followed, then t. These are weak, as Python numbers are: they change no
dtype. Last come the leaves of the state (`loss_state.py`).
"""

import inspect
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import wraps
from inspect import Parameter
from typing import Any, NamedTuple, cast

import numpy as np

from burlab.errors import ArgumentError
from burlab.graph import Node, tree
from burlab.optim.batches import BATCH
from burlab.optim.live_fields import Live, hyper_value, start_value
from burlab.optim.used_numbers import used_number
from burlab.problems.point import Point
from burlab.runtime.checks.attributes import Attributes
from burlab.runtime.checks.numbers import MAX_STEPS, shown, whole
from burlab.runtime.ranges import FINITE, Range, number_in

from .loss_state import LossState

Function = Callable[..., Any]
Start = float | Callable[[Any], Any]
Hyper = Mapping[str, Start | tuple[Start, float, float]]
"""Numbers of a loss by name, or schedules of the step; in a tuple with the ends of the range that they may be in."""
_NUMBER, _STEP = np.dtype(np.float64), np.dtype(np.int64)


class NamedNumbers(Attributes):
    """The numbers that a loss gets as `hyper`: `hyper.beta`, or `hyper["beta"]`."""

    def __init__(self, numbers: Mapping[str, Any]) -> None:
        self._numbers = dict(numbers)

    def __getitem__(self, name: str) -> Any:
        if name not in self._numbers:
            known = ", ".join(self._numbers)
            raise ArgumentError(f"hyper[{shown(name)}] was read, expected the numbers of the loss: {known}.")
        return self._numbers[name]

    def __setitem__(self, name: str, value: object) -> None:
        raise ArgumentError(f"a loss reads hyper.{name} and cannot set it. Set run.hyper.{name} between two steps.")

    def __iter__(self) -> Iterator[str]:
        return iter(self._numbers)

    def __len__(self) -> int:
        return len(self._numbers)

    def keys(self) -> Sequence[str]:
        """The names, as they were given."""
        return tuple(self._numbers)


class LossNumbers(NamedTuple):
    """The numbers of a problem's functions, and the state of its loss.

    fields: the named ones. loss, regularizer, resampled: which of the keywords "hyper", "t" and "state" each of them
    takes.
    """

    fields: tuple[Live, ...] = ()
    loss: tuple[str, ...] = ()
    regularizer: tuple[str, ...] = ()
    resampled: tuple[str, ...] = ()
    state: LossState | None = None

    @staticmethod
    def of(
        hyper: Hyper | None,
        samples: int,
        loss: Function,
        regularizer: Function | None = None,
        resampled: Function | None = None,
        loss_state: tree.Tree = None,
    ) -> "LossNumbers | None":
        """Return the numbers, None if the functions take none. samples: how many arguments a sample is.

        Raises ArgumentError for a `hyper` that none of the functions takes, or that is no mapping of names to numbers;
        for a state that the loss does not take. DTypeError for one of other arrays.
        """
        fields = () if hyper is None else named_numbers(hyper)
        named = hyper is not None
        state = None if loss_state is None else LossState.of(loss_state)
        passed = (*(["hyper"] if named else []), "t", *([] if state is None else ["state"]))
        found = LossNumbers(
            fields,
            keywords_of(loss, 1 + samples, passed),
            () if regularizer is None else keywords_of(regularizer, 1, passed),
            () if resampled is None else keywords_of(resampled, 1 + samples, passed),
            state,
        )
        if state is not None and "state" not in found.loss:
            raise ArgumentError(
                "loss_state is a state for the loss to read, which takes none. Give it a parameter state: "
                "loss(x, *sample, state), which returns (value, new state)."
            )
        taken = {*found.loss, *found.regularizer, *found.resampled}
        if named and "hyper" not in taken:
            raise ArgumentError(
                f"hyper holds {', '.join(field.name for field in fields)}, but no function takes them. Give the loss a "
                "parameter hyper: loss(x, *sample, hyper), which reads hyper.name."
            )
        return found if taken else None

    @property
    def names(self) -> tuple[str, ...]:
        """The names, in their order."""
        return tuple(field.name for field in self.fields)

    @property
    def form(self) -> tuple[Any, ...]:
        """All that kernels depend on, but for what schedules are."""
        named = tuple((field.name, callable(field.start)) for field in self.fields)
        return (named, *self._taken, None if self.state is None else self.state.form)

    @property
    def schedules(self) -> tuple[Function, ...]:
        """The schedules, which kernels compute."""
        return tuple(field.start for field in self.fields if callable(field.start))

    @property
    def takes_step(self) -> bool:
        """Return True if a function reads t."""
        return any("t" in keywords for keywords in self._taken)

    @property
    def _taken(self) -> tuple[tuple[str, ...], ...]:
        return self.loss, self.regularizer, self.resampled

    @property
    def inputs(self) -> tuple[Node, ...]:
        """Examples to trace with: a float64 for each name, t, and the leaves of the state."""
        numbers = (Node("input", (), field.name, (), _NUMBER, weak=True) for field in self.fields)
        state = () if self.state is None else self.state.inputs
        return *numbers, Node("input", (), "t", (), _STEP, weak=True), *state

    def point(self, hyper: Mapping[str, float] | None = None, t: int = 0, state: tree.Tree = None) -> Point:
        """Return the inputs with the start values, or those of `hyper`, at step t. state: None for that of the start.

        Raises ArgumentError, ShapeError, DTypeError.
        """
        step = whole(t, "t", 0, MAX_STEPS)
        given = {} if hyper is None else dict(hyper)
        for name in given:
            if name not in self.names:
                known = ", ".join(self.names) or "none"
                raise ArgumentError(f"hyper holds {shown(name)}, expected the numbers of the loss: {known}.")
        numbers = [
            _checked(hyper_value(f"hyper[{field.name!r}]", given[field.name]), field.name, field.allowed)
            if field.name in given
            else field.number
            for field in self.fields
        ]
        leaves = [*(np.array(number, _NUMBER) for number in numbers), np.array(step, _STEP)]
        if self.state is not None:
            leaves += (self.state if state is None else self.state.other(state)).leaves
        return Point(leaves, tree.flatten(tuple(leaves))[1])

    def bind(self, f: Function, keywords: tuple[str, ...]) -> Function:
        """Return a function of x, the inputs and a sample. keywords: those of "hyper", "t" and "state" that f takes."""

        @wraps(f, updated=())
        def of_inputs(x: tree.Tree, inputs: tuple[Any, ...], *sample: Any, **key: Any) -> Any:
            count = len(self.fields)
            numbers, t, leaves = inputs[:count], inputs[count], inputs[count + 1 :]
            used = {field.name: used_number(field, n, t) for field, n in zip(self.fields, numbers, strict=True)}
            every = {"hyper": NamedNumbers(used), "t": t, "state": self.state and self.state.read(leaves)}
            return f(x, *sample, **{name: every[name] for name in keywords}, **key)

        cast("Any", of_inputs).__burlab_structure__ = f, self.form, *self.schedules
        return of_inputs

    def with_starts(self, starts: Hyper) -> "LossNumbers":
        """Return the numbers with other starts of some, in their ranges. Raises ArgumentError, DTypeError."""
        changed = named_numbers({field.name: starts.get(field.name, field.start) for field in self.fields})
        pairs = zip(changed, self.fields, strict=True)
        return self._replace(fields=tuple(one if one.allowed else _within(one, old.allowed) for one, old in pairs))

    @property
    def ranges(self) -> dict[str, Range | None]:
        """The ranges by name, None where any number will do."""
        return {field.name: field.allowed for field in self.fields}

    def like(self, others: "LossNumbers | None", name: str) -> "LossNumbers":
        """Return the same numbers for the functions of another problem, whose own are `others`; name: of that problem.

        Raises ArgumentError if those read a number that is not among these.
        """
        missing = [] if others is None else [n for n in others.names if n not in self.names]
        if missing:
            known = ", ".join(self.names) or "none"
            raise ArgumentError(
                f"{name} reads the number {shown(missing[0])}, which the run does not have; it has {known}. Give the "
                "problem of the run this number, too."
            )
        if others is None:
            return LossNumbers(self.fields, state=self.state)
        mine, its = self.state, others.state
        if its is not None and (mine is None or its.form != mine.form):
            run = "none" if mine is None else tree.describe(mine.form.structure)
            raise ArgumentError(
                f"{name} reads a state of its loss, {tree.describe(its.form.structure)}, but that of the run is {run}. "
                "Pass both problems a loss_state of the same arrays."
            )
        return others._replace(fields=self.fields, state=mine)


def named_numbers(hyper: Any) -> tuple[Live, ...]:
    """Return the numbers of a mapping. Raises ArgumentError, DTypeError."""
    if not isinstance(hyper, Mapping) or not hyper:
        raise ArgumentError(
            f"hyper is {shown(hyper)}, expected a mapping of names to numbers or schedules, such as {{'beta': 0.5}}, "
            "or {'beta': (0.5, 0.0, 1.0)} with the ends of its range."
        )
    found: list[Live] = []
    for name, start in cast("Mapping[Any, Any]", hyper).items():
        if not isinstance(name, str) or not name.isidentifier() or name.startswith("_"):
            raise ArgumentError(f"hyper holds {shown(name)}, expected a name such as 'beta' that hyper.beta can read.")
        if name in _TAKEN:
            raise ArgumentError(f"hyper holds {shown(name)}, which {_TAKEN[name]}, expected another name.")
        number, allowed = _parts(name, start)
        value = start_value(f"hyper[{name!r}]", number)
        if not callable(value) and not math.isfinite(value):
            raise ArgumentError(f"hyper[{name!r}] is {value}, expected a finite number.")
        found.append(_within(Live(name, (), value), allowed))
    return tuple(found)


def _parts(name: str, start: Any) -> tuple[Any, Range | None]:
    """Return a number or schedule, and its range."""
    if not isinstance(start, (tuple, list)):
        return start, None
    given = cast("Sequence[Any]", start)
    if len(given) != _WITH_ENDS:
        raise ArgumentError(
            f"hyper[{name!r}] is {shown(start)}, expected a number, a schedule, or (number, low, high) with the ends "
            "of its range, such as (0.5, 0.0, 1.0)."
        )
    low, high = (number_in(FINITE, end, f"the end of the range of hyper[{name!r}]") for end in given[1:])
    if not low < high:
        raise ArgumentError(f"the range of hyper[{name!r}] is from {low:g} to {high:g}, expected the lower end first.")
    return given[0], Range(low, high)


def _within(field: Live, allowed: Range | None) -> Live:
    """Return the number with a range. Raises ArgumentError where it starts elsewhere; a schedule may go anywhere."""
    if not callable(field.start):
        _checked(field.start, field.name, allowed)
    return replace(field, allowed=allowed)


def _checked(number: float, name: str, allowed: Range | None) -> float:
    return number if allowed is None else number_in(allowed, number, f"hyper[{name!r}]")


_WITH_ENDS = 3  # what a number with a range consists of
_TAKEN = {BATCH: "is the size of a batch", "keys": "is a method of hyper"}


def keywords_of(f: Function, count: int, passed: Sequence[str] = ("t",)) -> tuple[str, ...]:
    """Return which of the keywords `passed`, "hyper", "t" and "state", a function of so many arguments takes.

    `t` is a parameter by keyword alone: many samples are times, and `lambda x, a, t=t: ...` holds a value of its own.
    """
    try:
        parameters = inspect.signature(f).parameters
    except (TypeError, ValueError):  # a function of C that does not tell
        return ()
    places = [p for p in parameters.values() if p.kind in (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)]

    def takes(name: str) -> bool:
        found = parameters.get(name)
        if found is None or found.kind not in (Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY):
            return False
        if found.kind is Parameter.KEYWORD_ONLY:
            return True
        return name != "t" and places.index(found) >= count

    return tuple(name for name in passed if takes(name))


def advice_on(f: Function) -> str:
    """Return what to do about a parameter `hyper`, `t` or `state` that nothing is passed for, "" without one."""
    try:
        parameters = inspect.signature(f).parameters
    except (TypeError, ValueError):
        return ""
    found = {name for name, p in parameters.items() if p.default is Parameter.empty}
    named = " Pass the numbers that it reads: hyper={'beta': 1.0}." if "hyper" in found else ""
    if "state" in found:
        named += " Pass the state that it starts from: bl.FiniteSum(..., loss_state={'mean': np.zeros(3)})."
    step = "t" in found and parameters["t"].kind is not Parameter.KEYWORD_ONLY
    return named + (" A t that is the step stands behind a star: loss(x, *sample, *, t)." if step else "")
