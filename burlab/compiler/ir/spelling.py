"""The spelling of scalar operations in generated C++.

The rule of an operation is its struct in `cpp/burlab/ops`. A call of it costs the just-in-time compiler 0.2 ms, a
formula 10 us, so short formulas, which the structs have written, stand in the text of kernels. All others are called,
as functions that are compiled once.
"""

import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from burlab.graph import Node
from burlab.graph.scalar import cpp_type, parsed
from burlab.graph.scalar_table import ROWS
from burlab.runtime.dtypes import DTYPES, KNOWN_DTYPES, NARROW_FLOATS, is_narrow_float

from .library import LibraryKernel


class _ByDtype(dict["np.dtype[Any]", str]):
    """Text by dtype. A dtype of another package is looked up by its name when it is first met."""

    def __init__(self, by_name: Mapping[str, str]) -> None:
        super().__init__({DTYPES[name]: text for name, text in by_name.items() if name in DTYPES})
        self._by_name = by_name

    def __missing__(self, dtype: "np.dtype[Any]") -> str:
        self[dtype] = text = self._by_name[dtype.name]
        return text


_ROWS = (*KNOWN_DTYPES, *NARROW_FLOATS)
NAMES = _ByDtype({row.name: row.name for row in _ROWS})  # dtype.name computes it anew each time
C_TYPES = _ByDtype({row.name: row.c_type for row in _ROWS})
RINGS = {
    dtype: C_TYPES[np.dtype(f"u{name}")] if dtype.kind == "i" else C_TYPES[dtype] for name, dtype in DTYPES.items()
}
"""The types in which kernels add and multiply: whole numbers wrap around, which C++ promises of unsigned ones only."""

# {0} {1} ... are the arguments, for a partial followed by the result; {T} is the number type, {U} the unsigned type in
# which integers wrap around.
FORMULAS = {row.name: row.formula for row in ROWS if row.formula} | {
    f"{row.name}'{k}": text for row in ROWS for k, text in enumerate(row.partials) if text
}
INTEGER_FORMULAS = {row.name: row.integer_formula for row in ROWS if row.integer_formula}
# Declared in the text of every kernel that calls them, see `numbers/simd.hpp`.
_NARROW = {"float16": "burlab::Half", "bfloat16": "burlab::Bfloat16"}  # structs that widen a number
_ROUNDED = {"float16": "burlab::ToHalf", "bfloat16": "burlab::ToBfloat16"}  # structs that round a float
ROOTS = {
    "burlab_sqrt": 'extern "C" double burlab_sqrt(double) noexcept __asm__("sqrt") __attribute__((const));',
    "burlab_sqrtf": 'extern "C" float burlab_sqrtf(float) noexcept __asm__("sqrtf") __attribute__((const));',
}


def is_own(n: Node) -> bool:
    """Return True if functions of our own compute a node, which become SIMD lanes (`numbers/lane.hpp`)."""
    facts, derived = n.row.scalar, n.row.order
    if n.dtype.kind != "f":
        return False
    if facts.has_own_orders:
        return _order(n) + derived <= facts.max_own_order
    return facts.own_lanes or facts.first_own <= derived <= facts.last_own


def _order(n: Node) -> float:
    """The first argument of a node, the order of a function, where it is one known number; else inf."""
    known = n.inputs[0].known
    return abs(float(known.item())) if known is not None and known.size == 1 else math.inf


def formula(n: Node) -> str | None:
    """The formula of an elementwise node, or None if a library function must be called."""
    if n.op == "convert":
        return None if is_of_narrow(n) else _conversion(n.inputs[0].dtype, n.dtype)
    return (INTEGER_FORMULAS if n.dtype.kind in "iu" else FORMULAS).get(n.op)


def is_of_narrow(n: Node) -> bool:
    """Return True for the conversion of a narrow float, or to one."""
    return n.op == "convert" and (is_narrow_float(n.inputs[0].dtype) or is_narrow_float(n.dtype))


