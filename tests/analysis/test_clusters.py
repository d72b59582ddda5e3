"""k-means against scikit-learn from the same start, and what it promises by itself."""

import warnings

import numpy as np
import pytest

import burlab as bl
from burlab.errors import ArgumentError, ShapeError

RNG = np.random.default_rng(0)
BLOBS = np.concatenate([RNG.normal(size=(60, 3)) + 4 * RNG.normal(size=3) + 1000.0 for _ in range(5)])


@pytest.mark.parametrize("count", [1, 2, 5, 17, 300])
@pytest.mark.parametrize("block", [1 << 19, 1 << 10])
def test_same_start_leads_to_the_clusters_of_scikit_learn(count, block, monkeypatch):
    cluster = pytest.importorskip("sklearn.cluster")
    monkeypatch.setitem(bl.analysis.kmeans.__globals__, "_BLOCK_BYTES", block)
    start = BLOBS[RNG.choice(len(BLOBS), count, replace=False)]
    found = bl.analysis.kmeans(BLOBS, count, start=start)
    other = cluster.KMeans(count, init=start, n_init=1, tol=0.0, algorithm="lloyd").fit(BLOBS)
    assert np.array_equal(found.labels, other.labels_)
    np.testing.assert_allclose(found.centers, other.cluster_centers_, rtol=1e-14)
    assert found.inertia == pytest.approx(other.inertia_, rel=1e-10, abs=1e-18)
    assert found.steps == other.n_iter_
    assert found.converged
    points = BLOBS + RNG.normal(size=BLOBS.shape)
    assert np.array_equal(found.nearest(points), other.predict(points))


@pytest.mark.parametrize("empty", [1, 3])
def test_cluster_without_points_gets_the_farthest_ones(empty):
    """As scikit-learn does it, in the same order."""
    cluster = pytest.importorskip("sklearn.cluster")
    start = np.concatenate([BLOBS[:3], np.full((empty, 3), 1e5) + 1e4 * np.arange(empty)[:, None]])
    found = bl.analysis.kmeans(BLOBS, 3 + empty, start=start)
    other = cluster.KMeans(3 + empty, init=start, n_init=1, tol=0.0, algorithm="lloyd").fit(BLOBS)
    assert np.bincount(found.labels, minlength=3 + empty).min() > 0
    assert found.inertia == pytest.approx(other.inertia_, rel=1e-10)
    assert sorted(np.bincount(found.labels)) == sorted(np.bincount(other.labels_))


def test_few_steps_are_those_of_scikit_learn():
    cluster = pytest.importorskip("sklearn.cluster")
    found = bl.analysis.kmeans(BLOBS, 8, start=BLOBS[:8], steps=2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that it has not converged
        other = cluster.KMeans(8, init=BLOBS[:8], n_init=1, tol=0.0, max_iter=2).fit(BLOBS)
    assert (found.steps, found.converged) == (2, False)
    assert np.array_equal(found.labels, other.labels_)
    np.testing.assert_allclose(found.centers, other.cluster_centers_, rtol=1e-14)


def test_starts_are_drawn_by_squared_distances():
    """The shares of all orders of three centers out of five points, each point by its distance from the nearest one."""
    spread = bl.analysis.kmeans.__globals__["_spread_centers"]
    places, draws = np.array([0.0, 1.0, 3.0, 7.0, 7.5]), 20_000
    points, generator = places[:, None], np.random.default_rng(1)
    counts = np.zeros((5, 5, 5))
    for _ in range(draws):
        counts[tuple(np.searchsorted(places, spread(points, 3, generator)[:, 0]))] += 1
    squares = (points - places) ** 2
    second = squares / squares.sum(axis=1, keepdims=True)
    nearest = np.minimum(squares[:, None], squares[None])  # of each point to the first two centers
    third = nearest / nearest.sum(axis=2, keepdims=True)
    expected = second[:, :, None] * third / 5
    assert expected.sum() == pytest.approx(1)
    deviation = np.sqrt(expected * (1 - expected) / draws)
    assert np.all(np.abs(counts / draws - expected) <= 5 * deviation)  # 0 where a center would be drawn again


def test_restarts_find_blobs_that_a_bad_start_misses():
    centers = np.array([[0.0, 0.0], [20.0, 0.0], [0.0, 20.0], [20.0, 20.0]])
    points = np.concatenate([center + RNG.normal(size=(30, 2)) for center in centers])
    bad = bl.analysis.kmeans(points, 4, start=points[:4])
    good = bl.analysis.kmeans(points, 4)
    assert bad.inertia > 5 * good.inertia
    assert np.bincount(good.labels).tolist() == [30] * 4
    assert np.all(np.diff(good.centers[:, 0]) > -5), "centers are in order"
    again = bl.analysis.kmeans(points, 4)
    assert np.array_equal(good.labels, again.labels)
    assert good.inertia == pytest.approx(np.sum((points - good.centers[good.labels]) ** 2))


def test_equal_points_are_no_trouble():
    found = bl.analysis.kmeans(np.ones((5, 2)), 3)
    assert found.inertia == 0
    assert np.array_equal(found.centers[found.labels], np.ones((5, 2)))


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"clusters": 0}, ArgumentError, "clusters=0 is not a whole number from 1 to 4"),
        ({"clusters": 5}, ArgumentError, "clusters=5"),
        ({"points": np.ones(4)}, ShapeError, r"shape \(4,\), expected \(n, d\)"),
        ({"points": np.empty((0, 2))}, ShapeError, r"expected \(n, d\)"),
        ({"points": np.array([[1.0], [np.nan]])}, ArgumentError, r"row 1 of points of kmeans is array\(\[nan\]\)"),
        ({"start": np.ones((2, 3))}, ShapeError, r"start of kmeans has shape \(2, 3\), expected \(n, 2\)"),
        ({"start": np.ones((3, 2))}, ShapeError, r"start has shape \(3, 2\), expected \(2, 2\)"),
        ({"restarts": 0}, ArgumentError, "restarts=0"),
        ({"steps": 0}, ArgumentError, "steps=0"),
    ],
)
def test_bad_arguments_of_kmeans_are_refused(given, error, message):
    with pytest.raises(error, match=message):
        bl.analysis.kmeans(**({"points": np.arange(8.0).reshape(4, 2), "clusters": 2} | given))


def test_dimension_of_new_points_is_checked():
    with pytest.raises(ShapeError, match=r"shape \(1, 3\), expected \(n, 2\)"):
        bl.analysis.kmeans(np.arange(8.0).reshape(4, 2), 2).nearest(np.ones((1, 3)))
