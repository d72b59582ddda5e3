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


SPARSE: dict[str, Callable[[Any], Any]] = {
    "argument": bl.grad(lambda x: np.sum(x * x)),
    "product": lambda s: bl.grad(lambda x: np.sum(s @ x))(np.ones(3)),
    "reversed": lambda s: bl.grad(lambda x: np.sum(x @ s))(np.ones(3)),
    "method": lambda s: bl.grad(lambda x: np.sum(s.dot(x)))(np.ones(3)),
    "dot": lambda s: bl.grad(lambda x: np.sum(np.dot(s, x)))(np.ones(3)),
    "data": lambda s: bl.FiniteSum(lambda x, a: a @ x, (s,)),
    "start": lambda s: bl.minimize(lambda x: np.sum(x**2), s, bl.optim.GD(0.1), steps=1),
}


@pytest.mark.parametrize("where", SPARSE)
@pytest.mark.parametrize("kind", ["csr_matrix", "csr_array"])
def test_sparse_data_raise_with_advice_on_toarray(where: str, kind: str):
    with pytest.raises(BurlabError, match=r"x\.toarray\(\)"):
        SPARSE[where](getattr(sparse, kind)(EYE))
