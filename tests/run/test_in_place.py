"""Steps that write over x and the state: the same bits as with two buffers, and nothing is written too early."""

from typing import Any, cast

import numpy as np
import pytest

import burlab as bl
from burlab.run.loop.loop import RunLoop
from burlab.run.loop.update import MIN_IN_PLACE, InPlace, Update
from burlab.runtime.structs import CPlan

_SIZES = (MIN_IN_PLACE, MIN_IN_PLACE + 1, MIN_IN_PLACE + 2047)  # the last chunk is short
_RULES = (
    bl.optim.GD(0.1),
    bl.optim.Momentum(0.1),
    bl.optim.Adam(bl.optim.cosine(0.1, steps=20)),
    bl.optim.NAdam(0.1),  # its state holds a number
)


def begin(size: int, rule: bl.optim.Optimizer, dtype: Any = np.float64, **options: Any) -> bl.Run:
    centre = np.random.default_rng(0).normal(size=size).astype(dtype)
    problem = bl.FiniteSum(lambda x, a: np.sum(np.cos(x - a * centre)), np.arange(3.0, dtype=dtype))
    return bl.minimize(problem, np.ones(size, dtype), rule, **options)


def loop_of(run: bl.Run) -> RunLoop:
    loop = cast("Any", run)._engine
    assert isinstance(loop, RunLoop)
    return loop


def twin(run: bl.Run, in_place: InPlace) -> RunLoop:
    """Another loop of the same kernels."""

    def change(plan: CPlan) -> None:
        plan.in_place = in_place

    loop = loop_of(run)
    buffers = range(len(loop.setup.buffers))
    return RunLoop.open(loop.setup, [loop.read(k) for k in buffers], change)


def advance(loop: RunLoop, target: int) -> None:
    loop.aim(target)
    while not loop.rests(1.0):
        pass
    loop.check()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("rule", _RULES, ids=lambda rule: type(rule).__name__)
@pytest.mark.parametrize("size", _SIZES)
def test_bits_do_not_depend_on_the_buffers(size: int, rule: bl.optim.Optimizer, dtype: Any) -> None:
    run = begin(size, rule, dtype)
    update = loop_of(run).setup.update
    assert isinstance(update, Update)
    assert update.in_place is not InPlace.NO
    loops = [twin(run, kind) for kind in dict.fromkeys((InPlace.NO, InPlace.STAGED, update.in_place))]
    for loop in loops:
        advance(loop, 5)
    first, *others = loops
    rows = [np.array([loop.record.copy(loop.record.extent(), k, 0, 5) for k in range(3)]) for loop in loops]
    for k in range(len(first.setup.buffers)):
        for other in others:
            assert first.read(k).tobytes() == other.read(k).tobytes()
    for row in rows[1:]:
        np.testing.assert_array_equal(row[0], rows[0][0])
        np.testing.assert_allclose(row[1:], rows[0][1:], rtol=1e-6 if dtype == np.float32 else 1e-15)


def test_short_vectors_have_two_buffers() -> None:
    update = loop_of(begin(MIN_IN_PLACE - 1, bl.optim.Adam(0.1))).setup.update
    assert isinstance(update, Update)
    assert update.in_place is InPlace.NO


@pytest.mark.parametrize("rule", _RULES, ids=lambda rule: type(rule).__name__)
def test_memory_holds_each_vector_once(rule: bl.optim.Optimizer) -> None:
    size = MIN_IN_PLACE + 1
    memory = begin(size, rule, keyframe_bytes=0).memory
    vectors = {"GD": 0, "Momentum": 1, "Adam": 2, "NAdam": 2}[type(rule).__name__]
    assert memory["parameters"] <= 8 * size + 64
    assert memory["optimizer_state"] <= 8 * size * vectors + 256


@pytest.mark.parametrize("rule", _RULES, ids=lambda rule: type(rule).__name__)
def test_a_gradient_of_nan_changes_neither_x_nor_the_state(rule: bl.optim.Optimizer) -> None:
    """One entry of the gradient is nan, and the value is not."""
    problem = bl.FiniteSum(lambda x, a: np.sum(np.sqrt(np.abs(x - 0.5)) * (x > 0.6) * (a + 1)), np.arange(3.0))
    x = np.full(_SIZES[-1], 0.7)
    x[-1000] = 0.5
    run = bl.minimize(problem, x, rule)
    first = [loop_of(run).read(k).tobytes() for k in range(len(loop_of(run).setup.buffers))]
    with pytest.warns(RuntimeWarning, match="gradient norm nan"):
        run.step(5)
    assert (run.t, run.length) == (0, 1)
    assert np.isfinite(run.value)
    assert [loop_of(run).read(k).tobytes() for k in range(len(first))] == first


@pytest.mark.parametrize("rule", _RULES[:3], ids=lambda rule: type(rule).__name__)
def test_a_run_rests_at_the_point_of_the_row_that_stops_it(rule: bl.optim.Optimizer) -> None:
    """By criteria of value or gradient, or a breakpoint; the row has the norm of the step that is not done."""
    whole = begin(_SIZES[-1], rule, steps=6)
    rows = whole.history
    for stop in (bl.Stop(value=rows["value"][3]), bl.Stop(grad_norm=rows["gradient_norm"][3])):
        run = begin(_SIZES[-1], rule, stop=stop)
        run.step(6)
        assert run.t <= 3
        whole.seek(run.t)
        assert (run.x == whole.x).all()
        row, same = run.at(run.t), whole.at(run.t)
        assert row is not None
        assert same is not None
        assert row["step_norm"] == same["step_norm"]
    run = begin(_SIZES[-1], rule)
    run.breakpoints.add(every=2)
    for step in (2, 4):
        run.step(6)
        assert run.t == step
        whole.seek(step)
        assert (run.x == whole.x).all()


def test_seek_fork_and_reading_while_it_steps() -> None:
    run, other = begin(_SIZES[1], bl.optim.Adam(0.01)), begin(_SIZES[1], bl.optim.Adam(0.01), steps=60)
    run.start(60)
    points = [run.x for _ in range(20)]  # each is of one step
    run.wait()
    assert (run.x == other.x).all()
    ends = {0: np.ones(_SIZES[1])}
    for step in range(61):
        other.seek(step)
        ends[step] = other.x
    assert all(any((x == end).all() for end in ends.values()) for x in points)
    run.seek(17)
    assert (run.x == ends[17]).all()
    fork = run.fork()
    fork.step(5)
    run.step(5)
    assert (fork.x == run.x).all()
    assert (run.x == ends[22]).all()


def test_a_step_of_no_length_and_one_beyond_doubles_have_norms() -> None:
    size = _SIZES[-1]
    problem = bl.FiniteSum(lambda x, a: np.sum(a * x), np.array([0.0, 0.0]))
    assert bl.minimize(problem, np.ones(size), bl.optim.GD(1.0), steps=1).history["step_norm"][0] == 0.0
    for scale in (1e-170, 1e170):
        problem = bl.FiniteSum(lambda x, a: np.sum(a * x), np.full(2, scale))
        rows = bl.minimize(problem, np.zeros(size), bl.optim.GD(1.0), steps=1).history
        np.testing.assert_allclose(rows["step_norm"], scale * size**0.5, rtol=1e-12)
        np.testing.assert_allclose(rows["gradient_norm"], scale * size**0.5, rtol=1e-12)
