"""Functions of x that users write for `through`: what they take, and the form of what they return."""

import inspect
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, NamedTuple, cast

import numpy as np

from burlab.errors import ArgumentError, BurlabError, DTypeError, ShapeError
from burlab.graph import tree
from burlab.graph.node import as_node
from burlab.graph.origin import place
from burlab.runtime.checks.numbers import shown
from burlab.typing import Tree

from .layout import Layout

_ADVICE = {
    "state": "state, its own",
    "t": "t, the step",
    "key": "key, of the step",
    "f": "f, for queries about the problem",
}


def taken(f: object, name: str, first: Sequence[str], allowed: Sequence[str]) -> tuple[str, ...]:
    """Return which of the allowed arguments a function takes behind the first ones, in order.

    Raises ArgumentError for a function that takes others. name: of the argument that it was given as.
    """
    if not callable(f):
        raise ArgumentError(f"{name} of through is {shown(f)}, expected a function of {', '.join(first)}.")
    try:
        parameters = list(inspect.signature(f).parameters.values())
    except (TypeError, ValueError):  # a function of C that does not tell
        return ()
    positional = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    others = [p for p in parameters if p not in positional[: len(first)]]
    known = [p.name for p in others if p.name in allowed and p.kind != p.POSITIONAL_ONLY]
    needed = [p.name for p in others if p.default is p.empty and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
    strange = [one for one in needed if one not in known]
    if strange or len(positional) < len(first):
        got = f"takes {strange[0]}" if strange else f"takes no {first[len(positional)]}"
        offers = ", and by name ".join([", ".join(first), "; ".join(_ADVICE[one] for one in allowed)])
        raise ArgumentError(f"{_defined(f)}{name} of through {got}, but it can take {offers}.")
    return tuple(known)


class MapArguments(NamedTuple):
    """The arguments that T and its gradient take by name."""

    place: tuple[str, ...]
    gradient: tuple[str, ...]


def map_arguments(T: Any) -> MapArguments:
    """Return what T and T.gradient take. Raises ArgumentError for what through does not have, or has no init for."""
    gradient = getattr(T, "gradient", None)
    names = MapArguments(
        taken(T, "T", ("x",), ("state", "t", "key", "f")),
        () if gradient is None else taken(gradient, "T.gradient", ("g", "x"), ("state", "t", "key")),
    )
    if "state" in (*names.place, *names.gradient) and not callable(getattr(T, "init", None)):
        raise ArgumentError(
            f"{as_defined(T, 'T')} takes state, but has no init. Make it an object with methods init(self, x) and "
            "__call__(self, x, state)."
        )
    return names


def as_defined(f: object, name: str) -> str:
    """Describe a function by the line of its definition and the argument that it was given as."""
    return f"{_defined(f)}{name} of through"


@contextmanager
def named(f: object, name: str) -> Generator[None]:
    """Add to an error of what is traced inside which argument of through it is about."""
    try:
        yield
    except BurlabError as error:
        error.add_note(f"While {as_defined(f, name)} was traced.")
        raise


def split_state(f: object, name: str, result: Any) -> tuple[Any, Any]:
    """Return a result and the state that a function that takes one returns with it."""
    pair: tuple[Any, ...] = cast("Any", result) if type(result) is tuple else ()
    if len(pair) != 2:
        got = type(cast("object", result)).__name__
        raise ArgumentError(
            f"{as_defined(f, name)} takes state, so it returns a pair, its result and the next state; got a {got}."
        )
    return pair[0], pair[1]


def flat_like(found: Tree, seen: Tree, flat: Any, layout: Layout, what: str) -> Any:
    """Return a tree as a vector like `flat`, which is that of `seen`. Raises for another form; what: describes it."""
    leaves, before = layout.leaves(found, f"{what} returned a tree"), tree.flatten(seen)[0]
    if all(a is b for a, b in zip(leaves, before, strict=True)):
        return flat
    for leaf, like in zip(leaves, before, strict=True):
        if as_node(leaf).dtype != as_node(like).dtype:
            raise DTypeError(
                f"{what} returned {as_node(leaf).dtype}, expected {as_node(like).dtype}, as x is. A NumPy number or "
                "array changed the dtype: Python numbers do not."
            )
    return layout.flat(found, f"{what} returned a tree")


def check_state(found: Tree, before: Tree, what: str) -> None:
    """Raise unless two states have one form. what: describes who returned the first one."""
    leaves, structure = tree.flatten(found)
    likes, form = tree.flatten(before)
    if structure != form:
        raise ArgumentError(f"{what} returned a state of structure {structure}, but its init gave {form}.")
    for leaf, like in zip(leaves, likes, strict=True):
        if np.shape(leaf) != np.shape(like):
            raise ShapeError(f"{what} returned a state of shape {np.shape(leaf)}, but its init gave {np.shape(like)}.")


def _call_of(kind: type[Any]) -> Any:
    """The method that a call of an object of a class runs."""
    return kind.__call__ if issubclass(kind, Callable) else None


def _defined(f: object) -> str:
    """The line where a function is defined, as the beginning of a message."""
    while isinstance(f, partial):
        f = cast("Any", f).func
    code = getattr(f, "__code__", None) or getattr(_call_of(type(f)), "__code__", None)
    return f"{place((code.co_filename, code.co_firstlineno))}: " if code is not None else ""
