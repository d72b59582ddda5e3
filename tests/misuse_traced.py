"""Mistakes inside of traced functions."""

from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

import burlab as bl
from burlab.errors import ArgumentError, DTypeError, TraceError
from burlab.graph.scalar import load_partials
from tests.misuse import Misuse, X
from tests.misuse_places import PLACES


def _times(f: Callable[..., Any], n: int) -> Callable[..., Any]:
    for _ in range(n):
        f = bl.grad(f)
    return f


WORDS: dict[str, Callable[[Any], Any]] = {
    "einsum of a number": lambda x: np.einsum(3, x),  # type: ignore[call-overload]
    "einsum of other axes": lambda x: np.einsum(x, ["a"]),
    "einsum of a sign": lambda x: np.einsum("$->", x),
    "einsum with two arrows": lambda x: np.einsum("i->i->", x),
    "split into none": lambda x: np.split(x, 0),
    "split into halves": lambda x: np.split(x, 2),
    "split into less than none": lambda x: np.split(x, -1),
    "array_split into none": lambda x: np.array_split(x, 0),
    "split by a text": lambda x: np.split(x, "a"),  # type: ignore[arg-type]
    "an int32 plus a large number": lambda x: x.astype(np.int32) + 2**40,
    "where with a large number": lambda x: np.where(x > 0, x.astype(np.int32), 2**40),
    "a number beyond all dtypes": lambda x: x + 10**400,
    "isfinite of objects": lambda x: np.isfinite(np.array([x[0], x[1]], object)),
    "sin of objects and numbers": lambda x: np.sin(np.array([x[0], 1.0], object)),
    "det of objects": lambda x: np.linalg.det(np.array([[x[0], 0.0], [0.0, x[1]]], object)),
    "sign of objects": lambda x: np.sign(np.array([x[0], x[1]], object)),
    "maximum of objects": lambda x: np.maximum(np.array([x[0], x[1]], object), 0.0),
    "sort of objects": lambda x: np.sort(np.array([x[0], x[1]], object)),
    "a shift to the left": lambda x: x << 2,
    "a shift of numbers by an array": lambda x: 2 >> x,
    "^ for a power": lambda x: x ^ 2,
    "times a Decimal": lambda x: x * Decimal(2),
    "a Decimal times": lambda x: Decimal(2) * x,
    "equal to a Decimal": lambda x: x == Decimal(2),
    "plus a Fraction": lambda x: x + Fraction(1, 2),
    "a Frobenius norm of a vector": lambda x: np.linalg.norm(x, "fro"),
}
ARGUMENTS: dict[str, tuple[Callable[[Any], Any], type[Exception], str]] = {
    "astype of an unknown word": (lambda x: x.astype("foo"), DTypeError, "line.*dtype is 'foo'.*float64"),
    "a sum of an unknown dtype": (lambda x: np.sum(x, dtype="foo"), DTypeError, "line.*dtype is 'foo'"),
    "tril of a text": (lambda x: np.tril(np.outer(x, x), "a"), DTypeError, "line.*k is 'a'"),
    "triu of None": (lambda x: np.triu(np.outer(x, x), None), DTypeError, "line.*k is None"),
    "tensordot of a text": (lambda x: np.tensordot(x, x, "a"), ArgumentError, "line.*axes of tensordot is 'a'.*pair"),
    "tensordot of uneven axes": (lambda x: np.tensordot(x, x, ([0], [])), ArgumentError, "line.*as many axes"),
    "a norm of a text": (lambda x: np.linalg.norm(x, "a"), DTypeError, "line.*ord.*'a'.*number"),
    "ddof of a text": (lambda x: np.var(x, ddof="a"), DTypeError, "line.*ddof is 'a'.*number"),
    "ddof of a text, std": (lambda x: np.std(x, ddof="a"), DTypeError, "line.*ddof is 'a'.*number"),
}
TRACED = [
    *(Misuse(what, lambda f=f: bl.jit(f)(X), error, says) for what, (f, error, says) in ARGUMENTS.items()),
    *(
        Misuse(
            f"bernoulli({p})", lambda p=p: bl.random.bernoulli(bl.random.key(0), p), ArgumentError, "p=.*from 0 to 1"
        )
        for p in (2, -0.1, float("nan"), np.float32(1.5))
    ),
    *(Misuse(what, lambda f=f: bl.jit(f)(X), Exception, "line") for what, f in {**WORDS, **PLACES}.items()),
    Misuse("a ninth derivative of sin", lambda: _times(np.sin, 9)(0.3), TraceError, "order 9.*sin|sin.*order"),
    # What the sweep asks for in a ninth derivative of x**10; the eight before it would take the compiler long.
    Misuse("power, by x eight times", lambda: load_partials(["power" + 7 * "'0"]), TraceError, "power of order 8"),
]
