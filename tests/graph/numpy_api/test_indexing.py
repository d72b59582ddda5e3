"""Indices that NumPy takes and JAX refuses: the values are NumPy's."""

from typing import Any

import numpy as np
import pytest

from tests.graph.buffers.programs import traced

A = np.arange(24.0).reshape(2, 3, 4)


@pytest.mark.parametrize(
    "key",
    [((0, 1), (2, 1)), (slice(None), (0, 2)), (0, (1,), 2), ((0, 1),), (..., (True, False, True, False))],
    ids=str,
)
def test_a_tuple_inside_of_an_index_is_a_list_of_places(key: Any) -> None:
    np.testing.assert_array_equal(traced(lambda x: x[key], A), A[key])
