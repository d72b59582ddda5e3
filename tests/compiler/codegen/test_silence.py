"""A kernel that compiles says nothing: neither clang nor its optimizer writes to the process's standard error."""

from typing import Any

import numpy as np
import pytest

import burlab as bl

FORMS = {
    "sin": lambda x, w: np.sum(np.sin(x * w)),
    "exp": lambda x, w: np.sum(np.exp(x) * w),
    "tanh of a product": lambda x, w: np.sum(np.tanh(x @ np.outer(w, w)) ** 2),
    "softmax": lambda x, w: np.sum(bl.softmax(x, axis=-1) * w),
    "logsumexp": lambda x, w: bl.logsumexp(x * w),
    "a power": lambda x, w: np.sum(np.abs(x) ** 1.5 * w),
    "a largest one": lambda x, w: np.max(np.sin(x) * w),
}


def silent(name: str, size: int, dtype: Any, capfd: pytest.CaptureFixture[str]) -> None:
    weights = np.linspace(0.5, 1.5, size).astype(dtype)
    gradient = bl.vmap(bl.grad(lambda x: FORMS[name](x, weights)))
    rows = np.random.default_rng().integers(3, 300)  # a text that no shelf holds
    capfd.readouterr()
    gradient(np.full((int(rows), 1, size), 0.3, dtype))
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize(("name", "size"), [("sin", 2), ("exp", 3), ("logsumexp", 8)])
def test_a_kernel_compiles_without_a_word(name: str, size: int, capfd: pytest.CaptureFixture[str]) -> None:
    silent(name, size, np.float64, capfd)


@pytest.mark.full  # minutes: every size around the lanes
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("size", [1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 63, 64, 65])
@pytest.mark.parametrize("name", FORMS)
def test_every_kernel_compiles_without_a_word(
    name: str, size: int, dtype: Any, capfd: pytest.CaptureFixture[str]
) -> None:
    silent(name, size, dtype, capfd)
