"""Random programs over all operations and many shapes: a strategy for hypothesis. Each runs on NumPy's words alone."""

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st

from tests.graph.wide_words import ELEMENTWISE, PAIRS, WHOLE

SHAPES = ((), (3,), (1,), (2, 3), (3, 2), (3, 1), (1, 3), (2, 1, 3), (2, 2, 2))
SHAPES += ((4, 1), (1, 1), (1, 4, 1), (3, 1, 1), (0,), (2, 0), (0, 3))
SHAPES += ((64,), (65,), (257,), (64, 3), (3, 65), (1, 128), (2, 64, 1), (129, 2))  # see `tests/thresholds`
LARGEST = 600  # elements of a value

UNARY: dict[str, Callable[..., Any]] = {
    "-a": lambda np, a: -a,
    "abs": lambda np, a: np.abs(a),
    "square": lambda np, a: np.square(a) / 4,
    "a ** 3": lambda np, a: a**3 / 8,
    "a ** -1.5": lambda np, a: (a * a + 0.5) ** -1.5,
    "sqrt": lambda np, a: np.sqrt(np.abs(a) + 0.25),
    "exp": lambda np, a: np.exp(-np.abs(a)),
    "expm1": lambda np, a: np.expm1(np.tanh(a)),
    "log": lambda np, a: np.log(np.abs(a) + 0.25),
    "log1p": lambda np, a: np.log1p(a * a),
    "sin": lambda np, a: np.sin(a),
    "cos": lambda np, a: np.cos(a),
    "tan": lambda np, a: np.tan(np.sin(a)),
    "arctan": lambda np, a: np.arctan(a),
    "sinh": lambda np, a: np.sinh(np.sin(a)),
    "cosh": lambda np, a: np.cosh(np.cos(a)),
    "tanh": lambda np, a: np.tanh(a),
    "sign": lambda np, a: np.sign(a) * a,
    "clip": lambda np, a: np.clip(a, -0.6, 0.9),
    "1 - 2 a": lambda np, a: 1 - 2.0 * a,
    "ravel": lambda np, a: np.ravel(a),
    "flip": lambda np, a: np.flip(a),
    "T": lambda np, a: a.T,
    "sum": lambda np, a: np.sum(a),
    "mean": lambda np, a: np.mean(a),
    "max": lambda np, a: np.max(a),
    "min": lambda np, a: np.min(a),
    "var": lambda np, a: np.var(a),
    "norm": lambda np, a: np.linalg.norm(np.ravel(a) + 3.0),
    "prod": lambda np, a: np.prod(np.tanh(a)),
    "cumsum": lambda np, a: np.cumsum(a),
    "softmax": lambda np, a: (e := np.exp(a - np.max(a))) / np.sum(e),
    "argmax": lambda np, a: a * np.argmax(a),
    "[None]": lambda np, a: a[None] if a.ndim < 3 else a,
    "[..., None]": lambda np, a: a[..., None] if a.ndim < 3 else a,
    "squeeze": lambda np, a: np.squeeze(a),
}
ALONG: dict[str, Callable[..., Any]] = {
    "sum": lambda np, a, k: np.sum(a, axis=k),
    "mean keepdims": lambda np, a, k: np.mean(a, axis=k, keepdims=True),
    "max": lambda np, a, k: np.max(a, axis=k),
    "min keepdims": lambda np, a, k: np.min(a, axis=k, keepdims=True),
    "var": lambda np, a, k: np.var(a, axis=k),
    "std": lambda np, a, k: (
        np.std(a + np.cumsum(np.ones_like(a), axis=k), axis=k) if a.shape[k] > 1 else np.sum(a, axis=k)
    ),
    "prod": lambda np, a, k: np.prod(np.sin(a), axis=k),
    "cumsum": lambda np, a, k: np.cumsum(a, axis=k),
    "flip": lambda np, a, k: np.flip(a, axis=k),
    "roll": lambda np, a, k: np.roll(a, 1, axis=k),
    "concatenate": lambda np, a, k: np.concatenate([a, np.sin(a)], axis=k)[..., :4],
    "repeat": lambda np, a, k: np.repeat(a, 2, axis=k) if a.shape[k] < 3 else a,
    "take": lambda np, a, k: np.take(a, np.array([0, -1, 0]), axis=k),
    "slice": lambda np, a, k: a[(slice(None),) * k + (slice(None, None, -2),)],
    "first": lambda np, a, k: a[(slice(None),) * k + (0,)],
    "swap": lambda np, a, k: np.swapaxes(a, 0, k),
    "softmax": lambda np, a, k: (e := np.exp(a - np.max(a, axis=k, keepdims=True))) / np.sum(e, axis=k, keepdims=True),
    "gather": lambda np, a, k: np.take_along_axis(a, np.argmax(a, axis=k, keepdims=True), axis=k),
    "gather at known places": lambda np, a, k: np.take_along_axis(
        a, np.indices([1 if j == k else d for j, d in enumerate(a.shape)]).sum(0) % a.shape[k], axis=k
    ),
    "pad": lambda np, a, k: np.pad(a, [(0, int(j == k)) for j in range(a.ndim)]) if a.shape[k] < 4 else a,
    "split": lambda np, a, k: sum(np.sum(p) * (i + 1) for i, p in enumerate(np.array_split(a, 2, axis=k))) + a,
    "diff": lambda np, a, k: np.diff(a, axis=k) if a.shape[k] > 1 else a,
    "sum keepdims": lambda np, a, k: np.sum(a, axis=k, keepdims=True),
    "a / mean": lambda np, a, k: a / (np.mean(np.abs(a), axis=k, keepdims=True) + 0.5),
    "a / norm": lambda np, a, k: a / np.sqrt(np.sum(a * a, axis=k, keepdims=True) + 0.25),
    "layer norm": lambda np, a, k: (
        (a - np.mean(a, axis=k, keepdims=True)) / np.sqrt(np.var(a, axis=k, keepdims=True) + 0.5)
    ),
    "logsumexp": lambda np, a, k: (
        np.log(np.sum(np.exp(a - (m := np.max(a, axis=k, keepdims=True))), axis=k, keepdims=True)) + m
    ),
    "- max": lambda np, a, k: a - np.max(a, axis=k, keepdims=True),
}
BINARY: dict[str, Callable[..., Any]] = {
    "a + b": lambda np, a, b: a + b,
    "a - b": lambda np, a, b: a - b,
    "a * b": lambda np, a, b: a * b,
    "a / b": lambda np, a, b: a / (b * b + 0.5),
    "power": lambda np, a, b: (np.abs(a) + 0.5) ** np.tanh(b),
    "maximum": lambda np, a, b: np.maximum(a, b),
    "minimum": lambda np, a, b: np.minimum(a, b),
    "arctan2": lambda np, a, b: np.arctan2(a, b * b + 0.25),
    "where": lambda np, a, b: np.where(a > b, np.sin(a), b),
    "logic": lambda np, a, b: np.where((a > 0) & ~(b > a), a, b),
    "stack": lambda np, a, b: np.stack(np.broadcast_arrays(a, b)).reshape(-1)[:6],
    "outer": lambda np, a, b: np.outer(a, b)[:3, :3],
    "dot": lambda np, a, b: np.sum(np.ravel(a)) * np.sum(np.ravel(b)) / 4,
}
MATRIX: dict[str, Callable[..., Any]] = {
    "a @ b": lambda np, a, b: a @ b / 2,
    "inner": lambda np, a, b: np.inner(a, b.T) / 2 if b.ndim < 3 else a @ b / 2,
    "einsum": lambda np, a, b: np.einsum("...i,i...->...", a, b) if b.ndim == 1 else a @ b / 2,
    "tensordot": lambda np, a, b: np.tensordot(a, b, 1) / 2 if b.ndim < 3 else a @ b / 2,
}
TABLES = {"unary": UNARY, "along": ALONG, "binary": BINARY, "matrix": MATRIX}
TABLES |= {"elementwise": ELEMENTWISE, "whole": WHOLE, "pair": PAIRS}  # of wide programs


