"""The panel of a race without a screen."""

import dataclasses
import time

import pytest

import burlab as bl
from burlab.experiments import race_curves, races
from burlab.experiments.curves import curves_of
from burlab.run.record.digest import Digest
from burlab.widgets.race.race_model import RaceModel, offered, optimizer_from

F = bl.problems.rosenbrock()


@pytest.fixture
def model():
    race = bl.race(F, F.start, {"gd": bl.optim.GD(1e-3), "adam": bl.optim.Adam(1e-2)})
    yield RaceModel(race)
    race.pause()


def do(model, **intent):
    model.apply(intent)
    model.refresh()
    return model.state()


def until(model, done, why, seconds=120):
    """Look until something is so."""
    end = time.monotonic() + seconds
    while not done():
        assert time.monotonic() < end, why
        model.refresh()
        time.sleep(0.005)


def test_how_far_the_others_are_has_two_decimals(model):
    rows = do(model, type="step", count="200")["rows"]
    assert model.race.wait()
    model.refresh()
    rows = model.state()["rows"]
    behind = {row.name: row.behind for row in model.race.standings()}
    assert rows[0]["behind"] == ""
    assert rows[1]["behind"] == f"{behind[rows[1]['name']]:.2f} ×"


@pytest.mark.parametrize(
    ("times", "said"),
    [(1.1, "1.10"), (12.34, "12.3"), (612.4, "612"), (1234.5, "1,234"), (85_600.0, "85,600"), (6.31e6, "6.31e6")],
)
def test_distance_to_the_leader_is_readable(model, monkeypatch, times, said):
    standings = model.race.standings
    far = lambda *of: [dataclasses.replace(row, behind=times) for row in standings(*of)]  # noqa: E731 - of one line
    do(model, type="step", count="2")
    assert model.race.wait()
    model.refresh()
    monkeypatch.setattr(model.race, "standings", far)
    assert model.state()["rows"][1]["behind"] == f"{said} ×"


def test_optimizers_are_offered_with_readable_numbers():
    assert "eps = 1e-8)" in offered()["Adam"]


def test_step_does_so_many_each(model):
    do(model, type="step", count="1,500")
    assert model.race.wait()
    model.refresh()
    assert [runs[0].t for runs in model.race.runs.values()] == [1500, 1500]
    state = model.state()
    assert state["status"] == str(model.race.leader())
    assert [row["rank"] for row in state["rows"]] == [1, 2]


def test_play_goes_on_by_bursts_at_a_fixed_speed(model):
    do(model, type="speed", value=2000)
    do(model, type="play")
    end = time.monotonic() + 120
    while model.race.t < 500:
        assert time.monotonic() < end
        model.refresh()
        time.sleep(0.02)
    state = do(model, type="pause")
    steps = [runs[0].t for runs in model.race.runs.values()]
    assert not state["playing"]
    time.sleep(0.1)
    assert steps == [runs[0].t for runs in model.race.runs.values()]


def test_pause_at_full_speed_rests_all(model):
    do(model, type="speed", value=0)
    do(model, type="play")
    until(model, lambda: model.race.t > 1000, "it did not get far")
    state = do(model, type="pause")
    assert not state["playing"]
    assert not model.race.running


def test_race_rests_when_no_racer_moves():
    f = bl.problems.booth()
    race = bl.race(f, f.start, {"gd": bl.optim.GD(0.1), "slow": bl.optim.GD(0.05)}, seeds=2)
    model = RaceModel(race)
    do(model, type="speed", value=0)
    do(model, type="play")
    until(model, lambda: model.settled, "it never rested")
    state = model.state()
    assert (state["playing"], race.running, state["tone"], race.finished) == (False, False, "stopped", False)
    assert "nothing has moved for 1,000 steps" in state["status"]
    t = race.t
    do(model, type="play")  # someone wants to see it go on
    until(model, lambda: race.t > t + 5000, "it rested again")
    assert not model.settled
    do(model, type="add", name="GD", lr="0.02")
    until(model, lambda: model.settled, "it never rested with another racer")


def test_race_goes_on_while_one_racer_moves():
    f = bl.problems.booth()
    race = bl.race(f, f.start, {"gd": bl.optim.GD(0.1), "late": bl.optim.GD(1e-9)})
    model = RaceModel(race)
    do(model, type="speed", value=0)
    do(model, type="play")
    until(model, lambda: race.racers["gd"].step > 20_000, "it did not get far")
    assert model.playing
    assert not model.settled
    do(model, type="pause")


def test_race_rests_when_all_racers_have_ended():
    race = bl.race(F, F.start, {"gd": bl.optim.GD(1.0), "bfgs": bl.optim.SciPy("BFGS")})
    model = RaceModel(race)
    do(model, type="speed", value=0)
    do(model, type="play")
    assert race.wait(120)
    model.refresh()
    state = model.state()
    assert not state["playing"]
    assert state["ended"]
    assert state["status"].startswith("All have come to their end. bfgs alone")


