"""Checks of burlab's results for a program, against complex numbers and against itself.

A check returns what is wrong, or None.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import burlab as bl
from burlab.compiler import build
from burlab.compiler.planning import byte_masks, copy_slices
from burlab.graph import Graph, vjp
from burlab.graph.node import constant
from tests.compiler.everything_shared import everything_shared
from tests.compiler.trace import traced

from .programs import Program, loss_of, split

Arrays = Sequence[np.ndarray]
TOLERANCE = {np.dtype(np.float64): 1e-9, np.dtype(np.float32): 2e-3}  # of the largest number of a result
# Two orders of the same sums; a gradient by numbers of two bytes is rounded to them.
_ALIKE = {np.dtype(np.float64): 1e-10, np.dtype(np.float32): 5e-4, np.dtype(np.float16): 4e-3}
_MIN_SCALE = {8: 1e-3, 4: 0.05, 2: 0.05}  # by the bytes of a number: what sums of numbers near 1 may cancel to
_ROWS = (1, 2, 3, 4, 5, 8, 16, 17)
_SAMPLES = (1, 2, 3, 5, 8, 15, 16, 17, 33, 64, 65, 129, 257)


def differs(name: str, got: Any, wanted: Any, tolerance: float, scale: float = 0.0) -> str | None:
    """Where two arrays are not alike."""
    got, wanted = np.asarray(got), np.asarray(wanted)
    if got.shape != wanted.shape:
        return f"{name}: shape {got.shape} in place of {wanted.shape}"
    if not got.size:
        return None
    size = max(scale, float(np.max(np.abs(wanted))))
    error = np.abs(got.astype(float) - wanted)
    bad = ~(error <= tolerance * max(size, _MIN_SCALE[got.dtype.itemsize]))
    if not bad.any():
        return None
    at = tuple(int(i) for i in np.argwhere(bad)[0])
    return f"{name}: {int(bad.sum())} of {got.size} differ, first at {at}: {got[at]} in place of {wanted[at]}"


def values(p: Program, gear: str, rng: np.random.Generator) -> str | None:
    """The last values, and the loss."""
    strict = bool(rng.random() < 0.3)
    kernel = build(traced(p.results_and_loss, *p.arguments), gear=gear, strict=strict)
    wanted = [*p.ends, loss_of(p.ends)]
    for k, (got, want) in enumerate(zip(kernel(*p.arguments), wanted, strict=True)):
        wrong = differs(f"value {k}, strict={strict}", got, split(want)[0], TOLERANCE[p.dtype])
        if wrong:
            return wrong
    return None


def gradient(p: Program, gear: str, rng: np.random.Generator) -> str | None:
    """Value and gradient by all arguments: the gradient along the direction, and by one argument alone."""
    strict = bool(rng.random() < 0.3)
    if any(a.dtype == np.float16 for a in p.arguments):
        whole = bl.compile(bl.value_and_grad(p.loss, _all(p)), *p.arguments, gear=gear, strict=strict)
        value, gradients = whole(*p.arguments)
    else:
        graph = traced(p.loss, *p.arguments)
        (loss,) = graph.outputs
        derivatives = vjp([loss], list(graph.inputs), [constant(1.0, loss.dtype)])
        value, *gradients = build(Graph(graph.inputs, (loss, *derivatives)), gear=gear, strict=strict)(*p.arguments)
    wanted, slope = split(loss_of(p.ends))
    tolerance = TOLERANCE[p.dtype]
    parts = [np.sum(np.multiply(g, v, dtype=float)) for g, v in zip(gradients, p.direction, strict=True)]
    size = sum(float(np.linalg.norm(np.ravel(g).astype(float))) for g in gradients)
    return differs(f"value, strict={strict}", value, wanted, tolerance, 1.0) or differs(
        f"slope, strict={strict}", sum(parts), slope, tolerance, size
    )


def pushforward(p: Program, gear: str, rng: np.random.Generator) -> str | None:
    """The last values' derivatives along the direction, forward."""
    directions = [v.astype(a.dtype) for a, v in zip(p.arguments, p.direction, strict=True)]
    f, given = p.results, (tuple(p.arguments), tuple(directions))
    kernel = bl.compile(lambda a, v: bl.jvp(f, a, v), *given, gear=gear)
    _, pushed = kernel(*given)
    for k, (got, want) in enumerate(zip(pushed, p.ends, strict=False)):
        value, slope = split(want)
        scale = float(np.max(np.abs(value), initial=0.0))
        wrong = differs(f"derivative of value {k}", got, slope, TOLERANCE[p.dtype], scale)
        if wrong:
            return wrong
    return None