@dataclass(frozen=True, slots=True)
class Step:
    """An operation on earlier values: its name, which values, and what else it takes."""

    table: str
    name: str
    operands: tuple[int, ...]
    more: tuple[int, ...] = ()

    def __call__(self, np: Any, values: list[Any]) -> Any:
        """The value."""
        return TABLES[self.table][self.name](np, *(values[k] for k in self.operands), *self.more)


@dataclass(frozen=True, slots=True)
class Program:
    """Steps over two arguments; the result is a number that depends on the last four values."""

    shapes: tuple[tuple[int, ...], ...]
    steps: tuple[Step, ...]

    def __call__(self, np: Any, *args: Any) -> Any:
        """The number."""
        values = list(args)
        for step in self.steps:
            values.append(step(np, values))
        return sum(np.sum(np.tanh(v) * (k + 1)) for k, v in enumerate(values[-4:]))

    def arguments(self, seed: int = 0) -> list[Any]:
        """Arrays to call it with."""
        rng = np.random.default_rng(seed)
        return [np.asarray(rng.normal(size=shape)) for shape in self.shapes]


@st.composite
def programs(draw: Any, most: int = 12, words: Any = np) -> Program:
    """Programs whose values stay small: what grows, or has no value on an empty axis, is a tanh instead.

    words: NumPy, or `Words` of it, for programs over the whole vocabulary.
    """
    shapes = tuple(draw(st.lists(st.sampled_from(SHAPES), min_size=2, max_size=2)))
    values = Program(shapes, ()).arguments()
    steps: list[Step] = []
    for _ in range(draw(st.integers(1, most))):
        step = draw(st.sampled_from(_choices(values, words is not np)).flatmap(lambda row: _step(row, values)))
        value = _small(step, values, words)
        if value is None:
            step = Step("unary", "tanh", step.operands[:1])
            value = step(np, values)
        steps.append(step)
        values.append(np.asarray(value))
    return Program(shapes, tuple(steps))


