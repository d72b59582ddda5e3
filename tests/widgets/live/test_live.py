"""The picture of a race and of a tree of branches, which no page looks at."""

import time

import pytest

import burlab as bl

pytest.importorskip("anywidget")

from burlab.widgets import still
from burlab.widgets.branches.branches_view import BranchesView
from burlab.widgets.race.race_model import RaceModel
from burlab.widgets.race.race_view import RaceView

F = bl.problems.rosenbrock()


@pytest.fixture
def pictured(monkeypatch):
    """Displays a view, to no page; gives the widgets whose pictures were to be made again."""
    found = []
    monkeypatch.setattr(still, "show", lambda *_: None)
    monkeypatch.setattr(still, "refresh", found.append)
    views = []

    def show(view):
        views.append(view)
        view.show()
        return found

    yield show
    for view in views:
        view.rest(5.0)


def until(so, why, seconds=120):
    end = time.monotonic() + seconds
    while not so():
        assert time.monotonic() < end, why
        time.sleep(0.01)


def test_the_picture_of_a_race_follows_its_steps(pictured, monkeypatch):
    turns, look = [], RaceModel.refresh
    monkeypatch.setattr(RaceModel, "refresh", lambda model: turns.append(model) or look(model))
    race = bl.race(F, F.start, {"GD": bl.optim.GD(1e-3), "Adam": bl.optim.Adam(1e-2)})
    view = RaceView(race)
    refreshed = pictured(view)
    race.step(300)
    until(lambda: str(race.leader()) in view.picture(), "the picture stayed at the start")
    assert refreshed[-1] is view.root
    for still_new in (True, False):  # what was on the way has come in two turns
        looked, count = len(turns), len(refreshed)
        until(lambda: len(turns) >= looked + 2, "nobody looks")  # noqa: B023 - asked at once
        assert still_new or len(refreshed) == count, "nothing has changed since"


def test_the_picture_of_branches_follows_a_fork(pictured):
    run = bl.minimize(F, F.start, bl.optim.Momentum(1e-4), steps=300)
    tree = bl.branches(run)
    view = BranchesView(tree)
    refreshed = pictured(view)
    tree.fork("A", at=100, lr=1e-3).run.step(50)
    until(lambda: ">B" in view.picture(), "the branch is not in the picture")
    until(lambda: view.root in refreshed, "the picture of the output was not refreshed")