def curvature(p: Program, gear: str, rng: np.random.Generator) -> str | None:
    """The Hessian times the direction, forward over reverse against reverse over reverse."""
    argnums, loss = _all(p), p.loss
    a, v = tuple(p.arguments), tuple(d.astype(x.dtype) for x, d in zip(p.arguments, p.direction, strict=True))

    def slope(*arguments: Any) -> Any:
        return sum(np.sum(g * u) for g, u in zip(bl.grad(loss, argnums)(*arguments), v, strict=True))

    forward = bl.compile(lambda *a: bl.jvp(bl.grad(loss, argnums), a, v)[1], *a, gear=gear)(*a)
    reverse = bl.compile(bl.grad(slope, argnums), *a, gear=gear)(*a)
    size = max(float(np.max(np.abs(x), initial=0.0)) for x in forward)
    for k, (x, y) in enumerate(zip(forward, reverse, strict=True)):
        wrong = differs(f"Hessian of argument {k}", x, y, 100 * _ALIKE[p.dtype], size)
        if wrong:
            return wrong
    return None


def batch(p: Program, gear: str, rng: np.random.Generator) -> str | None:
    """Rows of some arguments by vmap, against each row by itself."""
    rows = int(rng.choice(_ROWS))
    if rows * max(x.size for x in p.values) > 300_000:
        rows = 2
    chosen = [bool(rng.random() < 0.5) for _ in p.arguments]
    chosen[int(rng.integers(len(chosen)))] = True
    f: Callable[..., Any] = p.results if rng.random() < 0.5 else bl.value_and_grad(p.loss, _all(p))
    others = [p.redrawn(k).arguments for k in range(rows)]
    axes = [int(rng.integers(a.ndim + 1)) if many else None for a, many in zip(p.arguments, chosen, strict=True)]
    stacked = [
        a if axis is None else np.ascontiguousarray(np.stack([other[k] for other in others], axis))
        for k, (a, axis) in enumerate(zip(p.arguments, axes, strict=True))
    ]
    many = bl.compile(bl.vmap(f, tuple(axes)), *stacked, gear=gear)(*stacked)
    one = bl.compile(f, *p.arguments, gear=gear)
    for row in sorted({0, rows // 2, rows - 1}):
        own = [others[row][k] if many else a for k, (a, many) in enumerate(zip(p.arguments, chosen, strict=True))]
        wrong = _same(f"row {row} of {rows}, axes {axes}", [x[row] for x in _flat(many)], _flat(one(*own)))
        if wrong:
            return wrong
    return None


def mapped(p: Program, gear: str, rng: np.random.Generator) -> str | None:
    """`Kernel.map`, against each row by itself."""
    rows = int(rng.choice((*_ROWS, 33)))
    if rows * sum(a.size for a in p.arguments) > 300_000:
        rows = 2
    others = [p.redrawn(k).arguments for k in range(rows)]
    kernel = bl.compile(p.results, *p.arguments, gear=gear)
    many = kernel.map(*(np.stack(column) for column in zip(*others, strict=True)))
    for row in sorted({0, rows // 2, rows - 1}):
        wrong = _same(f"row {row} of {rows}", [x[row] for x in _flat(many)], _flat(kernel(*others[row])))
        if wrong:
            return wrong
    return None


def scanned(p: Program, gear: str, rng: np.random.Generator) -> str | None:
    """Gradient of a sum over a scan whose element is the first argument, against the elements one by one."""
    length = int(rng.choice((1, 2, 3)))
    first = np.stack([p.redrawn(k).arguments[0] for k in range(length)])
    rest, loss = p.arguments[1:], p.loss

    def total(first: Any, *rest: Any) -> Any:
        def body(carry: Any, x: Any) -> Any:
            return carry + loss(x, *rest), None

        return bl.scan(body, first.dtype.type(0), first)[0]

    def added(first: Any, *rest: Any) -> Any:
        return sum(loss(first[k], *rest) for k in range(length))

    got, wanted = (
        _flat(bl.compile(bl.value_and_grad(f, _all(p)), first, *rest, gear=gear)(first, *rest)) for f in (total, added)
    )
    return _same(f"scan of {length}", got, wanted)


def sums(p: Program, gear: str, rng: np.random.Generator) -> str | None:
    """A FiniteSum over samples that are the first argument: value, gradient, and that of each sample."""
    count = int(rng.choice(_SAMPLES))
    if count * max(x.size for x in p.values) > 300_000:
        count = 3
    others = [p.redrawn(k) for k in range(count)]
    data = np.stack([other.arguments[0] for other in others])
    point, loss = tuple(a.astype(p.dtype) for a in p.arguments[1:]), p.loss
    if not point:
        return None
    tile = [None, 1, 2, 4, 16, 64][rng.integers(6)]
    problem = bl.FiniteSum(lambda point, x: loss(x, *point), data, tile=tile)
    slopes, numbers = np.zeros(count), np.zeros(count)
    for k in range(count):
        direction = [np.zeros_like(p.direction[0]), *p.direction[1:]]
        found = p.complex([data[k].astype(float), *(x.astype(float) for x in point)], direction)
        numbers[k], slopes[k] = split(loss_of([found[i] for i in p.last]))
    tolerance = TOLERANCE[p.dtype]
    value, gradients = problem.value_and_grad(point)
    rows = problem.per_sample_grads(point)
    along = [_along(g, p.direction[1:]) for g in zip(*rows, strict=True)]
    size = 1.0 + sum(float(np.linalg.norm(np.ravel(g).astype(float))) for g in gradients)
    name = f"{count} samples, tile={tile}"
    return (
        differs(f"mean of {name}", value, numbers.mean(), tolerance, 1.0)
        or differs(f"slope of {name}", _along(gradients, p.direction[1:]), slopes.mean(), tolerance, size)
        or differs(f"slopes of {name}", along, slopes, tolerance, size)
    )


def gears(p: Program, gear: str, rng: np.random.Generator) -> str | None:
    """Both gears, which have the same bits where sums are strict."""
    strict = bool(rng.random() < 0.5)
    made = (bl.compile(bl.value_and_grad(p.loss, _all(p)), *p.arguments, gear=g, strict=strict) for g in GEARS)
    one, other = (_flat(kernel(*p.arguments)) for kernel in made)
    if strict and not all(np.array_equal(x, y, equal_nan=True) for x, y in zip(one, other, strict=True)):
        return "strict: the gears have other bits"
    return _same("gears", one, other)


def kept(p: Program, gear: str, rng: np.random.Generator) -> str | None:
    """Gradient through a checkpoint, with masks and copied slices of any size, against that with all values stored."""
    argnums, loss = _all(p), p.loss
    part = bl.checkpoint(loss, policy=None if rng.random() < 0.7 else "contractions")
    remat = "sqrt" if rng.random() < 0.3 else None

    def squared(f: Callable[..., Any]) -> Callable[..., Any]:
        return bl.value_and_grad(lambda *arguments: f(*arguments) * (f(*arguments) + 0.5), argnums)

    wanted = _flat(bl.compile(squared(loss), *p.arguments, gear=gear)(*p.arguments))
    before = byte_masks.MIN_BYTES, copy_slices.MIN_BYTES
    byte_masks.MIN_BYTES = copy_slices.MIN_BYTES = 1
    try:
        got = _flat(bl.compile(squared(part), *p.arguments, gear=gear, remat=remat)(*p.arguments))
        masked = _flat(bl.compile(squared(loss), *p.arguments, gear=gear)(*p.arguments))
    finally:
        byte_masks.MIN_BYTES, copy_slices.MIN_BYTES = before
    return _same("checkpoint", got, wanted) or _same("masks", masked, wanted)


def threaded(p: Program, gear: str, rng: np.random.Generator) -> str | None:
    """Values and gradient where threads share whatever they can share, which have the bits of one thread."""
    count = int(rng.choice((2, 3, 5, 16)))
    f = bl.value_and_grad(p.loss, _all(p)) if rng.random() < 0.7 else p.results
    alone = _flat(bl.compile(f, *p.arguments, gear=gear)(*p.arguments))
    with everything_shared():
        kernel = bl.compile(f, *p.arguments, gear=gear, threads=count)
        shared = _flat(kernel(*p.arguments))
    for k, (x, y) in enumerate(zip(shared, alone, strict=True)):
        if not np.array_equal(x, y, equal_nan=True):
            return f"{count} threads: result {k} has other bits than with one, {int(np.sum(x != y))} of {y.size}"
    return None


def _all(p: Program) -> tuple[int, ...]:
    return tuple(range(len(p.arguments)))


def _along(gradients: Any, direction: Arrays) -> float:
    return float(sum(np.sum(np.multiply(g, v, dtype=float)) for g, v in zip(gradients, direction, strict=True)))


def _flat(tree: Any) -> list[np.ndarray]:
    return [leaf for item in tree for leaf in _flat(item)] if isinstance(tree, tuple) else [np.asarray(tree)]


def _same(name: str, got: list[np.ndarray], wanted: list[np.ndarray]) -> str | None:
    size = max(float(np.max(np.abs(x), initial=0.0)) for x in wanted)
    for k, (x, y) in enumerate(zip(got, wanted, strict=True)):
        wrong = differs(f"{name}, result {k}", x, y, _ALIKE[y.dtype], size)
        if wrong:
            return wrong
    return None


Check = Callable[[Program, str, np.random.Generator], "str | None"]
GEARS = ("replay", "compiled")
REPLAYED: tuple[Check, ...] = (
    (values,) * 6 + (gradient,) * 6 + (pushforward, batch, batch, batch, curvature, mapped, scanned, kept)
)
COMPILED: tuple[Check, ...] = (
    values,
    gradient,
    gradient,
    pushforward,
    batch,
    gears,
    gears,
    scanned,
    kept,
    kept,
    sums,
    sums,
    sums,
    threaded,
    threaded,
    threaded,
)


def check(p: Program, compiled: bool) -> str | None:
    """Return the fault that one of the checks finds in a program, or None.

    A choice, as of the largest, may fall otherwise where two numbers are as good as equal: so what is wrong has to be
    wrong with other numbers too.
    """
    rng = np.random.default_rng([p.seed, 1])
    table = COMPILED if compiled else REPLAYED
    test = table[int(rng.integers(len(table)))]
    seed = int(rng.integers(1 << 30))
    found: str | None = None
    for attempt in range(3):
        program = p if attempt == 0 else p.redrawn(attempt)
        wrong = test(program, GEARS[compiled], np.random.default_rng(seed))
        if wrong is None:
            return None
        found = found or f"{test.__name__}, {GEARS[compiled]}: {wrong}"
    return found
