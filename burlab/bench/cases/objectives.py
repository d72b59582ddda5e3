"""The objectives of GradBench, the successor of ADBench (Srajer et al. 2018), in the functions that all engines have.

Each has named arrays `p`, by which it is differentiated, and known arrays `data`.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from burlab.bench.problem import Array, ArrayObjective, Namespace

_Instance = tuple[Mapping[str, Array], Mapping[str, Array]]


def gmm(np_: Namespace, p: dict[str, Any], data: dict[str, Any]) -> Any:
    """The log-likelihood of a mixture of Gaussians with inverse factors of covariances, and a Wishart prior."""
    k, d = p["means"].shape
    padded = np_.concatenate([p["lower"], 0 * p["lower"][:, :1]], 1)
    lower = np_.reshape(padded[:, data["places"]], (k, d, d))
    z = data["x"][:, None, :] - p["means"]
    scaled = np_.exp(p["logs"]) * z + np_.einsum("kij,nkj->nki", lower, z)
    logs = np_.sum(p["logs"], -1)
    terms = np_.logsumexp(p["alphas"] + logs - 0.5 * np_.sum(scaled**2, -1))
    prior = 0.5 * (np_.sum(np_.exp(2 * p["logs"])) + np_.sum(p["lower"] ** 2)) - np_.sum(logs)
    return np_.sum(terms) - len(data["x"]) * np_.logsumexp(p["alphas"]) + prior


def _gmm(rng: "np.random.Generator") -> _Instance:
    k, d, n = 10, 8, 200
    places = np.full((d, d), d * (d - 1) // 2)
    places[np.tril_indices(d, -1)] = np.arange(d * (d - 1) // 2)
    p = {"alphas": rng.normal(size=k), "means": rng.normal(size=(k, d)), "logs": 0.3 * rng.normal(size=(k, d))}
    return p | {"lower": 0.3 * rng.normal(size=(k, d * (d - 1) // 2))}, {
        "x": rng.normal(size=(n, d)),
        "places": places.ravel(),
    }


def kmeans(np_: Namespace, p: dict[str, Any], data: dict[str, Any]) -> Any:
    """The squared distances of points to their nearest centres."""
    return np_.sum(np_.amin(np_.sum((data["x"][:, None, :] - p["centres"]) ** 2, -1), -1))


def _kmeans(rng: "np.random.Generator") -> _Instance:
    return {"centres": rng.normal(size=(10, 8))}, {"x": rng.normal(size=(1000, 8))}


def lse(np_: Namespace, p: dict[str, Any], data: dict[str, Any]) -> Any:
    """log sum exp of many numbers."""
    return np_.logsumexp(p["x"] + data["shift"])


def _lse(rng: "np.random.Generator") -> _Instance:
    return {"x": 3 * rng.normal(size=10_000)}, {"shift": np.zeros(1)}


def det(np_: Namespace, p: dict[str, Any], data: dict[str, Any]) -> Any:
    """A determinant."""
    return np_.linalg.det(p["a"] + data["shift"])


def _det(rng: "np.random.Generator") -> _Instance:
    return {"a": rng.normal(size=(12, 12))}, {"shift": np.eye(12)}


def ode(np_: Namespace, p: dict[str, Any], data: dict[str, Any]) -> Any:
    """The last of y_i' = x_i y_(i - 1) at time 1, from zeros, by Runge-Kutta steps (Griewank)."""
    x, h, y = p["x"], 1.0 / 20, data["y"]

    def f(y: Array) -> Any:
        return x * np_.concatenate([data["one"], y[:-1]])

    for _ in range(20):
        k1 = f(y)
        k2 = f(y + h / 2 * k1)
        k3 = f(y + h / 2 * k2)
        y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + f(y + h * k3))
    return y[-1]


def _ode(rng: "np.random.Generator") -> _Instance:
    return {"x": rng.uniform(0.5, 2.0, 10)}, {"y": np.zeros(10), "one": np.ones(1)}


