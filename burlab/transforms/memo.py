"""One compiled function per (function, transform): `bl.grad(f)` in a loop is the same object each time."""

import weakref
from collections.abc import Callable, Hashable
from types import FunctionType
from typing import Any, cast

from burlab.compiler.function import Function
from burlab.errors import ArgumentError
from burlab.runtime.checks.callable import check_function
from burlab.runtime.checks.numbers import shown

_NAME = "__burlab_made__"
MAX_FUNCTIONS = 32  # functions that have no place for it, of which it is known


class _Cache(dict[Any, Any]):
    """Objects derived from a function. The cache holds the function and is stored in it, so that both end together.

    owner: that function; another one may have got a copy of all attributes. It is not pickled.
    """

    owner: "weakref.ref[Any] | None" = None

    def __reduce__(self) -> Any:
        return (_Cache, ())


_others: dict[Any, dict[Any, Any]] = {}  # the one last asked for at the end


def remembered(f: Callable[..., Any], key: Hashable, make: Callable[[], Any]) -> Any:
    """Return make(), called once for f and key while f lives, or each time for keys that cannot be looked up.

    Of what is no plain function, such as a bound method, the last 32 are known, which live as long. Raises
    ArgumentError where f cannot be called.
    """
    check_function(f)
    table = _table(f)
    if table is None:
        return make()
    try:
        known = key in table
    except TypeError:
        raise ArgumentError(
            f"the options {shown(key)} hold what has no hash. Pass True, False, numbers or text."
        ) from None
    if not known:
        table[key] = make()
    return table[key]


def _table(f: object) -> dict[Any, Any] | None:
    if cast("Any", type(f)) in (FunctionType, Function):
        attributes: dict[str, Any] = f.__dict__
        cache: _Cache | None = attributes.get(_NAME)
        if cache is None or cache.owner is None or cache.owner() is not f:
            cache = attributes[_NAME] = _Cache()
            cache.owner = weakref.ref(f)
        return cache
    try:
        table = _others[f] = _others.pop(f, {})
    except TypeError:  # it has no hash
        return None
    for oldest in list(_others)[:-MAX_FUNCTIONS]:
        _others.pop(oldest, None)
    return table
