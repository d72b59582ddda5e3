"""Functions whose kernels have to give the same numbers on 64-bit ARM."""

from typing import Any

import numpy as np

import burlab as bl

RNG = np.random.default_rng(0)


def gpt(model: Any, x: Any, y: Any) -> Any:
    """The loss of a few windows of characters."""
    return np.mean(bl.vmap(lambda x, y: bl.nn.cross_entropy(model(x), y))(x, y))


def mlp(model: Any, x: Any, y: Any) -> Any:
    return bl.nn.cross_entropy(model(x), y)


def rows(x: Any) -> Any:
    """Along rows, down columns, and over everything."""
    lasting = np.sum(x, axis=-1), np.max(x, axis=-1), bl.softmax(x), np.linalg.norm(x)
    return *lasting, np.sum(x, axis=0), np.min(x, axis=0), np.sum(x), np.argmax(x), np.cumsum(x, 0)


def products(a: Any, b: Any, v: Any) -> Any:
    """In register blocks, in lanes, in phases; of few rows."""
    matrices = a @ b, a.T @ a, np.einsum("ij,kj->ik", a, a), a[:1] @ b, a[:2] @ b, np.outer(v, v)
    return *matrices, b @ v, v @ b.T, v @ v


def lstm(cell: Any, xs: Any) -> Any:
    return np.sum(bl.scan(cell, cell.start(), xs)[1] ** 2)


def loop(x: Any) -> Any:
    """Until a sum is large; then a choice."""
    y = bl.while_loop(lambda y: np.sum(y) < 100.0, lambda y: y * 1.5 + x, x)
    return bl.cond(np.sum(y) > 1.0, np.cumsum, np.negative, y)


def convolution(layer: Any, image: Any) -> Any:
    return np.sum(bl.nn.max_pool(bl.relu(layer(image)), 2) ** 2)


def _floats(dtype: Any) -> dict[str, Any]:
    def normal(*shape: int) -> Any:
        return RNG.normal(size=shape).astype(dtype)

    model = bl.nn.MLP([12, 64, 5], key=bl.random.key(0), dtype=dtype)
    return {
        "short rows": (rows, normal(19, 37)),
        "long rows": (rows, normal(5, 700)),
        "products": (products, normal(33, 70), normal(70, 45), normal(45)),
        "mlp": (mlp, model, normal(7, 12), RNG.integers(0, 5, 7)),
    }


CASES: dict[str, Any] = {
    "gpt": (
        gpt,
        bl.nn.GPT(30, block=8, key=bl.random.key(0)),
        RNG.integers(0, 30, (4, 8)),
        RNG.integers(0, 30, (4, 8)),
    ),
    "lstm": (lstm, bl.nn.LSTMCell(5, 9, key=bl.random.key(1)), RNG.normal(size=(6, 5)).astype(np.float32)),
    "convolution": (
        convolution,
        bl.nn.Conv2d(2, 6, 3, key=bl.random.key(2)),
        RNG.normal(size=(2, 8, 8)).astype(np.float32),
    ),
    "loop": (loop, np.array([0.5, 1.0, 2.0])),
    **{f"{name}, {dtype}": case for dtype in ("float32", "float64") for name, case in _floats(dtype).items()},
}
