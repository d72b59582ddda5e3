"""The second engine: NumPy computes one node at a time, from the values that its inputs really have."""

import math

import numpy as np
from scipy import special

from burlab.graph import Graph, Node

_PHI = 1 / math.sqrt(2 * math.pi)


def _sigmoid(x):
    return np.where(x < 0, np.exp(np.minimum(x, 0)), 1) / (1 + np.exp(-np.abs(x)))


def _tie(better, x, y):
    return np.where(better, 1.0, np.where(x == y, 0.5, 0.0))


# Value of each scalar operation, in the precision of its arguments (long double is what the tests pass).
VALUES = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.divide,
    "neg": np.negative,
    "square": np.square,
    "cube": lambda x: x * x * x,
    "sqrt": np.sqrt,
    "power": np.power,
    "exp": np.exp,
    "expm1": np.expm1,
    "log": np.log,
    "log1p": np.log1p,
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "arctan": np.arctan,
    "arctan2": np.arctan2,
    "arctanh": np.arctanh,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "tanh": np.tanh,
    "erf": lambda x: special.erf(x.astype(float)),
    "erfc": lambda x: special.erfc(x.astype(float)),
    "relu": lambda x: np.where(x < 0, 0, x),
    "sigmoid": _sigmoid,
    "softplus": lambda x: np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x))),
    "gelu": lambda x: x * 0.5 * special.erfc(-x.astype(float) / math.sqrt(2)),
    "silu": lambda x: x * _sigmoid(x),
    "abs": np.abs,
    "sign": np.sign,
    "maximum": np.maximum,
    "minimum": np.minimum,
    "where": np.where,
    "less": np.less,
    "less_equal": np.less_equal,
    "greater": np.greater,
    "greater_equal": np.greater_equal,
    "equal": np.equal,
    "not_equal": np.not_equal,
    "isfinite": np.isfinite,
    "isnan": np.isnan,
    "logical_and": np.logical_and,
    "logical_or": np.logical_or,
    "logical_not": np.logical_not,
}

# First partials that survive as nodes (the others are numbers or arguments), of the arguments and the result.
PARTIALS = {
    "div'0": lambda x, y, z: 1 / y,
    "div'1": lambda x, y, z: -z / y,
    "square'0": lambda x, y: 2 * x,
    "cube'0": lambda x, y: 3 * x * x,
    "sqrt'0": lambda x, y: 0.5 / y,
    "power'0": lambda x, y, z: np.where(y == 0, 0, y * x ** (y - 1)),
    "power'1": lambda x, y, z: np.where(z == 0, 0, z * np.log(x)),
    "expm1'0": lambda x, y: y + 1,
    "log'0": lambda x, y: 1 / x,
    "log1p'0": lambda x, y: 1 / (1 + x),
    "sin'0": lambda x, y: np.cos(x),
    "cos'0": lambda x, y: -np.sin(x),
    "tan'0": lambda x, y: 1 + y * y,
    "arctan'0": lambda x, y: 1 / (1 + x * x),
    "arctanh'0": lambda x, y: 1 / (1 - x * x),
    "arctan2'0": lambda y, x, z: x / (x * x + y * y),
    "arctan2'1": lambda y, x, z: -y / (x * x + y * y),
    "sinh'0": lambda x, y: np.cosh(x),
    "cosh'0": lambda x, y: np.sinh(x),
    "tanh'0": lambda x, y: 1 - y * y,
    "erf'0": lambda x, y: 2 / math.sqrt(math.pi) * np.exp(-x * x),
    "erfc'0": lambda x, y: -2 / math.sqrt(math.pi) * np.exp(-x * x),
    "relu'0": lambda x, y: np.where(y > 0, 1.0, 0.0),
    "sigmoid'0": lambda x, y: y * (1 - y),
    "softplus'0": lambda x, y: _sigmoid(x),
    "gelu'0": lambda x, y: 0.5 * special.erfc(-x.astype(float) / math.sqrt(2)) + x * _PHI * np.exp(-0.5 * x * x),
    "silu'0": lambda x, y: _sigmoid(x) * (1 + x * (1 - _sigmoid(x))),
    "abs'0": lambda x, y: np.where(x > 0, 1.0, np.where(x < 0, -1.0, 0.0)),
    "maximum'0": lambda x, y, z: _tie(x > y, x, y),
    "maximum'1": lambda x, y, z: _tie(y > x, x, y),
    "minimum'0": lambda x, y, z: _tie(x < y, x, y),
    "minimum'1": lambda x, y, z: _tie(y < x, x, y),
    "where'1": lambda m, x, y, z: np.where(m, 1.0, 0.0),
    "where'2": lambda m, x, y, z: np.where(m, 0.0, 1.0),
}


def _slice(x, params):
    start, step, shape = params
    return x[np.ix_(*(a + s * np.arange(d) for a, s, d in zip(start, step, shape, strict=True)))]


def _pad(x, params):
    start, step, shape = params
    y = np.zeros(shape, x.dtype)
    if x.size:
        y[np.ix_(*(a + s * np.arange(d) for a, s, d in zip(start, step, x.shape, strict=True)))] = x
    return y


def _broadcast(x, params):
    shape, axes = params
    return np.broadcast_to(x.reshape([x.shape[axes.index(i)] if i in axes else 1 for i in range(len(shape))]), shape)


def _gather(x, index, batch):
    y = np.empty(index.shape + x.shape[batch + 1 :], x.dtype)
    for b in np.ndindex(*index.shape[:batch]):
        y[b] = x[b][index[b]]
    return y


