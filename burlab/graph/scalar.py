"""Scalar operations on nodes. Their rules live in C++ (`cpp/burlab/ops`); Python reads the table from there.

The K-th partial of an operation is an operation too, named with an apostrophe: `tanh'0` takes the argument and the
result of tanh and gives 1 - y^2; `tanh'0'1` is the derivative of that by y. In C++ they are `D<Tanh, 0>` and
`D<D<Tanh, 0>, 1>`.
"""

import ctypes
import re
import threading
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

from burlab import runtime
from burlab.errors import GraphError, TraceError

_COMPUTED, _CONSTANT, _ARGUMENT = range(3)  # burlab::Form::Kind


@dataclass(frozen=True, slots=True)
class ScalarOp:
    """One row of the C++ table: name, documentation, number of arguments, and whether it has a derivative.

    Comparisons and logic have none: their results are masks.
    """

    name: str
    doc: str
    arity: int
    differentiable: bool


@dataclass(frozen=True, slots=True)
class Partial:
    """What a partial derivative is: a number (`constant`), an argument or the result (`argument`), else computed.

    reads: the arguments that enter, the result counted last: tanh's partial reads the result only.
    """

    constant: float | None = None
    argument: int | None = None
    reads: tuple[int, ...] = ()


class _CEntry(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_char_p),
        ("doc", ctypes.c_char_p),
        ("arity", ctypes.c_int),
        ("differentiable", ctypes.c_bool),
    )


class _CForm(ctypes.Structure):
    _fields_ = (("kind", ctypes.c_int), ("value", ctypes.c_double), ("index", ctypes.c_int), ("reads", ctypes.c_uint))


class _CForms(ctypes.Structure):
    _fields_ = (("partial", _CForm * 8),)


class Parsed(NamedTuple):
    """A name taken apart: `tanh'0'1` is the operation tanh and the arguments 0, 1 that it is differentiated by."""

    row: ScalarOp
    by: tuple[int, ...]


_NAME = re.compile(r"([a-z][a-z0-9_]*)((?:'[0-7])*)")
FLOAT_ONLY = frozenset(
    "exp expm1 log log1p sqrt sin cos tan arctan arctan2 sinh cosh tanh arctanh div "
    "erf erfc sigmoid softplus gelu silu isfinite isnan".split()
)
"""Functions of floats alone, to which integers are converted. What bears the name of a NumPy ufunc is traced as it."""
_MOST = 8  # arguments of what is differentiated: `Forms` has room for as many partials
_ops: dict[str, ScalarOp] = {}
_parsed: dict[str, Parsed] = {}
_partials: dict[str, tuple[Partial, ...]] = {}
_lock = threading.RLock()


def scalar_ops() -> dict[str, ScalarOp]:
    """The table of scalar operations by name, read from C++ at the first call.

    >>> scalar_ops()["tanh"].arity
    1
    """
    if not _ops:
        with _lock:
            rows = _read("entries(Scalar{})", _CEntry)
            _ops.update(
                (r.name.decode(), ScalarOp(r.name.decode(), r.doc.decode(), r.arity, r.differentiable)) for r in rows
            )
    return _ops


def parsed(name: str) -> Parsed:
    """The operation and the arguments that a name says. Raises GraphError where the table gives it no meaning.

    >>> parsed("tanh'0'1").by
    (0, 1)
    """
    if name not in _parsed:
        words = _NAME.fullmatch(name)
        row = scalar_ops().get(words[1]) if words else None
        if words is None or row is None:
            raise GraphError(f"{name!r} is no operation that this burlab has.")
        by = tuple(map(int, words[2].split("'")[1:]))
        if by and not (row.differentiable and _counted(row, by)):
            raise GraphError(f"{name!r} is no derivative: {row.name} has none of that order or by that argument.")
        _parsed[name] = Parsed(row, by)
    return _parsed[name]


def _counted(row: ScalarOp, by: tuple[int, ...]) -> bool:
    """Whether every order has the argument that it is taken by; a mask is none to differentiate by."""
    there = all(k < row.arity + order for order, k in enumerate(by))
    return there and row.arity + len(by) <= _MOST + 1 and not (row.name == "where" and 0 in by)


def arity(name: str) -> int:
    """Number of arguments of an operation or of a partial, whose last argument is the result of what it derives from.

    >>> arity("tanh'0'1")
    3
    """
    row, by = parsed(name)
    return row.arity + len(by)