def _conversion(given: np.dtype[Any], wanted: np.dtype[Any]) -> str:
    """A twin of `burlab::converted`."""
    if given.kind != "f" or wanted.kind not in "iu":
        return "static_cast<{T}>({0})"
    suffix = "f" * (given.itemsize == 4)
    wide = wanted.itemsize == 8 or NAMES[wanted] == "uint32"
    bound = f"{2.0 ** (63 if wide else 31)!r}{suffix}"
    kind, least = ("long", "-9223372036854775807 - 1") if wide else ("int", "-2147483647 - 1")
    cut = f"(({{x}} >= -{bound}) & ({{x}} < {bound})) ? {kind}({{x}}) : {least}"
    if NAMES[wanted] != "uint64":
        return f"{{T}}({cut.format(x='{0}')})"
    high = "{T}(1) << 63"
    less, more = (f"{{T}}({cut.format(x=x)})" for x in ("{0}", f"({{0}} - {bound})"))
    return f"{{0}} < {bound} ? {less} : {{0}} >= {bound} ? {more} ^ {high} : {high}"


def is_arithmetic(n: Node) -> bool:
    """Return True if a node consists of + - * / of its arguments, which packets of floats can compute."""
    text = formula(n) if n.dtype.kind == "f" else None
    return text is not None and set("?<>=!&|:_").isdisjoint(text)


def has_lanes(n: Node) -> bool:
    """Return True if the operation works on SIMD lanes: Cling makes no packets of libm's functions."""
    text = formula(n)
    if text is None:
        return is_of_narrow(n) or n.op == "multiply_add" or is_own(n) or _is_derived(n)
    return "std::" not in text.replace("std::fabs", "")


def _is_derived(n: Node) -> bool:
    """Return True for a higher derivative of an operation that is arithmetic, and so are its derivatives."""
    return bool(n.row.scalar.formula) and n.row.order > 0 and n.dtype.kind == "f"


def has_common_lanes(n: Node) -> bool:
    """Return True if lanes compute a node for common arguments, and tell others apart (`codegen/stages.py`)."""
    return n.row.scalar.common_lanes and not n.row.order and n.dtype.kind == "f"


def has_lanes_in_replay(n: Node) -> bool:
    """The same of replay, whose loops are made before any number is known, that of an order too."""
    return has_lanes(n) and not n.row.scalar.has_own_orders


def is_chain(n: Node) -> bool:
    """Return True if an element is a chain of 30 dependent operations: the angle of a double is reduced."""
    return n.itemsize == 8 and n.dtype.kind == "f" and n.row.scalar.long_chain


def rule(n: Node) -> str:
    """The C++ struct that computes a node; "" for a conversion between types of C++, which has none."""
    if is_of_narrow(n):
        return _ROUNDED[NAMES[n.dtype]] if is_narrow_float(n.dtype) else _NARROW[NAMES[n.inputs[0].dtype]]
    if not n.row.scalar.name:
        return ""
    op = f"burlab::ops::{cpp_type(n.op)}"
    own = (is_own(n) or _is_derived(n)) and not n.row.scalar.has_own_orders
    return f"burlab::Own<{op}>" if own else op


def function(n: Node, lanes: bool) -> LibraryKernel:
    """The library function that computes one element of a node; lanes: for a loop that becomes SIMD code.

    What is short is made part of its loop: what works on lanes, on integers, and what is `inlined`.
    """
    result = C_TYPES[n.dtype]
    types = [C_TYPES[x.dtype] for x in n.inputs]
    symbol = f"burlab_{n.op.replace(chr(39), '_')}_{_argument_dtype(n)}{'_lane' * lanes}"
    parameters = ", ".join(f"{t} x{k}" for k, t in enumerate(types))
    arguments = ", ".join(f"x{k}" for k in range(len(types)))
    if n.op == "multiply_add":
        fused = f"BURLAB_INLINE {result} {symbol}({parameters}) noexcept {{ BURLAB_FUSED return x0 * x1 + x2; }}\n"
        return LibraryKernel(symbol, f"BURLAB_BEGIN\n{fused}BURLAB_END\n", "burlab/numbers/simd.hpp")
    if is_of_narrow(n):
        symbol = f"{symbol}_{NAMES[n.dtype]}"
        text = f"BURLAB_INLINE {result} {symbol}({parameters}) noexcept {{ return {rule(n)}::primal(x0); }}\n"
        return LibraryKernel(symbol, f"BURLAB_BEGIN\n{text}BURLAB_END\n", "burlab/numbers/narrow.hpp")
    row = parsed(n.op).row
    short = lanes or n.dtype.kind in "iu" or (row.inlined and not n.row.order)
    kind = "BURLAB_INLINE" if short else 'extern "C" __attribute__((noinline))'
    struct = f"burlab::Common<burlab::ops::{cpp_type(n.op)}>" if lanes and has_common_lanes(n) else rule(n)
    text = f"{kind} {result} {symbol}({parameters}) noexcept {{ return {struct}::primal({arguments}); }}\n"
    alone = row.own_lanes and row.of_floats and not n.row.order  # `ops/own.hpp` holds all that it computes with
    return LibraryKernel(symbol, text, row.kernels or f"burlab/{'ops/own' if alone else 'kernels/elementwise'}.hpp")


