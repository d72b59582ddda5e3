"""np.linalg.eig and eigvals: eigenvalues and eigenvectors of matrices that need not be symmetric.

Results are complex arrays, whatever the numbers: which eigenvalues are real is not known while a function is traced.
Vectors have norm 1 and are real in their largest entry, as LAPACK's; their derivatives are those of exactly these
vectors (Giles 2008, section 3.1, for the values; Magnus 1985, theorem 2, for normalized vectors). Where eigenvalues are
repeated, derivatives of vectors are inf or nan; of a matrix with fewer than n vectors, those of the values are wrong:
derivatives lose as many digits as the condition number of the vectors has.
"""
# ruff: noqa: D102 - Operation documents the methods

from collections.abc import Sequence
from typing import Any

import numpy as np

from burlab.graph import hooks
from burlab.graph.implied import RULES, Factorization, ImplicitRule, implied, without_derivative
from burlab.graph.linear_nodes import concatenate, reshape
from burlab.graph.node import FUNCTIONS as REAL, Node, constant
from burlab.graph.numpy_api.arguments import LinAlgError
from burlab.graph.numpy_api.elementwise import where
from burlab.graph.numpy_api.reduction import as_floats
from burlab.graph.operation import make_node, structural
from burlab.graph.origin import location
from burlab.graph.signatures import FLOATS, Form, require
from burlab.graph.tally import Tally, halves
from burlab.runtime.checks.stored import flag, record
from burlab.typing import ArrayLike

from .array import FUNCTIONS, Complex
from .complex_arithmetic import multiply
from .parts import parts


