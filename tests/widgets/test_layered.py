"""Layouts: no box over another, arrows lead on and through no box, places as near to wishes as their order allows."""

from itertools import combinations, pairwise

import numpy as np
import pytest

from burlab.widgets.layered import layered, spread


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