def lstm(np_: Namespace, p: dict[str, Any], data: dict[str, Any]) -> Any:
    """The mean log-likelihood of a sequence under two layers of an LSTM whose gates see one number each (ADBench)."""
    layers, width = data["state"].shape[0], data["x"].shape[1]
    hidden, cell = [data["state"][k] for k in range(layers)], [data["state"][k] for k in range(layers)]
    total = 0.0
    for t in range(len(data["x"]) - 1):
        x = data["x"][t] * p["scale"]
        for k in range(layers):
            w, b = p["weights"][k], p["biases"][k]
            forget, write = (0.5 * np_.tanh(0.5 * (v * w[j] + b[j])) + 0.5 for j, v in ((0, x), (1, hidden[k])))
            show = 0.5 * np_.tanh(0.5 * (x * w[2] + b[2])) + 0.5
            cell[k] = cell[k] * forget + write * np_.tanh(hidden[k] * w[3] + b[3])
            hidden[k] = show * np_.tanh(cell[k])
            x = hidden[k]
        y = x * p["out"] + p["bias"]
        total = total + np_.sum(data["x"][t + 1] * (y - np_.logsumexp(y)))
    return total / (len(data["x"]) - 1) / width


def _lstm(rng: "np.random.Generator") -> _Instance:
    width, layers, steps = 14, 2, 12
    gates = (layers, 4, width)
    p = {"weights": rng.normal(size=gates), "biases": rng.normal(size=gates)}
    p |= {name: rng.normal(size=width) for name in ("scale", "out", "bias")}
    return p, {"x": np.eye(width)[rng.integers(width, size=steps)], "state": np.zeros((layers, width))}


def _rotated(np_: Namespace, v: Array, r: Array) -> Any:
    """Vectors turned about axes by angles: Rodrigues' formula, of rows."""
    angle = np_.sqrt(np_.sum(r * r, -1))[..., None]
    axis = r / angle
    x, y = axis, v
    cross = np_.stack([x[..., 1] * y[..., 2] - x[..., 2] * y[..., 1], x[..., 2] * y[..., 0] - x[..., 0] * y[..., 2],
                         x[..., 0] * y[..., 1] - x[..., 1] * y[..., 0]], -1)  # fmt: skip
    along = np_.sum(axis * v, -1)[..., None]
    return v * np_.cos(angle) + cross * np_.sin(angle) + axis * along * (1 - np_.cos(angle))


def ba(np_: Namespace, p: dict[str, Any], data: dict[str, Any]) -> Any:
    """Bundle adjustment: half the squared errors of points seen by cameras with radial distortion, weighted."""
    c, x, w = p["cameras"][data["camera"]], p["points"][data["point"]], p["weights"]
    seen = _rotated(np_, x - c[:, 3:6], c[:, :3])
    flat = seen[:, :2] / seen[:, 2:]
    square = np_.sum(flat**2, -1)[:, None]
    image = flat * (1 + c[:, 9:10] * square + c[:, 10:11] * square**2) * c[:, 6:7] + c[:, 7:9]
    errors = w[:, None] * (image - data["image"])
    return 0.5 * (np_.sum(errors**2) + np_.sum((1 - w**2) ** 2))


def _ba(rng: "np.random.Generator") -> _Instance:
    m, n, count = 8, 60, 300
    cameras = 0.1 * rng.normal(size=(m, 11)) + np.array([0.3, 0.2, 0.1, 0, 0, -6, 1, 0, 0, 0, 0])
    p = {"cameras": cameras, "points": rng.normal(size=(n, 3)), "weights": rng.uniform(0.5, 1.5, count)}
    return p, {
        "camera": rng.integers(m, size=count),
        "point": rng.integers(n, size=count),
        "image": rng.normal(size=(count, 2)),
    }


