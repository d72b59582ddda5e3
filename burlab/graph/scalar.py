"""Scalar operations on nodes. Their rules live in C++ (`cpp/burlab/ops`), and `scalar_table.py` is written from there.

The K-th partial of an operation is an operation too, named with an apostrophe: `tanh'0` takes the argument and the
result of tanh and gives 1 - y^2; `tanh'0'1` is the derivative of that by y. In C++ they are `D<Tanh, 0>` and
`D<D<Tanh, 0>, 1>`.
"""

import ctypes
import math
import re
import threading
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

from burlab import runtime
from burlab.errors import GraphError, TraceError, UnregisteredError
from burlab.runtime.structs import CEntry, CForms

from .scalar_row import ScalarOp
from .scalar_table import ROWS

_COMPUTED, _CONSTANT, _ARGUMENT = range(3)  # burlab::Form::Kind


@dataclass(frozen=True, slots=True)
class Partial:
    """A partial derivative: a number (`constant`), an argument or the result (`argument`), else computed.

    reads: the arguments that enter, the result counted last: tanh's partial reads the result only.
    """

    constant: float | None = None
    argument: int | None = None
    reads: tuple[int, ...] = ()

    @property
    def unknown(self) -> bool:
        """True if there is no rule for it: the number is `kUnknown` of `cpp/burlab/numbers/mask.hpp`."""
        return self.constant is not None and math.isnan(self.constant)


class Parsed(NamedTuple):
    """A name taken apart: `tanh'0'1` is the operation tanh and the arguments 0, 1 that it is differentiated by."""

    row: ScalarOp
    by: tuple[int, ...]


_NAME = re.compile(r"([a-z][a-z0-9_]*)((?:'[0-7])*)")
USERS = "users"
_NOT_CONSTANT = "users::"
MAX_ARGUMENTS = 8  # arguments of what is differentiated: `Forms` has room for as many partials
_rows: dict[str, ScalarOp] = {row.name: row for row in ROWS}
_users: dict[str, ScalarOp] = {}
FAMILIES = tuple(dict.fromkeys(row.family for row in ROWS if row.family != "table"))
"""The further tables, each a header of `cpp/burlab/ops`."""
_parsed: dict[str, Parsed] = {}
_partials: dict[str, tuple[Partial, ...]] = {}
_loaded_families: set[str] = set()  # families for whose common partials an earlier session was asked
_lock = threading.RLock()


def scalar_ops() -> dict[str, ScalarOp]:
    """Return the table of scalar operations by name.

    >>> scalar_ops()["tanh"].arity
    1
    """
    return family_ops("table")


@cache
def family_ops(family: str) -> dict[str, ScalarOp]:
    """Return the operations of a further table by name.

    >>> family_ops("rounding")["floor"].doc
    'The largest whole number that is not above x. Partial 0.'
    """
    return {row.name: row for row in ROWS if row.family == family}


def add(name: str, file: str, struct: str) -> ScalarOp:
    """A row for an operation of a user's: struct is a member of namespace burlab::ops in a header."""
    if name not in _users:
        (entry,) = _read(f"entries(List<{struct}>{{}})", CEntry, (file,))
        row = ScalarOp(
            name,
            entry.arity,
            USERS,
            entry.doc.decode(),
            differentiable=entry.differentiable,
            of_floats=True,
            file=file,
            struct=struct,
        )
        _users[name] = row
    return _users[name]


def row_of(name: str) -> ScalarOp | None:
    """The operation of this name; None if there is none."""
    return _rows.get(name) or _users.get(name)


def parsed(name: str) -> Parsed:
    """The operation and the arguments that a name encodes. Raises GraphError if the table has no such name.

    >>> parsed("tanh'0'1").by
    (0, 1)
    """
    if name not in _parsed:
        parts = _NAME.fullmatch(name)
        row = row_of(parts[1]) if parts else None
        if parts is None or row is None:
            raise missing(name)
        by = tuple(map(int, parts[2].split("'")[1:]))
        if by and not (row.differentiable and _counted(row, by)):
            raise GraphError(
                f"expected a derivative of {row.name}, got {name!r}, whose order or argument it does not have."
            )
        _parsed[name] = Parsed(row, by)
    return _parsed[name]


def missing(name: str) -> GraphError:
    """The error for a name that no table has: perhaps it is that of a user's operation, with the digits of its rule."""
    found = re.fullmatch(r"(\w+)_([0-9a-f]{8})", name.partition("'")[0])
    if found is None:
        return GraphError(f"{name!r} is not an operation of this burlab.")
    others = any(row.rpartition("_")[0] == found[1] for row in _users)
    what = "is registered here with another rule" if others else "is not registered here"
    return UnregisteredError(
        f"the operation {found[1]} {what}: it is a C++ struct of a user's. Register the one that was saved, "
        f'bl.operation("{found[1]}", text), whose rule has the digits {found[2]}, and load again.'
    )


