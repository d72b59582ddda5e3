"""Every compressor: its constants by Monte Carlo, its bits by counting, traced as it is by hand."""

import inspect
import math

import numpy as np
import pytest

import burlab as bl
from burlab.communication.compressors import (
    QSGD,
    ApproximateTopK,
    Bernoulli,
    Compressor,
    Dithering,
    Identity,
    Natural,
    RandK,
    RandSeqK,
    RankK,
    Scaled,
    TopK,
    TopLEK,
)
from burlab.errors import ArgumentError, DTypeError, ShapeError

D, DRAWS = 24, 4000
CASES = [
    Identity(),
    RandK(5),
    RandSeqK(5),
    TopK(5),
    ApproximateTopK(3, buckets=7),
    TopLEK(5),
    Natural(),
    QSGD(1),
    QSGD(9),
    Dithering(1),
    Dithering(4),
    Bernoulli(0.3),
    RankK(2, (4, 6)),
    Scaled(RandK(5)),
    Scaled(QSGD(2)),
]
RANDOM = [c for c in CASES if not isinstance(c, (Identity, TopK, ApproximateTopK, RankK))]
_rng = np.random.default_rng(0)
VECTORS = {
    "normal": _rng.normal(size=D),
    "spread": _rng.normal(size=D) * np.exp(3 * _rng.normal(size=D)),
    "equal": np.ones(D),
    "sparse": np.where(np.arange(D) % 7 == 3, _rng.normal(size=D), 0.0),
    "halfway": np.full(D, 1.5),
}


def drawn(c, x, n=DRAWS):
    """C(x) for n keys, shape (n, d)."""
    keys = bl.random.split(bl.random.key(1), n)
    return np.asarray(bl.vmap(lambda key: c(x, key))(keys))


def test_every_compressor_has_its_row():
    public = {getattr(bl.compressors, name) for name in bl.compressors.__all__}
    assert {kind for kind in public if not inspect.isabstract(kind)} == {type(c) for c in CASES}


@pytest.mark.parametrize("name", VECTORS)
@pytest.mark.parametrize("c", CASES, ids=str)
def test_the_error_is_within_what_it_states(c, name):
    """On average over draws, and up to five deviations of that average; what is unbiased has x as its mean."""
    x = VECTORS[name]
    sent = drawn(c, x) if c in RANDOM else c(x)[None]
    errors = np.sum((sent - x) ** 2, axis=1) / (x @ x)
    slack = 5 * errors.std() / math.sqrt(len(errors)) + 1e-12
    omega = c.omega(D)
    if omega is None:
        assert errors.mean() <= 1 - c.alpha(D) + slack
    else:
        assert errors.mean() <= omega + slack
        assert c.alpha(D) == 1 / (1 + omega)
        rare = np.sqrt(np.abs(x) * np.linalg.norm(x))  # the deviation of an entry that is seldom rounded up
        deviation = np.maximum(sent.std(axis=0), rare if isinstance(c, (QSGD, Dithering)) else 0) / math.sqrt(len(sent))
        assert np.all(np.abs(sent.mean(axis=0) - x) <= 5 * deviation + 1e-12 * np.abs(x))


@pytest.mark.parametrize(
    ("c", "name", "error"),
    [
        (RandK(5), "normal", D / 5 - 1),
        (RandSeqK(5), "spread", D / 5 - 1),
        (Bernoulli(0.3), "spread", 1 / 0.3 - 1),
        (Natural(), "halfway", 1 / 9),
        (TopK(5), "equal", 1 - 5 / D),
        (TopLEK(5), "normal", 1 - 5 / D),
        (TopLEK(5), "spread", 1 - 5 / D),
        (TopLEK(5), "sparse", 1 - 5 / D),
        (Scaled(RandK(5)), "normal", 1 - 5 / D),
    ],
    ids=str,
)
def test_error_equals_the_known_formula(c, name, error):
    x = VECTORS[name]
    sent = drawn(c, x) if c in RANDOM else c(x)[None]
    errors = np.sum((sent - x) ** 2, axis=1) / (x @ x)
    assert abs(errors.mean() - error) <= 5 * errors.std() / math.sqrt(len(errors)) + 1e-12


