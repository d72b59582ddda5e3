"""Random numbers in kernels are NumPy's Philox, whatever the gear, the dtype and the batch of keys."""

import numpy as np
import pytest

from burlab.compiler import build
from burlab.graph import Graph, Node

KEYS = np.array([[1, 2], [3, 2**64 - 1], [0, 0]], np.uint64)


def words(key, counter, count):
    """Raw words from a counter on; NumPy adds 1 to the counter before its first block."""
    before = (counter - 1) % 2**256
    parts = [before >> shift & 2**64 - 1 for shift in (0, 64, 128, 192)]
    return np.random.Philox(counter=np.array(parts, np.uint64), key=key).random_raw(count)


def uniform(shape, dtype, keys):
    key = Node("input", (), "key", keys.shape, np.dtype(np.uint64))
    return Graph((key,), (Node("uniform", (key,), (shape, dtype), keys.shape[:-1] + shape, np.dtype(dtype)),))


@pytest.mark.parametrize("gear", ["compiled", "replay"])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("shape", [(), (1,), (7,), (3, 5), (0, 4)])
def test_uniform(gear, dtype, shape):
    size = int(np.prod(shape))
    for keys in (KEYS[0], KEYS, KEYS.reshape(1, 3, 2), KEYS[:0]):
        (got,) = build(uniform(shape, dtype, keys), gear=gear)(keys)
        raw = np.array([words(key, 0, size) for key in keys.reshape(-1, 2)], np.uint64).reshape(keys.shape[:-1] + shape)
        expected = (raw >> 11) * 2.0**-53 if dtype == "float64" else ((raw >> 40) * 2.0**-24).astype(np.float32)
        assert np.asarray(got).dtype == dtype
        np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize("gear", ["compiled", "replay"])
@pytest.mark.parametrize("data", [np.array(5), np.array([0, -1, 2**40])])
def test_fold_in(gear, data):
    inputs = (Node("input", (), "key", KEYS.shape, np.dtype(np.uint64)), Node("input", (), "n", data.shape, data.dtype))
    (got,) = build(Graph(inputs, (Node("fold_in", inputs, None, KEYS.shape, np.dtype(np.uint64)),)), gear=gear)(
        KEYS, data
    )
    for key, n, new in zip(KEYS, np.broadcast_to(data, 3), got, strict=True):
        np.testing.assert_array_equal(new, words(key, int(n) % 2**64 + (1 << 192), 2))
