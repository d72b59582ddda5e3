"""The searches along a descent direction: backtracking, and a step of the strong Wolfe conditions."""

from typing import Any

import numpy as np

from burlab.transforms import while_loop
from burlab.typing import Vector

from .arithmetic import Scalar, choose, number, ratio, where
from .search_line import Point, SearchLine, cubic_minimizer

GROWTH = 9.0  # a trial that is too short grows by at most this many times the last increase
EDGE = 0.1  # a trial keeps this part of a bracket away from its ends


def armijo(line: SearchLine, first: Scalar, shrink: float, c1: float, trials: int) -> Scalar:
    """Nocedal and Wright 2006, Algorithm 3.1: the first of first, shrink first, shrink^2 first ... that is enough.

    A trial of value inf or nan is never enough. Each trial costs one value of f; where values differ by rounding only,
    a gradient too (see `SearchLine.enough`). Gives step 0 where p is no descent direction or after `trials` trials.
    """
    zero = number(line.x, 0.0)

    def pending(s: dict[str, Any]) -> Any:
        return (line.slope < 0) & ~s["found"] & (s["count"] < trials)

    def attempt(s: dict[str, Any]) -> Any:
        step = s["next"]
        y = line.x + step * line.p
        value = line.f.value(y)
        start = {"open": line.within_rounding(value - line.value), "slope": line.slope}
        slope = while_loop(lambda a: a["open"], lambda a: {"open": ~a["open"], "slope": line.f.grad(y) @ line.p}, start)
        found = line.enough({"step": step, "value": value, "slope": slope["slope"]}, c1)
        after = shrink * where(np.isfinite(value), step, np.minimum(step, line.reach / shrink))
        return {"step": step, "next": after, "found": found, "count": s["count"] + 1}

    start = {"step": zero, "next": first / line.unit, "found": np.asarray(False), "count": np.asarray(0)}
    end = while_loop(pending, attempt, start)
    return where(end["found"], end["step"], zero)


def wolfe(line: SearchLine, g: Vector, first: Scalar, c1: float, c2: float, trials: int) -> Point:
    """Nocedal and Wright 2006, Algorithms 3.5 and 3.6: a step a with enough decrease and |phi'(a)| <= -c2 phi'(0).

    One loop does both algorithms: until a bracket is known (`high` is finite) trials grow, then they close in on it, by
    cubic interpolation kept away from the ends. What differs from the book: trials of value or slope inf or nan are
    the far end of a bracket; decrease lost in rounding is judged by slopes (`SearchLine.enough`).

    g: gradient at a = 0. Each trial costs one value and gradient. Gives the trial, with `found`. After `trials` trials,
    or once the bracket is a rounding wide, it is the best one that is enough, and `found` is false: step 0 if none was.
    """
    inf = number(line.x, np.inf)
    low = {"step": number(line.x, 0.0), "value": line.value, "slope": line.slope, "gradient": g}
    high = {"step": inf, "value": inf, "slope": inf}
    start = {
        "low": low, "high": high, "next": first / line.unit, "width": inf, "found": np.asarray(False),
        "count": np.asarray(0),
    }  # fmt: skip
    precision = 4 * float(np.finfo(line.x.dtype).eps)

    def pending(s: dict[str, Any]) -> Any:
        flat = np.isfinite(s["width"]) & (s["width"] <= precision * s["low"]["step"])
        return (line.slope < 0) & ~s["found"] & ~flat & (s["count"] < trials)

    def attempt(s: dict[str, Any]) -> Any:
        low, high, trial = s["low"], s["high"], line.at(s["next"])
        short = {name: trial[name] for name in high}
        fails = ~line.enough(trial, c1) | line.rises(trial, low)
        reverses = (trial["slope"] >= 0) == (high["step"] > low["step"])
        ends = choose(fails, short, choose(reverses, {name: low[name] for name in high}, high))
        best = choose(fails, low, trial)
        width = np.abs(ends["step"] - best["step"])
        return {
            "low": best,
            "high": ends,
            "next": _next(low, trial, best, ends, line),
            "width": width,
            "found": ~fails & (np.abs(trial["slope"]) <= -c2 * line.slope),
            "count": s["count"] + 1,
        }

    end = while_loop(pending, attempt, start)
    return {**end["low"], "found": end["found"]}


def _next(before: Point, trial: Point, low: Point, high: Point, line: SearchLine) -> Scalar:
    """The next trial: inside of the bracket, or beyond `trial` where there is none yet."""
    bracketed = np.isfinite(high["step"])
    other = choose(bracketed, high, {name: before[name] for name in high})
    best = cubic_minimizer(other, low, line.noise)
    span = where(bracketed, high["step"] - low["step"], trial["step"] - before["step"])
    part = ratio(best - low["step"], span)
    inside = where((part > 0) & (part < 1), np.clip(part, EDGE, 1 - EDGE), 0.5)
    known = np.isfinite(high["value"]) & np.isfinite(high["slope"])
    first = np.minimum(EDGE, ratio(line.reach, high["step"]))
    inside = where(known, inside, where(low["step"] > 0, 0.5 * np.ones_like(part), first))
    beyond = where(part > 0, np.clip(part, 0.5, GROWTH), GROWTH)
    return low["step"] + span * where(bracketed, inside, beyond)
