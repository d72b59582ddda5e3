"""Arrays that lie in the memory of results until these are written."""

from typing import Any

import numpy as np
import pytest

from burlab.compiler.executable import build
from burlab.graph.tracing.trace import trace
from tests.engines import GEARS

SIZE = 1000
X = np.random.default_rng(0).normal(size=SIZE)


def twice(x: Any) -> Any:
    """Both sums are used up before the result is written, one after the other."""
    first = np.cumsum(x)[-1]
    second = np.cumsum(x * first)[-1]
    return x * second


def needed(x: Any) -> Any:
    """The result is written while the sums are read."""
    sums = np.cumsum(x)
    return np.sort(x * sums[-1]) * sums


@pytest.mark.parametrize("gear", GEARS)
@pytest.mark.parametrize("f", [twice, needed])
def test_the_same_bits(f: Any, gear: Any) -> None:
    graph = trace(f, (X,)).graph
    plain, lent = build(graph, gear=gear), build(graph, gear=gear, lends=True)
    for x in (X, -X):
        np.testing.assert_array_equal(lent(x)[0], plain(x)[0])
    assert lent.plan.workspace_bytes <= plain.plan.workspace_bytes


def test_it_takes_less_memory() -> None:
    graph = trace(twice, (X,)).graph
    assert build(graph, lends=True).plan.workspace_bytes + X.nbytes <= build(graph).plan.workspace_bytes
