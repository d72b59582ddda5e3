"""Recognition of products that are functions of matrices by eigenvalues or singular values.

`(v * np.exp(w)) @ v.T`, `v @ np.diag(f) @ v.T`, `np.einsum("ij,j,kj->ik", v, f, v)`, `v[:, :2] @ v[:, :2].T`,
`(u * f) @ vt`, `u[:, :2] @ u[:, :2].T`: two operands that are eigenvectors or singular vectors of one matrix, each
times a number, summed over all of them.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from burlab.graph.linear_nodes import broadcast, pad
from burlab.graph.node import Node, constant
from burlab.graph.numpy_api.products import SEEN

from .eigenvalue_reader import settled
from .generalized import SIDES, by_singular_values
from .matrix_functions import spectral


class _Scaled(NamedTuple):
    """Vectors times numbers: v[:, window] * f, or its transpose. eigen: the axis that counts the vectors."""

    v: Node
    eigen: int
    window: tuple[int, int, int]
    factors: tuple[Node, ...]


def _scaled(x: Node) -> _Scaled | None:
    if x.op == "implied":
        eigen = x.ndim - 1 - (x.params == "right vectors")
        return _Scaled(x, eigen, (0, 1, x.shape[eigen]), ()) if x.params in ("eigenvectors", *SIDES) else None
    if x.op not in _SCALINGS:
        return None
    return _SCALINGS[x.op](x)


def _transposed(x: Node) -> _Scaled | None:
    inner = _scaled(x.inputs[0])
    last = (*range(x.ndim - 2), x.ndim - 1, x.ndim - 2)
    return inner._replace(eigen=2 * x.ndim - 3 - inner.eigen) if inner and x.params == last else None


def _sliced(x: Node) -> _Scaled | None:
    inner = _scaled(x.inputs[0])
    if inner is None or inner.factors or inner.window != (0, 1, x.inputs[0].shape[inner.eigen]):
        return None
    start, step, shape = x.params
    others = [k for k in range(x.ndim) if k != inner.eigen]
    if any(start[k] or step[k] != 1 or shape[k] != x.inputs[0].shape[k] for k in others):
        return None
    return inner._replace(window=(start[inner.eigen], step[inner.eigen], shape[inner.eigen]))


def _completed(x: Node) -> _Scaled | None:
    """Recognize singular vectors that are completed to a basis."""
    inner, rest = _scaled(x.inputs[0]), x.inputs[-1]
    if inner is None or inner.factors or x.params != inner.eigen or (rest.op, rest.params) != ("implied", "complement"):
        return None
    return inner._replace(window=(0, 1, x.shape[inner.eigen]))


def _multiplied(x: Node) -> _Scaled | None:
    for one, other in (x.inputs, x.inputs[::-1]):
        if inner := _scaled(one):
            factor = _along(other, inner.eigen)
            return inner._replace(factors=(*inner.factors, factor)) if factor is not None else None
    return None


def _divided(x: Node) -> _Scaled | None:
    inner = _scaled(x.inputs[0])
    factor = inner and _along(x.inputs[1], inner.eigen)
    if inner is None or factor is None:
        return None
    return inner._replace(factors=(*inner.factors, constant(1.0, x.dtype) / factor))


def _negative(x: Node) -> _Scaled | None:
    inner = _scaled(x.inputs[0])
    if inner is None:
        return None
    minus = broadcast(constant(-1.0, x.dtype), _vector(x, inner.eigen))
    return inner._replace(factors=(*inner.factors, minus))


def _vector(x: Node, eigen: int) -> tuple[int, ...]:
    return (*x.shape[:-2], x.shape[eigen])


def _along(x: Node, eigen: int) -> Node | None:
    """Return the numbers, one for each vector, that are broadcast over the entries of vectors; None for any others."""
    entries = 2 * x.ndim - 3 - eigen
    if x.op != "broadcast" or entries in x.params[1]:
        return None
    axes = tuple(a - (a > entries) for a in x.params[1])
    return settled(broadcast(x.inputs[0], _vector(x, eigen), axes))


def _contracted(x: Node) -> _Scaled | None:
    """Recognize a product with a diagonal matrix: v @ np.diag(f), np.diag(f) @ v.T, np.einsum("ij,j->ij", v, f)."""
    ins, out = x.params.split("->")
    terms = ins.split(",")
    for k, one in enumerate(x.inputs):
        inner = _scaled(one)
        if inner is None:
            continue
        term, beside, other = terms[k], terms[1 - k], x.inputs[1 - k]
        letter = term[inner.eigen]
        if out == term and beside in (letter, term[:-2] + letter):
            lead = (*range(len(term) - 2), len(term) - 2) if len(beside) > 1 else (len(term) - 2,)
            factor = broadcast(other, _vector(x, inner.eigen), lead)
            return inner._replace(factors=(*inner.factors, factor))
        f = _diagonal(other)
        renamed = [beside.replace(letter, "", 1)] if letter in beside else []
        if f is None or len(beside) != 2 or not renamed or term.replace(letter, renamed[0]) != out:
            return None
        return inner._replace(factors=(*inner.factors, broadcast(f, _vector(x, inner.eigen))))
    return None


def _diagonal(x: Node) -> Node | None:
    """Return the diagonal of a matrix that np.diag has made, else None."""
    if x.op != "where" or x.ndim != 2 or x.shape[0] != x.shape[1]:
        return None
    mask, inside, outside = x.inputs
    n = x.shape[0]
    zero = outside.inputs[0] if outside.op == "broadcast" else outside
    if not (mask.is_constant and zero.is_constant) or np.any(zero.params) or not np.array_equal(mask.params, np.eye(n)):
        return None
    if inside.op != "gather" or inside.params or not inside.inputs[1].is_constant or inside.inputs[0].shape != (n,):
        return None
    return inside.inputs[0] if np.array_equal(np.diag(inside.inputs[1].params), np.arange(n)) else None


_SCALINGS: dict[str, Callable[[Node], _Scaled | None]] = {
    "transpose": _transposed, "slice": _sliced, "mul": _multiplied, "div": _divided, "neg": _negative,
    "contract": _contracted, "concatenate": _completed,
}  # fmt: skip


def recognized(product: Node) -> Node | None:
    """Return a product of matrices as a function of eigenvalues or singular values, or None if it is not one."""
    if product.op != "contract":
        return None
    left, right = (_scaled(x) for x in product.inputs)
    if left is None or right is None or left.window != right.window or not _of_one_matrix(left.v, right.v):
        return None
    ins, out = product.params.split("->")
    first, second = ins.split(",")
    (i, j), letter = (t[2 * len(t) - 3 - s.eigen] for t, s in ((first, left), (second, right))), first[left.eigen]
    lead = first[:-2]
    if second[right.eigen] != letter or second[:-2] != lead or out not in (lead + i + j, lead + j + i):
        return None
    values = left.v.inputs[2]
    start, step, count = left.window
    if start + step * (count - 1) >= values.shape[-1]:
        return None
    shape = (*values.shape[:-1], count)
    f = broadcast(constant(1.0, values.dtype), shape)
    for k, factor in enumerate((*left.factors, *right.factors)):
        f = f * factor if k else factor
    if count != values.shape[-1]:
        f = pad(f, (*(0 for _ in lead), start), (*(1 for _ in lead), step), values.shape)
    if left.v.params not in SIDES:
        return spectral(product, left.v, f)
    return by_singular_values(product, *((left.v, right.v) if out == lead + i + j else (right.v, left.v)), f)


def _of_one_matrix(v: Node, w: Node) -> bool:
    """Return True if these are vectors of the same factorization."""
    return (v.params in SIDES) == (w.params in SIDES) and all(
        x is y for x, y in zip(v.inputs[1:], w.inputs[1:], strict=True)
    )


SEEN.append(recognized)