def _matrices(np_: Namespace, r: Array) -> Any:
    """The matrices that turn about axes by angles: Rodrigues' formula."""
    angle = np_.sqrt(np_.sum(r * r, -1))
    x, y, z, c, s = (*(r[..., k] / angle for k in range(3)), np_.cos(angle), np_.sin(angle))
    rest = 1 - c
    entries = [c + rest * x * x, rest * x * y - s * z, rest * x * z + s * y,
               rest * x * y + s * z, c + rest * y * y, rest * y * z - s * x,
               rest * x * z - s * y, rest * y * z + s * x, c + rest * z * z]  # fmt: skip
    return np_.reshape(np_.stack(entries, -1), (*r.shape, 3))


def hand(np_: Namespace, p: dict[str, Any], data: dict[str, Any]) -> Any:
    """Half the squared distances of the skin of fingers, posed by chains of bones, to measured points (as ADBench)."""
    matrices, posed = _matrices(np_, p["angles"]), 0.0
    for finger in range(p["angles"].shape[0]):
        rotated = data["skin"]
        for bone in range(p["angles"].shape[1]):
            offset = data["offsets"][finger, bone]
            rotated = np_.einsum("nj,ij->ni", rotated - offset, matrices[finger, bone]) + offset
            posed = posed + data["weights"][finger, bone][:, None] * rotated
    return 0.5 * np_.sum((posed + p["shift"] - data["measured"]) ** 2)


def _hand(rng: "np.random.Generator") -> _Instance:
    fingers, bones, n = 5, 3, 200
    weights = rng.uniform(size=(fingers, bones, n))
    data = {
        "weights": weights / weights.sum((0, 1)),
        "skin": rng.normal(size=(n, 3)),
        "measured": rng.normal(size=(n, 3)),
    }
    return (
        {"angles": rng.uniform(0.1, 0.6, (fingers, bones, 3)), "shift": rng.normal(size=3)},
        data | {"offsets": rng.normal(size=(fingers, bones, 3))},
    )


def particle(np_: Namespace, p: dict[str, Any], data: dict[str, Any]) -> Any:
    """Return the squared distance of a charged particle after some time in a field of charges; forces are gradients."""

    def potential(x: Array) -> Any:
        return np_.sum(1 / np_.sqrt(np_.sum((x - p["charges"]) ** 2, -1)))

    x, v = data["x"], p["velocity"]
    for _ in range(10):
        v = v - 0.1 * np_.grad(potential)(x)
        x = x + 0.1 * v
    return np_.sum(x**2)


def _particle(rng: "np.random.Generator") -> _Instance:
    return {"charges": rng.normal(size=(2, 2)) * 3, "velocity": np.array([0.75, 0.0])}, {"x": np.array([0.0, 8.0])}


def saddle(np_: Namespace, p: dict[str, Any], data: dict[str, Any]) -> Any:
    """The largest value over y of (x - y)^2 terms and a penalty, by steps of gradient ascent, as a function of x."""

    def game(y: Array) -> Any:
        x = p["x"]
        return np_.sum(x**2) - np_.sum(y**2) + np_.sum(np_.sin(x * y))

    y = data["y"]
    for _ in range(10):
        y = y + 0.2 * np_.grad(game)(y)
    return game(y)


def _saddle(rng: "np.random.Generator") -> _Instance:
    return {"x": rng.normal(size=2)}, {"y": np.ones(2)}


KINDS = {
    "gmm": (gmm, _gmm), "ba": (ba, _ba), "hand": (hand, _hand), "lstm": (lstm, _lstm), "ode": (ode, _ode),
    "det": (det, _det), "lse": (lse, _lse), "particle": (particle, _particle), "saddle": (saddle, _saddle),
    "kmeans": (kmeans, _kmeans),
}  # fmt: skip


def objective(kind: str) -> ArrayObjective:
    """The problem of a kind, at two points."""
    function, make = KINDS[kind]
    p, data = make(np.random.default_rng(0))
    rng = np.random.default_rng(1)
    near: dict[str, Array] = {name: x + 0.01 * rng.normal(size=x.shape) for name, x in p.items()}
    return ArrayObjective(kind, function, (p, near), data)