def _put(x, rows, index, params):
    batch, adds = params
    y = x.copy()
    for b in np.ndindex(*index.shape[:batch]):
        if adds:
            np.add.at(y[b], index[b], rows[b])
        else:
            y[b][index[b]] = rows[b]
    return y


def _scatter(y, index, params):
    batch, size = params
    x = np.zeros((*y.shape[:batch], size, *y.shape[index.ndim :]), y.dtype)
    for b in np.ndindex(*index.shape[:batch]):
        np.add.at(x[b], index[b], y[b])
    return x


def _cumsum(x, params):
    axis, reverse = params
    return np.flip(np.cumsum(np.flip(x, axis), axis), axis) if reverse else np.cumsum(x, axis, dtype=x.dtype)


STRUCTURAL = {
    "sum": lambda n, x: np.sum(x, n.params, dtype=n.dtype),
    "broadcast": lambda n, x: _broadcast(x, n.params),
    "reshape": lambda n, x: x.reshape(n.shape),
    "transpose": lambda n, x: x.transpose(n.params),
    "slice": lambda n, x: _slice(x, n.params),
    "pad": lambda n, x: _pad(x, n.params),
    "concatenate": lambda n, *xs: np.concatenate(xs, n.params),
    "gather": lambda n, x, index: _gather(x, index, n.params),
    "scatter": lambda n, y, index: _scatter(y, index, n.params),
    "put": lambda n, x, rows, index: _put(x, rows, index, n.params),
    "cumsum": lambda n, x: _cumsum(x, n.params),
    "convert": lambda n, x: x.astype(n.dtype),
    "contract": lambda n, a, b: np.einsum(n.params, a, b),
    "reduce_max": lambda n, x: np.max(x, n.params),
    "reduce_min": lambda n, x: np.min(x, n.params),
    "argmax": lambda n, x: np.argmax(x, n.params),
    "argmin": lambda n, x: np.argmin(x, n.params),
    "stop_gradient": lambda n, x: x,
    "surrogate": lambda n, x, source: x,
    "after": lambda n, x, *before: x,
}
EXACT = {"broadcast", "reshape", "transpose", "slice", "pad", "concatenate", "gather", "argmax", "argmin", "convert",
         "reduce_max", "reduce_min", "stop_gradient", "surrogate", "after", "where", "neg", "abs", "sign"}  # fmt: skip
LOOSE = {"gelu": 64, "erf": 8, "erfc": 64}  # the reference is double here, and erfc multiplies a rounding of x by x^2
SUMS = {"sum", "scatter", "put", "cumsum", "contract"}


def compute(n: Node, inputs: list[np.ndarray]) -> np.ndarray:
    """The value of one node, in long double for scalar operations and sums of floats."""
    wide = [x.astype(np.longdouble) if x.dtype.kind == "f" and n.op not in EXACT else x for x in inputs]
    with np.errstate(all="ignore"):
        if n.op in STRUCTURAL:
            if n.op == "sum" and n.dtype.kind == "f":
                return np.sum(wide[0], n.params)
            return STRUCTURAL[n.op](n, *wide)
        rule = PARTIALS[n.op] if "'" in n.op else VALUES[n.op]
        return np.asarray(rule(*wide))


def scale(n: Node, inputs: list[np.ndarray]) -> np.ndarray:
    """The size of the terms that a sum adds up: its rounding error is counted in units of their last place."""
    sizes = [np.abs(x.astype(np.longdouble)) if x.dtype.kind == "f" else x for x in inputs]
    with np.errstate(all="ignore"):
        return STRUCTURAL[n.op](n, *sizes)


def allowance(n: Node) -> float:
    """Units in the last place by which a value may differ: 4, more where the reference or the order of sums says so."""
    if n.op in ("scatter", "put", "cumsum"):  # the order is that of the index, one after the other
        return 4 * max(1, n.inputs[0].size) ** 0.5
    return LOOSE.get(n.op.partition("'")[0], 4)


def check(graph: Graph, values: list[np.ndarray]) -> None:
    """Every node's value is what NumPy makes of its inputs' values, to a few units in the last place."""
    known = dict(zip(graph.nodes, values, strict=True))
    for n, value in known.items():
        assert value.shape == n.shape, n
        assert value.dtype == n.dtype, n
        if n.op in ("input", "constant"):
            continue
        inputs = [known[x] for x in n.inputs]
        expected = compute(n, inputs)
        if n.op in EXACT or n.dtype.kind != "f":
            np.testing.assert_array_equal(value, expected.astype(n.dtype), err_msg=str(n))
            continue
        eps = float(np.finfo(n.dtype).eps)
        size = scale(n, inputs) if n.op in SUMS else np.abs(expected)
        if "'" in n.op:
            size = np.maximum(size, 1)  # partials are short formulas with a cancellation of their own
        with np.errstate(all="ignore"):
            bound = allowance(n) * eps * np.where(np.isfinite(size), size, 0) + float(np.finfo(n.dtype).tiny)
            rounded = expected.astype(n.dtype)
            fine = (value == rounded) | (np.isnan(value) & np.isnan(rounded)) | (np.abs(value - expected) <= bound)
        if n.op in SUMS:
            fine |= ~np.isfinite(size)  # inf - inf depends on the order
        assert np.all(fine), f"{n}: {value[~fine]} is not {expected[~fine]}, from {[x.shape for x in inputs]}"