def test_every_offered_optimizer_can_race(model):
    assert {"Adam", "GD", "LBFGS", "SciPy BFGS"} < set(offered())
    for name in offered():
        assert optimizer_from(name, "") is not None
    do(model, type="add", name="Momentum", lr="1e-3")
    state = do(model, type="add", name="Momentum", lr="1e-3")
    assert [row["name"] for row in state["rows"]][2:] == ["Momentum 1e-3", "Momentum 1e-3 (2)"]
    assert model.race.runs["Momentum 1e-3"][0].hyper["lr"] == 1e-3


@pytest.mark.parametrize(
    ("intent", "message"),
    [
        ({"type": "add", "name": "Adam", "lr": "fast"}, "the learning rate is 'fast', expected a number"),
        ({"type": "add", "name": "SciPy BFGS", "lr": "1"}, "has no learning rate"),
        ({"type": "add", "name": "os.system", "lr": ""}, "that the menu offers; got 'os.system'"),
        ({"type": "step", "count": "-1"}, "expected a whole number from 1 on"),
        ({"type": "drop", "name": "nobody"}, "the racer must be one of"),
        ({"type": "against", "value": "luck"}, "the axis must be one of 'step', "),
        ({"type": "of", "value": "luck"}, "the column must be one of 'value', "),
        ({"type": "dance"}, "'step'; got 'dance'"),
    ],
)
def test_invalid_intents_of_a_race_show_a_message(model, intent, message):
    state = do(model, **intent)
    assert state["tone"] == "failed"
    assert message in state["status"]


def test_a_panel_is_new_only_where_something_is(model):
    assert model.refresh()
    assert not model.refresh()
    model.apply({"type": "step", "count": "5"})
    model.race.wait()
    assert model.refresh()
    assert not model.refresh()


def test_a_race_is_new_when_it_has_come_to_rest(model, monkeypatch):
    def ends():
        return {curve.x[-1] for curve in model.chart().parts[0].curves}

    model.race.step(5)
    with monkeypatch.context() as meanwhile:  # its last rows are there
        meanwhile.setattr(races.Race, "running", property(lambda _race: True))
        model.refresh()
        assert ends() == {4}
    assert model.refresh()
    assert ends() == {5}


def test_race_model_reads_no_whole_history(model, monkeypatch):
    do(model, type="step", count="50")
    assert model.race.wait()
    model.refresh()

    def refused(_self):
        raise AssertionError("it takes time by all rows of the record")

    monkeypatch.setattr(bl.Run, "history", property(refused))
    monkeypatch.setattr(Digest, "seconds", property(refused))
    state = model.state()
    assert [name for name, _ in state["columns"]] == ["value", "gradient_norm", "step_norm"]
    assert len(model.chart().parts[0].curves) == 2


def test_curves_are_cached_until_they_grow(model, monkeypatch):
    made = []
    monkeypatch.setattr(race_curves, "curves_of", lambda *of, **more: made.append(of) or curves_of(*of, **more))
    do(model, type="step", count="50")
    assert model.race.wait()
    model.refresh()
    made.clear()
    model.chart()
    first = len(made)
    model.state()
    assert len(made) == first <= 2
    model.race.step(10)
    model.refresh()
    assert max(len(curve.x) for curve in model.chart().parts[0].curves) == 61
    model.race.drop("adam")
    assert [row["name"] for row in model.state()["rows"]] == ["gd"]


@pytest.mark.parametrize("speed", [0, 50])
def test_a_pause_from_a_cell_is_a_pause(model, speed):
    do(model, type="speed", value=speed)
    do(model, type="play")
    until(model, lambda: model.race.t > 0, "it never went")
    model.race.pause()
    model.refresh()
    assert not model.state()["playing"]
    t = model.race.t
    time.sleep(0.1)
    model.refresh()
    assert model.race.t == t
    do(model, type="play")
    until(model, lambda: model.race.t > t, "it did not go on")


def test_a_click_on_the_map_begins_all_racers_there(model):
    do(model, type="step", count="100")
    assert model.race.wait()
    model.refresh()
    old = [curve.x.size for curve in model.chart().parts[0].curves]
    model.apply({"type": "speed", "value": 1000})
    state = do(model, type="start", x=-0.5, y=1.5)
    assert model.error == ""
    assert state["movable"]
    assert model.playing
    until(model, lambda: min(runs[0].t for runs in model.race.runs.values()) > 5, "they never began")
    do(model, type="pause")
    for name, (run,) in model.race.runs.items():
        assert run.path[1][0].tolist() == [-0.5, 1.5], name
        assert run.length < 100
    model.refresh()
    now = [curve.x.size for curve in model.chart().parts[0].curves]
    assert max(now) < max(old), "the losses are those of the new start"
    model.race.add("late", bl.optim.GD(1e-4))
    assert model.race.runs["late"][0].x.tolist() == [-0.5, 1.5]
