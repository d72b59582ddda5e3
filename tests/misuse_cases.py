"""What goes wrong in a first hour, as a table of sentences: what was done, which error, and what it says.

Each error is a BurlabError, so who catches those catches all. A case that computes something instead has lost numbers,
or meaning, without a word.
"""

import array
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import torch

import burlab as bl
from burlab.errors import ArgumentError, DTypeError, ShapeError, StatusError, TapeError, TraceError

X = np.array([1.0, 2.0, 3.0])
MASKED = np.ma.array(X, mask=[False, True, False])
METRES = X.view(type("Metres", (np.ndarray,), {}))
MATRIX = np.array([[1.0, 2.0], [3.0, 4.0]]).view(np.matrix)
LOOP: list[Any] = []
LOOP.append(LOOP)


def squares(x: Any) -> Any:
    """Of all entries, added up."""
    return np.sum(x**2)


class Misuse(NamedTuple):
    """One way to go wrong. what: in words; do: the program; error: what it raises; says: what its message holds."""

    what: str
    do: Callable[[], Any]
    error: type[Exception]
    says: str


def warm(f: Callable[..., Any], x: Any) -> Callable[..., Any]:
    """The function after calls that were right: nothing of Python runs any more between caller and kernel."""
    for _ in range(3):
        f(x)
    return f


def doors(kind: str, value: Any, says: str) -> list[Misuse]:
    """Every door through which an array comes in, with an array that means more than its numbers."""
    plain = np.array(value)
    problem = bl.FiniteSum(lambda x, a: squares(x) * a, np.ones(2))
    kernel = bl.compile(squares, plain)
    rows: dict[str, Callable[[], Any]] = {
        "grad": lambda: bl.grad(squares)(value),
        "grad, warm": lambda: warm(bl.grad(lambda x: np.sum(x * x)), plain)(value),
        "value_and_grad": lambda: bl.value_and_grad(squares)(value),
        "jit": lambda: bl.jit(squares)(value),
        "a leaf of a tree": lambda: bl.grad(lambda p: squares(p["w"]))({"w": value}),
        "vmap": lambda: bl.vmap(lambda x: 2 * x)(value),
        "jvp, primal": lambda: bl.jvp(squares, (value,), (plain,)),
        "jvp, tangent": lambda: bl.jvp(squares, (plain,), (value,)),
        "vjp": lambda: bl.vjp(squares, value),
        "vjp, cotangent": lambda: bl.vjp(lambda x: 2 * x, plain)[1](value),
        "hvp": lambda: bl.hvp(squares)(plain, value),
        "hessian": lambda: bl.hessian(squares)(value),
        "jacobian": lambda: bl.jacobian(lambda x: 2 * x)(value),
        "check_grads": lambda: bl.check_grads(squares, value),
        "compile": lambda: bl.compile(squares, value),
        "kernel": lambda: kernel(value),
        "kernel, warm": lambda: warm(bl.compile(squares, plain), plain)(value),
        "kernel, gradient": lambda: warm(kernel.value_and_grad, plain)(value),
        "kernel, rows": lambda: bl.compile(lambda x: 2 * x, 1.0).map(value),
        "kernel, out": lambda: bl.compile(lambda x: 2 * x, plain)(plain, out=value),
        "captured": lambda: bl.grad(lambda x: np.sum(x * value))(plain),
        "captured, first": lambda: bl.grad(lambda x: np.sum(value * x))(plain),
        "captured in a list": lambda: bl.grad(lambda x: np.sum(x * [value, value]))(plain),
        "captured, where": lambda: bl.grad(lambda x: np.sum(np.where(x > 0, value, x)))(plain),
        "while_loop": lambda: bl.while_loop(lambda s: np.sum(s) < 0, lambda s: 2 * s, value),
        "scan, elements": lambda: bl.scan(lambda c, x: (c + np.sum(x), c), 0.0, value),
        "relu": lambda: bl.relu(value),
        "softmax": lambda: bl.softmax(value),
        "asarray": lambda: bl.asarray(value),
        "data of a sum": lambda: bl.FiniteSum(lambda x, a: x * a, value),
        "point of a sum": lambda: problem.grad(value),
        "vector of a sum": lambda: problem.hvp(plain, value),
        "x0": lambda: bl.minimize(squares, value, bl.optim.GD(0.1)),
        "layer": lambda: bl.nn.Linear(plain.shape[-1], 2, key=bl.random.key(0))(value),
        "weight": lambda: bl.nn.Linear(3, 3, key=bl.random.key(0)).replace(weight=value),
        "dropout": lambda: bl.nn.Dropout(0.5)(value, key=bl.random.key(0)),
        "save_parameters": lambda: bl.nn.save_parameters("unwritten.safetensors", {"w": value}),
        "a Value": lambda: np.add(value, bl.Value(2.0)),
    }
    return [Misuse(f"{kind} for {door}", do, (DTypeError, TraceError), says) for door, do in rows.items()]  # type: ignore[arg-type]


