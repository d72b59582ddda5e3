"""Products of complex matrices and vectors: each is linear in every operand, so it is a sum over their parts."""

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np

from burlab.graph.faults import unsupported
from burlab.graph.node import FUNCTIONS as REAL, UFUNCS as REAL_UFUNCS
from burlab.graph.numpy_api.promotion import apply
from burlab.runtime.plain import is_complex

from .arithmetic import conjugate
from .array import FUNCTIONS, METHODS, UFUNCS, Complex
from .parts import pair, parts

_MOST = 4  # complex operands of one product: each doubles the number of real ones


def linear_in_each(
    name: str, function: Callable[..., Any], *operands: Any, conjugated: int | None = None, **options: Any
) -> Complex:
    """A function that is linear in every operand. conjugated: the operand of which it takes the conjugate."""
    if sum(map(is_complex, operands)) > _MOST:
        raise unsupported(f"np.{name} of more than {_MOST} complex arrays", "two products, one after the other")
    given = [conjugate(x) if k == conjugated and is_complex(x) else x for k, x in enumerate(operands)]
    halves = [parts(x) for x in given]
    real, imag = None, None
    for chosen in product(*([0] if half[1] is None else [0, 1] for half in halves)):
        term = function(*(half[k] for half, k in zip(halves, chosen, strict=True)), **options)
        op = "sub" if sum(chosen) % 4 in (2, 3) else "add"  # i^2 = -1, i^3 = -i
        if sum(chosen) % 2:
            imag = _joined(op, imag, term)
        else:
            real = _joined(op, real, term)
    return pair(real, imag)


def _joined(op: str, total: Any, term: Any) -> Any:
    if total is None:
        return term if op == "add" else apply("neg", term)
    return apply(op, total, term)


def einsum(*operands: Any, **kwargs: Any) -> Complex:
    """np.einsum by a specification in letters."""
    if not isinstance(operands[0], str):
        raise unsupported("np.einsum of complex arrays with lists of axes", "a specification in letters, 'ij,jk->ik'")
    spec, *arrays = operands
    return linear_in_each("einsum", lambda *xs: REAL[np.einsum](spec, *xs, **kwargs), *arrays)


def _of_two(func: Any, conjugated: int | None = None) -> Callable[..., Any]:
    def rule(a: Any, b: Any, *args: Any, **kwargs: Any) -> Complex:
        real = REAL_UFUNCS[func.__name__] if isinstance(func, np.ufunc) else REAL[func]

        def product_of(x: Any, y: Any) -> Any:
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