def _counted(row: ScalarOp, by: tuple[int, ...]) -> bool:
    """Return True if every order has the argument that it is taken by, which is no mask."""
    in_range = all(k < row.arity + order for order, k in enumerate(by))
    return in_range and row.arity + len(by) <= MAX_ARGUMENTS + 1 and not (row.chooses and 0 in by)


def arity(name: str) -> int:
    """Number of arguments of an operation or of a partial, whose last argument is the result of what it derives from.

    >>> arity("tanh'0'1")
    3
    """
    row, by = parsed(name)
    return row.arity + len(by)


def partials(name: str) -> tuple[Partial, ...]:
    """Return the partials of an operation, one per argument (that of a mask is 0).

    >>> partials("sub")
    (Partial(constant=1.0, argument=None, reads=()), Partial(constant=-1.0, argument=None, reads=()))
    """
    if name not in _partials:
        load_partials([name])
    return _partials[name]


def load_partials(names: Iterable[str]) -> None:
    """Read the partials of several operations together: one call of the compiler instead of many."""
    names = list(names)
    for name in names:
        if is_differentiable(name) and arity(name) > MAX_ARGUMENTS:
            base = name.partition("'")[0]
            raise TraceError(
                f"a derivative of {base} of order {name.count(chr(39)) + 1} is beyond the last that burlab computes. "
                "Derive fewer times; of polynomials written with * and + there are derivatives of any order."
            )
    with _lock:
        missing = sorted({name for name in names if name not in _partials and is_differentiable(name)})
        for family in sorted({parsed(name).row.family for name in missing} - _loaded_families - {USERS}):
            _loaded_families.add(family)
            if runtime.is_compiled(*_unit(*_forms(common := _common(family)))):
                _load(common)
        missing = [name for name in missing if name not in _partials]
        if missing:
            _load(missing)


def load_common() -> None:
    """Read the partials of all operations, and their partials, for code that is cached between sessions."""
    with _lock:
        for family in ("table", *FAMILIES):
            _load(_common(family))


def _common(family: str) -> list[str]:
    """Operations with derivatives, and their first partials."""
    rows = [row for row in (scalar_ops() if family == "table" else family_ops(family)).values() if row.differentiable]
    firsts = [f"{row.name}'{k}" for row in rows for k in range(row.arity) if _counted(row, (k,))]
    return [row.name for row in rows] + firsts


def _load(names: list[str]) -> None:
    expression, headers = _forms(names)
    for name, row in zip(names, _read(expression, CForms, headers), strict=True):
        _partials[name] = tuple(map(_partial, row.partial[: arity(name)]))


def _forms(names: list[str]) -> tuple[str, tuple[str, ...]]:
    headers = tuple(sorted({parsed(name).row.header for name in names}))
    return f"forms(List<{', '.join(map(cpp_type, names))}>{{}})", headers


def is_differentiable(name: str) -> bool:
    """Return True for the name of a scalar operation, or of a partial, that has derivatives."""
    row = row_of(name.partition("'")[0])
    return row is not None and row.differentiable


def cpp_type(name: str) -> str:
    """The C++ struct of an operation, as a member of namespace burlab::ops. Raises GraphError for other names.

    >>> cpp_type("tanh'0'1")
    'D<burlab::ops::D<burlab::ops::Tanh, 0>, 1>'
    """
    row, by = parsed(name)
    text = row.struct or "".join(word.capitalize() for word in row.name.split("_"))
    text = {"Isfinite": "IsFinite", "Isnan": "IsNan"}.get(text, text)
    for index in by:
        text = f"D<burlab::ops::{text}, {index}>"
    return text


def _unit(expression: str, headers: tuple[str, ...]) -> tuple[str, tuple[str, ...], str]:
    """Return the C++ text, compiled for the rows of a std::array that a constant expression gives."""
    # The compiler refuses constant expressions of more than a million steps, which partials of high order are.
    # Nor need the functions of users be any.
    when = "const" if "D<burlab::ops::" * 4 in expression or _NOT_CONSTANT in expression else "constexpr"
    body = (
        f"using namespace burlab::ops; {when} auto rows = {expression};"
        ' extern "C" const void* @unit_rows() { return rows.data(); }'
        ' extern "C" int @unit_count() { return int(rows.size()); }'
    )
    return body, headers, "table of operations"


def _read(expression: str, row: Any, headers: tuple[str, ...]) -> list[Any]:
    """The rows of a std::array that a constant expression of C++ gives."""
    unit = runtime.declare(*_unit(expression, headers))
    count = ctypes.CFUNCTYPE(ctypes.c_int)(runtime.address(f"{unit}_count"))()
    first = ctypes.CFUNCTYPE(ctypes.c_void_p)(runtime.address(f"{unit}_rows"))()
    return list((row * count).from_address(first))


def _partial(form: Any) -> Partial:
    reads = tuple(k for k in range(8) if form.reads >> k & 1)
    if form.kind == _CONSTANT:
        return Partial(constant=form.value)
    return Partial(argument=form.index, reads=reads) if form.kind == _ARGUMENT else Partial(reads=reads)