ARRAYS = [
    *doors("a masked array", MASKED, "mask would be lost"),
    *doors("a matrix", MATRIX, "np.asarray"),
    *doors("an array with units", METRES, "Metres.*np.asarray"),
    Misuse(
        "masked positions", lambda: bl.FiniteSum(lambda x, a: x * a, X).grad(1.0, np.ma.array([0])), DTypeError, "mask"
    ),
    Misuse(
        "masked features",
        lambda: bl.problems.least_squares(np.ma.array(np.eye(2)), X[:2]),
        DTypeError,
        "features is",
    ),
    Misuse("nothing but a mask", lambda: bl.grad(lambda x: x * np.ma.masked)(1.0), DTypeError, "mask would be lost"),
]

_T = torch.ones(3, dtype=torch.float64)
TENSORS = {
    "a tensor that requires grad": _T.clone().requires_grad_(),
    "a bfloat16 tensor": _T.bfloat16(),
    "a sparse tensor": _T.to_sparse(),
    "a conjugated tensor": torch.ones(3, dtype=torch.complex64).conj(),
    "a tensor without numbers": torch.ones(3, device="meta"),
}
FOREIGN = [
    Misuse(f"{kind} {place}", lambda do=do, t=t: do(t), DTypeError, r"NumPy cannot read.*detach\(\)")
    for kind, t in TENSORS.items()
    for place, do in {
        "for grad": bl.grad(squares),
        "for a kernel": bl.compile(squares, X),
        "captured": lambda t: bl.grad(lambda x: np.sum(x * t))(X),
        "as data": lambda t: bl.FiniteSum(lambda x, a: x * a, t),
        "as x0": lambda t: bl.minimize(squares, t, bl.optim.GD(0.1)),
    }.items()
]

OTHERS = {
    "a string": "abc", "bytes": b"abc", "a range": range(3), "a memory": memoryview(X), "a set": {1.0}, "None": None,
    "an array of Python": array.array("d", X), "a bytearray": bytearray(8), "a frozenset": frozenset([1.0]),
    "a function": len, "a tree that holds itself": LOOP, "a dictionary of strings": {"a": "b"}, "a complex number": 1j,
    "dates": X.astype("M8[s]"), "objects": X.astype(object), "long doubles": X.astype("g"), "texts": np.array(["a"]),
}  # fmt: skip
STRANGE = [
    Misuse(f"{kind} {place}", lambda do=do, v=v: do(v), Exception, r"\w")
    for kind, v in OTHERS.items()
    for place, do in {
        "for grad": bl.grad(squares),
        "for a warm grad": warm(bl.grad(lambda x: np.sum(x * x)), X),
        "for jit": bl.jit(squares),
        "for vmap": bl.vmap(squares),
        "for hessian": bl.hessian(squares),
        "for compile": lambda v: bl.compile(squares, v)(v),
        "for a kernel": bl.compile(squares, X),
        "for a warm kernel": warm(bl.compile(squares, X), X),
        "as a point": lambda v: bl.FiniteSum(lambda x, a: np.sum(x) * a, X).value(v),
        "as x0": lambda v: bl.minimize(squares, v, bl.optim.GD(0.1)),
    }.items()
    if not (
        kind in ("a complex number", "a frozenset", "a function", "an array of Python", "None") and place == "for jit"
    )
]

