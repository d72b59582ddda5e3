"""Loops over few elements, or over short rows: in lanes, written out, or both, with the bits of replay."""

import re

import numpy as np
import pytest

import burlab as bl
from burlab.runtime.cpu import instruction_set
from tests.compiler.pipeline import replace_pass

rng = np.random.default_rng(9)


@pytest.fixture(autouse=True)
def whole_rows(monkeypatch):
    """What makes short rows columns (`planning/split_columns.py`) leaves none for these loops."""
    replace_pass(monkeypatch, "split_columns", lambda graph: graph)


def both(function, *arrays, **options):
    """A function's value and gradient in both gears, and the text of the compiled one."""
    kernels = [bl.compile(function, *arrays, gear=gear, **options) for gear in ("compiled", "replay")]
    return [k.value_and_grad(*arrays) for k in kernels], kernels[0].source


def same_bits(results):
    (value, gradient), (wanted, wanted_gradient) = results
    assert value.tobytes() == wanted.tobytes()
    assert gradient.tobytes() == wanted_gradient.tobytes()


def chain(x):
    for _ in range(3):
        x = np.tanh(x * 1.3) + np.exp(-x * x)
    return x


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("size", [8, 9, 10, 14, 15, 16, 17, 31, 63, 65])
def test_elements_that_fill_no_register(size, dtype):
    x = rng.normal(size=size).astype(dtype)
    same_bits(both(lambda x: np.sum(chain(x) * chain(x * x)), x)[0])
    source = bl.compile(chain, x).source
    lanes = instruction_set().register // x.itemsize
    masked = instruction_set().register == 64 and size % lanes != 0 and size < 8 * lanes
    assert ("vectorize_predicate" in source) == masked
    padded = np.full(3 * size, np.nan, dtype)  # what lies around is not touched
    bl.compile(chain, x)(x, out=padded[size : 2 * size])
    assert np.isnan(padded[:size]).all()
    assert np.isfinite(padded[size : 2 * size]).all()
    assert np.isnan(padded[2 * size :]).all()


@pytest.mark.skipif(instruction_set().register != 32, reason="registers of 4 doubles, without masks")
@pytest.mark.parametrize(("size", "ends"), [(14, [12, 14]), (15, [12, 15]), (13, [13]), (16, [16]), (34, [34])])
def test_what_is_left_over_has_lanes_of_its_own(size, ends):
    x = rng.normal(size=size)
    source = bl.compile(chain, x).source
    assert [int(end) for end in re.findall(r"i0 < (\d+); \+\+i0", source)] == ends
    assert source.count("vectorize(assume_safety)") == len(ends)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shape", [(40, 10), (33, 14), (5, 11), (64, 6), (17, 27)])
def test_rows_that_leave_elements_over(shape, dtype):
    """A softmax whose rows fill no registers: as one row, or in pieces, with the bits of replay."""

    def entropy(x):
        p = np.exp(x - np.max(x, -1, keepdims=True))
        p = p / np.sum(p, -1, keepdims=True)
        return np.sum(np.tanh(p) * np.log(p))

    same_bits(both(entropy, rng.normal(size=shape).astype(dtype))[0])


@pytest.mark.parametrize("size", [2, 3, 5, 7])
def test_few_angles_go_in_lanes(size):
    x = 5 * rng.normal(size=size)
    results, source = both(lambda x: np.sum(np.sin(x * np.cos(x))), x)
    same_bits(results)
    assert "vectorize(assume_safety)" in source


def turned(x, r):
    axis = r / np.sqrt(np.sum(r * r, -1))[..., None]
    y = [axis[..., 1] * x[..., 2], axis[..., 2] * x[..., 0], axis[..., 0] * x[..., 1]]
    return np.stack(y, -1) + axis * np.sum(axis * x, -1)[..., None]


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shape", [(2, 3), (7, 3), (8, 3), (64, 3), (130, 3), (5, 40, 3)])
def test_strict_and_fast_loops_agree_on_short_rows(shape, dtype, strict):
    x, r = (rng.normal(size=shape).astype(dtype) for _ in range(2))
    results, source = both(lambda x: np.sum(turned(x, r) ** 2), x, strict=strict)
    same_bits(results)
    assert ("_2 = " in source) == (shape[-2] >= 8)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("row", [2, 3, 4])
def test_sums_of_short_rows(row, dtype):
    x = rng.normal(size=(50, row)).astype(dtype)
    x[:4] = np.array([-0.0, np.inf, np.nan, 1e-40], dtype)[:, None]
    x[4, :2] = np.inf, -np.inf

    def norms(x):
        s = np.sum(x * x, -1)
        return x / (1 + s[:, None])

    kernels = [bl.compile(norms, x, gear=gear) for gear in ("compiled", "replay")]
    with np.errstate(all="ignore"):
        got, wanted = (np.asarray(k(x)) for k in kernels)
        assert got.tobytes() == wanted.tobytes()
        np.testing.assert_allclose(got, norms(x), rtol=4 * np.finfo(dtype).eps)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shape", [(2,), (3,), (4,), (2, 2), (1, 3)])
def test_sums_of_few(shape, dtype):
    x = rng.normal(size=shape).astype(dtype)
    same_bits(both(lambda x: np.sum(np.square(x)) * np.sum(1 / x), x)[0])
    x[...] = -0.0
    results, _ = both(lambda x: np.sum(x * dtype(2)), x)
    same_bits(results)