def partials(name: str) -> tuple[Partial, ...]:
    """What the partials of an operation are, one per argument (that of a mask is 0).

    >>> partials("sub")
    (Partial(constant=1.0, argument=None, reads=()), Partial(constant=-1.0, argument=None, reads=()))
    """
    if name not in _partials:
        load_partials([name])
    return _partials[name]


def load_partials(names: Iterable[str]) -> None:
    """Read what the partials of several operations are in one go: one call of the compiler instead of many."""
    names = list(names)
    for name in names:
        if is_differentiable(name) and arity(name) > _MOST:
            base = name.partition("'")[0]
            raise TraceError(
                f"a derivative of {base} of order {name.count(chr(39)) + 1} is beyond the last that burlab computes. "
                "Derive fewer times; of polynomials written with * and + there are derivatives of any order."
            )
    with _lock:
        missing = sorted({name for name in names if name not in _partials and is_differentiable(name)})
        if missing and not _partials and runtime.kept(*_unit(_forms(common := _common()))):
            _load(common)
            missing = [name for name in missing if name not in _partials]
        if missing:
            _load(missing)


def load_common() -> None:
    """Read what the partials of all operations, and their partials, are: for code that is kept between sessions."""
    with _lock:
        _load(_common())


def _common() -> list[str]:
    """Operations with derivatives, and their first partials."""
    rows = [row for row in scalar_ops().values() if row.differentiable]
    firsts = [f"{row.name}'{k}" for row in rows for k in range(row.arity) if _counted(row, (k,))]
    return [row.name for row in rows] + firsts


def _load(names: list[str]) -> None:
    for name, row in zip(names, _read(_forms(names), _CForms), strict=True):
        _partials[name] = tuple(map(_partial, row.partial[: arity(name)]))


def _forms(names: list[str]) -> str:
    return f"forms(List<{', '.join(map(cpp_type, names))}>{{}})"


def is_differentiable(name: str) -> bool:
    """Whether the name is that of a scalar operation, or of a partial, that has derivatives."""
    row = scalar_ops().get(name.partition("'")[0])
    return row is not None and row.differentiable


def is_mask(name: str) -> bool:
    """Whether a scalar operation gives a mask: comparisons, tests and logic. Their names have no partials."""
    return not is_differentiable(name)


def cpp_type(name: str) -> str:
    """The C++ struct of an operation, as a member of namespace burlab::ops. Raises GraphError for other names.

    >>> cpp_type("tanh'0'1")
    'D<burlab::ops::D<burlab::ops::Tanh, 0>, 1>'
    """
    row, by = parsed(name)
    text = "".join(word.capitalize() for word in row.name.split("_"))
    text = {"Isfinite": "IsFinite", "Isnan": "IsNan"}.get(text, text)
    for index in by:
        text = f"D<burlab::ops::{text}, {index}>"
    return text


def _unit(expression: str) -> tuple[str, tuple[str, ...], str]:
    """What is compiled for the rows of a std::array that a constant expression of C++ gives."""
    # The compiler refuses constant expressions of more than a million steps, which partials of high order are.
    when = "const" if "D<burlab::ops::" * 4 in expression else "constexpr"
    body = (
        f"using namespace burlab::ops; {when} auto rows = {expression};"
        ' extern "C" const void* @unit_rows() { return rows.data(); }'
        ' extern "C" int @unit_count() { return int(rows.size()); }'
    )
    return body, ("burlab/ops/table.hpp",), "table of operations"


def _read(expression: str, row: Any) -> list[Any]:
    """The rows of a std::array that a constant expression of C++ gives."""
    unit = runtime.declare(*_unit(expression))
    count = ctypes.CFUNCTYPE(ctypes.c_int)(runtime.address(f"{unit}_count"))()
    first = ctypes.CFUNCTYPE(ctypes.c_void_p)(runtime.address(f"{unit}_rows"))()
    return list((row * count).from_address(first))


def _partial(form: Any) -> Partial:
    reads = tuple(k for k in range(8) if form.reads >> k & 1)
    if form.kind == _CONSTANT:
        return Partial(constant=form.value)
    return Partial(argument=form.index, reads=reads) if form.kind == _ARGUMENT else Partial(reads=reads)
