"""Random programs whose sizes lie at the thresholds of planner and kernels; from a number, the same one every time.

Each comes with its values and their derivatives along a direction, which NumPy's complex numbers have computed while it
was drawn (`words.py`).
"""

import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from .programs import STEP, Program, Shape, Step, moves, numbers
from .words import ALONG, ELEMENTWISE, PAIRS, WORDS, Complex

# Where something changes: no element, one, few; lanes and blocks of registers; what is long enough for lanes and
# phases; blocks of sums; slots and chunks of rows.
SMALL = (1, 2, 3, 4, 5, 7, 8, 9)
MIDDLE = (12, 15, 16, 17, 24, 31, 32, 33, 48)
LONG_SIZES = (63, 64, 65, 66, 127, 128, 129, 130)
BLOCK = (255, 256, 257, 258, 260)
LARGE = (511, 512, 513, 1000, 1023, 1024, 1025, 4095, 4096, 4097)
_ELEMENTS, _MANY = 36_000, 300_000  # of one value; and of one in few programs
_PRODUCTS = 30  # multiplications of a product for each of these
_LAYOUTS = ("plain", "repeated", "repeated", "transposed", "flipped", "stepped", "part", "lined up")
_NARROW = 0.2  # share of the arguments of programs of float32 that are float16
_LARGEST = 20.0  # a value, beyond which it is scaled down


def draw(seed: int, dtype: Any = None) -> Program:
    """The program of a number."""
    rng = np.random.default_rng(seed)
    dtype = dtype or rng.choice([np.float64, np.float64, np.float32])
    maker = _Maker(Program(seed, [], []), rng, np.dtype(dtype))
    for _ in range(rng.integers(1, 3)):
        maker.argument(maker.shape())
    maker.seal()
    for _ in range(rng.integers(2, 8)):
        maker.step()
    return maker.finished()


class _TooLargeError(Exception):
    """A word needs an argument that has too many elements."""


