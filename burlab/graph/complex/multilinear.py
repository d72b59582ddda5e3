"""Products of complex matrices and vectors: linear in every operand, and so sums over the parts of all of them."""

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np

from burlab.graph.faults import unsupported
from burlab.graph.node import FUNCTIONS as REAL, UFUNCS as REAL_UFUNCS, Node
from burlab.runtime.plain import is_complex
from burlab.typing import ArrayLike

from .array import FUNCTIONS, METHODS, UFUNCS, Complex
from .complex_arithmetic import conjugate
from .parts import pair, parts

MAX_OPERANDS = 4  # complex ones of a product: each doubles the number of real products


def linear_in_each(
    name: str, function: Callable[..., Any], *operands: Any, conjugated: int | None = None, **options: Any
) -> Complex:
    """Apply a function that is linear in every operand.

    conjugated: the number of the operand whose conjugate is taken.
    """
    if sum(map(is_complex, operands)) > MAX_OPERANDS:
        raise unsupported(f"np.{name} of more than {MAX_OPERANDS} complex arrays", "two products, one after the other")
    halves = [parts(conjugate(x) if k == conjugated and is_complex(x) else x) for k, x in enumerate(operands)]
    real: Node | None = None
    imag: Node | None = None
    for chosen in product(*([0] if half[1] is None else [0, 1] for half in halves)):
        term = function(*(half[k] for half, k in zip(halves, chosen, strict=True)), **options)
        negative = sum(chosen) % 4 in (2, 3)  # i^2 = -1, i^3 = -i
        if sum(chosen) % 2:
            imag = _add_term(imag, term, negative)
        else:
            real = _add_term(real, term, negative)
    assert real is not None
    assert imag is not None  # one operand at least is complex
    return pair(real, imag)


def _add_term(total: Node | None, term: Node, negative: bool) -> Node:
    if total is None:
        return -term if negative else term
    return total - term if negative else total + term


def einsum(*operands: Any, **kwargs: Any) -> Complex:
    """Return an Einstein sum, as np.einsum, by a specification in letters."""
    if not isinstance(operands[0], str):
        raise unsupported("np.einsum of complex arrays with lists of axes", "a specification in letters, 'ij,jk->ik'")
    spec, *arrays = operands
    return linear_in_each("einsum", lambda *xs: REAL[np.einsum](spec, *xs, **kwargs), *arrays)


def _of_two(func: Callable[..., Any], conjugated: int | None = None) -> Callable[..., Complex]:
    def rule(a: ArrayLike, b: ArrayLike, *args: Any, **kwargs: Any) -> Complex:
        real = REAL_UFUNCS[func.__name__] if isinstance(func, np.ufunc) else REAL[func]

        def product_of(x: Node, y: Node) -> Node:
            return real(x, y, *args, **kwargs)

        return linear_in_each(func.__name__, product_of, a, b, conjugated=conjugated)

    return rule


_PRODUCTS = (
    np.dot, np.inner, np.outer, np.tensordot, np.kron, np.convolve, np.cross, np.linalg.matmul, np.linalg.outer,
    np.linalg.tensordot,
)  # fmt: skip
UFUNCS.update({"matmul": _of_two(np.matmul), "vecdot": _of_two(np.vecdot, conjugated=0)})
FUNCTIONS.update({f: _of_two(f) for f in _PRODUCTS})
FUNCTIONS.update({
    np.vdot: _of_two(np.vdot, conjugated=0), np.correlate: _of_two(np.correlate, conjugated=1), np.einsum: einsum,
})  # fmt: skip
METHODS["dot"] = FUNCTIONS[np.dot]
