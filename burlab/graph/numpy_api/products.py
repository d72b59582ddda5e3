"""Matrix products in all their NumPy spellings, each one or more two-operand contractions."""

import string
from collections.abc import Callable, Iterable, Sequence
from typing import Any, cast

import numpy as np

from burlab.errors import ArgumentError, ShapeError
from burlab.graph.faults import fault
from burlab.graph.linear_nodes import broadcast, contract, reshape, sum_over, transpose
from burlab.graph.node import FUNCTIONS, METHODS, UFUNCS, Node, as_node
from burlab.graph.origin import location
from burlab.runtime.checks.numbers import shown
from burlab.typing import ArrayLike, Axis

from .arguments import normal_axes, normal_axis, only_defaults, several, whole
from .promotion import as_dtype, promote, strong
from .row_entries import on_diagonal

_LETTERS = string.ascii_letters
SEEN: list[Callable[[Node], Node | None]] = []
"""Products that are more than the operation, each as what it is, or None: see `linalg/scaled.py`."""


def _product(spec: str, x: Node, y: Node) -> Node:
    product = contract(spec, x, y)
    return next((found for see in SEEN if (found := see(product)) is not None), product)


def _pair(a: ArrayLike, b: ArrayLike) -> tuple[Node, Node]:
    x, y = promote([strong(as_node(a)), strong(as_node(b))])
    if x.dtype == bool:
        raise fault("a matrix product of booleans", "mask.astype(float)")
    return x, y


def _mismatch(name: str, a: Node, b: Node, remedy: str) -> ShapeError:
    return ShapeError(f"{location()}{name} of shapes {a.shape} and {b.shape}: {remedy}.")


def matmul(a: ArrayLike, b: ArrayLike) -> Node:
    """`a @ b`: the last axis of a with the last but one of b, leading axes broadcast."""
    x, y = _pair(a, b)
    if not x.shape or not y.shape:
        raise _mismatch("matmul", x, y, "a scalar has no axis to sum over; use a * b")
    rows, columns = x.ndim > 1, y.ndim > 1
    if x.shape[-1] != y.shape[-2 if columns else -1]:
        raise _mismatch("matmul", x, y, "the last axis of the first must equal the last but one of the second")
    lead = np.broadcast_shapes(x.shape[:-2], y.shape[:-2])
    if x.ndim > 2 and x.shape[:-2] != lead:
        x = broadcast(x, (*lead, *x.shape[-2:]))
    if y.ndim > 2 and y.shape[:-2] != lead:
        y = broadcast(y, (*lead, *y.shape[-2:]))
    batch = _LETTERS[3 : 3 + len(lead)]
    left = (batch if x.ndim > 2 else "") + ("a" if rows else "") + "b"
    right = (batch if y.ndim > 2 else "") + "b" + ("c" if columns else "")
    return _product(f"{left},{right}->{batch}{'a' * rows}{'c' * columns}", x, y)


def dot(a: ArrayLike, b: ArrayLike, out: None = None) -> Node:
    """np.dot: the last axis of a with the last but one (or only) of b; no broadcasting; a product with a scalar."""
    only_defaults("np.dot", {"out": out})
    x, y = _pair(a, b)
    if not x.shape or not y.shape:
        return x * y
    axis = max(y.ndim - 2, 0)
    if x.shape[-1] != y.shape[axis]:
        raise _mismatch("dot", x, y, "the last axis of the first must equal the last but one of the second")
    left = _LETTERS[: x.ndim]
    right = _LETTERS[x.ndim : x.ndim + y.ndim]
    right = right[:axis] + left[-1] + right[axis + 1 :]
    return _product(f"{left},{right}->{left[:-1]}{right.replace(left[-1], '')}", x, y)


def inner(a: ArrayLike, b: ArrayLike) -> Node:
    """np.inner: the last axes of both."""
    x, y = _pair(a, b)
    if not x.shape or not y.shape:
        return x * y
    if x.shape[-1] != y.shape[-1]:
        raise _mismatch("inner", x, y, "the last axes must be equal")
    left = _LETTERS[: x.ndim]
    right = _LETTERS[x.ndim : x.ndim + y.ndim - 1]
    return contract(f"{left},{right}{left[-1]}->{left[:-1]}{right}", x, y)


def outer(a: ArrayLike, b: ArrayLike, out: None = None) -> Node:
    """np.outer of two arrays, ravelled."""
    only_defaults("np.outer", {"out": out})
    x, y = _pair(a, b)
    return contract("a,b->ab", reshape(x, (x.size,)), reshape(y, (y.size,)))


def vdot(a: ArrayLike, b: ArrayLike) -> Node:
    """np.vdot of two real arrays, ravelled."""
    x, y = _pair(a, b)
    if x.size != y.size:
        raise _mismatch("vdot", x, y, "both need the same number of elements")
    return contract("a,a->", reshape(x, (x.size,)), reshape(y, (y.size,)))


