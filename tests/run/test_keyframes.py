"""Runs without keyframes: what they cannot do is refused with the reason, and all else is as before."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import burlab as bl
from burlab.errors import ArgumentError, StatusError

_WHY = "keyframe"


def begin(**options: Any) -> bl.Run:
    return bl.minimize(lambda x: np.sum((x - 1.0) ** 4), np.zeros(3), bl.optim.Adam(0.1), keyframe_bytes=0, **options)


def scipy() -> bl.Run:
    rule = bl.optim.SciPy("BFGS")
    return bl.minimize(lambda x: np.sum((x - 1.0) ** 4), np.zeros(3), rule, steps=5, keyframe_bytes=0)


def test_without_keyframes_none_is_stored_and_the_bits_are_the_same() -> None:
    run, other = begin(steps=500), bl.minimize(lambda x: np.sum((x - 1.0) ** 4), np.zeros(3), bl.optim.Adam(0.1))
    other.step(500)
    assert run.memory["keyframes"] == 0 < other.memory["keyframes"]
    assert (run.x == other.x).all()
    assert (run.history["value"] == other.history["value"]).all()


@pytest.mark.parametrize("make", [lambda: begin(steps=9), scipy])
def test_without_keyframes_a_run_does_not_go_back(make: Callable[[], bl.Run]) -> None:
    run = make()
    assert not run.can_seek
    run.seek(run.t)
    for act in (lambda: run.seek(2), lambda: run.breakpoints.add(when=lambda row: row["value"] < 0)):
        with pytest.raises(StatusError, match=_WHY):
            act()
    with pytest.raises(StatusError, match=_WHY):
        bl.branches(run).fork("A", at=2)
    assert run.breakpoints.add(every=1) == 1
    assert run.t == len(run.history["value"])


@pytest.mark.parametrize("rule", [bl.optim.GD(0.1), bl.optim.SciPy("BFGS")])
def test_a_predicate_needs_keyframes(rule: bl.optim.Optimizer | bl.optim.SciPy) -> None:
    stop = bl.Stop(when=lambda row: row["value"] < 0)
    with pytest.raises(ArgumentError, match=_WHY):
        bl.minimize(lambda x: np.sum(x**2), np.zeros(3), rule, stop=stop, keyframe_bytes=0)


def test_without_keyframes_a_run_forks_at_its_step() -> None:
    run = begin(steps=9)
    fork = run.fork(lr=0.2)
    fork.step(3)
    run.hyper["lr"] = 0.2
    run.step(3)
    assert (fork.x == run.x).all()
    assert not fork.can_seek
    assert [event.step for event in run.events] == [event.step for event in fork.events] == [9]


@pytest.mark.parametrize("history_bytes", [1 << 20, 2000])
def test_a_stopped_run_without_keyframes_goes_on(history_bytes: int) -> None:
    """With few bytes of history the row that stopped it is merged with others."""
    runs = [
        bl.minimize(
            lambda x: np.sum(x**2),
            np.ones(3),
            bl.optim.GD(1e-3),
            stop=bl.Stop(value=1.0),
            history_bytes=history_bytes,
            keyframe_bytes=keyframe_bytes,
            steps=2000,
        )
        for keyframe_bytes in (0, 1 << 20)
    ]
    for run in runs:
        assert run.stopped is not None
        assert run.stopped.reason == "value"
        assert run.length == run.t + 1 > 200
        run.hyper["lr"] = 1e-2
        while run.t < 300:
            run.step(300 - run.t)  # it stops at each row
    one, other = runs
    assert one.t == other.t == one.length
    assert (one.x == other.x).all()
    assert one.history["value"][-1] == other.history["value"][-1]


def test_a_run_without_keyframes_is_saved_and_goes_on(tmp_path: Path) -> None:
    run = begin(steps=9)
    run.save(tmp_path / "run")
    again = bl.load_run(tmp_path / "run")
    assert again.t == 9
    assert (again.x == run.x).all()
    assert not again.can_seek
    run.step(3)
    again.step(3)
    assert (again.x == run.x).all()
    with pytest.raises(StatusError, match=_WHY):
        again.seek(1)
    with pytest.raises(ArgumentError, match=_WHY):
        bl.load_run(tmp_path / "run", stop=bl.Stop(when=lambda row: row["value"] < 0))
