"""A run of an equal problem with an equal optimizer traces and compiles nothing; one that differs in anything does."""

import gc
import time
import warnings
import weakref
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import burlab as bl
from burlab.compiler import executable
from burlab.graph.tracing import trace_cache
from burlab.graph.tracing.trace import trace
from burlab.graph.tracing.trace_cache import forget_traces
from burlab.optim import GD, LBFGS, SAGA, Adam, Hyper, NewtonCG, Optimizer, clip_by_norm, cosine, rule as rules
from burlab.problems.kernels import sample_program

RNG = np.random.default_rng(0)
N, D = 40, 3
ZERO = np.zeros(D)


def rows(n: int = N) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    return RNG.normal(size=(n, D)), RNG.normal(size=n)


SCALE = 1.0
TABLE = np.ones(D)
LARGE = np.ones(5000)


def helped(x: Any) -> Any:
    return x


class Model:
    factor = 1.0

    def __init__(self, power: float) -> None:
        self.power = power

    def loss(self, x: Any, a: Any, b: Any) -> Any:
        return self.factor * np.abs(a @ x - b) ** self.power


def loss(x: Any, a: Any, b: Any) -> Any:
    return SCALE * 0.5 * (helped(a * TABLE) @ x - b) ** 2 + LARGE[0] * np.sum(x**2)


def made(c: float) -> Callable[..., Any]:
    def inner(z: Any) -> Any:
        return c * np.log1p(np.exp(z))

    return lambda x, a, b: inner(-b * (a @ x))


@dataclass(frozen=True)
class Mine(Optimizer):
    lr: Hyper = 0.1
    times: int = 1

    scale = 1.0

    def update(self, g: Any, state: Any, x: Any, t: Any) -> Any:
        return x - SCALE * self.scale * self.times * self.lr * helped(g), state


@dataclass(frozen=True)
class Sized(Optimizer):
    lr: Hyper = 0.1

    def update(self, g: Any, state: Any, x: Any, t: Any, *, f: Any) -> Any:
        return x - self.lr * g / f.samples, state


