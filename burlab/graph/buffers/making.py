"""New arrays for traced entries: results of NumPy's constructors while a function is traced."""

from collections.abc import Callable
from typing import Any, cast

import numpy as np

from burlab.graph.faults import fault
from burlab.graph.handles import level, present
from burlab.graph.node import METHODS, Node
from burlab.graph.origin import location
from burlab.runtime.memory import check_fits
from burlab.typing import DTypeLike

from .buffer import Buffer, buffer_of, fresh
from .traced_entries import is_symbolic
from .traced_memory import written

Function = Callable[..., Any]
_PLAIN = tuple(
    "zeros ones empty zeros_like ones_like empty_like linspace logspace geomspace eye identity "
    "tri diag diagflat vander tile repeat copy fromiter fromfunction indices outer kron meshgrid".split()
)


def _of_square(N: Any, M: Any = None, *_: Any, **_options: Any) -> Any:
    return N * (N if M is None or isinstance(M, type) else M)


def _of_range(_start: Any, _stop: Any, num: int = 50, *_: Any, **_options: Any) -> Any:
    return num


_ENTRIES: dict[str, Function] = {
    **dict.fromkeys(("eye", "tri", "identity"), _of_square),
    **dict.fromkeys(("linspace", "logspace", "geomspace"), _of_range),
}
"""How many entries a constructor makes of its arguments, where NumPy would fill memory before it finds too little."""


def _check_entries(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Raise AllocationError if there are more entries than bytes."""
    try:
        count = _ENTRIES[name](*args, **kwargs)
    except TypeError:  # NumPy says what is wrong
        return
    if isinstance(count, int):
        check_fits(count, f"{location()}np.{name} of {count} entries")


def _from_known(original: Function) -> Function:
    name = original.__name__

    def make(*args: Any, **kwargs: Any) -> Any:
        if name in _ENTRIES:
            _check_entries(name, args, kwargs)
        result = original(*map(_joined, args), **kwargs)
        return buffer_of(result) if is_symbolic(result) else fresh(result)

    return make


def arange(original: Function) -> Function:
    """np.arange, whose ends are known."""
    make = _from_known(original)

    def checked(*args: Any, **kwargs: Any) -> Any:
        if any(isinstance(present(value), Node) for value in (*args, *kwargs.values())):
            raise fault(
                "np.arange with a traced end: how many entries there are would depend on numbers",
                "start + step * np.arange(n), or np.linspace(start, stop, n)",
            )
        return make(*args, **kwargs)

    return checked


def full(original: Function) -> Function:
    """np.full, and np.full_like, whose value may be traced."""
    of_shape = original.__name__ == "full"
    names = ("shape" if of_shape else "a", "fill_value", "dtype", "order", "subok")

    def make(*args: Any, **kwargs: Any) -> Any:
        given = dict(zip(names, args, strict=False)) | kwargs
        if len(given) < len(args) + len(kwargs) or "fill_value" not in given:
            return original(*args, **kwargs)  # which says what is wrong
        held = written(given["fill_value"])
        if not is_symbolic(held):
            return fresh(original(**given | {"fill_value": held}))
        if of_shape and given.get("dtype") is None:
            given["dtype"] = held.dtype
        result = fresh(original(**given | {"fill_value": 0}))
        result[...] = held
        return result

    return make


def _joined(value: Any) -> Any:
    """A list of traced numbers as one node, which NumPy hands to burlab."""
    return written(value) if isinstance(value, (list, tuple)) else value


def array(original: Function) -> Function:
    """np.array: a new array, of traced entries too."""

    def make(value: Any, dtype: DTypeLike = None, **kwargs: Any) -> Any:
        if kwargs.get("copy", True) is not True:
            return asarray(original)(value, dtype, **kwargs)
        held = _held(value)
        if not is_symbolic(held):
            return fresh(original(held, dtype, **kwargs))
        result = buffer_of(held if dtype is None else held.astype(dtype))
        missing = kwargs.get("ndmin", 0) - result.ndim
        return cast("Any", result.reshape((1,) * missing + result.shape))

    return make


def asarray(original: Function) -> Function:
    """np.asarray and its kin: an array as it is, else a new one."""

    def make(value: Any, dtype: DTypeLike = None, *args: Any, **kwargs: Any) -> Any:
        if (isinstance(value, Buffer) or is_symbolic(value)) and (dtype is None or np.dtype(dtype) == value.dtype):
            return cast("Any", value)
        held = _held(value)
        if is_symbolic(held):
            return buffer_of(held if dtype is None else held.astype(dtype))
        result: Any = original(held, dtype, *args, **kwargs)
        return result if isinstance(value, np.ndarray) else fresh(result)

    return make


def copied(x: Node, *_layout: Any, **_options: Any) -> Any:
    """x.copy() of a traced array: one that can be assigned to, while a function is traced."""
    return x if level() is None else buffer_of(x)


def _held(value: Any) -> Any:
    """Return the values of an array: a node if some of them are traced, stacked if needed."""
    value = written(value)
    if isinstance(value, (list, tuple)):
        return [_held(item) for item in cast("list[Any]", value)]
    return value


RULES: dict[str, Callable[[Function], Function]] = {
    **dict.fromkeys(_PLAIN, _from_known),
    "arange": arange,
    "array": array,
    "full": full,
    "full_like": full,
    **dict.fromkeys(("asarray", "asanyarray", "ascontiguousarray", "asfortranarray", "asarray_chkfinite"), asarray),
}
"""By the name of NumPy's constructor, what it is while a function is traced."""

METHODS["copy"] = copied
