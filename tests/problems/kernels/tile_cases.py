"""Losses of one sample whose sums over tiles take every way there is: name -> (loss, x, data)."""

from typing import Any

import numpy as np

import burlab as bl

_rng = np.random.default_rng(7)
_N = 101


def _normal(*shape: int) -> Any:
    return _rng.normal(size=shape)


def scalars(x, a, b):
    """Numbers only: lanes over samples."""
    return np.tanh(x[0] * a + x[1]) ** 2 + np.exp(-(x[2] ** 2) * b**2) + 0.1 * x[1] ** 2


def regression(x, a, b):
    """A product with the sample."""
    return 0.5 * (a @ x - b) ** 2


def perceptron(p, a, b):
    """Weight gradients are outer products of rows; one layer is transposed, another one is used twice."""
    h = np.tanh(a @ p["w1"] + p["b1"])
    h = np.tanh(p["w2"] @ h)
    h = np.maximum(p["w2"] @ h, 0.0)
    return np.sum((h @ p["w3"].T - b) ** 2)


def characters(p, tokens, target):
    """An embedding: rows are gathered, and their gradients scattered."""
    h = np.tanh(np.reshape(p["table"][tokens], -1) @ p["w1"] + p["b1"])
    z = h @ p["w2"] + p["table"] @ p["v"]
    return np.log(np.sum(np.exp(z))) - z[target]


def positions(p, tokens, target):
    """Rows of several positions, a norm, and a table that is used at both ends."""
    x = p["table"][tokens] + p["place"]
    m = x - np.mean(x, axis=-1, keepdims=True)
    x = m / np.sqrt(np.mean(m**2, axis=-1, keepdims=True) + 1e-5) * p["gain"]
    z = x @ p["table"].T
    z = z - np.max(z, axis=-1, keepdims=True)
    return np.mean(np.log(np.sum(np.exp(z), axis=-1)) - np.take_along_axis(z, target[:, None], axis=-1)[:, 0])


def searched(x, a, b):
    """A loop that takes as many turns as the sample needs."""
    turns = bl.while_loop(lambda s: s[0] < b**2, lambda s: (s[0] + 0.5, s[1] * 0.9), (0.0, 1.0))
    return turns[1] * np.sum((a - x) ** 2)


def noisy(x, a, b, *, key):
    """A random mask of its own for every sample."""
    return np.sum(np.where(bl.random.uniform(key, (5,)) < 0.7, a * x, 0.0) ** 2) * b


def unmoved(p, a):
    """Parameters that are not used, and a penalty inside of the loss."""
    return np.sum((p["x"] - a) ** 2) + 0.1 * np.sum(p["w"] ** 2) + 0.0 * np.sum(p["unused"])


def mixture(p, a):
    """Most of it needs no sample: weights, and the triangles of precision matrices."""
    weights = p["weights"] - bl.logsumexp(p["weights"])
    low = np.tril(p["low"], -1) + np.where(np.eye(4, dtype=bool), np.exp(p["low"]), 0.0)
    z = np.einsum("kij,kj->ki", low, a - p["means"])
    return -bl.logsumexp(weights + np.einsum("kii->k", p["low"]) - 0.5 * np.sum(z**2, axis=-1))


def softmaxed(p, token, target):
    """A table that is a function of the parameters, of which a sample reads a row, and a product of weights."""
    table = np.exp(p["table"] - np.max(p["table"], axis=-1, keepdims=True))
    table = table / np.sum(table, axis=-1, keepdims=True)
    rows = np.concatenate([table[token], p["scale"] * table[3]])
    return np.sum((rows @ (p["w"] @ p["w"].T) - target) ** 2)


def masked(p, a, b):
    """What is chosen belongs to the sample; another mask does not. Both end in what parameters are functions of."""
    w = np.where(a[:, None] > 0, p["w"], 0.1 * np.where(p["w"] > 0, p["w"], p["v"]))
    return np.sum((w @ b) ** 2) + np.sum(np.max(np.exp(p["u"]) + a[:, None], axis=1) ** 2)


def one_feature(p, a, b):
    """A norm over a last axis of size 1, which is all gain and bias, and softmax over another."""
    h = a[:, None] * p["w"]
    m = h - np.mean(h, axis=-1, keepdims=True)
    h = h + m / np.sqrt(np.mean(m**2, axis=-1, keepdims=True) + 1e-5) * p["gain"] + p["bias"]
    z = np.exp(h - np.max(h, axis=-1, keepdims=True))
    return np.sum((h / np.mean(h**2 + 1.0, axis=-1, keepdims=True) + z / np.sum(z, axis=-1, keepdims=True) - b) ** 2)


def branches(p, a, b):
    """Layers behind choices that samples share: weights of both branches, of one, used twice, and a nested choice."""
    x = bl.cond(
        p["on"] > 0,
        lambda: np.tanh(p["u"] @ np.tanh(p["u"] @ a)) + np.sum(p["v"] ** 2),
        lambda: bl.cond(p["on"] < -1, lambda: p["v"] @ a, lambda: np.sin(p["v"] @ a) * p["gain"]),
    )
    w = bl.cond(p["on"] > 0.5, lambda: p["w"], lambda: p["w"] * 2.0 + p["u"])
    return np.sum((w @ x - b) ** 2) + bl.cond(p["on"] > 0, lambda: np.sum(x * a), lambda: np.sum(p["gain"] ** 2))


