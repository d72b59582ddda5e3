"""Ufuncs of scipy.special by SciPy's own loops: NumPy's promotion, one node, and derivatives by the table of rows."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, cast

import numpy as np

from burlab.errors import DTypeError
from burlab.graph import hooks, special_ufuncs
from burlab.graph.faults import no_derivative
from burlab.graph.linear_nodes import broadcast, concatenate, reshape, zeros
from burlab.graph.node import SPECIAL, Node, as_node
from burlab.graph.numpy_api.elementwise import trunc
from burlab.graph.numpy_api.promotion import as_dtype, common_shape
from burlab.graph.operation import Shares, Tangents, make_node
from burlab.graph.origin import location
from burlab.graph.rules import SPECIAL_COMPLEX
from burlab.graph.special_ufuncs import Loop, loop_of, ufunc_of
from burlab.runtime.plain import is_complex
from burlab.typing import ArrayLike

from .derivative_rows import ROWS, Formula

_PYTHON: dict[str, type] = {"f": float, "i": int, "b": bool}
_WHOLE = {
    **dict.fromkeys(("bdtr", "bdtrc", "bdtri"), (1,)),
    **dict.fromkeys(("nbdtr", "nbdtrc", "nbdtri"), (0, 1)),
    **dict.fromkeys(("pdtri", "smirnov", "smirnovi", "_smirnovp", "expn"), (0,)),
}
"""Arguments that SciPy cuts to whole numbers, with a warning, which a kernel cannot give."""
_ENDLESS = "obl_", "pro_"
"""Beginnings of names whose loops of float32 never end for some arguments in SciPy 1.17: those of float64 compute."""
_ORDINALS = ("first", "second", "third", "fourth", "fifth")


def by_loop(name: str) -> Callable[..., Any]:
    """Return the rule of a ufunc that SciPy's loop computes."""
    return partial(_call, name)


def _call(name: str, *values: ArrayLike) -> Any:
    """Return the node of a ufunc, or several results, with NumPy's promotion."""
    pairs = [hooks.complex_numbers().parts(v) if is_complex(v) else (as_node(v), None) for v in values]
    types = _types(name, pairs)
    narrow = name.startswith(_ENDLESS) and "f" in types
    types = types.replace("f", "d") if narrow else types
    loop = loop_of((name, types))
    shape = common_shape(name, [real for real, _ in pairs])
    inputs = [_argument(pair, code, shape) for pair, code in zip(pairs, loop.arguments, strict=True)]
    for k in _WHOLE.get(name, ()):
        if (x := inputs[k]).dtype.kind == "f":
            inputs[k] = make_node("surrogate", None, trunc(x), x)  # a derivative by it is refused, not 0
    weak = all(real.weak for real, _ in pairs) and loop.parts == 1
    results = _results(make_node("special", (name, types), *inputs, weak=weak), loop)
    if narrow:
        results = [as_dtype(y, np.dtype(np.float32)) for y in results]
    return results[0] if len(results) == 1 else tuple(results)


def _types(name: str, pairs: Sequence[tuple[Node, Node | None]]) -> str:
    """Return the loop that NumPy would choose. Raises DTypeError if there is none."""
    ufunc = ufunc_of(name)
    kinds = [_kind(real, imag) for real, imag in pairs]
    try:
        found = ufunc.resolve_dtypes((*kinds, *[None] * ufunc.nout))
    except (TypeError, ValueError):
        given = ", ".join(getattr(kind, "__name__", str(kind)) for kind in kinds)
        loops = ", ".join(ufunc.types)
        raise DTypeError(
            f"{location()}scipy.special.{name} has no loop for ({given}), only {loops} in NumPy's letters. Convert "
            "with .astype: orders that must be whole to np.int64, numbers to float."
        ) from None
    codes = "".join(dtype.char for dtype in found)
    return f"{codes[: ufunc.nin]}->{codes[ufunc.nin :]}"


def _kind(real: Node, imag: Node | None) -> Any:
    if imag is not None:
        return np.dtype(np.complex64 if real.dtype == np.float32 else np.complex128)
    return _PYTHON[real.dtype.kind] if real.weak else real.dtype


def _argument(pair: tuple[Node, Node | None], code: str, shape: tuple[int, ...]) -> Node:
    """Return an argument in the dtype of its loop, in the shape of all; of a complex one pairs."""
    return _joined(_stored(pair, code, shape))


def _stored(pair: tuple[Node | None, Node | None], code: str, shape: tuple[int, ...]) -> list[Node]:
    """Return the real part, and of a complex loop the imaginary one, in the loop's dtype; zeros where there is none."""
    dtype = np.dtype(code.lower())
    parts = pair if code in "FD" else pair[:1]
    return [zeros(shape, dtype) if part is None else broadcast(as_dtype(part, dtype), shape) for part in parts]


def _joined(parts: Sequence[Node]) -> Node:
    """Return arrays of one shape along a new last axis, or the only one as it is."""
    if len(parts) == 1:
        return parts[0]
    shape = parts[0].shape
    return concatenate([reshape(part, (*shape, 1)) for part in parts], len(shape))


