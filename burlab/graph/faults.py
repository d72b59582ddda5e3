"""Errors of tracing: they name the user's line, the unsupported expression, and a replacement."""

import threading
import traceback
from collections.abc import Callable
from typing import Any

from burlab.errors import TraceError

from . import hooks
from .origin import Origin, in_masked_code, in_matrix_code, in_pandas, is_users, location, place
from .scipy_words import remedy as scipy_remedy, scipy_function


class _Last(threading.local):
    """The last error that was made."""

    fault: TraceError | None = None


_last = _Last()


def public_name(func: Callable[..., Any]) -> str:
    """A function of NumPy's as users write it: np.linalg.eig."""
    module = getattr(func, "__module__", "numpy").replace("numpy", "np", 1)
    return f"{module}.{getattr(func, '__name__', func)}"


def fault(what: str, remedy: str) -> TraceError:
    """A TraceError that names the user's line, the unsupported expression, and a replacement."""
    return _from_scipy() or _recorded(TraceError(f"{location()}{what}. Use {remedy}."))


def refused_to_library() -> TraceError | None:
    """The error if another library's code requests the numbers of a traced array, else None."""
    if in_masked_code():
        return fault("a masked array met a traced one, and its mask would be lost", "x.filled(0.0) or np.where")
    if in_matrix_code():
        return fault("np.matrix of a traced array, whose * would be a matrix product", "the array as it is, and @")
    if in_pandas():
        remedy = "the array as it is, and .to_numpy() of what is pandas'"
        return fault("pandas asked for the numbers of a traced array", remedy)
    return None


def unsupported(name: str, remedy: str) -> TraceError:
    """A TraceError for a NumPy feature that cannot be traced."""
    return _from_scipy() or _cannot_be_traced(name, remedy)


def without_rule(name: str, method: str, special: bool, has_call: bool) -> TraceError:
    """The error for a ufunc that cannot be traced, or for one of its methods. special: it is of scipy.special."""
    function = f"{'scipy.special' if special else 'np'}.{name}"
    if method == "__call__" or not has_call:
        return unsupported(function, hooks.why_not(name))
    advice = f"{method} has no rule here; use a loop over the rows, or {function}(x, y)"
    return unsupported(f"{function}.{method}", advice)


def check_keywords(name: str, kwargs: "dict[str, Any]") -> None:
    """Raise TraceError for a keyword of a ufunc that has no meaning on traced arrays."""
    for key, value in kwargs.items():
        if value is None or key in ("dtype", "casting") or (key == "where" and value is True):
            continue
        remedy = "np.where(condition, result, other)" if key == "where" else "leave it out"
        raise unsupported(f"np.{name}({key}=...)", remedy)


def _cannot_be_traced(name: str, remedy: str) -> TraceError:
    return _recorded(
        TraceError(f"{location()}{name} cannot be traced: {remedy}. What can be is listed in docs/numpy.md.")
    )


def _from_scipy() -> TraceError | None:
    """Return the error for SciPy's code that met a traced value: it names the user's function, and burlab's."""
    name = scipy_function()
    if name is None:
        return None
    return _cannot_be_traced(f"scipy.{name}", f"SciPy asks for its numbers; {scipy_remedy(name)}")


def no_derivative(origin: Origin | None, what: str, remedy: str) -> TraceError:
    """A TraceError for a derivative through an operation, made on a line of the user's, that has none."""
    line = f"{place(origin)}: " if origin else ""
    return TraceError(f"{line}a derivative through {what} is not defined. Use {remedy}.")


def _recorded(error: TraceError) -> TraceError:
    _last.fault = error
    return error


def forget_fault() -> None:
    """A new trace begins: no error of it can come from a fault of an earlier one."""
    _last.fault = None


def behind(error: BaseException) -> TraceError | None:
    """The fault behind an error of NumPy's on the same line: it replaces what `__float__` or `__index__` raise."""
    found, _last.fault = _last.fault, None
    frames = [f'File "{f.filename}", line {f.lineno}: ' for f in traceback.extract_tb(error.__traceback__)]
    return found if found is not None and any(str(found).startswith(place) for place in frames) else None


def blamed(error: BaseException) -> str:
    """The innermost line of the user's among those that an error came through, as the beginning of a message."""
    frames = [f for f in traceback.extract_tb(error.__traceback__) if is_users(f.filename)]
    return f"{place((frames[-1].filename, frames[-1].lineno or 0))}: " if frames else ""
