"""Limits of charts, and the resemblance of a bounded chart to the whole one."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from burlab.charts import Axis, Band, Chart, Curve, Dots, Map, Mark, Plot
from burlab.charts.limits import (
    CURVES,
    MARKS,
    PARTS,
    POINTS,
    POINTS_OF_CHART,
    POINTS_OF_PART,
    SIDE,
    along,
    bounded,
    spread_extremes,
)

RNG = np.random.default_rng(0)
BOX = {"x": Axis("x", low=0.0, high=1.0), "y": Axis("y", low=0.0, high=1.0)}


def plot(**more):
    return Plot("value", "Value", Axis("step"), Axis(), **more)


def walk(n):
    """A path that fills the plane and crosses itself for ever."""
    return np.cumsum(RNG.normal(size=(n, 2)), axis=0) % 1.0


def total(chart):
    return sum(
        one.x.size for part in chart.parts for one in (*part.curves, *getattr(part, "bands", ()), *part.dots)
    )  # fmt: skip


NOISE = Curve(np.arange(1e5), RNG.normal(size=100_000))
WORST = {
    "a curve": Chart((plot(curves=(NOISE,)),)),
    "curves": Chart((plot(curves=(NOISE,) * 40),)),
    "small curves": Chart((plot(curves=(Curve(np.arange(50.0), np.arange(50.0)),) * 5000),)),
    "bands": Chart((plot(bands=(Band(NOISE.x, NOISE.y - 1, NOISE.y + 1),) * 9),)),
    "dots": Chart((plot(dots=(Dots(NOISE.x, NOISE.y, hints=tuple(map(str, range(100_000)))),) * 3),)),
    "marks": Chart((plot(marks=tuple(Mark(float(k)) for k in range(5000))),)),
    "paths": Chart((Map("m", "m", **BOX, curves=tuple(Curve(*walk(30_000).T) for _ in range(9))),)),
    "parts": Chart((plot(curves=(NOISE,)),) * 1000),
    "heights": Chart((Map("m", "m", **BOX, heights=np.zeros((1500, 20)), shade=np.ones((1500, 20))),)),
    "gaps": Chart((plot(curves=(Curve(NOISE.x, np.where(RNG.random(100_000) < 0.5, np.nan, 1.0)),)),)),
}


@pytest.mark.parametrize("name", WORST)
def test_bounded_charts_keep_to_the_limits(name):
    found = bounded(WORST[name])
    assert len(found.parts) <= PARTS
    assert total(found) <= POINTS_OF_CHART
    for part in found.parts:
        bands = getattr(part, "bands", ())
        every = (*part.curves, *bands, *part.dots)
        assert len(every) <= CURVES
        assert sum(one.x.size for one in every) <= POINTS_OF_PART
        assert max((one.x.size for one in every), default=0) <= POINTS
        assert len(getattr(part, "marks", ())) <= MARKS
        if isinstance(part, Map) and part.heights is not None:
            assert max(part.heights.shape) <= SIDE
            assert part.shade.shape == part.heights.shape
        assert all(len(one.hints) in (0, one.x.size) for one in part.dots)
    assert bounded(found) is found, "what fits is left alone"


def test_omitted_parts_are_noted():
    assert bounded(WORST["parts"]).parts[-1].note == "960 more are not drawn"
    assert bounded(WORST["small curves"]).parts[0].note == "4,700 more are not drawn"


@given(st.integers(0, 400), st.integers(8, 60), st.integers(1, 3), st.randoms())
def test_extremes_ends_and_gaps_stay(n, most, curves, random):
    rows = [np.array([random.choice((np.nan, random.uniform(-1, 1))) for _ in range(n)]) for _ in range(curves)]
    most = max(most, 2 + 3 * curves)
    kept = spread_extremes(rows, most)
    assert kept.size <= most
    assert not n or (kept[0], kept[-1]) == (0, n - 1)
    for y in rows:
        if np.isfinite(y).any():
            assert np.nanmin(y[kept]) == np.nanmin(y)
            assert np.nanmax(y[kept]) == np.nanmax(y)
        assert np.isnan(y[kept]).any() == np.isnan(y).any()


@given(st.integers(2, 5000), st.integers(10, 500), st.integers(0, 2**32 - 1))
def test_no_point_of_a_thinned_path_is_far_from_what_is_drawn(n, most, seed):
    """As far as the way between two points that are kept, and half a hundredth of the picture where most allows it."""
    points = np.cumsum(np.random.default_rng(seed).normal(size=(n, 2)), axis=0)
    kept = along(points, most)
    assert kept.size <= max(most, 2)
    assert (kept[0], kept[-1]) == (0, n - 1)
    way = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(points, axis=0), axis=1))])
    longest = np.linalg.norm(np.diff(points, axis=0), axis=1).max()
    apart = max(np.ptp(points, axis=0).max() / 800, way[-1] / (most - 2))
    assert np.diff(way[kept]).max() <= 2 * (apart + longest)


def test_a_path_that_leaves_the_picture_is_seen_inside_of_it():
    inside = walk(1000)
    path = np.concatenate([inside, np.geomspace(1, 1e200, 500)[:, None] * np.ones(2)])
    kept = along(path, box=[[0, 1], [0, 1]])
    assert np.count_nonzero(kept < 1000) > 300, "how far it went says nothing about what can be seen apart"