@pytest.fixture
def traced(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """What is traced and built from now on."""
    found: list[str] = []

    def counted(module: Any, name: str) -> None:
        whole = getattr(module, name)
        monkeypatch.setattr(module, name, lambda *a, **k: found.append(module.__name__) or whole(*a, **k))

    counted(sample_program, "trace")
    counted(rules, "trace")
    counted(executable, "run_passes")
    forget_traces()
    yield found
    forget_traces()


def bits(problem: Any, optimizer: Any, steps: int = 4, x0: Any = ZERO, **options: Any) -> Any:
    run = bl.minimize(problem, x0, optimizer, steps=steps, progress=False, **options)
    return run.x.tobytes(), run.history["value"].tobytes(), run.fingerprint


OPTIMIZERS: dict[str, Callable[[], Any]] = {
    "adam": lambda: Adam(0.01),
    "lbfgs": lambda: LBFGS(memory=3),
    "newton_cg": NewtonCG,
    "saga": lambda: SAGA(0.01),
    "schedule": lambda: Adam(cosine(0.1, steps=10)),
    "lambda": lambda: GD(lambda t: 0.1 / (t + 1)),
    "wrapped": lambda: clip_by_norm(Adam(0.1), 1.0),
    "own": Mine,
}
ONES: dict[str, dict[str, Any]] = {"full": {}, "batch": {"batch": 5}, "one": {"batch": 1}}


@pytest.mark.parametrize("batch", ONES)
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_equal_problems_trace_nothing_and_have_the_same_bits(name: str, batch: str, traced: list[str]) -> None:
    if name == "saga" and batch == "full":
        pytest.skip("one sample at a time")
    optimizer, options = OPTIMIZERS[name], ONES[batch]
    data, other = rows(), rows()
    for first, second in (
        (bl.FiniteSum(loss, data),) * 2,
        (bl.FiniteSum(made(2.0), data), bl.FiniteSum(made(2.0), other)),
    ):
        bl.minimize(first, ZERO, optimizer(), **options).step(1)
        traced.clear()
        found = bits(second, optimizer(), **options)
        assert not traced
        forget_traces()
        assert found == bits(second, optimizer(), **options)
        assert traced


def test_plain_functions_too(traced: list[str]) -> None:
    def make(c: float) -> Any:
        return lambda x: np.sum((x - c) ** 2)

    found = [bits(make(1.0), Adam(0.1)) for _ in range(2)]
    before = len(traced)
    assert bits(make(1.0), Adam(0.2), 0)
    assert len(traced) == before
    assert found[0] == found[1]
    assert bits(make(2.0), Adam(0.1)) != found[0]
    assert len(traced) > before


@pytest.mark.parametrize("optimizer", [Adam(0.1), LBFGS(), Mine()])
def test_sums_of_other_lengths_share_their_kernels(optimizer: Any, traced: list[str]) -> None:
    bits(bl.FiniteSum(loss, rows()), optimizer)
    whole = len(traced)
    traced.clear()
    data = rows(N - 3)
    found = bits(bl.FiniteSum(loss, data), optimizer)
    assert rules.__name__ not in traced
    assert sample_program.__name__ not in traced
    assert len(traced) < whole / 2, "tiles of another batch alone"
    forget_traces()
    assert found == bits(bl.FiniteSum(loss, data), optimizer)


def test_a_rule_that_reads_the_number_of_samples_is_traced_for_each(traced: list[str]) -> None:
    for n in (N, N - 3):
        data = rows(n)
        found = bits(bl.FiniteSum(loss, data), Sized())
        forget_traces() if n < N else None
        assert found == bits(bl.FiniteSum(loss, data), Sized())


def _global(name: str, value: Any) -> Callable[[Any], None]:
    return lambda patch: patch.setitem(globals(), name, value)


def _in_place(array: Any) -> Callable[[Any], None]:
    def change(_patch: Any) -> None:
        array[0] += 1.0

    return change


CHANGES: dict[str, Callable[[Any], None]] = {
    "a number": _global("SCALE", 2.0),
    "its sign of zero": _global("SCALE", -0.0),
    "its type": _global("SCALE", np.float32(1.0)),
    "an array": _global("TABLE", np.full(D, 2.0)),
    "an array in place": _in_place(TABLE),
    "a large array in place": _in_place(LARGE),
    "a function": _global("helped", lambda x: 2.0 * x),
}


@pytest.mark.parametrize("new", [False, True])
@pytest.mark.parametrize("name", CHANGES)
def test_what_a_loss_reads_counts(name: str, new: bool, monkeypatch: pytest.MonkeyPatch, traced: list[str]) -> None:
    problem = bl.FiniteSum(loss, rows())
    arrays = TABLE.copy(), LARGE.copy()
    before = bits(problem, GD(0.1), batch=5)
    traced.clear()
    CHANGES[name](monkeypatch)
    try:
        after = bits(bl.FiniteSum(loss, problem.oracle.data.arrays) if new else problem, GD(0.1), batch=5)
        assert sample_program.__name__ in traced
        assert after != before
        forget_traces()
        assert after == bits(bl.FiniteSum(loss, problem.oracle.data.arrays), GD(0.1), batch=5)
    finally:
        monkeypatch.undo()
        TABLE[:], LARGE[:] = arrays


def test_what_a_regularizer_and_objects_and_options_are_counts(
    monkeypatch: pytest.MonkeyPatch, traced: list[str]
) -> None:
    data = rows()

    def ridge(c: float) -> Any:
        return lambda x: c * np.sum(x**2)

    def problems() -> Iterator[tuple[str, Any, Any]]:
        yield "a regularizer", bl.FiniteSum(loss, data, ridge(1.0)), bl.FiniteSum(loss, data, ridge(2.0))
        yield "none", bl.FiniteSum(loss, data, ridge(1.0)), bl.FiniteSum(loss, data)
        yield "a constant", bl.FiniteSum(made(1.0), data), bl.FiniteSum(made(2.0), data)
        yield "an object", bl.FiniteSum(Model(2.0).loss, data), bl.FiniteSum(Model(3.0).loss, data)
        whole = tuple(np.rint(a).astype(np.int64) for a in data)
        yield "a dtype", bl.FiniteSum(made(1.0), data), bl.FiniteSum(made(1.0), whole)
        yield "a transform", bl.FiniteSum(bl.jit(made(1.0)), data), bl.FiniteSum(bl.jit(made(2.0)), data)

    for name, one, other in problems():
        found = [bits(problem, GD(0.1), batch=5) for problem in (one, other, one)]
        assert found[0] == found[2], name
        assert found[0] != found[1], name
        forget_traces()
        assert bits(other, GD(0.1), batch=5) == found[1], name
    traced.clear()
    bits(bl.FiniteSum(Model(2.0).loss, data), GD(0.1))
    assert sample_program.__name__ in traced
    traced.clear()
    first = bits(bl.FiniteSum(Model(2.0).loss, data), GD(0.1))
    assert sample_program.__name__ not in traced, "an object that was made again alike"
    monkeypatch.setattr(Model, "factor", 2.0)
    assert bits(bl.FiniteSum(Model(2.0).loss, data), GD(0.1)) != first, "an attribute of its class"


def test_all_of_an_optimizer_but_live_numbers_counts(monkeypatch: pytest.MonkeyPatch, traced: list[str]) -> None:
    problem = bl.FiniteSum(loss, rows())
    pairs = [
        (Mine(0.1, 1), Mine(0.1, 2)),
        (LBFGS(memory=2), LBFGS(memory=3)),
        (Adam(cosine(0.1, steps=10)), Adam(cosine(0.1, steps=20))),
        (GD(lambda t: 0.1 / (t + 1)), GD(lambda t: 0.2 / (t + 1))),
        (clip_by_norm(GD(0.1), 1.0), clip_by_norm(Adam(0.1), 1.0)),
    ]
    for one, other in pairs:
        bits(problem, one)
        traced.clear()
        found = bits(problem, other)
        assert rules.__name__ in traced, repr(other)
        forget_traces()
        assert found == bits(problem, other)
    first = bits(bl.FiniteSum(made(1.0), problem.oracle.data.arrays), Mine())
    for change in (lambda: monkeypatch.setattr(Mine, "scale", 2.0), lambda: _global("SCALE", 3.0)(monkeypatch)):
        change()
        traced.clear()
        other = bits(bl.FiniteSum(made(1.0), problem.oracle.data.arrays), Mine())
        assert other != first
        assert traced.count(sample_program.__name__) == 0, "the loss reads none of it"
        first = other


def test_another_start_is_another_form(traced: list[str]) -> None:
    def square(x: Any) -> Any:
        return sum(np.sum(leaf**2) for leaf in (x.values() if isinstance(x, dict) else [x]))

    starts = [np.ones(2), np.ones(3), np.ones(3, np.float32), {"a": np.ones(3)}, {"b": np.ones(3)}]
    for start in starts:
        traced.clear()
        run = bl.minimize(square, start, GD(0.25), steps=1, progress=False)
        assert traced
        for leaf in run.x.values() if isinstance(start, dict) else [run.x]:
            np.testing.assert_array_equal(leaf, 0.5)


def test_functions_that_change_or_freeze_something_are_traced_each_time(traced: list[str]) -> None:
    calls: list[int] = []

    def counting(x: Any) -> Any:
        calls.append(1)
        return np.sum(x**2)

    def random(x: Any) -> Any:
        return np.sum((x - np.random.normal(size=D)) ** 2)  # noqa: NPY002 - which is warned about

    for _ in range(2):
        before = len(calls)
        bits(counting, GD(0.1))
        assert len(calls) > before
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert bits(random, GD(0.1)) != bits(random, GD(0.1))


def test_no_data_no_start_and_no_function_is_kept(traced: list[str]) -> None:
    def open_one(n: int) -> list[weakref.ref[Any]]:
        data, start, held = rows(), np.zeros(D) + n, np.full(D, float(n))
        held.flags.writeable = False

        def one(x: Any, a: Any, b: Any) -> Any:
            return (a @ (x - held) - b) ** 2

        run = bl.minimize(bl.FiniteSum(one, data), start, Mine(0.1 + n), batch=5, steps=2, progress=False)
        assert run.t == 2
        return [weakref.ref(x) for x in (data[0], start, one, run)]

    gone = [reference for n in range(3) for reference in open_one(n)]
    deadline = time.monotonic() + 30.0  # threads of runs end by themselves
    while [reference for reference in gone if reference() is not None]:
        gc.collect()
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_caches_are_bounded(monkeypatch: pytest.MonkeyPatch, traced: list[str]) -> None:
    cache = trace_cache.TraceCache[Any](lambda graph: [graph], most=3)
    graphs = [trace(lambda x, k=k: x + np.full(1000, float(k)), (np.ones(1000),)).graph for k in range(5)]
    for k, graph in enumerate(graphs):
        cache.put(k, graph)
    assert [cache.find(k) is not None for k in range(5)] == [False, False, True, True, True]
    cache.find(2)
    cache.put(5, graphs[0])
    assert [cache.find(k) is not None for k in range(2, 6)] == [True, False, True, True]
    monkeypatch.setattr(trace_cache, "MAX_CONSTANT_BYTES", 2 * trace_cache.constant_bytes(graphs[0]))
    cache.put(6, graphs[1])
    assert [cache.find(k) is not None for k in range(2, 7)] == [False, False, False, True, True]