def tensordot(a: ArrayLike, b: ArrayLike, axes: int | Sequence[Axis] = 2) -> Node:
    """np.tensordot over the last `axes` of a and the first of b, or over the pairs of axes given."""
    x, y = _pair(a, b)
    if isinstance(axes, int):
        first, second = tuple(range(x.ndim - axes, x.ndim)), tuple(range(axes))
    elif isinstance(axes, (tuple, list)) and len(pair := cast("list[Any]", axes)) == 2:
        first, second = map(several, pair)
    else:
        raise ArgumentError(
            f"{location()}axes of tensordot is {shown(axes)}, expected how many, or a pair: the axes of each array."
        )
    if len(first) != len(second):
        raise ArgumentError(f"{location()}tensordot needs as many axes of one array as of the other, got axes={axes}.")
    left, right = _LETTERS[: x.ndim], list(_LETTERS[x.ndim : x.ndim + y.ndim])
    shared = ""
    for m, n in zip(first, second, strict=True):
        i, j = normal_axis(m, x.ndim), normal_axis(n, y.ndim)
        if x.shape[i] != y.shape[j]:
            raise _mismatch("tensordot", x, y, f"axes {i} and {j} differ")
        right[j] = left[i]
        shared += left[i]
    out = "".join(c for c in (*left, *right) if c not in shared)
    return contract(f"{left},{''.join(right)}->{out}", x, y)


def einsum(spec: Any, *operands: Any, **kwargs: Any) -> Node:
    """np.einsum of any number of operands, from left to right: in its string form, or in that of lists of axes."""
    kwargs.pop("optimize", None)
    only_defaults("np.einsum", kwargs)
    if not isinstance(spec, str):
        spec, operands = _from_lists(spec, operands)
    xs: list[Node] = promote([strong(as_node(x)) for x in operands])
    terms, out = _parse(spec, xs)
    sizes = _sizes(spec, xs, terms)
    for k, (x, term) in enumerate(zip(xs, terms, strict=True)):
        diagonal, terms[k] = _diagonals(x, term)
        xs[k] = broadcast(diagonal, tuple(sizes.get(c, 1) for c in terms[k]))  # an axis of size 1 repeats
    while len(xs) > 1:
        left, right = terms[0], terms[1]
        later = out + "".join(terms[2:])
        result_axes = "".join(dict.fromkeys(c for c in left + right if c in later))
        product = _product(f"{left},{right}->{result_axes}", xs[0], xs[1])
        xs, terms = [product, *xs[2:]], [result_axes, *terms[2:]]
    gone = tuple(i for i, c in enumerate(terms[0]) if c not in out)
    letters = "".join(c for c in terms[0] if c in out)
    return transpose(sum_over(xs[0], gone), tuple(letters.index(c) for c in out))


def _from_lists(first: ArrayLike, rest: tuple[Any, ...]) -> tuple[str, tuple[Any, ...]]:
    """The string form of einsum(a, [0, 1], b, [1, 2], [0, 2])."""
    given: tuple[Any, ...] = (first, *rest)
    pairs = len(given) // 2
    lists = *given[1 : 2 * pairs : 2], *given[2 * pairs :]
    if not pairs or not all(isinstance(axes, (list, tuple)) for axes in lists):
        raise ArgumentError(
            f"{location()}einsum takes a string such as 'ij,jk->ik' first, or each operand followed by a list of its "
            "axes: einsum(a, [0, 1], b, [1, 2], [0, 2])."
        )
    terms = [_term(axes) for axes in given[1 : 2 * pairs : 2]]
    arrow = f"->{_term(given[-1])}" if len(given) % 2 else ""
    return ",".join(terms) + arrow, given[: 2 * pairs : 2]


def _term(axes: Iterable[Any]) -> str:
    letters: list[str] = sorted(_LETTERS)
    places: list[Any] = [*axes]
    if not all(a is ... or (isinstance(a, (int, np.integer)) and a in range(len(letters))) for a in places):
        raise ArgumentError(f"{location()}einsum got the axes {places!s:.80}, expected ints from 0 to 51, or Ellipsis.")
    return "".join("..." if a is ... else letters[a] for a in places)  # pyright: ignore[reportUnknownArgumentType] - Any


def _parse(spec: str, xs: list[Node]) -> tuple[list[str], str]:
    """The terms and the output of an Einstein specification, ellipses written out in letters."""
    text = spec.replace(" ", "")
    ins, arrow, out = text.partition("->")
    terms = ins.split(",")
    if len(terms) != len(xs):
        raise ShapeError(f"einsum {shown(spec)} names {len(terms)} operands, got {len(xs)}.")
    free = [c for c in _LETTERS if c not in text]
    longest = max([x.ndim - len(t.replace("...", "")) for x, t in zip(xs, terms, strict=True) if "..." in t], default=0)
    dots = free[:longest]
    for k, x in enumerate(xs):
        if "..." in terms[k]:
            count = x.ndim - len(terms[k]) + 3
            terms[k] = terms[k].replace("...", "".join(dots[len(dots) - count :]) if count > 0 else "")
        term = terms[k]
        if len(term) != x.ndim:
            raise ShapeError(
                f"einsum {shown(spec)}: operand {k} has shape {x.shape}, its term {shown(term)} {len(term)} letters."
            )
    if dots and arrow and "..." not in out:
        raise ShapeError(f"einsum {shown(spec)}: the axes of '...' are missing in the output. Write '...' there too.")
    if arrow:
        out = out.replace("...", "".join(dots))
    else:
        joined = "".join(terms)
        out = "".join(dots) + "".join(sorted(c for c in set(joined) if joined.count(c) == 1 and c not in dots))
    if any(c not in _LETTERS for c in "".join(terms) + out) or len(set(out)) != len(out):
        raise ShapeError(
            f"{location()}einsum {shown(spec)}: terms are of letters, those of the output differ from each other."
        )
    for c in out:
        if not any(c in term for term in terms):
            raise ShapeError(f"einsum {shown(spec)}: the output letter {shown(c)} is in no operand.")
    return terms, out


