"""Checks that a function takes the arguments that it will be called with, where it is passed."""

import inspect
from collections.abc import Callable, Sequence

from burlab.errors import ArgumentError


def check_function(f: object) -> None:
    """Raise ArgumentError where f cannot be called at all.

    >>> check_function(3.0)
    Traceback (most recent call last):
        ...
    burlab.errors.ArgumentError: expected a function of arrays, got float. For a problem use problem.grad(x).
    """
    if not callable(f):
        raise ArgumentError(
            f"expected a function of arrays, got {type(f).__name__}. For a problem use problem.grad(x)."
        )


def check_takes(
    f: object,
    what: str,
    given: str,
    advice: str,
    count: int = 1,
    keywords: Sequence[str] = (),
    where: Callable[[], str] = str,
) -> None:
    """Raise ArgumentError where f cannot be called with so many arguments and these keywords.

    what: f, in words; given: the arguments; advice: what to do. where: gives the beginning of the message.

    >>> check_takes(lambda a, b: a, "the body", "a state", "Take one.")
    Traceback (most recent call last):
        ...
    burlab.errors.ArgumentError: the body cannot be called with a state: missing a required argument: 'b'. Take one.
    """
    if not callable(f):
        raise ArgumentError(f"{where()}{what} is a {type(f).__name__}, expected a function. {advice}")
    try:
        taken = inspect.signature(f, follow_wrapped=False)  # of a decorator, not of the function that it wraps
    except (TypeError, ValueError):  # a function of C that does not tell
        return
    try:
        taken.bind(*range(count), **dict.fromkeys(keywords))
    except TypeError as error:
        raise ArgumentError(f"{where()}{what} cannot be called with {given}: {error}. {advice}") from None
