"""Sizes and numbers far beyond what can be, and arguments of other kinds: nothing large is made before it is told."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

import burlab as bl
from burlab.errors import AllocationError, ArgumentError, BurlabError, DTypeError
from tests.misuse import Misuse, X, squares

LAB: Any = bl  # who begins knows no types
N, BEYOND = 10**15, 10**400  # entries that no machine holds; a number that no float64 is

# Words of NumPy's that make more than they are given.
SIZES: dict[str, Callable[[Any], Any]] = {
    "linspace": lambda x: np.linspace(x, 1, N),
    "linspace beyond int64": lambda x: np.linspace(x, 1, 10**30),
    "linspace of known ends": lambda x: x[0] * np.linspace(0, 1, N),
    "geomspace": lambda x: np.geomspace(x, 1, N),
    "logspace": lambda x: np.logspace(x, 1, N),
    "eye": lambda x: x[0] * np.eye(10**9),
    "identity": lambda x: x[0] * np.identity(10**9),
    "tri": lambda x: x[0] * np.tri(10**9),
    "zeros": lambda x: x[0] + np.zeros(N),
    "ones": lambda x: x[0] + np.ones(N),
    "full": lambda x: np.full(N, x[0]),
    "arange": lambda x: x[0] * np.arange(N),
    "full_like": lambda x: np.full_like(x, 1.0, shape=(N,)),
    "zeros_like": lambda x: np.zeros_like(x, shape=(N,)),
    "tile": lambda x: np.tile(x, N),
    "repeat": lambda x: np.repeat(x, N),
    "resize": lambda x: np.resize(x, N),
    "broadcast_to": lambda x: np.broadcast_to(x, (N, 3)) * 2,
    "broadcast_to beyond int64": lambda x: np.broadcast_to(x, (10**30, 3)) * 2,
    "pad": lambda x: np.pad(x, N),
    "outer": lambda x: np.multiply.outer(np.broadcast_to(x, (10**7, 3)), np.broadcast_to(x, (10**7, 3))),
    "np.outer": lambda x: np.outer(np.broadcast_to(x, (10**7, 3)), np.broadcast_to(x, (10**7, 3))),
    "kron": lambda x: np.kron(np.broadcast_to(x, (10**7, 3)), np.broadcast_to(x, (10**7, 3))),
    "meshgrid": lambda x: np.meshgrid(*[np.repeat(x, 10**5)] * 4),
    "vander": lambda x: np.vander(x, N),
    "diag": lambda x: np.diag(x, N),
    "diagflat": lambda x: np.diagflat(x, N),
    "histogram": lambda x: np.histogram(x, N),
    "fft": lambda x: np.fft.fft(x, N),
    "irfft": lambda x: np.fft.irfft(x, N),
    "bincount": lambda x: np.bincount(np.array([0, 1, 1]), x, N),
    "zeros beyond int64": lambda x: x[0] + np.zeros(10**30),
    "full beyond int64": lambda x: np.full(10**30, x[0]),
    "arange beyond int64": lambda x: x[0] * np.arange(10**30),
    "eye beyond int64": lambda x: x[0] * np.eye(10**30),
    "repeat beyond int64": lambda x: np.repeat(x, 10**30),
    "tile beyond int64": lambda x: np.tile(x, 10**30),
    "pad beyond int64": lambda x: np.pad(x, 10**30),
    "full_like beyond int64": lambda x: np.full_like(x, x[0], shape=(10**30,)),
}
NUMBERS: dict[str, Callable[[], Any]] = {
    "Value(10**400)": lambda: bl.Value(BEYOND),
    "Value(-10**400)": lambda: bl.Value(-BEYOND),
    "Value(10**5000)": lambda: bl.Value(10**5000),
    "Value(Fraction(10**400))": lambda: bl.Value(Fraction(BEYOND)),
    "Value + 10**400": lambda: bl.Value(1.0) + BEYOND,
    "10**400 * Value": lambda: BEYOND * bl.Value(1.0),
    "Value ** 10**400": lambda: bl.Value(1.0) ** BEYOND,
    "np.maximum(Value, 10**400)": lambda: np.maximum(LAB.Value(1.0), BEYOND),
    "Value.data = 10**400": lambda: setattr(bl.Value(1.0), "data", BEYOND),
    "Value.grad = -10**400": lambda: setattr(bl.Value(1.0), "grad", -BEYOND),
}
NONE = {"1j": 1j, "a text": "3", "half a character": "\ud800", "None": None, "objects": np.array([1, None], object)}
ORDERS = (0, -1, 9, BEYOND, 10**5000, 1.5, "x", None, True)
CHECKED = {"a text": "x", "half a character": "\ud800", "None": None, "an int": 3, "integers": np.arange(3),
           "texts": ["x"], "objects": np.array([None]), "10**400": BEYOND, "a tree": {"a": 1.0, "b": "x"}}  # fmt: skip


def _built(word: str, shape: Any) -> Any:
    """An array of bl.zeros and its kin."""
    return getattr(LAB, word)(shape, *[1.0] * (word == "full"))


FAR_SIZES = [
    *(Misuse(f"{w}, far too large", lambda f=f: bl.jit(f)(X), BurlabError, "line.*") for w, f in SIZES.items()),
    *(Misuse(what, do, DTypeError, "1.8e308.*larger (int|Fraction) came.*Pass") for what, do in NUMBERS.items()),
    *(Misuse(f"Value of {w}", lambda v=v: LAB.Value(v), DTypeError, "real number.*but got") for w, v in NONE.items()),
    *(
        Misuse(
            f"check_grads of {w}",
            lambda v=v: LAB.check_grads(squares, v),
            DTypeError,
            "argument 0.*check_grads|check_grads.*argument 0",
        )
        for w, v in CHECKED.items()
    ),
    *(
        Misuse(
            f"check_grads(order {k})",
            lambda n=n: LAB.check_grads(squares, X, order=n),
            ArgumentError,
            "order=.{1,80} is",
        )
        for k, n in enumerate(ORDERS)
    ),
    *(
        Misuse(
            f"bl.{make} of {n.bit_length()} bits",
            lambda make=make, n=n: _built(make, n),
            AllocationError,
            "no array can",
        )
        for make in ("zeros", "ones", "empty", "full")
        for n in (N, 10**30, BEYOND, 10**5000)
    ),
    *(
        Misuse(f"bl.{word}(10**400)", lambda word=word: getattr(LAB, word)(BEYOND), DTypeError, f"x of {word}.*1.8e308")
        for word in "relu gelu sigmoid silu softplus softmax log_softmax logsumexp".split()
    ),
    Misuse(
        "check_grads of a text as function",
        lambda: LAB.check_grads("f", X),
        ArgumentError,
        "expected a function of arrays, got str",
    ),
    Misuse("check_grads(rtol='x')", lambda: LAB.check_grads(squares, X, rtol="x"), ArgumentError, "rtol='x'"),
    Misuse("check_grads(atol=-1)", lambda: LAB.check_grads(squares, X, atol=-1.0), ArgumentError, "atol=-1.0"),
    Misuse("check_grads(seed=-1)", lambda: LAB.check_grads(squares, X, seed=-1), ArgumentError, "seed=-1"),
]
