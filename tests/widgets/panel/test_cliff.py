"""A run that has come to inf or nan: what is said of it, and the way back."""

import numpy as np
import pytest

import burlab as bl
from burlab.widgets.panel.curves_of_run import RunCurves
from burlab.widgets.panel.panel_cliff import PanelCliff
from burlab.widgets.panel.panel_model import PanelModel
from tests.widgets.panel.real import rested


def died(run, steps=2000):
    """The model of a run that has done steps until it died, and its state."""
    model = PanelModel(run)
    model.apply({"type": "step", "count": steps})
    rested(model)
    model.cliff.wait()
    return model, rested(model)


def overflowing(x):
    return np.sum(np.exp(x**2))


def test_a_run_that_dies_says_what_overflowed_and_how_to_go_back():
    run = bl.minimize(overflowing, np.array([1.0, 0.5]), bl.optim.GD(2.0))
    model, state = died(run)
    assert run.stopped.reason == "non_finite"
    assert state["ended"], "there is nothing to play"
    cliff = state["cliff"]
    assert "exp(" in cliff["cause"]
    assert "is the first inf, for" in cliff["cause"]
    best = int(np.nanargmin(np.where(np.isfinite(run.history["value"]), run.history["value"], np.inf)))
    assert cliff["back"] == f"Back to step {best} with lr / 10 = 0.2"
    dead = run.t
    for intent in ({"type": "play"}, {"type": "step", "count": 1}):
        model.apply(intent)
        assert "has come to inf or nan" in rested(model)["status"]
        assert run.t == dead, "it does not walk through inf"
    model.apply({"type": "rescue"})
    state = rested(model)
    assert (run.t, run.hyper["lr"], state["cliff"], state["ended"]) == (best, 0.2, None, False)
    model.apply({"type": "step", "count": 1})
    assert rested(model)["step"] == best + 1


def test_a_way_back_is_found_in_curves_that_are_read_late():
    run = bl.minimize(overflowing, np.array([1.0, 0.5]), bl.optim.GD(2.0))
    with pytest.warns(RuntimeWarning, match="the value is inf"):
        run.step(2000)
    lines, cliff = RunCurves(run), PanelCliff()
    cliff.refresh(run, lines)
    assert cliff.dead
    assert cliff.back is None, "no row has been read"
    lines.read()
    cliff.refresh(run, lines)
    cliff.wait()
    assert cliff.back == (0, "lr", 0.2)


def test_the_graph_opens_where_it_begins():
    model, state = died(bl.minimize(overflowing, np.array([1.0, 0.5]), bl.optim.GD(2.0)))
    assert state["cliff"]["graph"]
    model.apply({"type": "cause"})
    graph = model.beside
    try:
        assert graph.words["note"].startswith("inf begins here: exp")
        chosen = graph.model.selected
        assert graph.model.network.vertices[chosen].operation == "exp"
        assert chosen in graph.model.faults
    finally:
        graph.close()


def test_a_function_that_is_nan_at_the_start_names_the_argument():
    run = bl.minimize(lambda x: np.sum(np.log(x)), np.array([2.0, -3.0]), bl.optim.GD(0.1))
    _, state = died(run)
    assert state["cliff"]["back"] is None, "there is no step to go back to"
    assert "not finite for x = [2, −3]" in state["cliff"]["cause"]
    assert "log(" in state["cliff"]["cause"]
    assert "is the first nan, for -3" in state["cliff"]["cause"]


def test_of_a_sum_the_sample_is_named():
    rows = np.array([[1.0, 1.0], [1.0, -2.0], [1.0, 3.0]])
    problem = bl.FiniteSum(lambda x, a: np.log(a @ x), rows)
    _, state = died(bl.minimize(problem, np.ones(2), bl.optim.GD(0.1)))
    assert "of sample 1 is not finite" in state["cliff"]["cause"]


def test_of_a_loss_of_batches_the_samples_are_named():
    rows = np.ones((200, 2))
    rows[150, 1] = -5.0

    def loss(x, z, a):
        return np.mean(z)

    problem = bl.BatchLoss(loss, rows, embed=lambda x, a: np.log(a @ x), chunks=16)
    _, state = died(bl.minimize(problem, np.ones(2), bl.optim.GD(0.1), batch=200))
    assert "of the embedding of sample 150 is not finite" in state["cliff"]["cause"]
    assert "log(" in state["cliff"]["cause"]
    whole = bl.BatchLoss(lambda x, a: np.mean(np.log(a @ x)), rows)
    _, state = died(bl.minimize(whole, np.ones(2), bl.optim.GD(0.1), batch=200))
    assert "of samples 128 to 191 as one batch is not finite" in state["cliff"]["cause"]


@pytest.mark.parametrize("rate", [bl.optim.cosine(2.0, steps=100_000), 2.0])
def test_a_way_back_replaces_a_schedule(rate):
    run = bl.minimize(overflowing, np.array([1.0, 0.5]), bl.optim.Momentum(rate))
    model, _ = died(run)
    model.apply({"type": "rescue"})
    rested(model)
    assert run.hyper["lr"] == pytest.approx(0.2, rel=1e-3)


def test_a_mask_of_minus_infinity_is_no_fault():
    scores, mask = np.zeros((3, 3)), np.tril(np.ones((3, 3), bool))

    def attention(s):
        kept = np.where(mask, s, -np.inf)
        e = np.exp(kept - np.max(kept, axis=1, keepdims=True))
        return np.sum(e / np.sum(e, axis=1, keepdims=True))

    model = bl.GraphView(attention, scores).model
    model.show_numbers(True)
    assert model.faults == {}
    assert model.go_to_fault() == ""
    given = bl.GraphView(lambda s, m: np.sum(np.exp(s + m)), scores, np.where(mask, 0.0, -np.inf)).model
    given.show_numbers(True)
    assert given.faults == {}
    broken = bl.GraphView(lambda s: np.sum(np.where(mask, s, -np.inf)), np.full((3, 3), np.inf)).model
    broken.show_numbers(True)
    assert broken.faults
