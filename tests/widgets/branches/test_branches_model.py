"""The panel of a tree of branches without a screen."""

import numpy as np
import pytest

import burlab as bl
from burlab.widgets.branches.branches_model import BranchesModel

F = bl.problems.rosenbrock()


@pytest.fixture
def model():
    run = bl.minimize(F, F.start, bl.optim.Momentum(1e-4, mu=0.9), steps=300)
    tree = bl.branches(run)
    found = BranchesModel(tree)
    found.refresh()
    return found


def do(model, **intent):
    model.apply(intent)
    model.refresh()
    return model.state()


def test_a_fork_leaves_at_the_cursor_and_becomes_current(model):
    do(model, type="cursor", step="100")
    state = do(model, type="fork", name="mu", text="0.5")
    assert (state["current"], state["cursor"], state["status"]) == (
        "B",
        100,
        "B at step 100 of 100: a fork leaves it there",
    )
    row = state["rows"][1]
    assert (row["depth"], row["message"], row["origin"]) == (1, "mu = 0.5", "from step 100")
    assert model.branches["B"].hyper["mu"] == 0.5
    assert model.branches["A"].t == 300


def test_a_branch_goes_on(model):
    do(model, type="fork", name="mu", text="")
    model.apply({"type": "go", "count": "50"})
    assert model.branches["B"].wait()
    assert model.refresh()
    assert not model.refresh()
    assert model.state()["rows"][1]["length"] == "350"
    assert model.state()["rows"][1]["message"] == "nothing changed"


def test_a_branch_is_new_when_it_has_come_to_rest_or_is_elsewhere(model, monkeypatch):
    def end():
        return model.chart().parts[0].curves[0].x[-1]

    with monkeypatch.context() as meanwhile:  # its last row is there
        meanwhile.setattr(bl.Run, "running", property(lambda _run: True))
        model.refresh()
    assert model.refresh()
    assert end() == 300
    model.branches["A"].seek(100)
    assert model.refresh()
    assert end() == 299
    model.branches["A"].seek(300)
    assert model.refresh()
    assert end() == 300


def test_only_the_chosen_are_compared(model):
    do(model, type="fork", name="mu", text="0.5")
    do(model, type="go", count="50")
    model.branches["B"].wait()
    model.refresh()
    assert [curve.label for curve in model.chart().parts[0].curves] == ["A", "B"]
    do(model, type="choose", name="A", value=False)
    assert [curve.label for curve in model.chart().parts[0].curves] == ["B"]
    assert [row["chosen"] for row in model.state()["rows"]] == [False, True]


def test_the_cursor_is_a_mark_that_can_be_dragged(model):
    do(model, type="cursor", step="120")
    (mark,) = [mark for mark in model.chart().parts[0].marks if mark.kind == "cursor"]
    assert mark.at == 120
    do(model, type="against", value="seconds")
    assert [mark for mark in model.chart().parts[0].marks if mark.kind == "cursor"] == []


def test_small_pictures_are_the_curve(model):
    do(model, type="cursor", step="150")
    do(model, type="fork", name="mu", text="0.99")
    do(model, type="go", count="150")
    model.branches["B"].wait()
    model.refresh()
    row = model.state()["rows"][1]
    past, own = np.array(row["past"]), np.array(row["own"])
    assert past[0, 0] == 0
    assert past[-1, 0] == pytest.approx(150 / 300, abs=0.01)
    assert own[0, 0] == pytest.approx(150 / 300, abs=0.01)
    assert own[-1, 0] == 1
    runs = model.branches["A"], model.branches["B"]
    values = np.log(np.concatenate([[*run.history["value"], run.value] for run in runs]))
    expected = (np.log(model.branches["B"].value) - values.min()) / np.ptp(values)
    assert own[-1, 1] == pytest.approx(expected, abs=0.01)


@pytest.mark.parametrize(
    ("intent", "message"),
    [
        ({"type": "fork", "name": "mu", "text": "much"}, "mu is 'much', expected a number"),
        ({"type": "fork", "name": "mu", "text": "2"}, "ArgumentError: the hyperparameter mu"),
        ({"type": "go", "count": "0"}, "expected a whole number from 1 on"),
        ({"type": "current", "name": "Z"}, "the branch must be one of 'A'"),
        ({"type": "cursor", "step": "soon"}, "the step is 'soon', expected a number"),
        ({"type": "dance"}, "'pause'; got 'dance'"),
    ],
)
def test_invalid_intents_show_a_message(model, intent, message):
    state = do(model, **intent)
    assert state["tone"] == "failed"
    assert message in state["status"]
    assert len(state["rows"]) == 1
