"""Functions of matrices by singular values, of numbers and of mpmath, with the spectra where they are smooth."""

from collections.abc import Callable, Iterable
from typing import Any

import mpmath
import numpy as np
from mpmath import mp

SHAPES = ((3, 3), (5, 3), (3, 5))
Function = tuple[Callable[[Any], Any], Callable[[Any], Any]]
SPECTRA = {
    "identity": (1.0, 1.0, 1.0),
    "a pair": (2.0, 0.5, 0.5),
    "almost alike": (1.0 + 3e-13, 1.0, 1.0 - 1e-9),
    "apart": (3.0, 0.9, 0.2),
    "one 0": (2.0, 2.0, 0.0),
    "two 0": (1.5, 0.0, 0.0),
}
NEAR = {
    **{f"gap {gap}": (1.5, 1.0 + gap, 1.0) for gap in (1e-3, 1e-5, 1e-8, 1e-12)},
    **{f"small {s}": (1.0, 0.3, s) for s in (1e-3, 1e-5, 1e-8, 1e-12)},
    "two small": (1.0, 1e-4, 1e-8),
}
FULL = [name for name in (*SPECTRA, *NEAR) if not name.endswith(" 0") and "small" not in name]
SIDES = ("within_left", "within_right")
ODD: dict[str, Function] = {
    "tanh": (np.tanh, mpmath.tanh),
    "values": (lambda s: s, lambda s: s),
    "cube": (lambda s: s**3 / 3, lambda s: s**3 / 3),
}
RISING: dict[str, Function] = {
    "polar": (lambda s: 1 + 0 * s, lambda _: mp.mpf(1)),
    "root": (np.sqrt, mpmath.sqrt),
    "inverse": (lambda s: 1 / s, lambda s: 1 / s),
    "exponential": (np.exp, mpmath.exp),
}
EVEN: dict[str, Function] = {
    "square": (np.square, lambda s: s * s),
    "versine": (lambda s: 2 * np.sin(s / 2) ** 2, lambda s: 1 - mpmath.cos(s)),
}
LEVEL: dict[str, Function] = {
    "projector": RISING["polar"],
    "logarithm": (np.log, mpmath.log),
    "value": (lambda s: s, lambda s: s),
}


def matrix(spectrum: str, shape: tuple[int, int], turned: bool = True) -> Any:
    """Of these singular values, with or without zeros to the bit."""
    values = np.array({**SPECTRA, **NEAR}[spectrum])
    if not turned:
        return np.eye(shape[0], 3) * values @ np.eye(3, shape[1])
    u, v = (np.linalg.qr(np.random.default_rng(k).normal(size=(k, k)))[0][:, :3] for k in shape)
    return (u * values) @ v.T


def between(np: Any, f: Any, a: Any) -> Any:
    u, s, vt = np.linalg.svd(a, full_matrices=False)
    return (u * f(s)) @ vt


def within_left(np: Any, f: Any, a: Any) -> Any:
    u, s, _ = np.linalg.svd(a, full_matrices=False)
    return (u * f(s)) @ u.T


def within_right(np: Any, f: Any, a: Any) -> Any:
    _, s, vt = np.linalg.svd(a, full_matrices=False)
    return vt.T @ (f(s)[:, None] * vt)


FORMS = {"between": between, "within_left": within_left, "within_right": within_right}


def checked(spectra: Iterable[str] = SPECTRA) -> list[tuple[str, str, str, Function]]:
    """Spectrum, form and name of every function that is smooth there."""

    def rows(spectra: Any, forms: Any, functions: dict[str, Function]) -> Any:
        return [(spectrum, form, *pair) for spectrum in spectra for form in forms for pair in functions.items()]

    full = [name for name in spectra if name in FULL]
    return [
        *rows(spectra, ["between"], ODD), *rows(full, ["between"], RISING),
        *rows(spectra, SIDES, EVEN), *rows(full, SIDES, LEVEL),
    ]  # fmt: skip


def exactly(form: str, f: Callable[[Any], Any], factors: Any) -> Any:
    """The function of a matrix, given its factors by mpmath."""
    u, s, vt = factors
    middle = mp.diag([f(x) for x in s])
    return u * middle * vt if form == "between" else u * middle * u.T if form == "within_left" else vt.T * middle * vt