class _Maker:
    """Draws steps one after the other. Arguments are numbered from -1 down until all of them are known."""

    def __init__(self, program: Program, rng: np.random.Generator, dtype: np.dtype[Any]) -> None:
        self.program, self.rng, self.dtype = program, rng, dtype
        self.elements = _MANY if rng.random() < 0.03 else _ELEMENTS
        pool = [SMALL] * 3 + [MIDDLE, LONG_SIZES, LONG_SIZES, LONG_SIZES, BLOCK, LARGE]
        self.sizes = [int(rng.choice(pool[rng.integers(len(pool))])) for _ in range(rng.integers(2, 5))]
        self.sizes += [0] * bool(rng.random() < 0.02)
        self.known: dict[int, np.ndarray] = {}
        self.narrow: set[int] = set()
        self.made: list[int] = []
        self.steps: list[tuple[int, Step]] = []
        self.rules: list[Callable[[], None]] = [
            *[self._einsum] * 4,
            *[self._of_vectors] * 3,
            *[self._matmul] * 3,
            *[self._along] * 5,
            *[self._elementwise] * 3,
            *[self._pair] * 4,
            *[self._reshape, self._cut, self._sum_over, self._sum_over, self._vector_words],
            *[self._stack] * 3,
            *[self._by_groups, self._convolution, self._contrast, self._in_turn],
        ]

    def seal(self) -> None:
        """Start from the arguments so far."""
        self.made = [k for k in self.known if k not in self.narrow]

    def size(self) -> int:
        return int(self.rng.choice(self.sizes)) if self.rng.random() < 0.8 else int(self.rng.choice(SMALL))

    def shape(self, most: int = 3) -> Shape:
        shape: list[int] = []
        for _ in range(self.rng.integers(self.rng.random() > 0.05, most + 1)):
            size = self.size()
            if math.prod(shape) * size <= self.elements:
                shape.append(size)
        return tuple(shape)

    def argument(self, shape: Shape) -> int:
        """A new argument. Of floats of four bytes, some are stored in two."""
        if math.prod(shape) > _MANY:
            raise _TooLargeError
        narrow = self.dtype == np.float32 and math.prod(shape) <= self.elements and self.rng.random() < _NARROW
        number = -1 - len(self.program.arguments)
        dtype = np.dtype(np.float16) if narrow else self.dtype
        value, direction = numbers(self.rng, shape, dtype), moves(self.rng, shape, dtype)
        self.program.arguments.append(value)
        self.program.direction.append(np.asarray(direction))
        self.known[number] = value.astype(float) + 1j * STEP * direction
        if not narrow:
            return number
        self.narrow.add(number)  # no other word computes with two bytes
        wide = self.add("widened", [number], self.dtype)
        assert wide is not None
        return wide

    def add(self, word: str, operands: Sequence[int], *more: Any) -> int | None:
        """The number of the value of a word, or None where it has none, or one that is too large."""
        values = [self.known[k] for k in operands]
        try:
            with np.errstate(all="raise"):
                value = np.asarray(WORDS[word](Complex, *values, *more))
        except (ValueError, IndexError, FloatingPointError):
            return None
        if value.size > (_MANY if word == "broadcast" else self.elements) or not np.isfinite(value).all():
            return None
        number = len(self.steps)
        self.steps.append((number, Step(word, tuple(operands), more)))
        self.known[number] = value
        largest = float(np.max(np.abs(value.real), initial=0.0))
        if largest > _LARGEST:
            return self.add("times", [number], 0.5 ** math.ceil(math.log2(largest / 4)))
        return number

    def operand(self, shape: Shape) -> int:
        """A value of a shape: one made before, an argument, or a view of an argument."""
        same = [k for k in self.known if self.known[k].shape == shape and k not in self.narrow]
        if same and self.rng.random() < 0.3:
            return int(self.rng.choice(same))
        return self._viewed(shape)

    def _viewed(self, shape: Shape, kind: str = "") -> int:
        kind = kind or str(self.rng.choice(_LAYOUTS))
        axis = int(self.rng.integers(len(shape))) if shape else 0
        if not shape or kind == "plain":
            return self.argument(shape)
        if kind == "repeated":
            chosen = [d if self.rng.random() < 0.5 else 1 for d in shape]
            chosen[axis] = 1
            own = tuple(chosen) if self.rng.random() < 0.5 else tuple(chosen[_leading(chosen) :])
            made = self.add("broadcast", [self.argument(own)], shape)
        elif kind == "transposed":
            axes = tuple(int(k) for k in self.rng.permutation(len(shape)))
            made = self.add("transpose", [self.argument(tuple(shape[axes.index(k)] for k in range(len(shape))))], axes)
        elif kind == "flipped":
            made = self.add("flip", [self.argument(shape)], axis)
        elif kind in ("stepped", "part"):
            step = int(self.rng.choice([2, -2, 3])) if kind == "stepped" else 1
            start = int(self.rng.integers(0, 3))
            size = start + abs(step) * max(shape[axis] - 1, 0) + 1
            whole = (*shape[:axis], size, *shape[axis + 1 :])
            bounds = (start, start + abs(step) * shape[axis], step) if step > 0 else (size - 1, None, step)
            if step < 0:
                whole = (*shape[:axis], abs(step) * shape[axis], *shape[axis + 1 :])
                bounds = (None, None, step)
            made = self.add("cut", [self.argument(whole)], axis, *bounds) if math.prod(whole) < _MANY else None
        else:
            made = self.add("reshape", [self.argument((math.prod(shape),))], shape)
        return self.argument(shape) if made is None else made

    def last(self) -> int:
        return self.made[-1] if self.rng.random() < 0.75 else int(self.rng.choice(self.made))

    def step(self) -> None:
        """One more value."""
        before = len(self.made)
        for _ in range(4):
            with suppress(_TooLargeError):
                self.rules[self.rng.integers(len(self.rules))]()
            if len(self.made) > before:
                return

    def keep(self, number: int | None) -> None:
        if number is not None:
            self.made.append(number)

    def finished(self) -> Program:
        """With arguments numbered from 0, then steps."""
        count = len(self.program.arguments)

        def number(k: int) -> int:
            return -1 - k if k < 0 else count + k

        self.program.steps = [Step(s.word, tuple(map(number, s.operands)), s.more) for _, s in self.steps]
        self.program.values = [self.known[-1 - k] for k in range(count)] + [self.known[k] for k, _ in self.steps]
        return self.program

    def _elementwise(self) -> None:
        self.keep(self.add(str(self.rng.choice(list(ELEMENTWISE))), [self.last()]))

    def _along(self) -> None:
        k = self.last()
        if self.known[k].ndim and self.known[k].size:
            axis = int(self.rng.integers(self.known[k].ndim))
            self.keep(self.add(str(self.rng.choice(list(ALONG))), [k], axis))

    def _in_turn(self) -> None:
        """What runs a graph of its own many times, or a stack of small systems of equations."""
        k = self.last()
        small = [axis for axis, d in enumerate(self.known[k].shape) if 0 < d <= 2 * MIDDLE[-1]]
        if small:
            word = str(self.rng.choice(["recurrence", "solved", "determinants"]))
            self.keep(self.add(word, [k], int(self.rng.choice(small))))

    def _pair(self) -> None:
        k = self.last()
        shape = self.known[k].shape
        if shape and self.rng.random() < 0.4:  # one that is repeated along some axes
            cut = int(self.rng.integers(len(shape)))
            shape = tuple(d if self.rng.random() < 0.6 else 1 for d in shape[cut:])
        pair = [k, self.operand(shape)]
        self.rng.shuffle(pair)
        self.keep(self.add(str(self.rng.choice(list(PAIRS))), pair))

    def _work(self, *sizes: int) -> bool:
        return math.prod(sizes) <= _PRODUCTS * self.elements

    def _einsum(self) -> None:
        k = self.last()
        shape = self.known[k].shape
        if len(shape) > 4:
            return
        left = "abcd"[: len(shape)]
        vectors = bool(self.rng.random() < 0.5)  # each letter of the value is one of the other operand too
        shared = [c for c in left if vectors or self.rng.random() < 0.6]
        new = ["xy"[i] for i in range(1 if vectors else int(self.rng.choice([0, 1, 1, 1, 2])))]
        sizes = dict(zip(left, shape, strict=True)) | {c: self.size() for c in new}
        right = "".join(self.rng.permutation([*shared, *new])) if shared or new else ""
        summed = (
            {str(self.rng.choice(list(left)))} if vectors and left else {c for c in shared if self.rng.random() < 0.5}
        )
        out = [c for c in left if c not in summed] + new
        if self.rng.random() < 0.1 and out:
            out.pop(0)
        if not self._work(*sizes.values()) or math.prod(sizes[c] for c in right) > self.elements:
            return
        term = "".join(self.rng.permutation(out)) if out else ""
        whole = tuple(sizes[c] for c in right)
        b = self._viewed(whole, "repeated") if self.rng.random() < 0.3 else self.operand(whole)
        swap = self.rng.random() < 0.5
        spec = f"{right},{left}->{term}" if swap else f"{left},{right}->{term}"
        self.keep(self.add("einsum", [b, k] if swap else [k, b], spec))

    def _of_vectors(self) -> None:
        """Vectors times matrices that some of them share, summed over a long letter: what vmap makes of a product."""
        kept = "ab"[: int(self.rng.integers(1, 3))]
        sizes = {c: int(self.rng.choice(SMALL)) for c in kept}
        sizes |= {"k": int(self.rng.choice((*MIDDLE[-3:], *LONG_SIZES, *LONG_SIZES, *BLOCK))), "x": self.size()}
        if not self._work(*sizes.values()) or math.prod(sizes.values()) > _MANY:
            return
        left, right = ("".join(self.rng.permutation([*kept, *own])) for own in ("k", "kx"))
        terms = [left, right]
        operands = [self.operand(tuple(sizes[c] for c in left))]
        own = [c for c in right if c not in kept or self.rng.random() < 0.4]
        lines = tuple(sizes[c] if c in own else 1 for c in right)
        made = self.add("broadcast", [self.argument(lines)], tuple(sizes[c] for c in right))
        if made is None:
            return
        operands.append(made)
        if self.rng.random() < 0.5:
            terms.reverse()
            operands.reverse()
        out = "".join(self.rng.permutation([*kept, "x"]))
        self.keep(self.add("einsum", operands, f"{terms[0]},{terms[1]}->{out}"))

    def _stack(self) -> None:
        """Products of matrices that an axis of all three arrays counts, with any order of the axes of each."""
        k = self.last()
        left, right, out = ("".join(self.rng.permutation([*letters])) for letters in ("tij", "tjk", "tik"))
        given = self.known[k].shape
        shape = given if len(given) == 3 else tuple(self.size() for _ in left)
        sizes = dict(zip(left, shape, strict=True)) | {"k": self.size()}
        shapes = [tuple(sizes[c] for c in term) for term in (left, right, out)]
        if not self._work(*sizes.values()) or any(math.prod(shape) > self.elements for shape in shapes):
            return
        operands = [k if len(given) == 3 else self.operand(shapes[0]), self.operand(shapes[1])]
        terms = [left, right]
        if self.rng.random() < 0.5:
            terms.reverse()
            operands.reverse()
        self.keep(self.add("einsum", operands, f"{terms[0]},{terms[1]}->{out}"))

    def _by_groups(self) -> None:
        k = self.last()
        shape = self.known[k].shape
        if len(shape) == 2 and math.prod(shape):
            groups = int(self.rng.choice([g for g in (1, 2, 3, 4, 8, shape[1]) if shape[1] % g == 0]))
            self.keep(self.add("by groups", [k, self.operand((groups, int(self.rng.integers(1, 6))))]))

    def _convolution(self) -> None:
        k = self.last()
        shape = self.known[k].shape
        if len(shape) != 3 or not math.prod(shape):
            return
        spans = [min(int(self.rng.integers(1, 4)), d) for d in shape[:2]]
        outputs = self.size()
        if self._work(*shape, *spans, outputs) and shape[0] * shape[1] * outputs <= self.elements:
            self.keep(self.add("convolved", [k, self.operand((*spans, shape[2], outputs))]))

    def _contrast(self) -> None:
        k = self.last()
        shape = self.known[k].shape
        if len(shape) == 2 and math.prod(shape) and self._work(shape[0], *shape) and shape[0] ** 2 <= self.elements:
            self.keep(self.add("contrasted", [k, self.operand(shape)]))

    def _matmul(self) -> None:
        k = self.last()
        shape = self.known[k].shape
        if not shape or len(shape) > 3:
            return
        columns = self.size()
        if not self._work(*shape, columns):
            return
        kind = self.rng.integers(4)
        if kind == 0:
            self.keep(self.add("matmul", [k, self.operand((shape[-1],))]))
        elif kind == 1:
            batch = shape[:-2] if self.rng.random() < 0.5 else ()
            self.keep(self.add("matmul", [k, self.operand((*batch, shape[-1], columns))]))
        elif kind == 2:
            rows = (columns, shape[-2]) if len(shape) > 1 else (columns, shape[0])
            self.keep(self.add("matmul", [self.operand(rows), k]))
        else:
            self.keep(self.add("tensordot", [k, self.operand((shape[-1], columns))], 1))

    def _reshape(self) -> None:
        k = self.last()
        shape = list(self.known[k].shape)
        if len(shape) > 1 and self.rng.random() < 0.6:
            at = int(self.rng.integers(len(shape) - 1))
            shape[at : at + 2] = [shape[at] * shape[at + 1]]
        elif shape:
            at = int(self.rng.integers(len(shape)))
            factor = next((f for f in (2, 3, 5) if shape[at] and shape[at] % f == 0), 1)
            shape[at : at + 1] = [factor, shape[at] // factor]
        self.keep(self.add("reshape", [k], tuple(shape)))

    def _cut(self) -> None:
        k = self.last()
        if self.known[k].ndim:
            axis = int(self.rng.integers(self.known[k].ndim))
            start, step = int(self.rng.integers(3)), int(self.rng.choice([1, 2, 3]))
            self.keep(self.add("cut", [k], axis, start, None, step))

    def _sum_over(self) -> None:
        """Of a turned array often: then no two of the axes are one in memory."""
        k = self.last()
        count = self.known[k].ndim
        if count > 2 and self.rng.random() < 0.6:
            order = [int(i) for i in self.rng.permutation(count)]
            k = self.add("transpose", [k], tuple(order))
            if k is None:
                return
        axes = tuple(i for i in range(count) if self.rng.random() < 0.75)
        largest = bool(axes) and bool(self.known[k].size) and self.rng.random() < 0.5
        self.keep(self.add("max over", [k], axes) if largest else self.add("sum over", [k], axes or None))

    def _vector_words(self) -> None:
        k = self.last()
        if self.known[k].ndim != 1 or not self.known[k].size:
            axes = tuple(int(i) for i in self.rng.permutation(self.known[k].ndim))
            self.keep(self.add("transpose", [k], axes))
            return
        word = self.rng.choice(["outer", "convolve", "dot"])
        shape = self.known[k].shape if word == "dot" else (min(self.size(), 64),)
        if word == "outer" or math.prod(shape) > 0:
            self.keep(self.add(str(word), [k, self.operand(shape)]))


def _leading(shape: Sequence[int]) -> int:
    """Axes of size 1 at the start."""
    return next((k for k, d in enumerate(shape) if d != 1), len(shape))
