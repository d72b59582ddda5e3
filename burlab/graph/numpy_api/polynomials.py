"""NumPy's functions of polynomials, whose coefficients begin with that of the highest power."""

import numpy as np

from burlab.errors import ArgumentError, ShapeError
from burlab.graph.linear_nodes import reshape
from burlab.graph.node import FUNCTIONS, Node, as_node, constant
from burlab.graph.origin import location
from burlab.typing import ArrayLike

from .arguments import only_defaults, whole
from .building import vander
from .elementwise import sqrt
from .indexing import getitem
from .joining import atleast_1d, concatenate_
from .padding import pad_
from .promotion import apply, as_dtype, strong
from .reduction import as_floats, sum_
from .signals import convolve


def polyval(p: ArrayLike, x: ArrayLike) -> Node:
    """np.polyval by Horner's rule, the highest power first."""
    coefficients, at = as_node(p), strong(as_node(x))
    value = at * constant(0, at.dtype)
    for k in range(coefficients.shape[0]):
        value = value * at + getitem(coefficients, k)
    return value


def polyadd(a1: ArrayLike, a2: ArrayLike) -> Node:
    """np.polyadd."""
    return apply("add", *_aligned(a1, a2))


def polysub(a1: ArrayLike, a2: ArrayLike) -> Node:
    """np.polysub."""
    return apply("sub", *_aligned(a1, a2))


def _aligned(a: ArrayLike, b: ArrayLike) -> list[Node]:
    """Coefficients, with zeros before the shorter ones."""
    xs = [atleast_1d(as_node(z)) for z in (a, b)]
    size = max(x.size for x in xs)
    return [pad_(x, (size - x.size, 0)) for x in xs]


def polymul(a1: ArrayLike, a2: ArrayLike) -> Node:
    """np.polymul: the convolution of the coefficients."""
    return convolve(a1, a2)


def polyder(p: ArrayLike, m: int = 1) -> Node:
    """np.polyder: the derivative, m times."""
    coefficients = as_node(p)
    for _ in range(_order(m, "np.polyder")):
        n = coefficients.size - 1
        coefficients = getitem(coefficients, slice(0, max(n, 0))) * constant(np.arange(n, 0, -1))
    return coefficients


def polyint(p: ArrayLike, m: int = 1, k: ArrayLike | None = None) -> Node:
    """np.polyint: the integral, m times, with constants k."""
    coefficients = as_floats(as_node(p))
    order = _order(m, "np.polyint")
    constants = as_node(0.0 if k is None else k)
    for j in range(order):
        last = constants if constants.ndim == 0 else getitem(constants, 0 if constants.size == 1 else j)
        divided = coefficients / constant(np.arange(coefficients.size, 0, -1))
        coefficients = concatenate_([divided, reshape(as_dtype(last, divided.dtype), (1,))])
    return coefficients


def poly(seq_of_zeros: ArrayLike) -> Node:
    """np.poly of zeros, a vector. The zeros of a matrix would be its eigenvalues, which are complex."""
    zeros = as_floats(atleast_1d(as_node(seq_of_zeros)))
    if zeros.ndim != 1:
        raise ShapeError(f"{location()}np.poly takes a vector of zeros here, got shape {zeros.shape}.")
    product = constant(np.ones(1), zeros.dtype)
    for k in range(zeros.size):
        shifted = product * -getitem(zeros, k)
        product = pad_(product, (0, 1)) + pad_(shifted, (1, 0))
    return product


def polyfit(x: ArrayLike, y: ArrayLike, deg: int, rcond: float | None = None, full: bool = False,
            w: ArrayLike | None = None, cov: bool | str = False) -> Node:  # fmt: skip
    """np.polyfit: coefficients with the least squares, of one polynomial or of one for each column of y."""
    only_defaults("np.polyfit", {"full": full or None, "cov": cov or None})
    at, values = (as_floats(as_node(z)) for z in (x, y))
    if at.ndim != 1 or values.ndim not in (1, 2) or not at.size or values.shape[0] != at.size:
        what = f"np.polyfit got x of shape {at.shape} and y of shape {values.shape}"
        raise ShapeError(f"{location()}{what}, expected a vector, and one or two axes of as many rows.")
    powers = vander(at, _order(deg, "np.polyfit") + 1)
    if w is not None:
        weights = as_node(w)
        if weights.shape != at.shape:
            raise ShapeError(f"{location()}w of np.polyfit has shape {weights.shape}, expected {at.shape}.")
        powers = powers * reshape(weights, (at.size, 1))
        values = values * reshape(weights, (at.size, *(1,) * (values.ndim - 1)))
    scale = sqrt(sum_(powers * powers, 0))
    cut = at.size * np.finfo(at.dtype).eps if rcond is None else rcond
    found = FUNCTIONS[np.linalg.lstsq](powers / scale, values, cut)[0]
    return found / reshape(scale, (scale.size, *(1,) * (values.ndim - 1)))


def _order(m: ArrayLike, name: str) -> int:
    order = whole(m, f"the order of {name}")
    if order < 0:
        raise ArgumentError(f"{location()}{name} is done {order} times, expected 0 or more.")
    return order


FUNCTIONS.update({
    np.polyval: polyval, np.polyadd: polyadd, np.polysub: polysub, np.polymul: polymul, np.polyder: polyder,
    np.polyint: polyint, np.poly: poly, np.polyfit: polyfit,
})  # fmt: skip
