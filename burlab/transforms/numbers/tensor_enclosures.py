"""Enclosures of tensor operations: sums and products in any order of their terms, and what moves numbers.

A computed sum of n terms is off by at most about n u times the sum of their sizes, u = 2^-53 for float64, in whatever
order it is added up, with fused operations or not (Higham 2002, Accuracy and Stability of Numerical Algorithms, chapter
4). A product of matrices goes by midpoints and radii: Rump 1999, Fast and parallel interval arithmetic.
"""

from collections.abc import Callable, Sequence

import numpy as np

from burlab.graph.linear_nodes import broadcast, convert, sum_over
from burlab.graph.node import Node, constant
from burlab.graph.operation import Linearity
from burlab.graph.signatures import letter_sizes, letters_of
from burlab.graph.substitute import copy

from .arithmetic_enclosures import square
from .pairs import Pair, Value, down, larger, largest, least, number, op, outwards, pair, rounding_unit, smaller, up
from .scalar_enclosures import compared
from .signs import is_nonnegative

MOVES_EXACTLY = ("sort", "kth", "reduce_max", "reduce_min")  # each entry rises with the entries of the input


def tensor(n: Node, xs: Sequence[Value]) -> Value:
    """The enclosure of a structural operation. Raises KeyError where there is none."""
    if n.op in RULES:
        return RULES[n.op](n, xs)
    row = n.row
    moves = row.moves_data and row.linearity in (Linearity.FIRST, Linearity.ALL)
    if n.op in MOVES_EXACTLY or moves:
        if any(isinstance(x, Pair) for x in xs[len(xs) - row.indexed :]):
            raise KeyError(n.op)  # an index that is not known
        return Pair(*(copy(n, tuple(pair(x)[end] for x in xs)) for end in range(2)))
    raise KeyError(n.op)


def added_up(n: Node, xs: Sequence[Value]) -> Pair:
    """Sums of both ends, each moved by its error."""
    x, *rest = xs
    if any(isinstance(y, Pair) for y in rest):
        raise KeyError(n.op)
    if n.dtype.kind != "f":
        return Pair(*(copy(n, (end, *n.inputs[1:])) for end in pair(x)))
    others = tuple(y for y in rest if isinstance(y, Node))
    terms = _terms(n)
    if _counts_masks(n) or terms <= 1:
        low, high = (copy(n, (end, *others)) for end in pair(x))
        return Pair(op("maximum", low, number(1.0, low)) if _counts_ties(n) else low, high)
    factor = number(terms * rounding_unit(n.dtype) * 1.0625, n)

    def bound(end: Node, sign: str) -> Node:
        """The bound of a sum: one of terms of one sign keeps that sign. The factor covers the errors of this, too."""
        above = is_nonnegative(end)
        total, zero = copy(n, (end, *others)), number(0.0, n)
        sizes = total if above else copy(n, (op("abs", end), *others))
        error = op("mul", factor, sizes)
        if sign == "sub":
            found = down(op("sub", total, error))
            return larger(found, zero) if above else op("where", op("equal", total, sizes), larger(found, zero), found)
        found = up(op("add", total, error))
        keeps = op("equal", total, op("neg", sizes))
        return found if above else op("where", keeps, smaller(found, zero), found)

    a, b = pair(x)
    return Pair(bound(a, "sub"), bound(b, "add"))


def _counts_masks(n: Node) -> bool:
    """Return True for a sum of masks as floats, which is exact."""
    x = n.inputs[0]
    return n.op == "sum" and x.op == "convert" and x.inputs[0].dtype == np.bool_


def _counts_ties(n: Node) -> bool:
    """Return True for the number of entries that equal the largest or smallest one: there is at least one."""
    if not _counts_masks(n):
        return False
    return extreme_of(n.inputs[0].inputs[0]) is not None


def extreme_of(tied: Node) -> Node | None:
    """The `reduce_max` or `reduce_min` of an array, if a node compares that array with it, as its derivative does."""
    if tied.op != "equal" or tied.inputs[1].op != "broadcast":
        return None
    other = tied.inputs[1].inputs[0]
    return other if other.op in ("reduce_max", "reduce_min") and other.inputs[0] is tied.inputs[0] else None


def ties(n: Node, xs: Sequence[Value]) -> Pair:
    """The entries that are the extreme one: surely, where no other may be."""
    extreme = extreme_of(n)
    assert extreme is not None
    possible = compared("equal", *xs).high
    count = sum_over(convert(possible, np.dtype(np.int64)), extreme.params)
    alone = op("equal", count, number(1, count))
    return Pair(op("logical_and", possible, broadcast(alone, *n.inputs[1].params)), possible)


