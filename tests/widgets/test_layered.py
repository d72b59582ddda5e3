"""Layouts: no box over another, arrows lead on and through no box, places as near to wishes as their order allows."""

import sys
from itertools import combinations, pairwise

import numpy as np
import pytest

from burlab.widgets.layered import layered, spread
from burlab.widgets.plain_layers import from_edges


@pytest.fixture(params=["fast-sugiyama", "plain"], autouse=True)
def engine(request, monkeypatch):
    if request.param == "plain":
        monkeypatch.setitem(sys.modules, "fast_sugiyama", None)
    else:
        pytest.importorskip("fast_sugiyama", reason="fast-sugiyama is not installed: pip install 'burlab[layout]'")


def random_graph(seed, count=60):
    rng = np.random.default_rng(seed)
    sizes = {k: (float(rng.integers(30, 200)), float(rng.integers(20, 120))) for k in range(count)}
    arrows = sorted({(int(rng.integers(max(0, k - 9), k)), k) for k in range(1, count) for _ in range(2)})
    return sizes, arrows


def rectangle(layout, sizes, k):
    (x, y), (width, height) = layout.centres[k], sizes[k]
    return x - width / 2, y - height / 2, x + width / 2, y + height / 2


@pytest.mark.parametrize("seed", range(4))
def test_boxes_of_any_height_do_not_overlap_and_lie_inside(seed):
    sizes, arrows = random_graph(seed)
    layout = layered(sizes, arrows)
    rects = [rectangle(layout, sizes, k) for k in sizes]
    for a, b in combinations(rects, 2):
        assert a[2] <= b[0] or b[2] <= a[0] or a[3] <= b[1] or b[3] <= a[1]
    assert min(r[0] for r in rects) >= 0
    assert max(r[2] for r in rects) <= layout.width + 1e-9
    assert max(r[3] for r in rects) <= layout.height + 1e-9


@pytest.mark.parametrize("seed", range(4))
def test_every_arrow_leads_on_and_bends_around_the_boxes(seed):
    sizes, arrows = random_graph(seed)
    layout = layered(sizes, arrows)
    assert set(layout.bends) == set(arrows)
    for (a, b), bends in layout.bends.items():
        xs = [layout.centres[a][0], *(x for x, _ in bends), layout.centres[b][0]]
        assert all(x <= y for x, y in pairwise(xs))
        for x, y in bends:
            inside = [r for k in sizes if (r := rectangle(layout, sizes, k))[0] < x < r[2] and r[1] < y < r[3]]
            assert not inside


def test_a_cycle_and_lonely_boxes_have_their_places():
    sizes = dict.fromkeys(range(12), (20.0, 20.0))
    layout = layered(sizes, [(0, 1), (1, 2), (2, 0)])
    assert len(set(layout.centres.values())) == 12
    assert set(layout.bends) == {(0, 1), (1, 2), (2, 0)}


def test_spread_is_the_least_squares_under_the_order():
    """Against brute force over a grid."""
    rng = np.random.default_rng(0)
    for _ in range(5):
        wishes, gaps = rng.uniform(0, 4, 3), rng.uniform(0.5, 2, 2)
        found = np.array(spread(wishes.tolist(), gaps.tolist()))
        grid = np.linspace(-4, 8, 121)
        a, b, c = np.meshgrid(grid, grid, grid, indexing="ij")
        cost = (a - wishes[0]) ** 2 + (b - wishes[1]) ** 2 + (c - wishes[2]) ** 2
        best = cost[(b - a >= gaps[0]) & (c - b >= gaps[1])].min()
        assert np.all(np.diff(found) >= gaps - 1e-9)
        assert ((found - wishes) ** 2).sum() <= best + 1e-9


# The plain layers.


def crossings(places, routes):
    """Pairs of arrows between the same two layers that cross, one by one."""
    at = dict(places)
    count = 0
    for (a, b), (c, d) in combinations(routes, 2):
        if at[a][1] == at[c][1] and at[b][1] == at[d][1]:
            count += (at[a][0] - at[c][0]) * (at[b][0] - at[d][0]) < 0
    return count


@pytest.mark.parametrize("seed", range(5))
def test_plain_layers_run_on_one_by_one(seed):
    _, arrows = random_graph(seed)
    ((places, routes),) = from_edges(arrows)
    layer = {v: -y for v, (_, y) in places}
    assert all(layer[b] == layer[a] + 1 for a, b in routes)
    assert set(range(60)) <= set(layer)
    assert len(set(places)) == len(places) == len({place for _, place in places})
    longest = dict.fromkeys(range(60), 0)
    for a, b in arrows:  # whose ends ascend
        longest[b] = max(longest[b], longest[a] + 1)
    assert max(layer.values()) == max(longest.values()), "as few layers as the longest path needs"


def test_plain_layers_part_what_is_not_connected_and_turn_cycles():
    edges = [(0, 1), (1, 2), (2, 0), (3, 3), (3, 4), (4, 3), (5, 6), (0, 7)]
    parts = from_edges(edges)
    assert [sorted(v for v, _ in places if v < 8) for places, _ in parts] == [[0, 1, 2, 7], [3, 4], [5, 6]]
    for _, routes in parts:
        assert all(any(a == route[0] for route in routes) for a, _ in edges if a in {v for r in routes for v in r})
    assert (2, 8) in parts[0][1]
    assert (8, 0) in parts[0][1]


def test_plain_layers_uncross_what_can_be():
    straight = [(k, 5 + (3 * k) % 5) for k in range(5)]
    comb = [*straight, *((k, 10) for k in range(5, 10)), *((11, k) for k in range(5))]
    ((places, routes),) = from_edges(comb)
    assert crossings(places, routes) == 0


@pytest.mark.parametrize("seed", range(3))
def test_plain_layers_cross_little_more_than_those_of_fast_sugiyama(seed, monkeypatch):
    monkeypatch.undo()
    fast = pytest.importorskip("fast_sugiyama", reason="fast-sugiyama is not installed: pip install 'burlab[layout]'")
    _, arrows = random_graph(seed, 40)
    ((places, routes),) = from_edges(arrows)
    ((theirs, _, _, their_routes),) = list(fast.from_edges(arrows, vertex_spacing=1))
    assert crossings(places, routes) <= 1.5 * crossings(theirs, their_routes)


def test_plain_layers_of_thousands_of_boxes_take_a_moment():
    chain = [(k, k + 1) for k in range(5000)]  # no recursion
    ((places, routes),) = from_edges([*chain, (0, 5000)])
    assert len(places) == 5001 + 4999
    assert len(routes) == 10_000