def switched(p, a, b):
    """One of several layers whose weights are stacked; one that reads no sample; a choice of its own for a sample."""
    layers = [
        lambda: np.tanh(p["w"][0] @ a), lambda: p["gain"] * 1.0, lambda: np.maximum(p["w"][1] @ a + p["gain"], 0.0),
        lambda: p["w"][2] @ (p["w"][2] @ a),
    ]  # fmt: skip
    x = bl.switch(p["k"].astype(np.int64), layers)
    x = bl.cond(a[0] > 0, lambda: x, lambda: np.tanh(x) * p["gain"])
    return np.sum((bl.switch(p["k"].astype(np.int64) - 1, [lambda: x, lambda: p["w"][1] @ x]) - b) ** 2)


def sparse(p, a, b):
    """Layers whose weights are entries of sparse matrices, of a vector and of a matrix."""
    h = np.zeros(9, a.dtype)
    np.add.at(h, _ROWS, p["v"] * a[_COLUMNS])
    h = np.tanh(h) * p["gain"]
    back = np.zeros((7, 3), a.dtype)
    np.add.at(back, _COLUMNS, p["w"][:, None] * np.outer(h, b)[_ROWS])
    return np.sum((back - b) ** 2)


def repeated(p, a, b):
    """A choice of layers in every iteration, by its number."""

    def layer(x, k):
        return bl.cond(k % 2 == 0, lambda: np.tanh(p["u"] @ x), lambda: x + p["v"] @ x * p["gain"]), None

    return np.sum((bl.scan(layer, a, np.arange(5))[0] - b) ** 2)


_ROWS, _COLUMNS = _rng.integers(0, 9, 30), _rng.integers(0, 7, 30)
_TOKENS = _rng.integers(0, 11, (_N, 6))
CASES: dict[str, tuple[Any, Any, Any]] = {
    "scalars": (scalars, _normal(3), (_normal(_N), _normal(_N))),
    "regression": (regression, _normal(70), (_normal(_N, 70), _normal(_N))),
    "perceptron": (
        perceptron,
        {"w1": _normal(7, 13), "b1": _normal(13), "w2": _normal(13, 13), "w3": _normal(3, 13)},
        (_normal(_N, 7), _normal(_N, 3)),
    ),
    "characters": (
        characters,
        {"table": _normal(11, 5), "w1": _normal(30, 9), "b1": _normal(9), "w2": _normal(9, 11), "v": _normal(5)},
        (_TOKENS, _rng.integers(0, 11, _N)),
    ),
    "positions": (
        positions,
        {"table": _normal(11, 8), "place": _normal(6, 8), "gain": _normal(8)},
        (_TOKENS, _rng.integers(0, 11, (_N, 6))),
    ),
    "mixture": (
        mixture,
        {"weights": _normal(5), "means": _normal(5, 4), "low": 0.3 * _normal(5, 4, 4)},
        _normal(_N, 4),
    ),
    "softmaxed": (
        softmaxed,
        {"table": _normal(30, 9), "scale": np.array(0.7), "w": _normal(18, 18)},
        (_rng.integers(0, 30, _N), _normal(_N, 18)),
    ),
    "masked": (
        masked,
        {"w": _normal(5, 7), "v": _normal(5, 7), "u": _normal(5, 400)},
        (_normal(_N, 5), _normal(_N, 7)),
    ),
    "one feature": (
        one_feature,
        {"w": np.array([[0.7]]), "gain": np.array([1.3]), "bias": np.array([0.2])},
        (_rng.normal(size=(_N, 4)), _rng.normal(size=_N)),
    ),
    **{
        f"branches {on}": (
            branches,
            {"on": np.array(on), "u": _normal(6, 6), "v": _normal(6, 6), "w": _normal(6, 6), "gain": _normal(6)},
            (_normal(_N, 6), _normal(_N, 6)),
        )
        for on in (0.7, -0.3, -2.0)
    },
    **{
        f"switched {k}": (
            switched,
            {"k": np.array(float(k)), "w": _normal(3, 5, 5), "gain": _normal(5)},
            (_normal(_N, 5), _normal(_N, 5)),
        )
        for k in range(4)
    },
    "sparse": (
        sparse,
        {"v": _normal(30), "w": _normal(30), "gain": _normal(9)},
        (_normal(_N, 7), _normal(_N, 3)),
    ),
    "repeated": (
        repeated,
        {"u": 0.3 * _normal(5, 5), "v": 0.3 * _normal(5, 5), "gain": _normal(5)},
        (_normal(_N, 5), _normal(_N, 5)),
    ),
    "searched": (searched, _normal(5), (_normal(_N, 5), _normal(_N))),
    "noisy": (noisy, _normal(5), (_normal(_N, 5), _normal(_N))),
    "unmoved": (unmoved, {"x": _normal(20), "w": _normal(4, 5), "unused": _normal(6)}, _normal(_N, 20)),
}
