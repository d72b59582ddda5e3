"""Numbers that count what is done with them: plain Python, without burlab."""

import math
from collections import Counter
from typing import Any, cast

import numpy as np

done: Counter[str] = Counter()


class Counted:
    """A float. Every product, sum and function of it adds to `done`."""

    def __init__(self, value: float) -> None:
        self.value = float(value)

    def __add__(self, other: Any) -> "Counted":
        return _made("additions", self.value + _value(other))

    def __sub__(self, other: Any) -> "Counted":
        return _made("additions", self.value - _value(other))

    def __rsub__(self, other: Any) -> "Counted":
        return _made("additions", _value(other) - self.value)

    def __neg__(self) -> "Counted":
        return _made("additions", -self.value)

    def __mul__(self, other: Any) -> "Counted":
        return _made("multiplications", self.value * _value(other))

    def __truediv__(self, other: Any) -> "Counted":
        return _made("multiplications", self.value / _value(other))

    def __rtruediv__(self, other: Any) -> "Counted":
        return _made("multiplications", _value(other) / self.value)

    __radd__, __rmul__ = __add__, __mul__

    def __float__(self) -> float:
        return self.value

    def __lt__(self, other: Any) -> bool:
        return self.value < _value(other)

    def __gt__(self, other: Any) -> bool:
        return self.value > _value(other)

    def exp(self) -> "Counted":
        return _made("transcendental", math.exp(self.value))

    def log(self) -> "Counted":
        return _made("transcendental", math.log(self.value))

    def tanh(self) -> "Counted":
        return _made("transcendental", math.tanh(self.value))

    def sin(self) -> "Counted":
        return _made("transcendental", math.sin(self.value))

    def cos(self) -> "Counted":
        return _made("transcendental", math.cos(self.value))

    def sqrt(self) -> "Counted":
        return _made("transcendental", math.sqrt(self.value))


def _value(x: Any) -> float:
    return x.value if isinstance(x, Counted) else float(x)


def _made(kind: str, value: float) -> Counted:
    done[kind] += 1
    return Counted(value)


class PlainLoops:
    """The words of the programs for arrays of `Counted`: sums begin at 0, products of matrices are three loops."""

    def dot(self, a: Any, b: Any) -> Any:
        a2, b2 = np.atleast_2d(a), (b[:, None] if b.ndim == 1 else b)
        out = np.empty((a2.shape[0], b2.shape[1]), object)
        for i in range(out.shape[0]):
            for j in range(out.shape[1]):
                total: Any = Counted(0.0)
                for k in range(a2.shape[1]):
                    total = total + a2[i, k] * b2[k, j]
                out[i, j] = total
        return out.reshape((*a.shape[:-1], *b.shape[1:]))

    def sum(self, x: Any, axis: Any = None) -> Any:
        return np.add.reduce(x, axis=axis, initial=cast("Any", Counted(0.0)))

    def cumsum(self, x: Any) -> Any:
        found, total = [], Counted(0.0)
        for number in x:
            total = total + number
            found.append(total)
        return np.array(found, object)

    def scan(self, f: Any, start: Any, xs: Any) -> Any:
        for x in xs:
            start = f(start, x)
        return start

    def add_at(self, size: int, rows: Any, numbers: Any) -> Any:
        out = np.array([Counted(0.0) for _ in range(size)], object)
        for row, number in zip(rows, numbers, strict=True):
            out[row] = out[row] + number
        return out


def counted(x: Any) -> Any:
    """An array of floats as an object array of `Counted`; integers stay."""
    x = np.asarray(x)
    if x.dtype.kind != "f":
        return x
    found = np.empty(x.shape, object)
    for place in np.ndindex(x.shape):
        found[place] = Counted(x[place])
    return found if x.shape else found[()]


def run(program: Any, *arguments: Any) -> tuple[Any, dict[str, int]]:
    """The value of a program on counted numbers, and what it has done by kind."""
    done.clear()
    value = program(PlainLoops(), *map(counted, arguments))
    kinds = ("multiplications", "additions", "transcendental")
    return np.vectorize(float, otypes=[float])(value), {kind: done[kind] for kind in kinds}
