"""Threads that start and halt the turns of runs at the same time."""

import sys
import threading

import pytest

from burlab.experiments.round_robin import RoundRobin


class Restless:
    """A run that would never end."""

    t = 0
    running = False

    def start(self, _steps):
        self.running = True

    def pause(self):
        self.running = False

    def rests(self, _seconds):
        self.t += 1
        return False


@pytest.fixture
def often():
    """Threads change places as often as they can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@pytest.fixture
def rounds():
    made = RoundRobin()
    yield made
    made.halt(5)


def restless():
    run = Restless()
    return lambda: [(run, None)]


def test_halt_right_after_start_is_handled(rounds, often):
    for _ in range(300):
        rounds.start(restless(), print)
        assert rounds.halt(120), "it went on"


def test_any_thread_may_halt_while_another_one_starts(rounds, often):
    failed = []

    def press(act):
        try:
            for _ in range(200):
                act()
        except Exception as error:
            failed.append(error)

    acts = [lambda: rounds.start(restless(), print), lambda: rounds.start(restless(), print), rounds.halt, rounds.halt]
    threads = [threading.Thread(target=press, args=(act,), daemon=True) for act in acts]
    for one in threads:
        one.start()
    for one in threads:
        one.join(60)
    assert failed == []
    assert not any(one.is_alive() for one in threads)
    assert rounds.halt(120)
