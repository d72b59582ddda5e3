"""One compiled function per (function, transform): `bl.grad(f)` in a loop is the same object each time."""

import weakref
from collections.abc import Callable
from typing import Any

_made: "weakref.WeakKeyDictionary[Any, dict[Any, Any]]" = weakref.WeakKeyDictionary()


def remembered(f: Callable[..., Any], key: Any, make: Callable[[], Any]) -> Any:
    """What `make` gives for f and key: made once while f lives, or each time for what has no weak references."""
    try:
        table = _made.setdefault(f, {})
    except TypeError:
        return make()
    if key not in table:
        table[key] = make()
    return table[key]
