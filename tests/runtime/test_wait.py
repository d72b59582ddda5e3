"""Work in threads: interrupts and exceptions stop all of them and arrive at the caller."""

import _thread
import threading
import time
from collections.abc import Callable

import numpy as np
import pytest

import burlab as bl
from burlab.eager.cells import Cells
from burlab.runtime import cling
from burlab.runtime.wait import in_threads, shielded
from tests.interrupts import interrupt, main_waits_in


@pytest.mark.parametrize("count", [1, 2, 5])
def test_every_thread_works(count):
    seen = []
    in_threads(lambda stop: seen.append(threading.current_thread()), count)
    assert len(set(seen)) == len(seen) == count


def test_one_thread_is_the_callers_own():
    seen = []
    in_threads(lambda stop: seen.append(threading.current_thread()), 1)
    assert seen == [threading.current_thread()]


def test_an_exception_stops_the_others_and_is_raised():
    ended = []

    def work(stop):
        if not ended and threading.current_thread().name.endswith("-0"):
            raise ValueError("from a thread")
        stop.wait(60)
        ended.append(stop.is_set())

    with pytest.raises(ValueError, match="from a thread"):
        in_threads(work, 3)
    assert ended == [True, True]


def until(condition: Callable[[], bool]) -> None:
    while not condition():
        time.sleep(0.001)


def test_an_interrupt_stops_the_work():
    began, ended = [], []

    def work(stop):
        began.append(threading.current_thread())
        stop.wait(60)
        ended.append(stop.is_set())

    interrupt(lambda: in_threads(work, 2), lambda: len(began) == 2)
    assert ended == [True, True]
    for thread in began:
        thread.join(60)
        assert not thread.is_alive()


def test_a_second_interrupt_does_not_leave_a_thread_behind():
    began, ended = [], []

    def work(stop):
        began.append(1)
        stop.wait(60)
        for _ in range(2):
            until(lambda: main_waits_in("_wait_for"))
            _thread.interrupt_main()
            time.sleep(0.1)
        ended.append(1)

    interrupt(lambda: in_threads(work, 2), lambda: len(began) == 2)
    assert ended == [1, 1]


def test_shielded_work_is_done_before_an_interrupt_is_raised():
    done = []

    def work() -> int:
        if not done:
            until(lambda: main_waits_in("shielded"))
            _thread.interrupt_main()
            time.sleep(0.1)
        done.append(threading.current_thread())
        return 3

    with pytest.raises(KeyboardInterrupt):
        shielded(work)
    assert len(done) == 1
    assert shielded(work) == 3
    with pytest.raises(ZeroDivisionError):
        shielded(lambda: 1 // 0)
    other = threading.Thread(target=lambda: shielded(work))
    other.start()
    other.join()
    assert done[-1] is other  # no interrupt comes there


@pytest.mark.parametrize("begins", ["before", "after"])
@pytest.mark.parametrize("way", ["shielded", "in threads"])
def test_interrupt_while_a_thread_is_started(monkeypatch: pytest.MonkeyPatch, way: str, begins: str):
    """Work that has begun is waited for, and other work never begins."""
    begun, done, made = threading.Event(), [], []

    def work(*_: object) -> None:
        begun.set()
        time.sleep(0.1)
        done.append(1)

    def start(self: threading.Thread) -> None:
        made.append(self)
        if begins == "before":
            real(self)
            begun.wait()
        raise KeyboardInterrupt

    real = threading.Thread.start
    monkeypatch.setattr(threading.Thread, "start", start)
    with pytest.raises(KeyboardInterrupt):
        shielded(work) if way == "shielded" else in_threads(work, 2)
    assert done == [1] * (begins == "before")
    if begins == "after":
        real(made[0])
    made[0].join()
    assert done == [1] * (begins == "before")


@pytest.fixture
def interrupts_at(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """An interrupt will come while the compiler is at the first text that holds this word."""
    compile_ = cling._compile

    def interrupts(word: str) -> None:
        def compile_text(text: str, users: bool = False) -> None:
            if word in text:
                monkeypatch.undo()
                _thread.interrupt_main()
            compile_(text, users)

        monkeypatch.setattr(cling, "_compile", compile_text)

    return interrupts


def test_code_compiled_despite_an_interrupt_is_reused(interrupts_at):
    def f(x):
        return np.sum(np.expm1(x) ** 2)

    interrupts_at("burlab_expm1_float32")
    with pytest.raises(KeyboardInterrupt):
        bl.compile(f, np.ones(3, np.float32))(np.ones(3, np.float32))
    assert bl.compile(f, np.ones(5, np.float32))(np.zeros(5, np.float32)) == 0.0


def test_a_cell_of_cpp_that_was_interrupted_runs_again(interrupts_at):
    cells, cell = Cells(), "Value thrice(Value x) { return 3 * x; }"
    interrupts_at("thrice")
    with pytest.raises(KeyboardInterrupt):
        cells.run(cell)
    assert cells.run(cell)["thrice"](bl.Value(2.0)).data == 6.0
