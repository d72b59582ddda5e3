"""`interval`: bounds of a function's values over a box."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from burlab.compiler.function import Function
from burlab.errors import ArgumentError, NonFiniteError
from burlab.graph import Graph, Node, tree
from burlab.graph.node import constant
from burlab.graph.origin import location, place
from burlab.runtime.plain import as_array
from burlab.transforms.call import TracedCall, match, name_of
from burlab.transforms.memo import remembered
from burlab.typing import Shape, Tree

from .enclosures import Check, Enclosures
from .pairs import Pair, Value, outside, pair

_np: Any = np  # whose stubs know nothing of nodes


def interval(f: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function (low, high, *args) -> (lower bounds, upper bounds) of f(x, *args) for all low <= x <= high.

    Each operation becomes one on intervals (Moore 1966, Interval Analysis), whose ends are rounded outwards, so the
    bounds hold for exact arithmetic, and for burlab's. Bounds of gradients and Hessians are those of `grad(f)` and
    `hessian(f)`. Where x comes in several times they are wider than the range of f: cut the box. `where`, `abs` and
    `max` take both sides where the choice is open, and so does the derivative at a kink. A quotient by an interval
    around 0 has no bounds.

    Args:
        f: a function of a floating array or number, or any tree of them, and of other arguments, which are exact.

    Returns:
        A function of two trees like x. It returns two trees like the result of f.

    Raises:
        ArgumentError: when called, if low is above high, or one of them is nan.
        ShapeError, DTypeError: when called, if low and high differ in form, or x is not floating.
        NonFiniteError: when called, if the intervals leave the domain of an operation, as of a logarithm.
        TraceError: when called, if an operation has no enclosure. Both name the user's line.

    >>> import numpy as np, burlab as bl
    >>> low, high = bl.interval(lambda x: x * np.exp(x))(1.0, 1.5)
    >>> bool(low < np.e < 1.5 * np.exp(1.5) < high), round(float(high - low), 6)
    (True, 4.004252)
    >>> low, high = bl.interval(bl.grad(np.abs))(-1.0, 2.0)
    >>> float(low), float(high)
    (-1.0, 1.0)
    """

    def rule(low: Tree, high: Tree, *args: Any) -> Any:
        call, bounds, checks = _enclosed(f, low, high, args)
        return call.place((*bounds, _any([mask for mask, _ in checks])))

    def explanation(low: Tree, high: Tree, *args: Any) -> Any:
        call, _, checks = _enclosed(f, low, high, args)
        return call.place({f"{k:06d} {message}": _any([mask]) for k, (mask, message) in enumerate(checks)})

    def function(rule: Callable[..., Any]) -> Function[..., Any]:
        return Function(rule, name=f"interval({name_of(f)})", reads=(f,))

    def enclosure(low: Tree, high: Tree, *args: Any) -> Any:
        *bounds, left = remembered(f, "interval", lambda: function(rule))(low, high, *args)
        if not isinstance(left, Node) and left:
            _check_ends(low, high)
            found = remembered(f, "explained interval", lambda: function(explanation))(low, high, *args)
            raise NonFiniteError(next(said.partition(" ")[2] for said in sorted(found) if found[said]))
        return tuple(bounds)

    enclosure.__name__ = enclosure.__qualname__ = f"interval({name_of(f)})"
    return enclosure


def _enclosed(
    f: Callable[..., Any], low: Tree, high: Tree, args: tuple[Any, ...]
) -> tuple[TracedCall, tuple[Any, Any], list[tuple[Node, str]]]:
    """The traced call, the two trees of bounds, and what must not hold, as masks, each with what to say then."""
    call = TracedCall(f, (low, *args), {}, (0,), "interval")
    inputs, structure = call.by(0, "interval")
    ends = match(high, inputs, structure, "the upper end of interval")
    boxes = [Pair(x, end) for x, end in zip(inputs, ends, strict=True)]
    known: dict[Node, Value] = dict(zip(inputs, boxes, strict=True))
    outputs, form = tree.flatten(call.result)
    walk = Enclosures()
    found = walk.of(Graph(call.inputs, tuple(outputs)), [known.get(x, x) for x in call.inputs])
    pairs = [pair(y) for y in found]
    checks = [(outside(box), "low and high are not the ends of an interval.") for box in boxes if box.low.size]
    checks += [*((check.left, _message(check)) for check in walk.checks), *walk.nans(found, name_of(f))]
    low_, high_ = (tree.unflatten(form, [y[end] for y in pairs]) for end in range(2))
    return call, (low_, high_), checks


def _any(masks: Sequence[Node]) -> Any:
    """Return True, traced, where one of some masks holds anywhere; those of one shape share a reduction."""
    joined = dict[Shape, Any]()
    for mask in masks:
        joined[mask.shape] = joined[mask.shape] | mask if mask.shape in joined else mask
    found: Any = constant(False)
    for mask in joined.values():
        found = found | _np.any(mask)
    return found


def _message(check: Check) -> str:
    line = f"{place(check.origin)}: " if check.origin else ""
    if check.op == "cholesky":
        return (
            f"{line}no proof was found that all matrices of an interval are positive definite, so there are no bounds "
            "of their Cholesky factors. Pass a smaller box, or add a multiple of the identity matrix."
        )
    return (
        f"{line}an interval leaves the domain of {check.op}, so there are no bounds. Pass a smaller box, or keep the "
        "argument inside with np.maximum or np.clip."
    )


def _check_ends(low: Tree, high: Tree) -> None:
    """Raise ArgumentError where an end is nan, or low is above high."""
    lows, highs = tree.flatten(low)[0], tree.flatten(high)[0]
    if len(lows) != len(highs):
        return  # said later, with the structures
    for *ends, path in zip(lows, highs, tree.leaf_names(low), strict=True):
        a, b = (as_array(x, "an end of interval") for x in ends)
        if a.shape != b.shape or a.dtype.kind != "f" or b.dtype.kind != "f":
            continue
        if np.isnan(a).any() or np.isnan(b).any():
            end = "low" if np.isnan(a).any() else "high"
            raise ArgumentError(f"{location()}{end}{path} of interval holds nan, expected numbers.")
        if (a > b).any():
            at = np.unravel_index(np.argmax(a > b), a.shape)
            where = f" at {tuple(map(int, at))}" if at else ""
            raise ArgumentError(
                f"{location()}low{path} of interval is {a[at]:.6g}{where}, above high, {b[at]:.6g}. Pass the lower end "
                "first."
            )
        if (a == np.inf).any() or (b == -np.inf).any():
            raise ArgumentError(f"{location()}low{path} of interval is inf, or high is -inf: no number is between.")
