"""Tapes of one's own: marks, rewinding, replay; threads, tasks and contexts."""

import asyncio
import contextvars
import gc
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import burlab as bl
from burlab.eager import Tape, Value
from burlab.errors import ArgumentError, TapeError


def test_leaves_go_to_the_tape_in_force():
    outer = Value(1.0)
    with Tape() as one:
        a = Value(1.0)
        with Tape() as two:
            b = Value(2.0)
            with one:
                c = Value(3.0)
            d = Value(4.0)
        e = Value(5.0)
    assert [v.tape for v in (a, b, c, d, e)] == [one, two, one, two, one]
    assert Value(1.0).tape is outer.tape
    assert (len(one), len(two)) == (3, 2)


def test_results_go_to_the_tape_of_their_operands():
    with Tape() as tape:
        x = Value(2.0)
    y = x * 3 + 1
    assert y.tape is tape
    y.backward()
    assert x.grad == 3.0


def test_operands_of_two_tapes_do_not_mix():
    x = Value(1.0)
    with Tape():
        y = Value(2.0)
    reduce = lambda: bl.reduce_sum([x, y])  # noqa: E731
    for mix in (lambda: x + y, lambda: x**y, lambda: x.maximum(y), reduce, lambda: np.add(x, y)):
        with pytest.raises(TapeError, match=r"two tapes.*with x\.tape"):
            mix()
    assert (x + 1).data == 2.0


def test_a_tape_of_its_own_keeps_everything_until_it_is_rewound():
    with Tape() as tape:
        x = Value(1.0)
        for _ in range(1000):
            _ = x + 1
        assert len(tape) == 1001


def test_rewinding_cuts_off_and_what_came_before_stays():
    with Tape() as tape:
        x = Value(3.0, label="x")
        start = tape.mark()
        for _ in range(10_000):
            tape.rewind(start)
            y = x * x
            y.label = "y"
            y.backward()
        assert (len(tape), x.grad, x.label, y.label) == (2, 6.0, "x", "y")
        capacity = tape.nbytes["nodes"]
        tape.rewind(start)
        assert (len(tape), tape.nbytes["nodes"]) == (1, capacity)


@pytest.mark.parametrize(
    "use",
    [
        lambda v: v.data,
        lambda v: v.grad,
        lambda v: v.label,
        lambda v: v + 1,
        lambda v: 1 - v,
        lambda v: v * v,
        lambda v: v**2,
        lambda v: v.tanh(),
        lambda v: v.sin(),
        lambda v: -v,
        lambda v: v._prev,
        lambda v: v._op,
        lambda v: v.dot(),
        lambda v: v < 1,
        lambda v: v.backward(),
        lambda v: setattr(v, "data", 1.0),
        lambda v: setattr(v, "grad", 1.0),
        lambda v: setattr(v, "label", "a"),
        lambda v: bl.reduce_sum([v]),
        np.exp,
        lambda v: v.tape.replay(root=v),
    ],
)
def test_value_behind_a_rewind_raises(use: Any):
    with Tape() as tape:
        x = Value(1.0)
        mark = tape.mark()
        cut_off = x + 1
        tape.rewind(mark)
        for _ in range(2):  # beyond the end, and where another node has taken the place
            with pytest.raises(TapeError, match=r"cut off by Tape\.rewind"):
                use(cut_off)
            assert repr(cut_off) == "Value(cut off)"
            y = x + 5
        del cut_off
        y.backward()
        assert (y.data, x.grad) == (6.0, 1.0)


def test_a_mark_dies_when_the_tape_goes_back_before_it():
    with Tape() as tape:
        Value(1.0)
        early = tape.mark()
        Value(2.0)
        late = tape.mark()
        Value(3.0)
        tape.rewind(late)
        tape.rewind(late)
        assert len(tape) == 2
        tape.rewind(early)
        Value(2.0)
        Value(3.0)
        with pytest.raises(TapeError, match="rewound to an earlier one"):
            tape.rewind(late)
        assert len(tape) == 3
        with Tape() as other, pytest.raises(TapeError, match="not one of this tape's"):
            other.rewind(early)
        with pytest.raises(TypeError, match="needs a mark of this tape"):
            tape.rewind(0)  # pyright: ignore[reportArgumentType]


def test_a_mark_at_the_very_start_empties_the_tape():
    with Tape() as tape:
        start = tape.mark()
        values = [Value(1.0) for _ in range(5)]
        tape.rewind(start)
        assert len(tape) == 0
        x = Value(2.0)
        (x * x).backward()
        assert (x.grad, len(values)) == (4.0, 5)


def test_a_default_tape_cannot_be_marked():
    with pytest.raises(TapeError, match=r"with bl\.Tape"):
        Value(1.0).tape.mark()