NUMBERS = [
    *(
        Misuse(f"vmap(in_axes={axes!r})", lambda a=axes: bl.vmap(squares, a)(np.ones((2, 3))), error, "axis|axes")
        for axes, error in [
            ({"x": 0}, ArgumentError), ({0: 0}, ArgumentError), (({"a": 0},), ArgumentError), ("a", ArgumentError),
            (1.5, ArgumentError), (((0, 1),), ArgumentError), (True, ArgumentError), (np.array([0]), ArgumentError),
            (5, ShapeError), (-3, ShapeError), (None, ShapeError), ((0, 0), ArgumentError),
        ]
    ),
    *(
        Misuse(f"vmap(out_axes={axes!r})", lambda a=axes: bl.vmap(squares, 0, a)(np.ones((2, 3))), error, "out_axes")
        for axes, error in [
            ({"x": 0}, ArgumentError), ("a", ArgumentError), (None, ArgumentError), ((0,), ArgumentError),
            (True, ArgumentError), (5, ShapeError), (-2, ShapeError),
        ]
    ),
    *(
        Misuse(f"{name}(argnums={n!r})", lambda do=do, n=n: do(n), ArgumentError, "argnums")
        for name, do in {
            "grad": lambda n: bl.grad(squares, n)(X),
            "value_and_grad": lambda n: bl.value_and_grad(squares, n)(X),
            "jacobian": lambda n: bl.jacobian(squares, n)(X),
            "hessian": lambda n: bl.hessian(squares, n)(X),
            "hvp": lambda n: bl.hvp(squares, n)(X, X),
            "compile": lambda n: bl.compile(squares, X, argnums=n),
        }.items()
        for n in ("a", 1.5, None, (), (0, "a"), True, {0}, np.array(0.5), {"x": 0})
    ),
    Misuse("a returned tree that holds itself", lambda: bl.jit(lambda _: LOOP)(1.0), ArgumentError, "holds itself"),
    Misuse("argnums beyond the arguments", lambda: bl.grad(squares, 1)(X), ArgumentError, "needs that many"),
    Misuse("an axis that is not there", lambda: bl.grad(lambda x: np.sum(x, axis=4))(X), ShapeError, "line.*1 axis"),
    Misuse("a traced array times None", lambda: bl.grad(lambda x: x * None)(1.0), TraceError, "NoneType met a traced"),
    Misuse("a text plus a traced array", lambda: bl.grad(lambda x: "a" + x)(1.0), TraceError, "str met a traced"),
]  # fmt: skip


def _dumped(make: Callable[[], Any]) -> Callable[[], Any]:
    import pickle

    return lambda: pickle.dumps(make())


PICKLES = [
    Misuse("pickle a kernel", _dumped(lambda: bl.compile(squares, X)), StatusError, r"cannot be pickled.*bl\.compile"),
    Misuse("pickle a warm kernel", _dumped(lambda: warm(bl.compile(squares, X), X)), StatusError, "cannot be pickled"),
    Misuse("pickle a gradient", _dumped(lambda: bl.grad(squares)), StatusError, "cannot be pickled"),
    Misuse("pickle a tape", _dumped(bl.Tape), TapeError, "cannot be copied or pickled"),
    Misuse("pickle a Value", _dumped(lambda: bl.Value(1.0)), DTypeError, "cannot be copied or pickled"),
    Misuse("pickle a run", _dumped(lambda: bl.minimize(squares, X, bl.optim.GD(0.1))), StatusError, "run.fork"),
]

CASES = [*ARRAYS, *FOREIGN, *STRANGE, *NUMBERS, *PICKLES]