def _terms(n: Node) -> int:
    """The number of terms of the longest sum."""
    x = n.inputs[0]
    if n.op == "sum":
        return x.size // max(n.size, 1)
    if n.op == "cumsum":
        axis: int = n.params[0]
        return x.shape[axis]
    return x.size


def contracted(n: Node, xs: Sequence[Value]) -> Value:
    """A product of matrices, or an Einstein sum of two arrays."""
    left, right, out = letters_of(n.params)
    terms = n.row.work(n) // max(n.size, 1)
    if n.inputs[0] is n.inputs[1] and left == right:  # squares
        squares = square(xs[0])
        axes = tuple(k for k, letter in enumerate(left) if letter not in out)
        if [letter for letter in left if letter in out] == list(out):
            return added_up_over(squares, axes)
    if not all(d > 0 for d in letter_sizes(n).values()):
        return Pair(*(copy(n, (pair(xs[0])[end], pair(xs[1])[end])) for end in range(2)))
    if terms <= 1:
        products = [copy(n, (a, b)) for a in _ends(xs[0]) for b in _ends(xs[1])]
        return outwards(least(products), largest(products))
    return _by_midpoints(n, xs[0], xs[1], terms)


def _ends(x: Value) -> tuple[Node, ...]:
    return x if isinstance(x, Pair) else (x,)


def added_up_over(x: Pair, axes: tuple[int, ...]) -> Pair:
    """Sums over axes."""
    if not axes:
        return x
    return added_up(sum_over(x.low, axes), [x])


def _by_midpoints(n: Node, x: Value, y: Value, terms: int) -> Pair:
    """m m' +- (|m| r' + r (|m'| + r') + error), the error as that of three sums of products."""
    error = number_of(4 * (terms + 4) * rounding_unit(n.dtype), n.dtype)

    def parts(v: Value) -> tuple[Node, Node | None]:
        if not isinstance(v, Pair):
            return v, None
        half = number(0.5, v.low)
        middle = op("add", op("mul", v.low, half), op("mul", v.high, half))
        radius = op("maximum", op("sub", v.high, middle), op("sub", middle, v.low))
        return middle, up(radius)

    (m, r), (k, s) = parts(x), parts(y)
    sizes, others = op("abs", m), op("abs", k)
    blurred = op("mul", others, broadcast(error, k.shape))
    if s is not None:
        blurred = op("add", blurred, s)
    spread = copy(n, (sizes, up(blurred)))
    if r is not None:
        reach = others if s is None else up(op("add", others, s))
        spread = op("add", spread, copy(n, (r, reach)))
    tiny = number(float(np.finfo(n.dtype).tiny), n)
    spread = up(op("add", op("mul", spread, number(1 + 4 * (terms + 4) * rounding_unit(n.dtype), n)), tiny), 2)
    middle = copy(n, (m, k))
    return outwards(op("sub", middle, spread), op("add", middle, spread))


def number_of(value: float, dtype: "np.dtype[np.generic]") -> Node:
    """A number of a dtype."""
    return constant(value, dtype)


def _convert(n: Node, xs: Sequence[Value]) -> Pair:
    (x,) = xs
    a, b = pair(x)
    if n.dtype.kind not in "fb" or (n.dtype.kind == "b" and a.dtype.kind != "b"):
        raise KeyError(f"conversion to {n.dtype}")
    ends = Pair(convert(a, n.dtype), convert(b, n.dtype))
    narrower = a.dtype.kind == "f" and n.dtype.itemsize < a.dtype.itemsize
    return outwards(*ends) if narrower else ends


def _put(n: Node, xs: Sequence[Value]) -> Pair:
    if n.params[1]:
        raise KeyError("np.add.at")
    if isinstance(xs[2], Pair):
        raise KeyError("an assignment by an index")
    return Pair(*(copy(n, tuple(pair(x)[end] for x in xs)) for end in range(2)))


def _norm(_n: Node, xs: Sequence[Value]) -> Pair:
    """The root of a mean; the kernel reads the numbers behind it where it is too large or too small for its squares."""
    a, b = pair(xs[0])
    return outwards(op("sqrt", a), op("sqrt", b), 3)


def _first(_n: Node, xs: Sequence[Value]) -> Value:
    return xs[0]


RULES: dict[str, Callable[[Node, Sequence[Value]], Value]] = {
    **dict.fromkeys(("sum", "cumsum", "scatter"), added_up), "contract": contracted, "convert": _convert, "put": _put,
    "norm": _norm,
    **dict.fromkeys(("surrogate", "stop_gradient", "after", "implied"), _first),
}  # fmt: skip
