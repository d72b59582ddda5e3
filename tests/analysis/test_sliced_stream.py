"""Sliced streams against the formula by singular values, and against the whole network where nothing is cut."""

from typing import Any

import numpy as np
import pytest

from burlab.analysis import slice_rms
from burlab.errors import ArgumentError, ShapeError

rng = np.random.default_rng(5)
D, H, CLASSES = 7, 9, 4
EMBED, HEAD = rng.normal(size=(30, D)), rng.normal(size=(D, CLASSES))
PARTS = [(rng.normal(size=(D, H)), rng.normal(size=(H, D))) for _ in range(3)]


def rms(x: Any) -> Any:
    return x / np.sqrt(np.sum(x**2, axis=1, keepdims=True) / D + 1e-5)


def run(x: Any, parts: Any, head: Any) -> tuple[list[Any], Any]:
    """What enters each part and the head, and the result."""
    entered = []
    for part in parts:
        entered.append(x)
        x = (x @ part[2] if len(part) == 3 else x) + np.tanh(rms(x) @ part[0]) @ part[1]
    return [*entered, x], rms(x) @ head


ENTERED, SCORES = run(EMBED, PARTS, HEAD)


def result(keep: int, signals: Any = None) -> Any:
    found = slice_rms(EMBED, PARTS, HEAD, ENTERED if signals is None else signals, keep)
    return run(found.embed, [(p.inputs, p.outputs, p.shortcut) for p in found.parts], found.head)[1]


def test_a_rotated_network_is_the_same() -> None:
    np.testing.assert_allclose(result(D), SCORES, rtol=1e-10)
    others = [rng.normal(size=(20, D)) for _ in ENTERED]
    np.testing.assert_allclose(result(D, others), SCORES, rtol=1e-10)


@pytest.mark.parametrize("keep", [1, 4, 6])
def test_directions_are_those_of_singular_vectors(keep: int) -> None:
    """As projections of the stream before each part: P x + f(rms(P x) W) V, with P = Q Q' of the part."""
    found = [np.linalg.svd(one, full_matrices=False) for one in ENTERED]
    q = [one[2][:keep].T @ one[2][:keep] for one in found]
    x = EMBED @ q[0]
    for k, (w_in, w_out) in enumerate(PARTS):
        x = (x + np.tanh(rms(x) @ w_in) @ w_out) @ q[k + 1]
    np.testing.assert_allclose(result(keep), rms(x) @ HEAD, rtol=1e-9)
    energy = slice_rms(EMBED, PARTS, HEAD, ENTERED, keep).energy
    np.testing.assert_allclose(energy, [np.sum(s[:keep] ** 2) / np.sum(s**2) for _, s, _ in found], rtol=1e-10)


@pytest.mark.parametrize(
    ("change", "kind", "text"),
    [
        ({"keep": 8}, ArgumentError, "keep of slice_rms"),
        ({"keep": 0}, ArgumentError, "keep of slice_rms"),
        ({"signals": ENTERED[1:]}, ArgumentError, "3 signals for 3 parts, expected one for each part and the head's"),
        ({"signals": [*ENTERED[1:], EMBED[:, 1:]]}, ShapeError, r"signals\[3\] of slice_rms has shape \(30, 6\)"),
        ({"embed": np.ones(3)}, ShapeError, r"embed of slice_rms has shape \(3,\)"),
        ({"head": HEAD[1:]}, ShapeError, r"head of slice_rms has shape \(6, 4\), expected \(7, classes\)"),
        (
            {"parts": [*PARTS[:2], (PARTS[2][1], PARTS[2][1])]},
            ShapeError,
            r"parts\[2\]\[0\] of slice_rms has shape \(9, 7\), expected \(7, h\)",
        ),
    ],
)
def test_what_does_not_fit_is_refused(change: Any, kind: Any, text: str) -> None:
    options: Any = {"embed": EMBED, "parts": PARTS, "head": HEAD, "signals": ENTERED, "keep": 3} | change
    with pytest.raises(kind, match=text):
        slice_rms(**options)
