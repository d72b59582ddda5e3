"""Non-arrays are refused with advice that leads to an array."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import sparse

import burlab as bl
from burlab.errors import BurlabError
from burlab.runtime.plain import as_array

EYE = np.eye(3)
REFUSED = {
    "csr_matrix": sparse.csr_matrix(EYE),
    "coo_array": sparse.coo_array(EYE),
    "dia_matrix": sparse.dia_matrix(EYE),
    "lil_array": sparse.lil_array(EYE),
    "range": range(3),
    "memoryview": memoryview(b"abc"),
    "bytes": b"abc",
    "bytearray": bytearray(b"abc"),
    "dict": {"a": 1.0, "b": 2.0},
    "set": {1.0, 2.0},
    "generator": (k for k in range(3)),
    "map": map(float, range(3)),
}


@pytest.mark.parametrize("name", REFUSED)
def test_the_advice_makes_an_array(name: str):
    value = REFUSED[name]
    with pytest.raises(BurlabError, match="expected numbers") as caught:
        as_array(value, "x")
    advice = str(caught.value).partition("Pass ")[2].removesuffix(".")
    made = eval(advice, {"np": np, "x": value})
    assert type(as_array(made, "x")) is np.ndarray


SPARSE: dict[str, tuple[Callable[[Any], Any], str]] = {
    "words": (bl.grad(lambda x: np.sum(np.exp(x))), "a.toarray()"),
    "start": (lambda s: bl.minimize(lambda x: np.sum(x**2), s, bl.optim.GD(0.1), steps=1), "x0.toarray()"),
    "point": (lambda s: bl.FiniteSum(lambda x, a: np.sum(x) * a, np.ones(3)).grad(s), "x.toarray()"),
}


@pytest.mark.parametrize("where", SPARSE)
@pytest.mark.parametrize("kind", ["csr_matrix", "csr_array", "coo_array"])
def test_sparse_arrays_where_they_mean_nothing_raise_with_advice_on_toarray(where: str, kind: str):
    call, advice = SPARSE[where]
    with pytest.raises(BurlabError, match=advice.replace("(", r"\(").replace(")", r"\)")):
        call(getattr(sparse, kind)(EYE))