def _small(step: Step, values: list[Any], words: Any) -> Any:
    """The value of a step, or None where it is large, not finite, or not defined."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            value = step(words, values)
    except (ValueError, IndexError, RuntimeWarning):
        return None
    return value if value.size <= LARGEST and np.max(np.abs(value), initial=0.0) <= 20 else None


def _choices(values: list[Any], wide: bool) -> list[tuple[str, tuple[int, ...]]]:
    """Which tables apply to which values; the last one is used most."""
    last = len(values) - 1
    rows: list[tuple[str, tuple[int, ...]]] = [("unary", (last,)), ("unary", (0,))]
    rows += [("along", (k,)) for k, v in enumerate(values) if v.ndim]
    if wide:
        rows += [("elementwise", (last,)), ("whole", (last,)), ("whole", (last,))] * 4
    for k, v in enumerate(values):
        a, b = values[last], v
        try:
            np.broadcast_shapes(a.shape, b.shape)
        except ValueError:
            pass
        else:
            rows += [("binary", (last, k)), ("binary", (k, last))]
            rows += [("pair", (last, k))] * wide
        if a.ndim and b.ndim and a.shape[-1] == b.shape[-2 if b.ndim > 1 else -1] and (a.ndim < 3 or b.ndim < 3):
            rows.append(("matrix", (last, k)))
    return rows


def _step(row: tuple[str, tuple[int, ...]], values: list[Any]) -> Any:
    table, operands = row
    names = TABLES[table]
    axes = st.integers(0, max(values[operands[0]].ndim - 1, 0))
    name = st.sampled_from(sorted(names))
    return st.builds(
        Step, st.just(table), name, st.just(operands), st.tuples(axes) if table == "along" else st.just(())
    )


def size(program: Program) -> int:
    """Numbers in the arguments."""
    return sum(math.prod(shape) for shape in program.shapes)
