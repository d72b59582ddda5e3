"""The same methods as loops in NumPy, as their papers have them, with derivatives by hand and every cost counted."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import burlab as bl
from tests.optim.through_methods import START, A, B

Point = dict[str, np.ndarray]
LR, MU = 0.05, 0.5


class Twin:
    """The mean squared error over rows; counts what is evaluated, in samples."""

    def __init__(self) -> None:
        self.values = self.gradients = 0

    def value(self, p: Point, rows: Any) -> float:
        self.values += len(rows)
        return float(np.mean([np.sum((A[i] @ p["w"] + p["b"] - B[i]) ** 2) / 2 for i in rows]))

    def both(self, p: Point, rows: Any) -> tuple[float, Point]:
        value = self.value(p, rows)
        self.values -= len(rows)
        self.gradients += len(rows)
        r = A[rows] @ p["w"] + p["b"] - B[rows]
        return value, {"b": r.mean(axis=0), "w": A[rows].T @ r / len(rows)}


class Ended(NamedTuple):
    x: Point
    values: list[float]
    twin: Twin


def add(p: Point, q: Point, scale: float) -> Point:
    return {k: p[k] + scale * q[k] for k in p}


def mask_of(w: np.ndarray, count: int) -> np.ndarray:
    order = np.argsort(-np.abs(w).ravel(), kind="stable")[:count]
    mask = np.zeros(w.size, bool)
    mask[order] = True
    return mask.reshape(w.shape)


def top_kast(rows: Any) -> Ended:
    twin, p, values = Twin(), START, []
    forward = lambda p: {"b": p["b"], "w": np.where(mask_of(p["w"], 6), p["w"], 0)}  # noqa: E731
    for chosen in rows:
        value, g = twin.both(forward(p), chosen)
        inside, reach = mask_of(p["w"], 6), mask_of(p["w"], 12)
        w = p["w"].copy()
        for k in np.ndindex(w.shape):
            if reach[k]:
                w[k] -= LR * (g["w"][k] + (0.1 if inside[k] else 0.1 / 0.25) * w[k])
        p = {"b": p["b"] - LR * g["b"], "w": w}
        values.append(value)
    return Ended(forward(p), values, twin)


def momentum(rows: Any, place: Callable[..., Any], valued: str = "place", end: Callable[..., Any] = lambda p: p) -> Any:
    """Momentum with gradients at place(twin, p, rows, t, g at p or None)."""
    twin, p, v, values = Twin(), START, {k: np.zeros_like(x) for k, x in START.items()}, []
    for t, chosen in enumerate(rows):
        y, at_p = place(twin, p, chosen, t)
        value, g = twin.both(y, chosen)
        values.append({"place": lambda: value, "start": lambda: at_p, "x": lambda: twin.value(p, chosen)}[valued]())  # noqa: B023
        v = add(g, v, MU)
        p = add(p, v, -LR)
    return Ended(end(p), values, twin)


def sam(rows: Any) -> Ended:
    def ascent(twin: Twin, p: Point, chosen: Any, _t: int) -> tuple[Point, float]:
        value, g = twin.both(p, chosen)
        norm = np.linalg.norm(np.concatenate([g["b"], g["w"].ravel()]))
        return add(p, g, 0.1 / norm), value

    return momentum(rows, ascent, "start")


def four_bits(p: Point) -> Point:
    scale = np.abs(p["w"]).max() / 7
    return {"b": p["b"], "w": scale * np.rint(p["w"] / scale)}


def quantized(rows: Any) -> Ended:
    return momentum(rows, lambda _twin, p, *_: (four_bits(p), None), end=four_bits)


def quantized_at_x(rows: Any) -> Ended:
    return momentum(rows, lambda _twin, p, *_: (four_bits(p), None), "x")


def lookahead(rows: Any) -> Ended:
    twin, fast, slow, v, values = Twin(), START, START, {k: np.zeros_like(x) for k, x in START.items()}, []
    for t, chosen in enumerate(rows, 1):
        value, g = twin.both(fast, chosen)
        values.append(value)
        v = add(g, v, MU)
        fast = add(fast, v, -LR)
        if t % 5 == 0:
            slow = {k: slow[k] + 0.5 * (fast[k] - slow[k]) for k in slow}
            fast = slow
    return Ended(fast, values, twin)


def sliced(rows: Any, share: float = 1.0) -> Ended:
    twin, p, values = Twin(), START, []
    for t, chosen in enumerate(rows):
        key = bl.random.fold_in(bl.random.fold_in(bl.random.key(5), t), -1)
        width = int(bl.random.randint(key, (), 0, 4)) + 1
        cut = {"b": p["b"].copy(), "w": p["w"].copy()}
        cut["b"][width:] = 0
        cut["w"][:, width:] = 0
        values.append(twin.value({k: share * p[k] for k in p}, chosen))
        g = twin.both(cut, chosen)[1]
        p = {"b": p["b"].copy(), "w": p["w"].copy()}
        p["b"][:width] -= LR * g["b"][:width]
        p["w"][:, :width] -= LR * g["w"][:, :width]
    return Ended({k: share * p[k] for k in p}, values, twin)


def rank_two(p: Point) -> Point:
    values, vectors = np.linalg.eigh(p["w"].T @ p["w"])
    top = vectors[:, np.argsort(values)[-2:]]
    return {"b": p["b"], "w": p["w"] @ top @ top.T}


def low_rank(rows: Any) -> Ended:
    twin, p, values = Twin(), START, []
    for chosen in rows:
        value, g = twin.both(rank_two(p), chosen)
        values.append(value)
        p = add(p, g, -LR)
    return Ended(rank_two(p), values, twin)


def sparse(rows: Any) -> Ended:
    twin, values = Twin(), []
    mask = mask_of(START["w"], 12)
    p = {"b": START["b"], "w": np.where(mask, START["w"], 0)}
    for t, chosen in enumerate(rows):
        value, g = twin.both(p, chosen)
        values.append(value)
        kept = mask.copy()
        if t > 0 and t % 4 == 0:
            flat, slopes, old = p["w"].ravel().copy(), np.abs(g["w"]).ravel(), mask.ravel()
            active, idle = np.flatnonzero(old), np.flatnonzero(~old)
            out = active[np.argsort(np.abs(flat[active]))[:3]]
            new = idle[np.argsort(-slopes[idle])[:3]]
            flat[out] = 0
            now, still = old.copy(), old.copy()
            now[out], now[new], still[out] = False, True, False
            mask, kept = now.reshape(mask.shape), still.reshape(mask.shape)
            p = {"b": p["b"], "w": flat.reshape(mask.shape)}
        p = {"b": p["b"] - LR * g["b"], "w": p["w"] - LR * np.where(kept, g["w"], 0)}
    return Ended(p, values, twin)


def averaged(rows: Any) -> Ended:
    points: list[Point] = []

    def collect(_twin: Twin, p: Point, _chosen: Any, t: int) -> tuple[Point, None]:
        if t >= 4 and (t - 4) % 3 == 0:
            points.append(p)
        return p, None

    ended = momentum(rows, collect)
    return ended._replace(x={k: np.mean([q[k] for q in points], axis=0) for k in START})


def averaged_at_x(rows: Any) -> Ended:
    return momentum(rows, lambda _twin, p, *_: (p, None))


LOOPS: dict[str, Callable[[Any], Ended]] = {
    "Top-KAST": top_kast,
    "SAM": sam,
    "quantized": quantized,
    "quantized, at x": quantized_at_x,
    "Lookahead": lookahead,
    "sliced": sliced,
    "sliced, at another point": lambda rows: sliced(rows, 0.5),
    "low rank": low_rank,
    "sparse": sparse,
    "averaged": averaged,
    "averaged, at x": averaged_at_x,
}
