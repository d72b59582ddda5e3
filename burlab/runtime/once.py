"""Things that a process makes once, at their first use, in whichever thread that is."""

import threading
from collections.abc import Callable
from functools import cache, wraps
from typing import TypeVar

_Made = TypeVar("_Made")


def once(make: Callable[[], _Made]) -> Callable[[], _Made]:
    """`functools.cache` for a function without arguments, where threads that come first together must get one thing.

    >>> thing = once(lambda: object())
    >>> thing() is thing()
    True
    """
    lock = threading.RLock()
    made = cache(make)

    @cache  # without a lock, for all calls but the first
    @wraps(make)
    def get() -> _Made:
        with lock:
            return made()

    return get
