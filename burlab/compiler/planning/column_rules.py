"""Rules that compute each operation from the parts of its inputs, see `split_columns.py`."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product

import numpy as np

from burlab.compiler.ir.strides import Shape
from burlab.graph import Node
from burlab.graph.linear_nodes import broadcast, concatenate, convert, pad, reshape, slice_, sum_over, transpose, zeros
from burlab.graph.origin import derived_from
from burlab.graph.signatures import letter_sizes, letters_of
from burlab.graph.substitute import copy, keep

_FLOAT64 = np.dtype(np.float64)
_MAX_AXIS, _MAX_NUMBERS = 4, 16  # numbers along an axis that vanishes; along all of them
_MAX_PRODUCTS = 64  # of numbers along short axes, in a contraction: those of two matrices of four by four

Index = tuple[int, ...]
Part = Node | None  # None: zeros


class ColumnParts:
    """New nodes for those of a graph. apart: how many of the last axes of a node vanish."""

    def __init__(self, apart: Mapping[Node, int]) -> None:
        self.apart = apart
        self._parts: dict[Node, tuple[int, list[Part]]] = {}  # axes that vanish; for each of their indices, in order
        self._whole: dict[Node, Node] = {}
        self._slices: dict[tuple[Node, Index], Node] = {}

    def add(self, n: Node) -> None:
        """Make the parts of a node, or the node itself. Its inputs come first."""
        with derived_from(n):
            found = self._split(n)
        if found is not None:
            self._parts[n] = found
        else:
            self._whole[n] = n if n.row.leaf else keep(n, tuple(map(self.whole, n.inputs)))

    def _split(self, n: Node) -> tuple[int, list[Part]] | None:
        k = self.apart.get(n, 0)
        touched = any(x in self._parts for x in n.inputs)
        if n.row.leaf or n.size == 0 or not has_rule(n) or not (k or touched):
            return None  # without a number there is no part
        if n.row.adds_up:
            return _RULES[n.op](self, n, k) if touched else None
        return _RULES.get(n.op, _elementwise)(self, n, k)

    def whole(self, n: Node) -> Node:
        """A node put together."""
        if n not in self._whole:
            k, parts = self._parts[n]
            with derived_from(n):
                self._whole[n] = _together(n, k, parts)
        return self._whole[n]

    def at(self, n: Node, index: Index) -> Part:
        """A node at an index of its last axes."""
        k, parts = self._parts.get(n, (len(index) + 1, []))
        if k > len(index):
            return self._sliced(self.whole(n), index)
        part = parts[_flat(index[len(index) - k :], n.shape[n.ndim - k :])]
        return part if part is None else self._sliced(part, index[: len(index) - k])

    def _sliced(self, n: Node, index: Index) -> Node:
        if not index:
            return n
        if (n, index) not in self._slices:
            first = n.ndim - len(index)
            one = slice_(n, (*([0] * first), *index), (1,) * n.ndim, (*n.shape[:first], *([1] * len(index))))
            self._slices[n, index] = reshape(one, n.shape[:first])
        return self._slices[n, index]


def short_axes(n: Node) -> int:
    """Return the number of last axes that make a short row."""
    k = 0
    while k < n.ndim and n.shape[-k - 1] <= _MAX_AXIS and math.prod(n.shape[n.ndim - k - 1 :]) <= _MAX_NUMBERS:
        k += 1
    return k


def has_rule(n: Node) -> bool:
    """Return True if a node can be computed from parts of its inputs."""
    if n.row.multiplies:
        return enumerated(n) is not None
    return n.op in _RULES or n.row.elementwise


def _together(n: Node, k: int, parts: Sequence[Part]) -> Node:
    lead = n.shape[: n.ndim - k]
    filled = [zeros(lead, n.dtype) if part is None else part for part in parts]
    if not k:
        return filled[0]
    return reshape(concatenate([reshape(part, (*lead, 1)) for part in filled], len(lead)), n.shape)


def _flat(index: Index, shape: Shape) -> int:
    """The number of an index in row-major order."""
    flat = 0
    for i, size in zip(index, shape, strict=True):
        flat = flat * size + i
    return flat


def _indices(n: Node, k: int) -> Iterator[Index]:
    """Of the k last axes."""
    return product(*map(range, n.shape[n.ndim - k :]))


_NewParts = tuple[int, list[Part]] | None


def _elementwise(to: ColumnParts, n: Node, k: int) -> _NewParts:
    shape = n.shape[: n.ndim - k]
    return k, [_element(n, [to.at(x, index) for x in n.inputs], shape) for index in _indices(n, k)]


def _element(n: Node, xs: Sequence[Part], shape: Shape) -> Part:
    """Zeros, which stand around pieces, are not added."""
    if n.op in ("add", "sub", "neg") and None in xs:
        left = [x for x in xs if x is not None]
        if not left:
            return None
        return left[0] if n.op == "add" or xs[1] is None else Node("neg", (left[0],), None, shape, n.dtype)
    made = copy(n, tuple(zeros(shape, m.dtype) if x is None else x for x, m in zip(xs, n.inputs, strict=True)))
    made.shape = shape
    return made


def _mapped(parts: Sequence[Part], change: Callable[[Node], Node]) -> list[Part]:
    return [part if part is None else change(part) for part in parts]


def _broadcast(to: ColumnParts, n: Node, k: int) -> _NewParts:
    (x,), first = n.inputs, n.ndim - k
    shape: Shape = n.params[0]
    axes: Shape = n.params[1]
    outer = tuple(a for a in axes if a < first)
    found = [to.at(x, tuple(index[a - first] for a in axes if a >= first)) for index in _indices(n, k)]
    return k, _mapped(found, lambda part: broadcast(part, shape[:first], outer))


def _reshape(to: ColumnParts, n: Node, k: int) -> _NewParts:
    (x,) = n.inputs
    row, first = math.prod(n.shape[n.ndim - k :]), x.ndim
    while first and math.prod(x.shape[first:]) < row:
        first -= 1
    while k and first and x.shape[first - 1] == 1:
        first -= 1
    if math.prod(x.shape[first:]) != row:
        return None
    found = [to.at(x, index) for index in _indices(x, x.ndim - first)]
    return k, _mapped(found, lambda part: reshape(part, n.shape[: n.ndim - k]))


def _transpose(to: ColumnParts, n: Node, k: int) -> _NewParts:
    (x,), first = n.inputs, n.ndim - k
    axes: Shape = n.params
    inner, outer = axes[first:], axes[:first]
    if any(axis < first for axis in inner):
        return None
    found = [to.at(x, tuple(index[inner.index(a)] for a in range(first, n.ndim))) for index in _indices(n, k)]
    return k, _mapped(found, lambda part: transpose(part, outer))


def _slice(to: ColumnParts, n: Node, k: int) -> _NewParts:
    (x,), (start, step, shape), first = n.inputs, n.params, n.ndim - k
    region = start[:first], step[:first], shape[:first]
    inner = list(zip(start[first:], step[first:], strict=True))
    found = [to.at(x, tuple(a + s * i for (a, s), i in zip(inner, index, strict=True))) for index in _indices(n, k)]
    return k, _mapped(found, lambda part: slice_(part, *region))


def _pad(to: ColumnParts, n: Node, k: int) -> _NewParts:
    (x,), (start, step, shape), first = n.inputs, n.params, n.ndim - k
    region = start[:first], step[:first], shape[:first]
    found: list[Part] = []
    for index in _indices(n, k):
        steps = [divmod(i - a, s) for i, a, s in zip(index, start[first:], step[first:], strict=True)]
        inside = all(not rest and 0 <= i < size for (i, rest), size in zip(steps, x.shape[first:], strict=True))
        found.append(to.at(x, tuple(i for i, _ in steps)) if inside else None)
    same = not any(region[0]) and set(region[1]) <= {1} and x.shape[:first] == shape[:first]
    return k, found if same else _mapped(found, lambda part: pad(part, *region))


def _concatenate(to: ColumnParts, n: Node, k: int) -> _NewParts:
    axis: int = n.params
    first, found = n.ndim - k, list[Part]()
    for index in _indices(n, k):
        if axis < first:
            parts = [(to.at(x, index), x) for x in n.inputs]
            filled = [zeros(x.shape[:first], x.dtype) if part is None else part for part, x in parts]
            found.append(concatenate(filled, axis))
            continue
        at, pieces = index[axis - first], iter(n.inputs)
        while at >= (x := next(pieces)).shape[axis]:
            at -= x.shape[axis]
        found.append(to.at(x, (*index[: axis - first], at, *index[axis - first + 1 :])))
    return k, found


def _sum(to: ColumnParts, n: Node, _k: int) -> _NewParts:
    """Along short axes, then along others. What is left of the input's short axes is apart in the result."""
    (x,) = n.inputs
    axes: Shape = n.params
    short = range(x.ndim - to.apart.get(x, 0), x.ndim)
    inner, outer = [a for a in axes if a in short], tuple(a for a in axes if a not in short)
    remaining = [a for a in short if a not in inner]
    found: list[Part] = []
    for index in product(*(range(x.shape[a]) for a in remaining)):
        place = dict(zip(remaining, index, strict=True))
        terms: list[Part] = []
        for summed in product(*(range(x.shape[a]) for a in inner)):
            place.update(zip(inner, summed, strict=True))
            terms.append(to.at(x, tuple(place[a] for a in short)))
        found.append(_added(terms, n.dtype))
    return len(remaining), _mapped(found, lambda part: sum_over(part, outer))


