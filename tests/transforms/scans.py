"""Programs with scans, written for `(np, scan)` of burlab and of JAX alike. Each returns a tree of arrays."""

from typing import Any

import numpy as np


def rnn(np: Any, scan: Any, xs: Any, w: Any, h: Any) -> Any:
    """The weights are read from around the loop; the last carry and all outputs are results."""

    def cell(h: Any, x: Any) -> Any:
        h = np.tanh(w @ h + x)
        return h, h * 2

    return scan(cell, h, xs)


def lstm(np: Any, scan: Any, xs: Any, w: Any, h: Any) -> Any:
    """A carry of two leaves, a dictionary of results, from the last element to the first."""

    def cell(state: Any, x: Any) -> Any:
        h, c = state
        a = np.concatenate([x, h]) @ np.concatenate([w, w[::-1]])
        i, f, o, g = np.tanh(a), np.exp(-a * a), a * 0.5, np.sin(a)
        c = f * c + i * g
        return (o * np.tanh(c), c), {"o": o, "total": np.sum(c)}

    return scan(cell, (h, h * 0.5), xs, reverse=True)


def counter(np: Any, scan: Any, xs: Any, w: Any, h: Any) -> Any:
    """A counter is carried that no derivative reaches; it picks from a value around the loop; nothing is stacked."""

    def iteration(state: Any, x: Any) -> Any:
        k, total = state
        return (k + 1, total * np.sum(w[k % 3]) + np.sum(x * x)), None

    return scan(iteration, (0, np.sum(h)), xs)[0][1]


def no_sequence(np: Any, scan: Any, xs: Any, w: Any, h: Any) -> Any:
    """A length alone; a carry that is passed on as it is, one that becomes a constant, one that is read from around."""

    def iteration(state: Any, _: Any) -> Any:
        a, b, c, d = state
        return (a, b * np.cos(a), np.ones(3), w[0] * d), (b, c)

    return scan(iteration, (h, h, h, h), None, length=len(xs))


def swapped(np: Any, scan: Any, xs: Any, w: Any, h: Any) -> Any:
    """The leaves change places: a turn must not read what it has written."""
    return scan(lambda s, x: ((s[1], s[0] * x), s[0]), (h, w[1]), xs)


def nested(np: Any, scan: Any, xs: Any, w: Any, h: Any) -> Any:
    """A scan within a scan; the inner one reads the carry of the outer one."""

    def outer(h: Any, x: Any) -> Any:
        def inner(v: Any, row: Any) -> Any:
            return np.sin(v + row * h), v[0]

        end, firsts = scan(inner, x, w)
        return end, firsts

    return scan(outer, h, xs)


def two_sequences(np: Any, scan: Any, xs: Any, w: Any, h: Any) -> Any:
    """Two sequences in a dictionary, the second made of the first; what one scan gives goes through another."""
    pairs = {"x": xs, "y": np.exp(-(xs[:, :1] ** 2))}
    ys = scan(lambda c, p: (c * p["y"] + p["x"], c), h, pairs)[1]
    return scan(lambda c, y: (c + np.sum(y**3), c), 0.0, ys, reverse=True)


PROGRAMS = [rnn, lstm, counter, no_sequence, swapped, nested, two_sequences]
LENGTHS = (0, 1, 2, 7)


def arguments(length: int) -> tuple[Any, ...]:
    """xs, w, h for a number of turns."""
    rng = np.random.default_rng(length)
    return tuple(rng.normal(size=shape) * 0.6 for shape in ((length, 3), (3, 3), (3,)))