def _value(x: Node, code: str) -> Any:
    """Return an argument as its formulas see it: a node, or a complex array."""
    return hooks.complex_numbers().pair(x[..., 0], x[..., 1]) if code in "FD" else x


def _results(n: Node, loop: Loop) -> list[Any]:
    """Return what an array in the layout of the results holds: nodes and complex arrays."""
    if loop.parts == 1:
        return [n]
    results, place = list[Any](), 0
    for code in loop.results:
        size = 1 + (code in "FD")
        results.append(_value(n[..., place : place + size], code) if size == 2 else n[..., place])
        place += size
    return results


def _packed(values: Sequence[Any], loop: Loop, shape: tuple[int, ...]) -> Node:
    """Return values, None where one is 0, in the layout of the results."""
    parts = list[Node]()
    for value, code in zip(values, loop.results, strict=True):
        pair = (None, None) if value is None else hooks.complex_numbers().parts(value)
        parts += _stored(pair, code, shape)
    return _joined(parts)


class _Derivatives:
    """The table, as the operation asks for it."""

    def forward(self, n: Node, tangents: Tangents) -> Node | None:
        """Return the sum of the partial derivatives by the arguments that move, each times its tangent.

        Of a function of z that is not analytic: dy/dz t + dy/d(conj z) conj(t).
        """
        loop = loop_of(n.params)
        totals: list[Any] = [None] * len(loop.results)
        for k, (x, code) in enumerate(zip(n.inputs, loop.arguments, strict=True)):
            if x not in tangents:
                continue
            tangent = _value(tangents[x], code)
            for j, (slope, mixed) in enumerate(zip(_partials(n, loop, k), _by_conjugate(n, loop, k), strict=True)):
                for factor, along in ((slope, tangent), (mixed, np.conj(tangent))):
                    if factor is not None:
                        term = factor * along
                        totals[j] = term if totals[j] is None else totals[j] + term
        if all(total is None for total in totals):
            return None
        return _packed(totals, loop, special_ufuncs.element_shape(n.inputs[0], loop.arguments[0]))

    def reverse(self, n: Node, g: Node, active: set[Node]) -> Shares:
        """Return for each active argument its partial derivatives times the cotangents of the results.

        The transpose of t -> a t + b conj(t) is g -> conj(a) g + b conj(g).
        """
        loop = loop_of(n.params)
        received = _results(g, loop)
        shares: Shares = []
        for k, (x, code) in enumerate(zip(n.inputs, loop.arguments, strict=True)):
            if x not in active:
                continue
            total: Any = None
            pairs = zip(_partials(n, loop, k), _by_conjugate(n, loop, k), received, strict=True)
            for slope, mixed, cotangent in pairs:
                for factor, along in ((_conjugate(slope), cotangent), (mixed, _conjugate(cotangent))):
                    if factor is not None:
                        term = factor * along
                        total = term if total is None else total + term
            if total is not None:
                pair = hooks.complex_numbers().parts(total)
                shares.append((x, _joined(_stored(pair, code, special_ufuncs.element_shape(x, code)))))
        return shares


def _partials(n: Node, loop: Loop, k: int) -> list[Any]:
    """Return the derivatives of all results by an argument, None for those that are 0. Raises TraceError."""
    name, row = n.params[0], ROWS[n.params[0]]
    entry = row.partials[k]
    if entry is None:
        return [None] * len(loop.results)
    if isinstance(entry, str):
        what = f"scipy.special.{name} by its {_ORDINALS[k]} argument"
        raise no_derivative(n.origin, what, f"bl.stop_gradient of that argument where it counts as constant: {entry}")
    return _evaluated(entry, n, loop)


def _by_conjugate(n: Node, loop: Loop, k: int) -> list[Any]:
    """Return the derivatives of all results by the conjugate of an argument, None for those that are 0."""
    entry = ROWS[n.params[0]].by_conjugate
    if entry is None or k != len(loop.arguments) - 1 or loop.arguments[k] not in "FD":
        return [None] * len(loop.results)
    return _evaluated(entry, n, loop)


def _evaluated(formula: Formula, n: Node, loop: Loop) -> list[Any]:
    """Return what a formula of a row gives for each result of a node."""
    values = [_value(x, code) for x, code in zip(n.inputs, loop.arguments, strict=True)]
    slopes = formula(*values, *_results(n, loop))
    return [*cast("tuple[Any, ...]", slopes)] if isinstance(slopes, tuple) else [slopes]


def _conjugate(x: Any) -> Any:
    return np.conj(x) if is_complex(x) else x


special_ufuncs.tables.append(_Derivatives())


def fill_tables() -> None:
    """Put every ufunc that has a row, and no rule yet, into the tables of real and of complex arguments."""
    for name in ROWS:
        SPECIAL.setdefault(name, by_loop(name))
        SPECIAL_COMPLEX.setdefault(name, by_loop(name))
