"""Small programs that together use the C++ code of most sessions; the code compiled for them is cached."""

import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import burlab as bl
from burlab.graph.scalar import load_common
from burlab.typing import Array, DTypeLike

Program = Callable[[], object]
_X = np.array([[0.5, 0.25, 0.75], [1.5, 0.125, 1.0]])
_UNARY: tuple[Callable[[Any], Any], ...] = (
    *(getattr(np, name) for name in "exp expm1 log log1p sqrt sin cos tan arctan sinh cosh tanh abs".split()),
    *(getattr(bl, name) for name in "erf gelu relu sigmoid silu softplus".split()),
)
_ARRAYS: tuple[Callable[[Any], Any], ...] = (
    lambda x: np.sum(x, axis=0) * np.sum(x, axis=1)[0],
    lambda x: np.max(x, axis=0) + np.min(x) * np.max(x, axis=1)[1],
    lambda x: np.sum(np.power(x, 2.5)) / 6,
    np.prod,
    np.cumsum,
    lambda x: np.concatenate([x.T, x.T[::-1]])[np.array([0, 2, 2])],
    lambda x: bl.softmax(x) * bl.logsumexp(x),
    lambda x: np.maximum(x, 0.3) * np.arctan2(x, 2.0) + np.where(x > 0.2, x, 1.0),
)


def programs() -> Iterator[Program]:
    """Yield the programs, each independent of the others."""
    yield load_common
    for dtype in (np.float64, np.float32):
        x = _X.astype(dtype)
        yield from (partial(_differentiate, f, x[0, 0]) for f in _UNARY)
        yield from (partial(_differentiate, f, x) for f in (*_UNARY, *_ARRAYS))
        yield from (partial(_differentiate, _with_atan2(f), x) for f in _UNARY)
        yield partial(_multiply, dtype)
        yield partial(_run_a_function, dtype)
        yield partial(_run_a_sum, dtype)
        yield partial(_run_networks, dtype)
        yield partial(_run_the_playground, dtype)
    yield _loop
    yield _use_values


def _differentiate(f: Callable[[Any], Any], x: Any) -> None:
    """Compute the gradient of the sum of f in both gears."""

    def loss(x: Array) -> Any:
        return np.sum(f(x))

    gradient = bl.grad(loss)
    for _ in range(3):  # from the second call on through the gate
        gradient(x)
    bl.compile(bl.value_and_grad(loss), x, gear="replay")(x)


def _with_atan2(f: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return f times a function without lanes, so that f is a call in their loop."""
    return lambda x: f(x) * np.arctan2(x, 2.0)


def _multiply(dtype: DTypeLike) -> None:
    """Matrices and vectors of sizes that get kernels of their own."""

    def loss(x: Array, y: Array) -> Any:
        return np.sum(np.tanh(x @ y) ** 2)

    for n, m in ((2, 3), (8, 8), (64, 64), (64, 1), (33, 5)):
        a, b = np.ones((n, n), dtype), np.ones((n, m), dtype)
        for left, right in ((a, b), (a, b[:, 0]), (b[:, 0], a)):
            bl.grad(loss, (0, 1))(left, right)
    for n in (3, 10, 64, 1000):
        bl.grad(loss, (0, 1))(np.ones(n, dtype), np.ones(n, dtype))
    bl.compile(loss, a, b, gear="replay")


def _run_a_function(dtype: DTypeLike) -> None:
    def rosenbrock(x: Array) -> Any:
        return np.sum((1 - x[:-1]) ** 2 + 100 * (x[1:] - x[:-1] ** 2) ** 2)

    for rule in (bl.optim.GD(1e-3), bl.optim.Adam(1e-3)):
        run = bl.minimize(rosenbrock, np.array([-1.2, 1.0], dtype), rule, steps=20, progress=False)
        run.seek(7)
        run.fork(lr=1e-4).step(3)
        repr((run.history["value"], run.path, run.memory, run.profile()))


def _run_a_sum(dtype: DTypeLike) -> None:
    def loss(w: Array, x: Array, y: Array) -> Any:
        return np.log(1 + np.exp(-y * (x @ w)))

    rows = np.linspace(-1, 1, 120).reshape(24, 5)
    data = rows.astype(dtype), np.where(rows[:, 0] > 0.0, 1.0, -1.0).astype(dtype)
    problem = bl.FiniteSum(loss, data)
    start = np.zeros(5, dtype)
    for indices in (None, [1, 2]):
        repr((problem.value(start, indices), problem.grad(start, indices), problem.hvp(start, start, indices)))
    problem.per_sample_grads(start, [1, 2])
    for batch in (None, 1, 4):
        run = bl.minimize(problem, start, bl.optim.Adam(1e-3), batch=batch)
        run.step(12)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "run.burlab"
        run.save(file)
        bl.load_run(file, data).step(2)


def _sum_of_squares(network: Callable[[Any], Any], x: Array) -> Any:
    return np.sum(np.square(network(x))) / 6


def _run_networks(dtype: DTypeLike) -> None:
    key = bl.random.key(0)
    networks: tuple[tuple[Any, Any], ...] = (
        (bl.nn.MLP([6, 16, 1], key=key, activation="tanh", dtype=dtype), np.ones((8, 6), dtype)),
        (bl.nn.MLP([64, 64, 10], key=key, dtype=dtype), np.ones((8, 64), dtype)),
        (bl.nn.GPT(16, 8, 24, 6, 1, key=key, dtype=dtype), np.ones((8, 8), np.int64)),
    )
    for network, inputs in networks:
        problem = bl.FiniteSum(_sum_of_squares, inputs)
        for batch in (1, 4):
            bl.minimize(problem, network, bl.optim.Adam(1e-3), batch=batch).step(2)


def _run_the_playground(dtype: DTypeLike) -> None:
    """The first cell of notebook 00, which is to move at once."""
    bl.playground(dtype=np.dtype(dtype).name).run.step(2)


def _loop() -> None:
    """Loops in C++, which Ctrl-C interrupts, and a batch."""

    def halved(x: Array) -> Any:
        return bl.while_loop(_is_large, _half, x)

    def products(x: Array) -> Any:
        def times(c: Array, a: Array) -> Any:
            return c * a, c

        return np.sum(bl.scan(times, x[0], x)[1])

    bl.jit(halved)(_X)
    bl.grad(products)(_X)
    bl.vmap(_half)(_X)


def _is_large(x: Array) -> Any:
    return np.sum(x) > 1


def _half(x: Array) -> Any:
    return x / 2


def _use_values() -> None:
    """The eager gear, with its rare operations."""
    a, b = bl.Value(-4.0, label="a"), bl.Value(2.0)
    c = ((a + b) * b - b / a) ** 2 + np.tanh(a) + np.exp(b)
    c.backward()
    bl.reduce_sum([a, b, c]).backward()
    with bl.Tape() as tape:
        mark = tape.mark()
        bl.relu(bl.Value(1.0)).backward()
        tape.rewind(mark)
    repr((a, a.label, tape.nbytes))