@structural
class Eig(Factorization):
    """Eigenvalues as pairs; then, if the first parameter says so, a matrix of pairs whose columns are eigenvectors.

    The second parameter: whether the matrix holds pairs.
    """

    name = "eig"
    parameters = record(flag, flag)

    def form(self, params: tuple[bool, bool], inputs: Sequence[Node]) -> Form:
        require(len(inputs) == 1, "it needs one input")
        (a,), (vectors, is_complex) = inputs, params
        shape: tuple[int, ...] = a.shape[:-1] if is_complex else a.shape
        require(not is_complex or a.shape[-1:] == (2,), "its numbers are pairs")
        require(len(shape) > 1 and a.dtype in FLOATS, "it needs matrices of floats")
        rows, n = a.shape[-2 - is_complex], a.shape[-1 - is_complex]
        require(rows == n, "its matrices are not square")
        return (*shape[:-2], 2 * n + 2 * n * n * vectors), a.dtype

    def tally(self, n: Node) -> Tally:
        """Return 10 n^3 flops, with vectors 25 n^3: Golub and Van Loan 2013, section 7.5; of pairs 4 times as many."""
        (a,) = n.inputs
        vectors, is_complex = bool(n.params[0]), bool(n.params[1])
        k = a.shape[-1 - is_complex]
        each = (25 if vectors else 10) * k**3 * (4 if is_complex else 1)
        return halves(each).times(a.size // max(k * k * (1 + is_complex), 1))


def eig(a: ArrayLike) -> Any:
    """Return eigenvalues, and eigenvectors as columns, as np.linalg.eig of complex matrices."""
    x, is_complex = _given(a, "np.linalg.eig")
    return _EIG(*_unpacked(_system(x, _factored(x, True, is_complex)), _size(x, is_complex)))


def eigvals(a: ArrayLike) -> Complex:
    """Return eigenvalues, as np.linalg.eigvals of complex matrices. Their derivative computes the vectors as well."""
    x, is_complex = _given(a, "np.linalg.eigvals")
    values = implied("eig_values", _factored(x, False, is_complex), x, _factored(x, True, is_complex))
    return _pairs(values)


def _given(a: ArrayLike, name: str) -> tuple[Node, bool]:
    """Return matrices of real numbers, or of pairs."""
    real, imag = parts(a)
    x = as_floats(real)
    if x.ndim < 2 or x.shape[-1] != x.shape[-2]:
        raise LinAlgError(f"{location()}{name} needs square matrices, got an array of shape {x.shape}.")
    return (x, False) if imag is None else (_packed(Complex(x, imag)), True)


def _size(x: Node, is_complex: bool) -> int:
    return x.shape[-2] if is_complex else x.shape[-1]


def _factored(x: Node, vectors: bool, is_complex: bool) -> Node:
    return make_node("eig", (vectors, is_complex), without_derivative(x))


def _system(x: Node, packed: Node) -> Node:
    """Return what the kernel gave, as a function of the matrix."""
    return implied("eig_system", packed, x, packed)


def _packed(z: Complex) -> Node:
    """Return pairs along a new last axis."""
    return concatenate([reshape(part, (*z.shape, 1)) for part in (z.real, z.imag)], z.ndim)


def _pairs(x: Node) -> Complex:
    """Return the complex numbers of a row of pairs."""
    y = reshape(x, (*x.shape[:-1], x.shape[-1] // 2, 2))
    return Complex(y[..., 0], y[..., 1])


def _unpacked(packed: Node, n: int) -> tuple[Complex, Complex]:
    """Return the eigenvalues and the matrix of eigenvectors."""
    v = _pairs(packed[..., 2 * n :])
    shape = (*packed.shape[:-1], n, n)
    return _pairs(packed[..., : 2 * n]), Complex(reshape(v.real, shape), reshape(v.imag, shape))


def _change(n: Node, change: Node) -> tuple[Complex, Complex, Complex]:
    """Return values, vectors, and the change of the matrix in the basis of the vectors."""
    _, x, known = n.inputs
    is_complex = known.inputs[0].params[1] if known.op == "implied" else known.params[1]
    w, v = _unpacked(_system(x, known), _size(x, is_complex))
    moved: Any = Complex(change[..., 0], change[..., 1]) if is_complex else change
    return w, v, FUNCTIONS[np.linalg.solve](v, moved @ v)


def _diagonal(z: Any) -> Complex:
    return FUNCTIONS[np.diagonal](z, 0, -2, -1)


def _values_forward(n: Node, change: Node) -> Node:
    packed = _packed(_diagonal(_change(n, change)[2]))
    return reshape(packed, n.shape)


def _system_forward(n: Node, change: Node) -> Node:
    w, v, inner = _change(n, change)
    size = w.shape[-1]
    same = constant(np.eye(size, dtype=bool))
    gaps = w[..., None, :] - w[..., :, None]
    apart = Complex(where(same, 1.0, gaps.real), where(same, 0.0, gaps.imag))
    quotient = inner / apart
    turned: Any = v @ Complex(where(same, 0.0, quotient.real), where(same, 0.0, quotient.imag))
    along = REAL[np.sum](v.real * turned.real + v.imag * turned.imag, axis=-2, keepdims=True)
    moved: Any = turned - multiply(v, along)  # the norm stays 1
    angle = REAL[np.sum](_largest(v) * moved.imag, axis=-2, keepdims=True)
    moved = moved + multiply(v, Complex(0.0 * angle, -angle))  # the largest entry stays real
    values, vectors = _packed(_diagonal(inner)), _packed(moved)
    rows = [reshape(x, (*n.shape[:-1], 2 * k)) for x, k in ((values, size), (vectors, size * size))]
    return concatenate(rows, n.ndim - 1)


def _largest(v: Complex) -> Node:
    """Return in each column 1 / v_k where the largest entry v_k that is real stands, and 0 elsewhere."""
    squares = make_node("stop_gradient", None, where(v.imag == 0.0, v.real * v.real, -1.0))
    place = REAL[np.argmax](squares, axis=-2, keepdims=True)
    here = place == constant(np.arange(v.shape[-1])[:, None])
    return where(here, 1.0 / where(here, v.real, 1.0), 0.0)


def _transposed(n: Node, g: Node) -> Node:
    """Return the cotangent of the matrix: the forward rule, which is linear in the change, transposed."""
    probe = without_derivative(n.inputs[1])  # the change; its numbers do not enter
    moved = RULES[n.params].forward(n, probe)
    assert moved is not None
    return hooks.sweeps.vjp([moved], [probe], [g])[0]


RULES["eig_values"] = ImplicitRule(_values_forward, _transposed)
RULES["eig_system"] = ImplicitRule(_system_forward, _transposed)
_EIG: Any = type(np.linalg.eig(np.eye(1)))
for _table in (REAL, FUNCTIONS):
    _table.update({np.linalg.eig: eig, np.linalg.eigvals: eigvals})
