"""One row per operation: where it is smooth, where it has kinks, and where arithmetic has edges.

`tests/graph/test_ops.py` walks the C++ table, the linear table and the rest of the operations and fails where a row is
missing. A row holds no derivative: exact ones come from mpmath by differences in 60 digits; only the conventions at
kinks, which no limit decides, are stated.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import mpmath
import numpy as np
from mpmath import mp
from scipy import special

from burlab.graph import Node, fourier, linear_nodes as ln

INF, NAN, TINY, LARGE = math.inf, math.nan, 5e-324, 1.7e308
ORDINARY = (-2.25, -0.75, 0.3125, 1.5)
ABOVE_ZERO = (0.0625, 0.75, 1.5, 11.0)
PAIRS = ((0.75, -1.5), (-2.25, 0.3125), (1.5, 2.5), (-0.5, -3.25))
EVERY_EDGE = (0.0, -0.0, INF, -INF, NAN, TINY, -TINY, LARGE, -LARGE, 1e-300, 1.0, -1.0)
PAIRED_EDGES = tuple(
    (x, y) for x in (0.0, -0.0, 1.0, INF, -INF, NAN, LARGE, TINY) for y in (0.0, -0.0, 2.0, INF, -INF, NAN, -LARGE)
)


@dataclass(frozen=True, slots=True)
class OpCase:
    """One scalar operation.

    exact: on mpmath's numbers. numpy: the same on arrays. jax: its name there, as `numpy.tanh`, if it has one.
    points: arguments near which it is smooth. edges: arguments at which only the value is checked, against `numpy`.
    kinks: (arguments, partials there by convention). order: derivatives to check at the points. complex_step: whether
    `numpy` is analytic on complex arrays. masked: whether its arguments are masks. ulp: how far from the exact value it
    may be, in units in the last place. edge_ulp: how far from `numpy` at the edges. slack: how much more than those of
    others its derivatives may be off. parameters: how many of the first arguments have no derivative. partial: (orders,
    *arguments) -> exact partial derivative, where mpmath's differences of `exact` take seconds.
    """

    name: str
    exact: Callable[..., Any]
    numpy: Callable[..., Any]
    points: Sequence[Any] = ORDINARY
    edges: Sequence[Any] = EVERY_EDGE
    kinks: Sequence[tuple[Any, Any]] = ()
    jax: str | None = None
    order: int = 3
    complex_step: bool = False
    masked: bool = False
    ulp: float = 4
    edge_ulp: int = 8
    slack: float = 1
    parameters: int = 0
    partial: Callable[..., Any] | None = None


def _phi(x: Any) -> Any:
    return mpmath.erfc(-x / mpmath.sqrt(2)) / 2


def _sigmoid(x: Any) -> Any:
    return 1 / (1 + mpmath.exp(-x))


def _both(x: Any, y: Any) -> Any:
    return bool(x) and bool(y)


def _either(x: Any, y: Any) -> Any:
    return bool(x) or bool(y)


def _comparison(name: str, exact: Callable[..., Any]) -> OpCase:
    return OpCase(name, exact, getattr(np, name), (*PAIRS, (1.5, 1.5), (0.0, 0.0)), PAIRED_EDGES, order=0)


_TIED = (((1.5, 1.5), (0.5, 0.5)), ((0.0, 0.0), (0.5, 0.5)))
MASKS = ((False, False), (False, True), (True, False), (True, True))
SCALAR = (
    OpCase("add", lambda x, y: x + y, np.add, PAIRS, PAIRED_EDGES, jax="numpy.add", complex_step=True),
    OpCase("sub", lambda x, y: x - y, np.subtract, PAIRS, PAIRED_EDGES, jax="numpy.subtract", complex_step=True),
    OpCase("mul", lambda x, y: x * y, np.multiply, PAIRS, PAIRED_EDGES, jax="numpy.multiply", complex_step=True),
    OpCase("div", lambda x, y: x / y, np.divide, PAIRS, PAIRED_EDGES, jax="numpy.divide", complex_step=True),
    OpCase("neg", lambda x: -x, np.negative, jax="numpy.negative", complex_step=True),
    OpCase("square", lambda x: x * x, np.square, (*ORDINARY, 0.0), jax="numpy.square", complex_step=True),
    OpCase("cube", lambda x: x**3, lambda x: x * x * x, (*ORDINARY, 0.0), complex_step=True),
    OpCase("sqrt", mpmath.sqrt, np.sqrt, ABOVE_ZERO, jax="numpy.sqrt", complex_step=True),
    OpCase(
        "power", mpmath.power, np.power,
        ((0.75, -1.5), (2.25, 0.3125), (1.5, 2.5), (11.0, 0.5), (0.0625, 3.0)), PAIRED_EDGES,
        kinks=(((0.0, 2.0), (0.0, 0.0)), ((0.0, 1.0), (1.0, 0.0)), ((0.0, 3.0), (0.0, 0.0))), jax="numpy.power",
    ),
    OpCase("exp", mpmath.exp, np.exp, (*ORDINARY, 0.0, -30.0), (*EVERY_EDGE, 709.0, -745.0), jax="numpy.exp",
           complex_step=True),
    OpCase("expm1", mpmath.expm1, np.expm1, (*ORDINARY, 0.0, 1e-9), (*EVERY_EDGE, 709.0), jax="numpy.expm1",
           complex_step=True),
    OpCase("log", mpmath.log, np.log, (*ABOVE_ZERO, 1.0), jax="numpy.log", complex_step=True),
    OpCase("log1p", mpmath.log1p, np.log1p, (-0.75, 0.0, 0.3125, 1e-9, 11.0), jax="numpy.log1p", complex_step=True),
    OpCase("sin", mpmath.sin, np.sin, (*ORDINARY, 0.0, 100.0), jax="numpy.sin", complex_step=True),
    OpCase("cos", mpmath.cos, np.cos, (*ORDINARY, 0.0, 100.0), jax="numpy.cos", complex_step=True),
    OpCase("tan", mpmath.tan, np.tan, (-1.25, 0.0, 0.3125, 1.5), jax="numpy.tan", complex_step=True),
    OpCase("arctan", mpmath.atan, np.arctan, (*ORDINARY, 0.0, 30.0), jax="numpy.arctan", complex_step=True),
    OpCase("arctan2", mpmath.atan2, np.arctan2, (*PAIRS, (0.0, 2.0), (1.0, 0.0)), PAIRED_EDGES, jax="numpy.arctan2"),
    OpCase("sinh", mpmath.sinh, np.sinh, (*ORDINARY, 0.0), (*EVERY_EDGE, 710.0), jax="numpy.sinh", complex_step=True),
    OpCase("cosh", mpmath.cosh, np.cosh, (*ORDINARY, 0.0), (*EVERY_EDGE, 710.0), jax="numpy.cosh", complex_step=True),
    OpCase("tanh", mpmath.tanh, np.tanh, (*ORDINARY, 0.0), (*EVERY_EDGE, 30.0), jax="numpy.tanh", complex_step=True),
    OpCase("arctanh", mpmath.atanh, np.arctanh, (-0.9375, -0.75, 0.0, 1e-9, 0.3125, 0.875), jax="numpy.arctanh",
           complex_step=True),
    OpCase("erf", mpmath.erf, special.erf, (*ORDINARY, 0.0), (*EVERY_EDGE, 30.0), jax="scipy.special.erf",
           complex_step=True),
    OpCase("erfc", mpmath.erfc, special.erfc, (*ORDINARY, 0.0), (*EVERY_EDGE, 30.0), jax="scipy.special.erfc",
           complex_step=True),
    OpCase("relu", lambda x: x if x > 0 else mp.mpf(0), lambda x: np.where(x < 0, 0, x),
           kinks=((0.0, 0.0), (-0.0, 0.0)), jax="nn.relu"),
    OpCase("sigmoid", _sigmoid, special.expit, (*ORDINARY, 0.0), (*EVERY_EDGE, 800.0, -800.0), jax="nn.sigmoid"),
    OpCase("softplus", lambda x: mpmath.log1p(mpmath.exp(x)), lambda x: np.logaddexp(0, x), (*ORDINARY, 0.0),
           (*EVERY_EDGE, 800.0, -800.0), jax="nn.softplus"),
    # Rounding x / sqrt 2 alone costs x^2 / 2 units in Phi.
    OpCase("gelu", lambda x: x * _phi(x), lambda x: x * special.ndtr(x), (*ORDINARY, 0.0), (*EVERY_EDGE, 40.0, -40.0),
           ulp=4 + 2.25**2 / 2),
    OpCase("silu", lambda x: x * _sigmoid(x), lambda x: x * special.expit(x), (*ORDINARY, 0.0),
           (*EVERY_EDGE, 800.0, -800.0), jax="nn.silu"),
    OpCase("abs", abs, np.abs, kinks=((0.0, 0.0), (-0.0, 0.0)), jax="numpy.abs"),
    OpCase("sign", mpmath.sign, np.sign, kinks=((0.0, 0.0),), jax="numpy.sign"),
    OpCase("maximum", max, np.maximum, PAIRS, PAIRED_EDGES,
           kinks=_TIED, jax="numpy.maximum"),
    OpCase("minimum", min, np.minimum, PAIRS, PAIRED_EDGES,
           kinks=_TIED, jax="numpy.minimum"),
    OpCase("where", lambda m, x, y: x if m else y, np.where, tuple((m, *p) for m in (False, True) for p in PAIRS),
           tuple((m, *p) for m in (False, True) for p in PAIRED_EDGES), jax="numpy.where"),
    _comparison("less", lambda x, y: x < y),
    _comparison("less_equal", lambda x, y: x <= y),
    _comparison("greater", lambda x, y: x > y),
    _comparison("greater_equal", lambda x, y: x >= y),
    _comparison("equal", lambda x, y: x == y),
    _comparison("not_equal", lambda x, y: x != y),
    OpCase("isfinite", mpmath.isfinite, np.isfinite, order=0),
    OpCase("isnan", mpmath.isnan, np.isnan, order=0),
    OpCase("logical_and", _both, np.logical_and, MASKS, MASKS, order=0, masked=True),
    OpCase("logical_or", _either, np.logical_or, MASKS, MASKS, order=0, masked=True),
    OpCase("logical_not", lambda x: not x, np.logical_not, (False, True), (False, True), order=0, masked=True),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class LinearCase:
    """One example of a linear operation.

    make: from nodes. numpy: the same on arrays. shapes: of the inputs that it is linear in; index: what follows them.
    floats: whether it is of floats only.
    """

    name: str
    make: Callable[..., Node]
    numpy: Callable[..., Any]
    shapes: Sequence[tuple[int, ...]]
    index: Sequence[int] | Sequence[Sequence[int]] | None = None
    floats: bool = False


def _padded(shape: tuple[int, ...], where: tuple[slice, ...]) -> Callable[..., Any]:
    def rule(x: Any) -> Any:
        y = np.zeros(shape, x.dtype)
        y[where] = x
        return y

    return rule


def _scattered(shape: tuple[int, ...], batch: int) -> Callable[..., Any]:
    def rule(y: Any, index: Any) -> Any:
        out = np.zeros(shape, y.dtype)
        for b in np.ndindex(shape[:batch]):
            np.add.at(out[b], index[b], y[b])
        return out

    return rule


def _gathered(x: Any, index: Any) -> Any:
    return np.stack([row[i] for row, i in zip(x, index, strict=True)])


def _put(x: Any, rows: Any, index: Any) -> Any:
    y = x.copy()
    y[index] = rows
    return y


def _added(x: Any, rows: Any, index: Any) -> Any:
    y = x.copy()
    np.add.at(y, index, rows)
    return y


_ROTATIONS = np.array(
    [[1, 1, 1, 1], [1, -1j, -1, 1j], [1, -1, 1, -1], [1, 1j, -1, -1j]]
)  # a transform without rounding


def _fourier(x: Any) -> Any:
    y = (x[0] + 1j * x[1]) @ _ROTATIONS
    return np.stack([y.real, y.imag]).astype(x.dtype)


def _real_fourier(x: Any) -> Any:
    y = (x @ _ROTATIONS)[..., :3]
    return np.stack([y.real, y.imag]).astype(x.dtype)


LINEAR_CASES = (
    LinearCase("fft", fourier.fft, _fourier, [(2, 3, 4)], floats=True),
    LinearCase("rfft", fourier.rfft, _real_fourier, [(3, 4)], floats=True),
    LinearCase("irfft", lambda x: fourier.irfft(x, 4),
               lambda x: ((x[0] + 1j * x[1]) @ _ROTATIONS.conj()[:3]).real.astype(x.dtype), [(2, 3, 3)], floats=True),
    LinearCase("sum", lambda x: ln.sum_over(x, (1,)), lambda x: x.sum(1), [(3, 4)]),
    LinearCase("sum", lambda x: ln.sum_over(x, (0, 2)), lambda x: x.sum((0, 2)), [(3, 4, 2)]),
    LinearCase("sum", lambda x: ln.sum_over(x, (0,)), lambda x: x.sum(0), [(0, 2)]),
    LinearCase("broadcast", lambda x: ln.broadcast(x, (2, 3, 4), (1,)),
               lambda x: np.broadcast_to(x[:, None], (2, 3, 4)), [(3,)]),
    LinearCase("broadcast", lambda x: ln.broadcast(x, (3, 4)), lambda x: np.broadcast_to(x, (3, 4)), [(3, 1)]),
    LinearCase("broadcast", lambda x: ln.broadcast(x, (2, 0)), lambda x: np.broadcast_to(x, (2, 0)), [()]),
    LinearCase("reshape", lambda x: ln.reshape(x, (2, 6)), lambda x: x.reshape(2, 6), [(3, 4)]),
    LinearCase("reshape", lambda x: ln.reshape(x, ()), lambda x: x.reshape(()), [(1, 1)]),
    LinearCase("transpose", lambda x: ln.transpose(x, (2, 0, 1)), lambda x: x.transpose(2, 0, 1), [(2, 3, 4)]),
    LinearCase("transpose", lambda x: ln.transpose(x, (1, 0)), lambda x: x.T, [(0, 3)]),
    LinearCase("slice", lambda x: ln.slice_(x, (4, 0), (-2, 1), (2, 3)), lambda x: x[4::-2][:2], [(5, 3)]),
    LinearCase("slice", lambda x: ln.slice_(x, (1,), (3,), (1,)), lambda x: x[1:2], [(4,)]),
    LinearCase("slice", lambda x: ln.slice_(x, (0, 0), (1, 1), (0, 2)), lambda x: x[:0], [(3, 2)]),
    LinearCase("pad", lambda x: ln.pad(x, (4, 1), (-2, 1), (5, 4)),
               _padded((5, 4), (slice(4, 1, -2), slice(1, 4))), [(2, 3)]),
    LinearCase("pad", lambda x: ln.pad(x, (0,), (3,), (7,)), _padded((7,), (slice(0, 7, 3),)), [(3,)]),
    LinearCase("concatenate", lambda *x: ln.concatenate(x, 1), lambda *x: np.concatenate(x, 1), [(2, 3), (2, 1)]),
    LinearCase("concatenate", lambda *x: ln.concatenate(x, 0), lambda *x: np.concatenate(x, 0), [(2,), (0,), (3,)]),
    LinearCase("gather", ln.gather, lambda x, i: x[i], [(5, 2)], [3, 0, 3]),
    LinearCase("gather", ln.gather, lambda x, i: x[i], [(5,)], [[3, 0], [3, 4]]),
    LinearCase("gather", lambda x, i: ln.gather(x, i, 1), _gathered, [(2, 5, 3)], [[0, 4, 4], [2, 2, 1]]),
    LinearCase("scatter", lambda y, i: ln.scatter(y, i, 0, 5), _scattered((5, 2), 0), [(3, 2)], [3, 0, 3]),
    LinearCase("scatter", lambda y, i: ln.scatter(y, i, 0, 4), _scattered((4,), 0), [(2, 2)], [[3, 0], [3, 1]]),
    LinearCase("scatter", lambda y, i: ln.scatter(y, i, 1, 5), _scattered((2, 5, 3), 1),
               [(2, 3, 3)], [[0, 4, 4], [2, 2, 1]]),
    LinearCase("put", ln.put, _put, [(5, 2), (3, 2)], [3, 0, 3]),
    LinearCase("put", ln.put, _put, [(5, 2), (2,)], 3),
    LinearCase("put", lambda x, y, i: ln.put(x, y, i, adds=True), _added, [(4, 2), (2, 2, 2)], [[3, 0], [3, 1]]),
    LinearCase("put", lambda x, y, i: ln.put(x, y, i, 1), lambda x, y, i: np.stack([*map(_put, x, y, i)]),
               [(2, 5), (2, 3)], [[0, 4, 4], [2, 2, 1]]),
    LinearCase("cumsum", lambda x: ln.cumsum(x, 1), lambda x: x.cumsum(1), [(2, 4)]),
    LinearCase("cumsum", lambda x: ln.cumsum(x, 0, True), lambda x: x[::-1].cumsum(0)[::-1], [(4, 2)]),
    LinearCase("convert", lambda x: ln.convert(x, np.dtype(np.float32)), lambda x: x.astype(np.float32), [(3, 2)]),
    LinearCase("convert", lambda x: ln.convert(x, np.dtype(np.float64)), lambda x: x.astype(np.float64), [(3, 2)]),
    LinearCase("contract", lambda x, y: ln.contract("ab,bc->ac", x, y), lambda x, y: x @ y, [(2, 3), (3, 4)]),
    LinearCase("contract", lambda x, y: ln.contract("zab,zcb->zca", x, y),
               lambda x, y: np.einsum("zab,zcb->zca", x, y), [(2, 3, 4), (2, 5, 4)]),
    LinearCase("contract", lambda x, y: ln.contract("a,a->", x, y), np.dot, [(4,), (4,)]),
    LinearCase("contract", lambda x, y: ln.contract("a,b->ba", x, y), lambda x, y: np.outer(y, x), [(2,), (3,)]),
    LinearCase("contract", lambda x, y: ln.contract("abc,c->ab", x, y), lambda x, y: x @ y, [(2, 0, 3), (3,)]),
    LinearCase("contract", lambda x, y: ln.contract("ad,b->b", x, y), lambda x, y: x.sum() * y, [(2, 2), (3,)]),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class OtherCase:
    """One example of another operation: make from nodes, the same on arrays, arrays to try.

    jax: its name there, as `numpy.sort`, if it has a derivative.
    """

    name: str
    make: Callable[..., Node]
    numpy: Callable[..., Any]
    arrays: Sequence[Any]
    jax: str | None = None


def _reduced(op: str, axes: tuple[int, ...]) -> Callable[[Node], Node]:
    return lambda x: Node(op, (x,), axes, tuple(d for i, d in enumerate(x.shape) if i not in axes), x.dtype)


def _position(op: str, axis: int) -> Callable[[Node], Node]:
    return lambda x: Node(op, (x,), axis, x.shape[:axis] + x.shape[axis + 1 :], np.dtype(np.int64))


def philox(key: Any, counter: Sequence[int], blocks: int) -> Any:
    """Raw words of NumPy's own Philox, from a counter on."""
    start = (sum(word << (64 * k) for k, word in enumerate(counter)) - 1) % 2**256  # NumPy counts before it draws
    return np.random.Philox(key=np.asarray(key, np.uint64), counter=start).random_raw(4 * blocks)


