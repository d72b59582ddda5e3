"""Chart of a profile: live bytes, stacked and exact, over the time line of its steps."""

from dataclasses import replace

import numpy as np
import pytest

import burlab as bl
from burlab.widgets.profile.profile_chart import live_chart, row_at
from burlab.widgets.profile.profile_widget import ProfileView


def loss(w, x):
    with bl.scope("layer"):
        y = np.tanh(x @ w)
    return np.sum(np.tanh(y @ w) ** 2)


@pytest.fixture(scope="module")
def profile():
    w, x = np.ones((32, 32)), np.ones((16, 32))
    return bl.compile(loss, w, x).profile(w, x)


def test_bands_are_stacked_and_their_top_is_all_that_lives(profile):
    live, steps = live_chart(profile).parts
    for below, above in zip(live.bands, live.bands[1:], strict=False):
        assert np.array_equal(below.high, above.low)
    assert live.bands[-1].high[::2].tolist() == [sum(row) for row in zip(*profile.live.values(), strict=True)]
    assert live.x.label == steps.x.label  # one axis: zoomed and read together
    assert {band.label for band in steps.bands} == {"forward", "backward"}


def test_steps_stand_at_their_times(profile):
    live, steps = live_chart(profile, 2).parts
    rows = profile.rows[:-1]
    assert live.bands[0].x[::2].tolist() == [row.start / 1e9 for row in rows]
    assert len(steps.dots[0].x) == len(rows) == len(steps.dots[0].hints)
    assert live.marks[0].at == steps.dots[0].x[2]
    marked = steps.bands[-1]
    assert marked.x.tolist() == [rows[2].start / 1e9, (rows[2].start + rows[2].nanoseconds) / 1e9]
    assert marked.label == rows[2].name
    for k, at in enumerate(steps.dots[0].x):
        assert row_at(profile, at) == k


@pytest.mark.parametrize(("count", "shape"), [(3, "triangle"), (200, "none")])
def test_many_steps_have_no_signs_that_lie_over_each_other(profile, count, shape):
    live = dict.fromkeys(profile.live, (0,) * count)
    many = replace(profile, rows=(profile.rows[0],) * count, live=live)
    (dots,) = live_chart(many).parts[1].dots
    assert (dots.shape, len(dots.hints)) == (shape, count)


def test_the_view_marks_a_row_in_both_and_a_click_in_the_chart_finds_it(profile):
    view = ProfileView(profile)
    view.mark(1)
    assert view.table.row == 1
    assert view.chart.chart.parts[0].marks[0].at == view.chart.chart.parts[1].dots[0].x[1]
    view._point({"type": "pick", "x": view.chart.chart.parts[1].dots[0].x[3]})
    assert view.table.row == 3
    assert [row["name"] for row in view.table.data["rows"]] == [row.name for row in profile.rows]
    view.mark(len(profile.rows) - 1)  # the residual has no time of its own
    assert view.chart.chart.parts[0].marks == ()


def test_the_profile_of_a_run_knows_what_lives():
    run = bl.minimize(bl.problems.rosenbrock(), np.array([-1.2, 1.0]), bl.optim.GD(1e-3), steps=2)
    profile = run.profile()
    assert all(len(counts) == len(profile.rows) - 1 for counts in profile.live.values())
