"""The root of a sum of squares is a norm, however it was written: np.sqrt(np.var(x)), np.sqrt(dx**2 + dy**2)."""

from burlab.graph.linear_nodes import reshape
from burlab.graph.node import Node
from burlab.graph.signatures import letters_of

from .known import known_number, least_known, same, sizes_above_one
from .promotion import POWERS
from .roots import by_axes, root

_LINEAR = {"sum", "broadcast", "reshape", "transpose", "slice", "gather", "convert"}  # of one array that matters
_DEEP = 12  # operations between a root and the squares below it


def _sqrt(x: Node) -> Node | None:
    return root(x, entries=_entries(x)) if _are_squares(x) else None


def _entries(total: Node) -> Node | None:
    """Return the squared entries of a sum along neighbouring axes, up to divisions; None if x is no such sum."""
    x = total
    while x.op == "div" or (x.op == "reshape" and sizes_above_one(x) == sizes_above_one(x.inputs[0])):
        x = x.inputs[0]
    axes = x.params if x.op == "sum" else ()
    if x.op == "sum":
        (x,) = x.inputs
        while x.op == "div":
            x = x.inputs[0]
    if not (x.op == "square" or least_known(x) == 0) or axes != tuple(range(axes[0], axes[-1] + 1) if axes else ()):
        return None
    entries = x.inputs[0] if x.op == "square" else x
    return reshape(entries, by_axes(x.shape, axes) if axes else (x.size, 1, 1))


def _are_squares(x: Node, depth: int = _DEEP) -> bool:
    """Return True if an array is made of sums of squares: where it is 0 all of these are, and their derivatives, too.

    The weights in such sums are known and not negative, and the divisors anything: 0 / c is 0.
    """
    if x.op == "square" or not depth:
        return x.op == "square"

    def below(*parts: Node) -> bool:
        return all(_are_squares(part, depth - 1) for part in parts)

    first, *rest = x.inputs or (x,)
    if x.op == "div" and least_known(first) == 0:  # known squares over what moves: where they are 0, they stay it
        return True
    if x.op in _LINEAR or x.op in ("abs", "div"):
        return below(first)
    if x.op == "power":
        return (known_number(rest[0]) or 1.0) % 2 == 0
    if x.op in ("add", "concatenate"):
        return below(*x.inputs)
    if x.op == "where":
        return any(map(below, rest)) and all(below(part) or least_known(part) is not None for part in rest)
    if x.op in ("mul", "contract"):
        return _is_product_of_same(x) or any(_is_weight(a) and below(b) for a, b in ((first, *rest), (*rest, first)))
    return x.op == "maximum" and any(least_known(a) == 0 and below(b) for a, b in ((first, *rest), (*rest, first)))


def _is_product_of_same(x: Node) -> bool:
    """Return True if the two factors of each product are the same entry of the same array: d * d, d @ d."""
    left, right = x.inputs
    if x.op == "contract":
        (left, first), (right, second) = map(_lettered, x.inputs, letters_of(x.params))
        if first != second:
            return False
    return same(left, right)


def _lettered(x: Node, term: str) -> tuple[Node, str]:
    """An operand of a contraction below its transpositions and axes of size 1, and the letters of its other axes."""
    letters = [c for c, size in zip(term, x.shape, strict=True) if size != 1]
    while x.op == "transpose" or (x.op == "reshape" and sizes_above_one(x) == sizes_above_one(x.inputs[0])):
        if x.op == "transpose":
            order = [axis for axis, size in zip(x.params, x.shape, strict=True) if size != 1]
            letters = [c for _, c in sorted(zip(order, letters, strict=True))]
        (x,) = x.inputs
    return x, "".join(letters)


def _is_weight(x: Node) -> bool:
    known = least_known(x)
    return known is not None and known >= 0


POWERS["sqrt"] = _sqrt
