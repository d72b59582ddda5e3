"""Functions of `%%cpp` cells as Python calls them: Values and sequences of Values in and out."""

import builtins
import re
from contextlib import suppress
from functools import partial
from numbers import Real
from typing import Any, cast

import numpy as np

from burlab.errors import DTypeError, StatusError, TapeError
from burlab.runtime import reflect
from burlab.typing import Operand

from .native import current_tape, tools_of
from .value import Value

_bridge = partial(reflect, "burlab", "eager")
_NUMBERS = (Real, np.bool_, np.integer, np.floating)
_STALE_VALUE = 5
_VALUE = "burlab::ValueOf<double>"  # as the interpreter names burlab::Value
_DETAIL = re.compile(r"^ +(\w+): (.*)$", re.MULTILINE)  # how cppyy tells what became of each overload
_UNKNOWN = "unhandled, unknown C++ exception"

# Status of cpp/burlab/abi.hpp -> what it means to someone who wrote a cell.
_MESSAGES = {
    1: "there was no memory for the tape to grow.",
    2: "dot was given two sequences of different lengths.",
    _STALE_VALUE: "a Value was used that its tape holds no more, or that was never set. Do not keep Values in C++ from "
    "one call to the next: keep them in Python, or record under a tape of your own (with bl.Tape() as tape: ...).",
    6: "Values of two tapes were mixed. Make all leaves of one computation under the same tape.",
    9: "a tape was swept or rewound by a function that its own backward calls. Do that afterwards.",
}


class CellFunction:
    """A C++ function, overloaded or not, that takes Values and sequences of Values and gives them back.

    A number is a constant where C++ needs a Value. What else it takes and gives is cppyy's matter.
    """

    def __init__(self, name: str, function: Any) -> None:
        self.__name__ = self.__qualname__ = name
        self.__doc__ = function.__doc__
        self._function = function

    def __repr__(self) -> str:
        return f"<C++ {self.__doc__ or self.__name__}>"

    def __call__(self, *args: Any) -> Any:
        """Call it. TapeError where the C++ code did what a tape cannot record, StatusError where it throws."""
        given = [_Values(arg) if _holds_values(arg) else arg for arg in args]
        tapes = {current_tape(), *(tape for arg in given for tape in _tapes(arg))}
        for tape in tapes:
            tools_of(tape).tidy(tape)  # renumbers nodes, so it comes before anything is handed over
        try:
            result = self._function(*map(_to_cpp, given))
            found = _to_python(result)
        except Exception as error:
            thrown = _thrown(error)
            if thrown is None:
                raise
            raise StatusError(
                f"the C++ function {self.__name__} threw {thrown}. Catch it in C++, or have the function tell by what "
                "it returns."
            ) from None
        finally:
            status = max(tools_of(tape).take_status(tape) for tape in tapes)
        if status or found is None is not result:
            raise _error(self.__name__, status or _STALE_VALUE)
        return found


class _Values:
    """A sequence with Values in it, flat: Values and floats."""

    def __init__(self, items: Operand) -> None:
        self.items = [_item(k, x) for k, x in enumerate(_flat(items))]


def _item(k: int, x: Any) -> Any:
    if isinstance(x, Value):
        return x
    if not isinstance(x, _NUMBERS):
        raise DTypeError(f"a sequence of Values and real numbers is needed, but item {k} is {type(x).__name__}.")
    return float(cast(Any, x))


def _flat(items: Operand) -> list[Any]:
    return np.ravel(np.asarray(items, object)).tolist()


def _holds_values(x: Operand) -> bool:
    kind = getattr(getattr(x, "dtype", None), "kind", "")
    return (kind == "O" or isinstance(x, (list, tuple))) and any(isinstance(item, Value) for item in _flat(x))


def _tapes(x: Any) -> list[Any]:
    values = x.items if isinstance(x, _Values) else [x]
    return [value.tape for value in values if isinstance(value, Value)]


def _to_cpp(x: Any) -> Any:
    for tape in _tapes(x):
        if tape.dtype != np.float64:
            raise DTypeError(
                f"a C++ function of Values takes float64 ones, but one came from a tape of {tape.dtype}. Pass x.data, "
                "or make it under a float64 tape; in C++ burlab::Tape32 and burlab::Value32 are float32."
            )
    if isinstance(x, Value):
        return _bridge().to_cpp(x)
    return _bridge().to_cpp_vector(x.items) if isinstance(x, _Values) else x


def _to_python(x: Any) -> Any:
    """The result as Python has it; None for a Value that its tape does not hold."""
    kind = getattr(cast(Any, type)(x), "__cpp_name__", "")
    if kind == f"std::vector<{_VALUE}>":
        values = _bridge().to_python_list(x)
        return None if None in values else values
    return _bridge().to_python(x) if kind == _VALUE else x


def _thrown(error: Exception) -> str | None:
    """The C++ exception that cppyy has made an exception of Python's, in words; None for those of Python."""
    what: Any = getattr(error, "what", None)
    if callable(what):
        kind = cast(Any, type(error)).__cpp_name__
        with suppress(UnicodeDecodeError, TypeError):  # of bytes that are not UTF-8, whose exception cppyy cannot make
            said = str(what())
            return f"{kind}: {(_DETAIL.findall(said) or [(kind, said)])[-1][1]}"
        return str(kind)
    for kind, said in _DETAIL.findall(str(error)):
        if said == _UNKNOWN:
            return "an exception of another type than std::exception"
        if not hasattr(builtins, kind):  # of one overload, among the refusals of others
            return f"{kind}: {said}"
    return None


def _error(function: str, status: int) -> Exception:
    if status not in _MESSAGES:
        return StatusError(f"the C++ function {function} ended with status {status}.")
    return TapeError(f"in the C++ function {function}, {_MESSAGES[status]}")
