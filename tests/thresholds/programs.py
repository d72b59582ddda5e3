"""Programs: steps over arguments, with their values and derivatives along a direction on NumPy's complex numbers."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from .words import WORDS, Complex, Real

Shape = tuple[int, ...]

STEP = 1e-30  # of the complex numbers
MAX_DRAWS = 30  # of numbers for the steps of a program
MAX_GROWTH = 10.0  # of the largest element of a value, from one draw to another


class Step(NamedTuple):
    """A word, the numbers of the values that it takes, and its parameters."""

    word: str
    operands: tuple[int, ...]
    more: tuple[Any, ...] = ()


@dataclass(eq=False)
class Program:
    """Steps over arguments, which are all floats; values: theirs and the steps' on complex numbers."""

    seed: int
    arguments: list[np.ndarray]
    direction: list[np.ndarray]
    steps: list[Step] = field(default_factory=list)
    values: list[np.ndarray] = field(default_factory=list)

    @property
    def dtype(self) -> np.dtype[Any]:
        """Of the values; arguments may be stored in fewer bytes."""
        return np.result_type(np.float32, *(a.dtype for a in self.arguments))

    @property
    def results(self) -> Callable[..., Any]:
        """The function of the arguments that gives the last values."""
        return self._function(tuple)

    @property
    def loss(self) -> Callable[..., Any]:
        """The function that gives a number, which depends on each element of the last values in its own way."""
        return self._function(loss_of)

    @property
    def results_and_loss(self) -> Callable[..., Any]:
        """The function that gives both."""
        return self._function(lambda values: (*values, loss_of(values)))

    @property
    def last(self) -> list[int]:
        """The numbers of the last values, without those that are scaled down because they are large."""
        large = {step.operands[0] for step in self.steps if step.word == "times"}
        return [k for k in range(len(self.arguments) + len(self.steps)) if k not in large][-3:]

    @property
    def ends(self) -> list[np.ndarray]:
        """The last values, as `results` gives them."""
        return [self.values[k] for k in self.last]

    def _function(self, end: Callable[[list[Any]], Any]) -> Callable[..., Any]:
        """A function of the arguments that reads no more from outside than the words that it calls."""
        calls, last = [(WORDS[word], operands, more) for word, operands, more in self.steps], self.last

        def program(*arguments: Any) -> Any:
            values = list(arguments)
            for word, operands, more in calls:
                values.append(word(Real, *(values[k] for k in operands), *more))
            return end([values[k] for k in last])

        return program

    def complex(self, arguments: Sequence[np.ndarray], direction: Sequence[np.ndarray]) -> list[np.ndarray]:
        """All values with their derivatives along a direction."""
        values = [a + 1j * STEP * v for a, v in zip(arguments, direction, strict=True)]
        for word, operands, more in self.steps:
            values.append(WORDS[word](Complex, *(values[k] for k in operands), *more))
        return values

    def redrawn(self, seed: int) -> "Program":
        """Return the same steps on other numbers, of which no value is much larger than that of this program.

        Numbers that make a value of 1e8 out of one of 20 say nothing in float32: the sine of it has no correct digit.
        """
        rng = np.random.default_rng([self.seed, seed])
        for _ in range(MAX_DRAWS):
            arguments = [numbers(rng, a.shape, a.dtype) for a in self.arguments]
            direction = [moves(rng, a.shape, a.dtype) for a in self.arguments]
            other = Program(self.seed, arguments, direction, self.steps)
            other.values = other.complex([a.astype(float) for a in arguments], direction)
            if all(_size(a) <= MAX_GROWTH * max(_size(b), 1.0) for a, b in zip(other.values, self.values, strict=True)):
                return other
        return self

    def __str__(self) -> str:
        lines = [f"%{k} = {a.dtype}{list(a.shape)}" for k, a in enumerate(self.arguments)]
        for k, (word, operands, more) in enumerate(self.steps, len(lines)):
            shape = list(self.values[k].shape) if k < len(self.values) else "?"
            lines.append(f"%{k} = {word}({', '.join(f'%{i}' for i in operands)}) {more or ''} {shape}")
        return f"program {self.seed}\n" + "\n".join(lines)


def loss_of(values: Sequence[Any]) -> Any:
    """Sums of sines, in proportion to the numbers of elements."""
    return sum(np.sum(np.sin(v + k)) * (1 / math.sqrt(max(np.size(v), 1))) for k, v in enumerate(values))


def _size(value: np.ndarray) -> float:
    return float(np.max(np.abs(value.real), initial=0.0))


def split(values: Any) -> Any:
    """Values and derivatives of complex numbers."""
    return np.real(values), np.imag(values) / STEP


def numbers(rng: np.random.Generator, shape: Shape, dtype: Any) -> np.ndarray:
    """Arguments, few of them near 0."""
    return np.asarray(rng.normal(size=shape) + 0.25).astype(dtype)


def moves(rng: np.random.Generator, shape: Shape, dtype: Any) -> np.ndarray:
    """A direction of an argument, in numbers that its dtype has."""
    return np.asarray(rng.normal(size=shape)).astype(dtype).astype(float)
