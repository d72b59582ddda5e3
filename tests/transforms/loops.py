"""Programs with loops, written for `(np, while_loop)` of burlab and of JAX alike."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

RNG = np.random.default_rng(5)
X = RNG.normal(size=7)
M = RNG.normal(size=(4, 4)) + 4 * np.eye(4)


@dataclass(frozen=True)
class Program:
    """f(np, while_loop, *args). exact: whether NumPy itself gives the same bits: no sums, no functions of libm."""

    f: Callable[..., Any]
    args: tuple[Any, ...]
    exact: bool = True

    @property
    def name(self) -> str:
        return self.f.__name__


def newton(np: Any, loop: Any, a: Any) -> Any:
    return loop(lambda x: np.abs(x * x - a) > 1e-12 * a, lambda x: (x + a / x) / 2, a)


def fibonacci(np: Any, loop: Any, n: Any) -> Any:
    """The leaves change places: a turn must not read what it has written."""
    return loop(lambda s: s[2] < n, lambda s: (s[1], s[0] + s[1], s[2] + 1), (0.0, 1.0, 0.0))[0]


def both_the_same(np: Any, loop: Any, x: Any, y: Any) -> Any:
    return loop(lambda s: s["k"] < 3, lambda s: {"k": s["k"] + 1, "x": s["y"], "y": s["y"]}, {"k": 0, "x": x, "y": y})


def gcd(np: Any, loop: Any, a: Any, b: Any) -> Any:
    """Euclid's own form, by subtraction."""
    less = lambda x, y: np.where(x > y, x - y, x)  # noqa: E731
    return loop(lambda s: s[0] != s[1], lambda s: (less(s[0], s[1]), less(s[1], s[0])), (a, b))


def power_iteration(np: Any, loop: Any, m: Any, x: Any) -> Any:
    def iteration(s: Any) -> Any:
        k, v, _ = s
        w = m @ v
        w = w / np.sqrt(np.sum(w * w))
        return k + 1, w, np.max(np.abs(w - v))

    return loop(lambda s: (s[2] > 1e-9) & (s[0] < 300), iteration, (0, x, 1.0))


def nested(np: Any, loop: Any, x: Any, scale: Any) -> Any:
    """Both loops read a value from around the outer one; the inner one reads the outer one's state."""

    def outer(s: Any) -> Any:
        i, total = s

        def inner(r: Any) -> Any:
            return r[0] + 1, r[1] * 0.5 + scale * i

        return i + 1, loop(lambda r: r[0] < i, inner, (0, total))[1] + x[0]

    return loop(lambda s: s[0] < 6, outer, (0, x))


def bisection(np: Any, loop: Any, x: Any, wanted: Any) -> Any:
    """A traced index into a value from around the loop."""

    def iteration(s: Any) -> Any:
        low, high = s
        middle = ((low + high) / 2).astype(np.int64)
        right = x[middle] < wanted
        return np.where(right, middle + 1, low), np.where(right, high, middle)

    return loop(lambda s: s[0] < s[1], iteration, (np.int64(0), np.int64(x.shape[0])))[0]


def masks(np: Any, loop: Any, x: Any) -> Any:
    def iteration(s: Any) -> Any:
        alive, k, done = s
        return alive & (x > k * 0.25), k + 1, np.logical_or(done, k >= 3)

    return loop(lambda s: ~s[2] & np.any(s[0]), iteration, (x > -1.0, 0, False))


def no_iteration(np: Any, loop: Any, x: Any) -> Any:
    return loop(lambda s: s[0] > 5, lambda s: (s[0] + 1, s[1] * 2), (0, x))


def unread_leaves(np: Any, loop: Any, x: Any) -> Any:
    iteration = lambda s: {"k": s["k"] + 1, "y": s["y"] * x, "z": s["y"] - 1}  # noqa: E731
    return loop(lambda s: s["k"] < 5, iteration, {"k": 0, "y": x, "z": x})["y"]


def constants_and_captures(np: Any, loop: Any, x: Any, y: Any) -> Any:
    """A turn may give a constant, a value from around the loop, a view of one, its own state unchanged."""

    def iteration(s: Any) -> Any:
        return s[0] + 1, np.zeros(7), y, np.reshape(x, (1, 7))[:, ::-1], s[4]

    return loop(lambda s: s[0] < 2, iteration, (0, x, x, np.reshape(x, (1, 7)), y))


def views_outside(np: Any, loop: Any, m: Any) -> Any:
    row, column = m[1], m.T[2, ::-1]
    return loop(lambda s: s[0] < 3, lambda s: (s[0] + 1, s[1] * row + column), (0, m[::2, 1:].T[:, 0] @ m[1:, :]))


def empty_leaf(np: Any, loop: Any, x: Any) -> Any:
    return loop(lambda s: s[0] < 4, lambda s: (s[0] + 1, s[1] * 2.0), (0, x[:0]))


def two_loops(np: Any, loop: Any, x: Any) -> Any:
    """The second starts from results of the first, which the graph gives too."""
    k, y = loop(lambda s: s[0] < 3, lambda s: (s[0] + 1, s[1] + 0.5), (0, x))
    z = loop(lambda s: s[0] > 0, lambda s: (s[0] - 1, s[1] * y), (k, y))
    return y, z, x + y


PROGRAMS = [
    Program(newton, (2.0,)),
    Program(fibonacci, (30.0,)),
    Program(both_the_same, (X, X + 1)),
    Program(gcd, (np.int64(1071), np.int64(462))),
    Program(gcd, (np.int32(1071), np.int32(462))),
    Program(power_iteration, (M, X[:4]), exact=False),
    Program(nested, (X, 0.125)),
    Program(nested, (X.astype(np.float32), np.float32(0.125))),
    Program(bisection, (np.sort(X), 0.1)),
    Program(masks, (X,)),
    Program(no_iteration, (X,)),
    Program(unread_leaves, (X,)),
    Program(constants_and_captures, (X, X * 3)),
    Program(views_outside, (M,)),
    Program(empty_leaf, (X,)),
    Program(two_loops, (X,)),
]