def _added(terms: Sequence[Part], dtype: "np.dtype[np.generic]") -> Part:
    """The sum as lanes make it, which are added by halves; floats are added in double (`kernels/reduce/few.hpp`)."""
    wide = _FLOAT64 if dtype == np.float32 and len(terms) > 1 else dtype
    xs = _mapped(terms, lambda x: convert(x, wide))
    half = 1 << (len(xs) - 1).bit_length() >> 1
    while half:
        xs = [_two(x, xs[k + half] if k + half < len(xs) else None) for k, x in enumerate(xs[:half])]
        half //= 2
    return _mapped(xs, lambda x: convert(x, dtype))[0]


def _two(x: Part, y: Part) -> Part:
    if x is None or y is None:
        return y if x is None else x
    return Node("add", (x, y), None, x.shape, x.dtype)


def enumerated(n: Node) -> set[str] | None:
    """The letters of a contraction for short axes of it or of its operands; None where parts do not suit it.

    These letters have to be the last ones in each term, and their numbers few.
    """
    *terms, out = letters_of(n.params)
    short = set(out[n.ndim - short_axes(n) :])
    for term, x in zip(terms, n.inputs, strict=True):
        short.update(c for c in term[x.ndim - short_axes(x) :] if c not in out)
    last = all(short.isdisjoint(term[: len(term) - len(short.intersection(term))]) for term in (*terms, out))
    few = math.prod(size for c, size in letter_sizes(n).items() if c in short) <= _MAX_PRODUCTS
    return short if short and last and few else None