def fits(n: Node) -> LibraryKernel:
    """The library function that says whether lanes have computed one element of a node: of arguments and result."""
    types = [*(C_TYPES[x.dtype] for x in n.inputs), C_TYPES[n.dtype]]
    symbol = f"burlab_{n.op}_{_argument_dtype(n)}_fits"
    parameters = ", ".join(f"{t} x{k}" for k, t in enumerate(types))
    arguments = ", ".join(f"x{k}" for k in range(len(types)))
    test = f"burlab::ops::{cpp_type(n.op)}::fits({arguments})"
    text = f"BURLAB_INLINE bool {symbol}({parameters}) noexcept {{ return {test}; }}\n"
    return LibraryKernel(symbol, text, parsed(n.op).row.kernels)


def loops(op: str, header: str) -> str:
    """The header with a loop over an operation: the one of `kernels/` that is given, or that of the operation's family.

    >>> loops("tanh", "elementwise"), loops("floor", "elementwise")
    ('elementwise', 'burlab/kernels/families/rounding.hpp')
    """
    return header if op == "convert" else parsed(op).row.kernels or header


def _argument_dtype(n: Node) -> str:
    return NAMES[n.inputs[-1].dtype]


def spelled(n: Node, arguments: list[str], lanes: bool = False) -> str:
    """The C++ expression of an elementwise node. lanes: whether it stands in a loop that becomes SIMD code."""
    text = formula(n)
    if text is not None:
        wrapping = "std::uint64_t" if n.itemsize == 8 else "std::uint32_t"
        return text.format(*arguments, T=C_TYPES[n.dtype], U=wrapping, suffix="f" if n.itemsize == 4 else "")
    return f"{function(n, lanes).symbol}({', '.join(arguments)})"


def called(nodes: Iterable[Node], text: str) -> list[LibraryKernel]:
    """The library functions that the expressions of elementwise nodes call in a text, in its order."""
    apart = [n for n in nodes if formula(n) is None]
    functions = [f for n in apart for f in (function(n, False), function(n, True))]
    functions += [fits(n) for n in apart if has_common_lanes(n)]
    found = {f: text.find(f"{f.symbol}(") for f in functions}
    return sorted((f for f, at in found.items() if at >= 0), key=found.__getitem__)


def literal(value: Any, dtype: np.dtype[Any]) -> str:
    """A number as C++ text that reads back as exactly this number.

    >>> literal(0.1, np.dtype("float32")), literal(-1.0, np.dtype("float64")), literal(True, np.dtype(bool))
    ('0.10000000149011612f', '(-1.0)', 'true')
    """
    number = dtype.type(value).item()
    if dtype.kind == "b":
        return "true" if number else "false"
    kind = C_TYPES[dtype]
    if dtype.kind == "f":
        suffix = "f" if dtype.itemsize == 4 else ""
        if math.isnan(number):
            text = f'__builtin_nan{suffix}("")'
        elif math.isinf(number):
            text = f"__builtin_inf{suffix}()"
        else:
            text = repr(abs(number)) + suffix
        return f"(-{text})" if math.copysign(1, number) < 0 and not math.isnan(number) else text
    if number == np.iinfo(np.int64).min:
        return "(-9223372036854775807 - 1)"
    return f"{kind}({number}{'u' * (dtype.kind == 'u')})"
