"""Calls that are shorter than what calls cost stand in the text itself, with the bits of the kernels."""

import numpy as np
import pytest

import burlab as bl

rng = np.random.default_rng(8)
SPECIAL = [0.0, -0.0, np.inf, -np.inf, np.nan, 5e-324, 1e308]


def both(function, *arrays, strict=False):
    """The bits of both gears, and the text of the compiled one."""
    kernels = [bl.compile(function, *arrays, strict=strict, gear=g) for g in ("compiled", "replay")]
    return [np.asarray(k(*arrays)) for k in kernels], kernels[0].source


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_sums_of_two(dtype, strict):
    with np.errstate(over="ignore"):
        pairs = np.array([[x, y] for x in SPECIAL for y in SPECIAL] + rng.normal(size=(15, 2)).tolist()).astype(dtype)
    for part in pairs.T.reshape(2, -1, 4).transpose(1, 0, 2):
        (compiled, replayed), source = both(lambda x: np.sum(np.asarray(x) * dtype(1), 0), part.copy(), strict=strict)
        assert compiled.tobytes() == replayed.tobytes()
        with np.errstate(all="ignore"):
            np.testing.assert_array_equal(compiled, part[0] + part[1])
        assert "burlab_sum_float" not in source


def test_more_than_two_are_the_library_s():
    assert "burlab_sum_float" in both(lambda x: np.sum(x, 0), rng.normal(size=(3, 2)))[1]
    assert "burlab_sum_float" not in both(lambda x: np.sum(x, 0), rng.normal(size=(2, 2)))[1]


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64, bool])
@pytest.mark.parametrize("sizes", [(1, 9), (3, 0), (31, 1), (400, 2)])
def test_pieces_of_a_concatenation(dtype, sizes):
    x, y = ((4 * rng.normal(size=n)).astype(dtype) for n in sizes)
    (compiled, replayed), source = both(lambda x, y: np.concatenate([x, y[::-1][::-1]]), x, y)
    assert compiled.tobytes() == replayed.tobytes() == np.concatenate([x, y]).tobytes()
    assert ("burlab_copy_" in source) == (max(sizes) * x.itemsize > 256)


def test_a_copy_with_steps_is_the_library_s():
    assert "burlab_copy_" in both(lambda x: np.concatenate([x[::2], x[:1]]), rng.normal(size=9))[1]
    assert "burlab_copy_" not in both(lambda x: np.concatenate([x[2:], x[:1]]), rng.normal(size=9))[1]