def test_replay_computes_again_with_other_leaves():
    with Tape() as tape:
        a, b = Value(-41.0), Value(2.0)
        xs = [a, b, Value(0.5)]
        middle = bl.dot(xs, xs, bias=b) + bl.logsumexp(xs) - bl.variance(xs) * bl.reduce_prod(xs)
        root = ((a + b) - (a * b + b**3)) ** 2 / 2 + middle + 2**b + b.tanh()
        size = len(tape)
        got = tape.replay({a: 1.5, b: -0.25}, root=root)
        assert len(tape) == size
        x, y = Value(1.5), Value(-0.25)
        ys = [x, y, Value(0.5)]
        inner = bl.dot(ys, ys, bias=y) + bl.logsumexp(ys) - bl.variance(ys) * bl.reduce_prod(ys)
        wanted = ((x + y) - (x * y + y**3)) ** 2 / 2 + inner + 2**y + y.tanh()
        wanted.backward()
        assert (got, root.data, middle.data) == (wanted.data, wanted.data, inner.data)
        assert [v.grad for v in xs] == [v.grad for v in ys]


def test_replay_without_a_root_computes_values_only():
    x = Value(2.0)
    y = x * 3
    assert x.tape.replay({x: np.float32(5)}) is None
    assert (x.data, y.data, y.grad, x.grad) == (5.0, 15.0, 0.0, 0.0)
    x.data = 7.0
    assert x.tape.replay(root=y) == 21.0
    assert x.grad == 3.0


def test_replay_changes_nothing_where_it_refuses():
    x, y = Value(2.0), Value(3.0)
    z = x * y
    with pytest.raises(ArgumentError, match=r"only leaves take new numbers, but Value\(data=6.0"):
        x.tape.replay({x: 5.0, z: 1.0})
    with Tape() as other:
        foreign = Value(1.0)
    with pytest.raises(TapeError, match="lives on another tape"):
        other.replay({x: 5.0})
    with pytest.raises(TapeError, match="lives on another tape"):
        x.tape.replay({x: 5.0}, root=foreign)
    with pytest.raises((TypeError, ValueError)):
        x.tape.replay({x: "five"})  # pyright: ignore[reportArgumentType]
    assert (x.data, z.data) == (2.0, 6.0)


def test_a_tape_lives_as_long_as_its_values():
    tape = Tape()
    with tape:
        x = Value(2.0)
    del tape
    gc.collect()
    y = x * x
    y.backward()
    assert (x.grad, len(x.tape)) == (4.0, 2)


def test_a_tape_dies_with_its_last_value():
    class Seen(Tape):
        __slots__ = ("__weakref__",)

    tape = Seen()
    with tape:
        x = Value(2.0)
    dead = weakref.ref(tape)
    del tape
    assert dead() is x.tape
    del x
    assert dead() is None


def test_threads_have_default_tapes_of_their_own():
    def work(seed: int) -> tuple[Any, list[float]]:
        rng = np.random.default_rng(seed)
        x = Value(rng.normal())
        for _ in range(2000):
            y = (x * x + x.tanh()) / 2
            y.backward()
        return x.tape, [x.data, x.grad]

    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(work, range(4)))
    assert results[0][0] is not Value(1.0).tape
    for _, (x, slope) in results:
        assert slope == pytest.approx((2 * x + 1 - np.tanh(x) ** 2) / 2, rel=1e-14)


def test_threads_may_share_a_tape_that_they_enter():
    x = Value(3.0)

    def work(k: int) -> float:
        with x.tape:
            return (x * Value(float(k))).data

    with ThreadPoolExecutor(3) as pool:
        assert list(pool.map(work, range(50))) == [3.0 * k for k in range(50)]


def test_the_tape_of_a_finished_thread_is_not_used_again():
    seen: list[Value] = []
    for _ in range(50):
        thread = threading.Thread(target=lambda: seen.append(Value(1.0)))
        thread.start()
        thread.join()
    assert len({id(value.tape) for value in seen}) == 50
    assert all(len(value.tape) == 1 for value in seen)


def test_tasks_of_one_thread_share_their_default_tape_and_enter_their_own():
    async def inside(tape: Tape, start: asyncio.Event, go: asyncio.Event) -> Any:
        with tape:
            start.set()
            await go.wait()
            return Value(1.0).tape

    async def main() -> list[Any]:
        tapes = Tape(), Tape()
        events = asyncio.Event(), asyncio.Event()
        first = asyncio.create_task(inside(tapes[0], events[0], events[1]))
        await events[0].wait()
        outside = Value(1.0)
        second = asyncio.create_task(inside(tapes[1], events[1], events[0]))
        found = [await first, await second]
        return [found == list(tapes), outside.tape is Value(2.0).tape]

    assert asyncio.run(main()) == [True, True]


def test_a_copied_context_takes_its_tape_along():
    with Tape() as tape:
        context = contextvars.copy_context()
    assert context.run(lambda: Value(1.0)).tape is tape
    assert Value(1.0).tape is not tape