@pytest.mark.parametrize(
    ("c", "d", "omega", "alpha"),
    [
        (Identity(), D, 0, 1),
        (RandK(5), D, D / 5 - 1, 5 / D),
        (RandSeqK(1), 1, 0, 1),
        (TopK(5), D, None, 5 / D),
        (TopK(1), 1, None, 1),
        (ApproximateTopK(3, buckets=7), D, None, 3 / 28),  # 7 buckets of 4 places, of which 4 stay empty
        (ApproximateTopK(2, buckets=9), 4, None, 2 / 4),
        (TopLEK(5), D, None, 5 / D),
        (Natural(), D, 1 / 8, 8 / 9),
        (QSGD(1), D, math.sqrt(D), 1 / (1 + math.sqrt(D))),
        (QSGD(9), D, D / 81, 1 / (1 + D / 81)),
        (Dithering(1), D, math.sqrt(D), 1 / (1 + math.sqrt(D))),
        (Dithering(4), D, D / 64, 1 / (1 + D / 64)),
        (Bernoulli(0.3), D, 7 / 3, 0.3),
        (RankK(2, (4, 6)), D, None, 2 / 4),
        (RankK(2, (6, 4)), D, None, 2 / 4),
        (Scaled(RandK(5)), D, None, 5 / D),
    ],
    ids=str,
)
def test_constants_are_those_of_the_papers(c, d, omega, alpha):
    assert c.omega(d) == (omega if omega is None else pytest.approx(omega, rel=1e-14))
    assert c.alpha(d) == pytest.approx(alpha, rel=1e-14)


def test_natural_compression_at_its_worst():
    """omega = 1 / 8 is reached at 4 / 3 of a power of two."""
    x = np.full(D, 4 / 3)
    errors = np.sum((drawn(Natural(), x) - x) ** 2, axis=1) / (x @ x)
    assert abs(errors.mean() - 0.125) < 5 * errors.std() / math.sqrt(DRAWS)
    powers = np.log2(np.abs(drawn(Natural(), VECTORS["spread"], 50)))
    np.testing.assert_array_equal(powers, np.rint(powers))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("c", CASES, ids=str)
def test_traced_it_is_the_same(c, dtype):
    x, key = VECTORS["normal"].astype(dtype), bl.random.key(3)
    traced = bl.jit(c)(x, key)
    assert traced.dtype == dtype
    np.testing.assert_allclose(traced, c(x, key), rtol=0, atol=2e-6 if dtype == np.float32 else 1e-13)


@pytest.mark.parametrize("c", CASES, ids=str)
def test_zero_is_sent_as_zero(c):
    np.testing.assert_array_equal(c(np.zeros(D), bl.random.key(0)), np.zeros(D))


@pytest.mark.parametrize("c", [RandK(5), RandSeqK(5), TopK(5), ApproximateTopK(3, buckets=7), TopLEK(5)], ids=str)
def test_no_more_entries_are_sent_than_stated(c):
    sent = np.count_nonzero(drawn(c, VECTORS["equal"], 200), axis=1)
    assert sent.min() == sent.max() == c.k
    if isinstance(c, TopLEK):
        assert np.count_nonzero(drawn(c, VECTORS["normal"], 200), axis=1).max() < c.k


def test_sequences_are_neighbours_around_the_end():
    sent = drawn(RandSeqK(5), np.ones(D), 300) != 0
    for row in sent:
        assert np.sum(row & ~np.roll(row, 1)) == 1
    assert np.any(sent[:, 0] & sent[:, -1])


