"""Checks of gradients; a variant that fails is not timed."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from burlab.typing import ArrayLike

from .problem import Answer, Array

# How far each tensor of a gradient may be from the second engine, relative to its largest entry.
TOLERANCE = {"float64": 1e-10, "float32": 1e-5}
# How far a derivative along a random direction may be from a central difference, relative to its typical size.
DIFFERENCE_TOLERANCE = 1e-4
_EPSILON = {"float64": 2.0**-52, "float32": 2.0**-23}


@dataclass(frozen=True, slots=True)
class Verdict:
    """Result of the checks of one variant.

    complaints: what is wrong; none: it passed. error: the largest relative error by dtype. against: the second engine.
    difference: the largest error against central differences. visited: nodes that the sweep visited, and had to.
    """

    complaints: tuple[str, ...]
    against: str = ""
    error: Mapping[str, float] | None = None
    difference: float | None = None
    visited: tuple[int, int] | None = None

    @property
    def passed(self) -> bool:
        """True if the variant may be timed."""
        return not self.complaints


def compare(got: Sequence[Answer], wanted: Sequence[Answer], dtype: str) -> tuple[float, list[str]]:
    """The largest relative error of values and gradients over all points, and what is wrong.

    >>> right, wrong = Answer(1.0, {"x": np.ones(2)}), Answer(1.0, {"x": np.array([1.0, 0.0])})
    >>> compare([wrong], [right], "float64")
    (1.0, ['d/dx is off by 1.0e+00 (relative; at most 1.0e-10)'])
    """
    worst, complaints = 0.0, list[str]()
    for a, b in zip(got, wanted, strict=True):
        if set(a.gradients) != set(b.gradients):
            return np.inf, [f"gradients by {sorted(a.gradients)}, expected by {sorted(b.gradients)}"]
        pairs = {"the value": (np.asarray(a.value), np.asarray(b.value))}
        pairs |= {f"d/d{name}": (a.gradients[name], g) for name, g in b.gradients.items()}
        for name, (x, y) in pairs.items():
            error = relative_error(x, y)
            worst = max(worst, error)
            if not error <= TOLERANCE[dtype]:
                complaints.append(f"{name} is off by {error:.1e} (relative; at most {TOLERANCE[dtype]:.1e})")
    return worst, list(dict.fromkeys(complaints))


def relative_error(got: ArrayLike, wanted: ArrayLike) -> float:
    """The largest error of a tensor, relative to its largest entry; infinite where shapes or finiteness differ.

    >>> relative_error([1.0, 2.0], [1.0, 4.0])
    0.5
    """
    x, y = np.asarray(got, np.float64), np.asarray(wanted, np.float64)
    if x.shape != y.shape or not np.all(np.isfinite(x)):
        return np.inf
    error, scale = float(np.max(np.abs(x - y), initial=0.0)), float(np.max(np.abs(y), initial=0.0))
    return error / scale if scale else (0.0 if error == 0.0 else np.inf)


def check_differences(
    value: Callable[[Mapping[str, Array]], float],
    x: Mapping[str, Array],
    gradients: Mapping[str, Array],
    step: float = 1e-4,
) -> tuple[float, list[str]]:
    """Each tensor's derivative along a random direction against (f(x + h u) - f(x - h u)) / 2h in float64.

    value: f of all tensors. The error is relative to |g| / sqrt(size), the typical derivative along a unit vector.

    >>> check_differences(lambda x: x["a"] ** 2, {"a": np.array(3.0)}, {"a": np.array(7.0)})[1]
    ['d/da is off by 7.1e-02 along a random direction (at most 1.0e-04)']
    """
    rng, worst, complaints = np.random.default_rng(0), 0.0, list[str]()
    for name, g in gradients.items():
        u = rng.choice([-1.0, 1.0], np.shape(g)) / np.sqrt(max(np.size(g), 1))
        near = [value({**x, name: x[name] + sign * step * u}) for sign in (1.0, -1.0)]
        slope, claimed = (near[0] - near[1]) / (2 * step), float(np.sum(np.asarray(g, np.float64) * u))
        scale = abs(claimed) + float(np.linalg.norm(g)) / np.sqrt(max(np.size(g), 1))
        noise = 8 * _EPSILON["float64"] * abs(near[0]) / step  # what rounding alone may cost
        error = abs(slope - claimed)
        fine = error <= DIFFERENCE_TOLERANCE * scale + noise
        error = error / scale if scale else (0.0 if fine else np.inf)
        worst = max(worst, error)
        if not fine:
            complaints.append(
                f"d/d{name} is off by {error:.1e} along a random direction (at most {DIFFERENCE_TOLERANCE:.1e})"
            )
    return worst, complaints


def check_displacements(
    got: Mapping[str, Array], wanted: Mapping[str, Array], start: Mapping[str, Array], dtype: str
) -> list[str]:
    """Compare the changes of each parameter by the timed steps with the second engine's; return complaints.

    But for rounding: a row that many samples of a batch share is rounded once for each of them.

    >>> check_displacements({"w": np.zeros(1)}, {"w": np.ones(1)}, {"w": np.ones(1)}, "float32")
    ['the timed steps move w by 1.0e+00 differently (at most 1.8e-05)']
    """
    if set(got) != set(wanted):
        return [f"the timed steps move {sorted(got)}, expected {sorted(wanted)}"]
    complaints = list[str]()
    for name, y in wanted.items():
        x = np.asarray(got[name], np.float64)
        error = float(np.max(np.abs(x - y), initial=0.0)) if x.shape == np.shape(y) else np.inf
        scale = float(np.max(np.abs(y), initial=0.0))
        allowed = TOLERANCE[dtype] * scale + 64 * _EPSILON[dtype] * float(np.max(np.abs(start[name]), initial=0.0))
        if not error <= allowed:
            complaints.append(f"the timed steps move {name} by {error:.1e} differently (at most {allowed:.1e})")
    return complaints


def check_visits(answers: Sequence[Answer]) -> list[str]:
    """Check that every sweep visited all nodes that the root can reach; return complaints.

    >>> check_visits([Answer(0.0, {}, visited=(3, 4))])
    ['the sweep visited 3 of 4 nodes']
    """
    counts = [a.visited for a in answers if a.visited is not None]
    return list(dict.fromkeys(f"the sweep visited {seen:,} of {all_:,} nodes" for seen, all_ in counts if seen != all_))