def _sizes(spec: str, xs: list[Node], terms: list[str]) -> dict[str, int]:
    """The size of every letter, if it is not 1."""
    sizes: dict[str, int] = {}
    for x, term in zip(xs, terms, strict=True):
        for c, d in zip(term, x.shape, strict=True):
            if d != 1 and sizes.setdefault(c, d) != d:
                raise ShapeError(f"einsum {shown(spec)}: the letter {shown(c)} stands for sizes {sizes[c]} and {d}.")
    return sizes


def _diagonals(x: Node, term: str) -> tuple[Node, str]:
    """Replace a letter that an operand repeats by its diagonal."""
    for c in dict.fromkeys(term):
        while term.count(c) > 1:
            i = term.index(c)
            j = term.index(c, i + 1)
            x, term = diagonal_of(x, i, j), c + "".join(d for k, d in enumerate(term) if k not in (i, j))
    return x, term


def diagonal_of(x: Node, i: int, j: int, offset: int = 0) -> Node:
    """A diagonal of axes i and j, as axis 0. offset: how far it lies from the main one, along j."""
    y = transpose(x, (*(k for k in range(x.ndim) if k not in (i, j)), i, j))
    n, m = y.shape[-2:]
    row, column = max(-offset, 0), max(offset, 0)
    found = on_diagonal(y, row, column, max(min(n - row, m - column), 0))
    return transpose(found, (found.ndim - 1, *range(found.ndim - 1)))


def trace(a: ArrayLike, offset: int = 0, axis1: int = 0, axis2: int = 1, **kwargs: Any) -> Node:
    """np.trace: the sum along a diagonal of two axes."""
    only_defaults("np.trace", kwargs)
    return sum_over(_diagonal("np.trace", a, offset, axis1, axis2), (0,))


def diagonal(a: ArrayLike, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Node:
    """np.diagonal: a diagonal of two axes, as the last axis."""
    x = _diagonal("np.diagonal", a, offset, axis1, axis2)
    return transpose(x, (*range(1, x.ndim), 0))


def _diagonal(name: str, a: ArrayLike, offset: int, axis1: int, axis2: int) -> Node:
    x = as_node(a)
    if x.ndim < 2:
        raise ShapeError(f"{location()}{name} needs two axes or more, got shape {x.shape}.")
    i, j = normal_axis(axis1, x.ndim), normal_axis(axis2, x.ndim)
    if i == j:
        raise ArgumentError(f"{location()}{name} needs two axes, got axis1={axis1} and axis2={axis2}, which are one.")
    return diagonal_of(x, i, j, whole(offset, f"offset of {name}"))


def vecdot(a: Node, b: Node) -> Node:
    """np.vecdot: sum of products along the last axis."""
    product = a * b
    return as_dtype(sum_over(product, normal_axes(-1, product.ndim)), product.dtype)


def matvec(a: ArrayLike, b: ArrayLike) -> Node:
    """np.matvec: matrices in the last two axes of a times vectors in the last axis of b."""
    x, y = as_node(a), as_node(b)
    if x.ndim < 2 or not y.ndim:
        raise _mismatch("matvec", x, y, "the first holds matrices, the second vectors")
    product = matmul(x, reshape(y, (*y.shape, 1)))
    return reshape(product, product.shape[:-1])


def vecmat(a: ArrayLike, b: ArrayLike) -> Node:
    """np.vecmat: vectors in the last axis of a times matrices in the last two axes of b."""
    x, y = as_node(a), as_node(b)
    if not x.ndim or y.ndim < 2:
        raise _mismatch("vecmat", x, y, "the first holds vectors, the second matrices")
    product = matmul(reshape(x, (*x.shape[:-1], 1, x.shape[-1])), y)
    return reshape(product, (*product.shape[:-2], product.shape[-1]))


UFUNCS.update(matmul=matmul, vecdot=vecdot, matvec=matvec, vecmat=vecmat)
FUNCTIONS.update({np.dot: dot, np.inner: inner, np.outer: outer, np.vdot: vdot, np.tensordot: tensordot})
FUNCTIONS.update({np.einsum: einsum, np.trace: trace, np.diagonal: diagonal})
METHODS.update({"dot": dot, "trace": trace, "diagonal": diagonal})