@pytest.mark.parametrize(
    ("c", "bits"),
    [
        (Identity(), D * 32),
        (RandK(5), 5 * 32),
        (RandSeqK(5), 5 * 32),
        (TopK(5), 5 * (32 + 5)),
        (TopLEK(5), 5 * (32 + 5)),
        (ApproximateTopK(3, buckets=7), 3 * (32 + 5)),
        (Natural(), 9 * D),
        (QSGD(1), 32 + 2 * D),
        (QSGD(9), 32 + 5 * D),
        (Dithering(4), 32 + 4 * D),
        (Bernoulli(0.25), 1 + 8 * D),
        (RankK(2, (4, 6)), 2 * 10 * 32),
        (Scaled(RandK(5)), 5 * 32),
    ],
    ids=str,
)
def test_bits_of_messages(c, bits):
    assert c.bits(D, width=32) == bits


@pytest.mark.parametrize("buckets", [64, 128, 256])
def test_the_recall_of_approximate_top_k(buckets):
    """Of the true 64 largest the share (b / k)(1 - (1 - 1 / b)^k) reaches the second pass, which loses none of them."""
    k, found = 64, []
    for _ in range(60):
        x = _rng.normal(size=4096)
        largest = np.argsort(-np.abs(x))[:k]
        found.append(np.mean(ApproximateTopK(k, buckets=buckets)(x)[largest] != 0))
    expected = buckets / k * (1 - (1 - 1 / buckets) ** k)
    assert abs(np.mean(found) - expected) < 5 * np.std(found) / math.sqrt(len(found)) + 0.01


@pytest.mark.parametrize("shape", [(4, 6), (6, 4), (1, 24), (24, 1)])
def test_rank_k_is_the_truncated_svd(shape):
    a, k = VECTORS["normal"].reshape(shape), min(2, *shape)
    u, s, vt = np.linalg.svd(a, full_matrices=False)
    np.testing.assert_allclose(RankK(k, shape)(a.ravel()).reshape(shape), (u[:, :k] * s[:k]) @ vt[:k], atol=1e-12)


class Nothing(Compressor):
    def __call__(self, x, key=None):
        return 0 * x

    def bits(self, d, width=64):
        return 0.0


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: RandK(0), ArgumentError, "k of RandK=0"),
        (lambda: RandK(25)(np.ones(D), bl.random.key(0)), ArgumentError, "at most 24"),
        (lambda: TopK(25).alpha(D), ArgumentError, "k of TopK is 25"),
        (lambda: RandK(2)(np.ones(D)), ArgumentError, "got no key"),
        (lambda: ApproximateTopK(5, buckets=4), ArgumentError, "buckets of ApproximateTopK=4"),
        (lambda: QSGD(0), ArgumentError, "levels of QSGD=0"),
        (lambda: Bernoulli(0.0), ArgumentError, "p of Bernoulli"),
        (lambda: RankK(5, (4, 6)), ArgumentError, "from 1 to 4"),
        (lambda: RankK(2, (4, 6))(np.ones(23)), ShapeError, "24 entries, got 23"),
        (lambda: RankK(1, 24), ShapeError, "shape of RankK is 24"),
        (lambda: Natural().bits(D, 12), ArgumentError, r"width of Natural\.bits is 12"),
        (lambda: Scaled(TopK(2)).alpha(D), ArgumentError, "TopK is biased"),
        (lambda: Scaled(3), ArgumentError, "inner of Scaled is 3"),
        (
            lambda: TopK(1)(np.ones((2, 2))),
            ShapeError,
            r"TopK expected a vector of shape \(d,\), got an array of shape \(2, 2\)",
        ),
        (lambda: QSGD(2)([1.0, 2.0], bl.random.key(0)), ShapeError, "QSGD expected a vector of shape .* got a list"),
        (
            lambda: Natural()(np.arange(3), bl.random.key(0)),
            DTypeError,
            "Natural expected a vector of floats, got int64",
        ),
        (lambda: Nothing().alpha(D), ArgumentError, "neither omega nor alpha"),
    ],
)
def test_compressors_with_wrong_arguments_raise(make, error, message):
    with pytest.raises(error, match=message):
        make()