def _contract(to: ColumnParts, n: Node, _k: int) -> _NewParts:
    """Products of parts, added up; a sum over other axes is left to the loop that computes them."""
    short, sizes = enumerated(n) or set(), letter_sizes(n)
    *terms, out = letters_of(n.params)
    summed = [c for c in sizes if c in short and c not in out]
    lead = [*(c for c in out if c not in short), *(c for c in sizes if c not in short and c not in out)]
    remaining = [c for c in out if c in short]
    axes = tuple(range(len(out) - len(remaining), len(lead)))
    found: list[Part] = []
    for index in product(*(range(sizes[c]) for c in remaining)):
        places, total = dict(zip(remaining, index, strict=True)), None
        for inner in product(*(range(sizes[c]) for c in summed)):
            places.update(zip(summed, inner, strict=True))
            x, y = (_factor(to, x, t, lead, sizes, places) for x, t in zip(n.inputs, terms, strict=True))
            if x is not None and y is not None:
                total = _with_product(total, x, y, bool(axes))
        found.append(total)
    return len(remaining), _mapped(found, lambda part: sum_over(part, axes))


def _with_product(total: Part, x: Node, y: Node, ends: bool) -> Node:
    """A product added to others, fused as in the kernels of the library; ends: whether a loop adds them up, too."""
    if total is None and not ends:
        return Node("mul", (x, y), None, x.shape, x.dtype)
    return Node("multiply_add", (x, y, zeros(x.shape, x.dtype) if total is None else total), None, x.shape, x.dtype)


def _factor(
    to: ColumnParts, x: Node, term: str, lead: Sequence[str], sizes: Mapping[str, int], places: Mapping[str, int]
) -> Part:
    """The part of an operand where its short axes have these places, over the axes that lead."""
    part = to.at(x, tuple(places[c] for c in term if c in places))
    if part is None:
        return None
    outer = [c for c in term if c not in places]
    order = sorted(outer, key=lead.index)
    turned = transpose(part, tuple(map(outer.index, order)))
    return broadcast(turned, tuple(sizes[c] for c in lead), tuple(map(lead.index, order)))


_RULES: dict[str, Callable[[ColumnParts, Node, int], _NewParts]] = {
    "broadcast": _broadcast, "reshape": _reshape, "transpose": _transpose, "slice": _slice, "pad": _pad,
    "concatenate": _concatenate, "sum": _sum, "contract": _contract,
}  # fmt: skip
