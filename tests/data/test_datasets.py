"""Synthetic data have the properties that are stated; scikit-learn's are its own."""

import sys

import numpy as np
import pytest

import burlab as bl
from burlab.errors import ArgumentError, ConfigurationError

SETS = ["breast_cancer", "diabetes", "digits", "iris", "wine"]


def test_a_regression_of_chosen_conditioning():
    data = bl.data.synthetic_regression(60, 4, condition=1e4, noise=0.0, seed=5)
    a = data.features
    np.testing.assert_allclose(np.linalg.eigvalsh(a.T @ a / 60), np.geomspace(1, 1e4, 4), rtol=1e-9)
    np.testing.assert_allclose(a @ data.truth, data.targets)


def test_noise_has_the_standard_deviation_that_was_chosen():
    data = bl.data.synthetic_regression(20_000, 3, noise=0.7)
    assert np.std(data.targets - data.features @ data.truth) == pytest.approx(0.7, rel=0.02)


def test_classes_are_clouds_around_their_centres():
    data = bl.data.synthetic_classes(30_000, 4, classes=3, separation=5.0)
    assert np.bincount(data.targets).tolist() == [10_000] * 3
    gaps = [np.linalg.norm(data.truth[i] - data.truth[k]) for i, k in ((0, 1), (0, 2), (1, 2))]
    assert np.sqrt(np.mean(np.square(gaps))) == pytest.approx(5.0)
    for k, centre in enumerate(data.truth):
        cloud = data.features[data.targets == k]
        np.testing.assert_allclose(cloud.mean(0), centre, atol=0.05)
        np.testing.assert_allclose(np.cov(cloud.T), np.eye(4), atol=0.05)


@pytest.mark.parametrize("make", [bl.data.synthetic_regression, bl.data.synthetic_classes])
def test_the_seed_decides(make):
    np.testing.assert_array_equal(make(20, 3, seed=4).features, make(20, 3, seed=4).features)
    assert np.abs(make(20, 3, seed=4).features - make(20, 3, seed=5).features).max() > 0.1
    assert len(make(20, 3).feature_names) == 3


@pytest.mark.parametrize("name", SETS)
def test_sets_of_scikit_learn(name: str):
    datasets = pytest.importorskip("sklearn.datasets", reason="scikit-learn is not installed: burlab[data]")
    raw, data = getattr(datasets, f"load_{name}")(), bl.data.sklearn_set(name, standardize=False)
    np.testing.assert_array_equal(data.features, raw.data)
    np.testing.assert_array_equal(data.targets, raw.target)
    assert len(data.feature_names) == data.features.shape[1]
    assert not data.class_names or len(data.class_names) == data.targets.max() + 1
    scaled = bl.data.sklearn_set(name)
    changing = np.ptp(raw.data, axis=0) > 0
    np.testing.assert_allclose(scaled.features.mean(0), 0, atol=1e-12)
    np.testing.assert_allclose(scaled.features.var(0), changing, rtol=1e-9)
    if not data.class_names:
        assert scaled.targets.var() == pytest.approx(1)


@pytest.mark.parametrize("name", SETS)
def test_sets_serve_as_problems(name: str):
    pytest.importorskip("sklearn", reason="scikit-learn is not installed: burlab[data]")
    data = bl.data.sklearn_set(name)
    make = bl.problems.softmax_regression if data.class_names else bl.problems.least_squares
    problem = make(data.features, data.targets, l2=1e-3)
    run = bl.minimize(problem, problem.start, bl.optim.GD(1 / problem.smoothness), steps=20)
    assert problem.value(run.x) < 0.9 * problem.value(problem.start)


def test_without_scikit_learn_the_remedy_is_named(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "sklearn.datasets", None)
    with pytest.raises(ConfigurationError, match=r"pip install 'burlab\[data\]'"):
        bl.data.sklearn_set("iris")


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: bl.data.sklearn_set("mnist"), "'breast_cancer'.*got 'mnist'"),
        (lambda: bl.data.synthetic_regression(3, 5), "samples >= 5"),
        (lambda: bl.data.synthetic_regression(condition=0), "condition is 0"),
        (lambda: bl.data.synthetic_classes(classes=1), "classes=1"),
    ],
)
def test_datasets_with_wrong_arguments_raise(call, words):
    with pytest.raises(ArgumentError, match=words):
        call()


@pytest.mark.parametrize("kind", ["circles", "clouds", "moons", "quadrants", "spirals"])
def test_points_of_the_plane_are_in_their_square_in_two_equal_classes(kind):
    data = bl.data.synthetic_plane(kind, 301, noise=0.0, seed=4)
    assert np.abs(data.features).max() <= 2.5
    assert np.bincount(data.targets).tolist() == [151, 150]
    other = bl.data.synthetic_plane(kind, 301, noise=0.0, seed=5)
    assert not np.array_equal(other.features, data.features)
    distances = np.linalg.norm(data.features[:, None] - data.features, axis=2) + 9.0 * np.eye(301)
    nearest = data.targets[distances.argmin(axis=1)]
    assert (nearest == data.targets).mean() > 0.9, "a class is where its own points are"


def test_a_set_of_the_plane_that_does_not_exist_is_refused():
    with pytest.raises(bl.BurlabError, match="expected one of 'circles'"):
        bl.data.synthetic_plane("rings")
