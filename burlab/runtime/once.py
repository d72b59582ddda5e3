"""Things that a process makes once, at their first use, in whichever thread that is."""

import threading
from collections.abc import Callable
from functools import cache, wraps
from typing import TypeVar

_Once = TypeVar("_Once")


def once(make: Callable[[], _Once]) -> Callable[[], _Once]:
    """`functools.cache` for a function without arguments, where threads that come first together must get one thing.

    >>> thing = once(lambda: object())
    >>> thing() is thing()
    True
    """
    lock = threading.RLock()
    shared = cache(make)

    @cache  # without a lock, for all calls but the first
    @wraps(make)
    def get() -> _Once:
        with lock:
            return shared()

    return get
