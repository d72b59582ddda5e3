"""Samples and boundaries against NumPy."""

from importlib import import_module

import numpy as np
import pytest

import burlab as bl
from burlab.analysis import boundary, samples
from burlab.errors import ArgumentError, ShapeError

RNG = np.random.default_rng(11)
A, B = RNG.normal(size=(30, 4)), RNG.normal(size=30)
X = RNG.normal(size=4)


def problem() -> bl.FiniteSum:
    return bl.FiniteSum(lambda x, row, y: 0.5 * (row @ x - y) ** 2, (A, B), regularizer=lambda x: np.sum(x**2))


def gradients(rows: np.ndarray) -> np.ndarray:
    return (A[rows] @ X - B[rows])[:, None] * A[rows]


@pytest.mark.parametrize("indices", [None, [4, 4, 9, 1, 0, 22]])
@pytest.mark.parametrize("bytes_at_once", [2**26, 200])
def test_norms_cosines_and_noise(monkeypatch: pytest.MonkeyPatch, indices: list[int] | None, bytes_at_once: int):
    monkeypatch.setattr(import_module("burlab.analysis.samples"), "_BYTES", bytes_at_once)
    found = samples(problem(), X, indices=indices)
    g = gradients(np.arange(30) if indices is None else np.array(indices))
    mean = g.mean(axis=0)
    np.testing.assert_allclose(found.norms, np.linalg.norm(g, axis=1))
    np.testing.assert_allclose(found.cosines, g @ mean / np.linalg.norm(g, axis=1) / np.linalg.norm(mean))
    assert found.variance == pytest.approx(np.trace(np.cov(g.T)))
    unbiased = mean @ mean - found.variance / len(g)
    expected = found.variance / unbiased if unbiased > 0 else np.inf
    assert found.noise_scale == pytest.approx(expected)
    cosines = dict(zip(found.indices.tolist(), found.cosines, strict=True))
    assert set(found.against.tolist()) == {k for k, cosine in cosines.items() if cosine < 0}


def test_the_noise_scale_is_the_batch_whose_noise_equals_the_gradient():
    data = np.array([1.0, 3.0] * 5000) + 0.5 * RNG.normal(size=10_000)
    found = samples(bl.FiniteSum(lambda x, a: 0.5 * np.sum((x - a) ** 2), data), np.zeros(1))
    assert found.noise_scale == pytest.approx(data.var() / data.mean() ** 2, rel=1e-3)


@pytest.mark.parametrize(
    ("data", "said"), [([1.0, 3.0], "noise scale 0.6667"), ([-1.0, 1.0], "the mean is lost in the noise")]
)
def test_noise_scale_that_is_not_finite_is_described(data: list[float], said: str):
    found = samples(bl.FiniteSum(lambda x, a: 0.5 * np.sum((x - a) ** 2), np.array(data)), np.zeros(1))
    assert found.chart().parts[0].note.startswith(f"{said}; ")


def test_a_gradient_of_0_has_no_direction():
    found = samples(bl.FiniteSum(lambda x, a: 0.5 * np.sum((x - a) ** 2), np.array([0.0, 1.0, 2.0])), np.zeros(1))
    assert np.isnan(found.cosines[0])
    assert found.against.size == 0
    assert found.chart().parts[0].dots[0].hints[2] == "sample 2"


def test_samples_of_a_function_or_a_single_sample_raise():
    with pytest.raises(ArgumentError, match="no samples"):
        samples(np.sum, np.zeros(2))
    with pytest.raises(ArgumentError, match="no variance"):
        samples(problem(), X, indices=[3])


def test_decision_boundary_equals_the_classifier():
    data, labels = RNG.normal(size=(50, 2)), RNG.integers(0, 3, 50)
    w = RNG.normal(size=(3, 2))
    one = boundary(lambda p: w[0] @ p, data, labels, resolution=5)
    many = boundary(lambda p: w @ p, data, labels, resolution=5)
    for j in range(5):
        for i in range(5):
            p = np.array([one.a[i], one.b[j]])
            assert one.score[j, i] == pytest.approx(w[0] @ p)
            assert many.score[j, i] == np.argmax(w @ p)
    (part,) = many.chart().parts
    assert [len(dots.x) for dots in part.dots] == [int((labels == k).sum()) for k in range(3)]
    assert one.a[0] < data[:, 0].min() < data[:, 0].max() < one.a[-1]
    assert part.middle is None, "three classes have no two sides"


def test_two_classes_part_where_the_score_changes_sides():
    data, labels = RNG.normal(size=(50, 2)), RNG.integers(0, 2, 50)

    def middle(predict):
        (part,) = boundary(predict, data, labels, resolution=5).chart().parts
        return part.middle

    assert middle(lambda p: p[0] - p[1]) == 0.0
    assert middle(lambda p: bl.sigmoid(p[0] - p[1])) == 0.5
    assert middle(lambda p: np.stack([p[0], p[1]])) == 0.5


def test_data_that_have_no_plane_are_refused():
    with pytest.raises(ShapeError, match=r"\(n, 2\)"):
        boundary(lambda p: p[0], np.zeros((3, 3)), [0, 1, 2])
    with pytest.raises(ShapeError, match="one for each row"):
        boundary(lambda p: p[0], np.zeros((3, 2)), [0, 1])
    with pytest.raises(ArgumentError, match="nan or inf"):
        boundary(lambda p: p[0], np.full((3, 2), np.nan), [0, 1, 2])