def _uniform(shape: tuple[int, ...], dtype: str) -> tuple[Callable[[Node], Node], Callable[[Any], Any]]:
    size = math.prod(shape)
    drop, unit = (11, 2.0**-53) if dtype == "float64" else (40, 2.0**-24)

    def one(key: Any) -> Any:
        words = philox(key, (0, 0, 0, 0), -(-size // 4))[:size]
        return ((words >> np.uint64(drop)).astype(np.float64) * unit).astype(dtype).reshape(shape)

    def numpy(keys: Any) -> Any:
        return np.array([one(k) for k in keys.reshape(-1, 2)]).reshape(keys.shape[:-1] + shape)

    return lambda k: Node("uniform", (k,), (shape, dtype), k.shape[:-1] + shape, np.dtype(dtype)), numpy


def _fold_in(keys: Any, data: Any) -> Any:
    pairs = zip(keys.reshape(-1, 2), np.ravel(data), strict=True)
    rows = [philox(k, (int(d) % 2**64, 0, 0, 1), 1)[:2] for k, d in pairs]
    return np.array(rows, np.uint64).reshape(keys.shape)


_TIES = np.array([[1.0, 3.0, 3.0, -2.0], [NAN, 1.0, NAN, 5.0], [-INF, INF, -0.0, 0.0]])
_SINGLE = _TIES.astype(np.float32)
_COUNTS = np.array([[4, -7, 4], [2, 2, 9]])
_FLAGS = np.array([[True, False], [False, False]])
_ROWS = [
    _TIES, _SINGLE, _COUNTS, _FLAGS, np.zeros((3, 0)), np.random.default_rng(3).integers(0, 40, (3, 500)) / 8,
    np.random.default_rng(4).normal(size=3000), np.repeat(np.arange(500), 2) % 499, np.arange(200)[::-1] / 3,
]  # fmt: skip
_PLACES = (0, 3, 4, 30)
_LONG = np.random.default_rng(5).choice([0.0, -0.0, 1.5, -2.0, NAN, INF, -INF, 7.0], (6, 700))
_NO_NANS = np.random.default_rng(6).normal(size=(3, 40))


def _parts(x: Any) -> Any:
    """Positions by parts: a number is in the part of the first place whose entry is not less."""
    bounds = np.sort(x)[..., _PLACES]
    bits = np.where(np.isnan(x), np.inf, x)[..., None]
    less = (np.isnan(bounds)[..., None, :] & ~np.isnan(x)[..., None]) | (bits < bounds[..., None, :])
    same = (bits == bounds[..., None, :]) & (np.isnan(x)[..., None] == np.isnan(bounds)[..., None, :])
    same |= np.isnan(x)[..., None] & np.isnan(bounds)[..., None, :]
    rank = np.sum(2 * ~(less | same) + same, axis=-1)
    return np.argsort(rank, axis=-1, kind="stable")


def _selected(op: str, x: Node, whole: bool) -> Node:
    shape = x.shape if whole else (*x.shape[:-1], len(_PLACES))
    return Node(op, (x,), _PLACES, shape, np.dtype(np.int64) if op.startswith("arg") else x.dtype)


_KEYS = np.array([[1, 2], [2**64 - 1, 77]], np.uint64)
OTHER_CASES = (
    OtherCase("reduce_max", _reduced("reduce_max", (1,)), lambda x: x.max(1), [_TIES, _SINGLE, _COUNTS, _FLAGS]),
    OtherCase("reduce_max", _reduced("reduce_max", (0, 1)), lambda x: x.max(), [_TIES, _COUNTS, _FLAGS]),
    OtherCase("reduce_min", _reduced("reduce_min", (0,)), lambda x: x.min(0), [_TIES, _SINGLE, _COUNTS, _FLAGS]),
    OtherCase("argmax", _position("argmax", 1), lambda x: x.argmax(1), [_TIES, _SINGLE, _COUNTS]),
    OtherCase("argmin", _position("argmin", 0), lambda x: x.argmin(0), [_TIES, _SINGLE, _COUNTS]),
    OtherCase("sort", lambda x: Node("sort", (x,), None, x.shape, x.dtype), np.sort, _ROWS, jax="numpy.sort"),
    OtherCase("argsort", lambda x: Node("argsort", (x,), None, x.shape, np.dtype(np.int64)),
              lambda x: np.argsort(x, kind="stable"), _ROWS),
    *(
        OtherCase(op, lambda x, op=op, whole=whole: _selected(op, x, whole), numpy, [_LONG, _LONG[:4], _NO_NANS])
        for op, whole, numpy in (
            ("partition", True, lambda x: np.take_along_axis(x, _parts(x), -1)),
            ("argpartition", True, _parts),
            ("kth", False, lambda x: np.sort(x)[..., _PLACES]),
            ("argkth", False, lambda x: np.argsort(x, kind="stable")[..., _PLACES]),
        )
    ),
    OtherCase("argtop", lambda x: Node("argtop", (x,), 5, (*x.shape[:-1], 5), np.dtype(np.int64)),
              lambda x: x.shape[-1] - 1 - np.argsort(x[..., ::-1], kind="stable")[..., :-6:-1], [_LONG, _NO_NANS]),
    OtherCase("exponents", lambda x: Node("exponents", (x,), None, x.shape, x.dtype), np.array,
              [np.abs(_COUNTS), np.abs(_COUNTS).astype(np.uint8)]),
    OtherCase("surrogate", lambda x, y: Node("surrogate", (x, y), None, x.shape, x.dtype), lambda x, y: x,
              [(_TIES, -_TIES)]),
    OtherCase("after", lambda x, y: Node("after", (x, y), None, x.shape, x.dtype), lambda x, y: x, [(_TIES, _COUNTS)]),
    OtherCase("stop_gradient", lambda x: Node("stop_gradient", (x,), None, x.shape, x.dtype), np.array, [_TIES]),
    OtherCase("uniform", *_uniform((3, 5), "float64"), [_KEYS[0], _KEYS]),
    OtherCase("uniform", *_uniform((7,), "float32"), [_KEYS[0], _KEYS]),
    OtherCase("fold_in", lambda k, d: Node("fold_in", (k, d), None, k.shape, k.dtype), _fold_in,
              [(_KEYS, np.array([3, -1])), (_KEYS[0], np.array(2**40))]),
)  # fmt: skip
