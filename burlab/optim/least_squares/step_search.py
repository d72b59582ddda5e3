"""Trials of steps until one is taken, the radius following what each of them gained."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from burlab.optim.arithmetic import Scalar, number, ratio, where
from burlab.optim.optimizer import Metrics, State, Vector
from burlab.transforms import while_loop

from .tried_step import TriedStep

COLUMNS = ("damping", "gain", "predicted", "relative_step")


class Proposal(NamedTuple):
    """A step for a radius. length: |D p|. shorter, longer: the next radius; is_poor: which of them."""

    tried: TriedStep
    length: Scalar
    damping: Scalar
    is_poor: Any
    shorter: Scalar
    longer: Scalar


def search(
    x: Vector,
    state: State,
    size: Scalar,
    radius: Scalar,
    min_radius: Scalar,
    trials: int,
    propose: Callable[[Scalar, Scalar], Proposal],
) -> tuple[Vector, dict[str, Any], Metrics]:
    """Return the next x, radius and length, and columns of the history.

    state: has the radius and the length of the last step. size: |D x|. min_radius: smaller ones, and this, are not
    tried. propose: of a radius and the number of trials before.
    """

    def attempt(s: dict[str, Any]) -> Any:
        proposal = propose(s["radius"], s["count"])
        tried, length = proposal.tried, proposal.length
        shrinks = length < state["length"]
        taken, by_length = tried.is_taken(shrinks), tried.is_taken_by_length(shrinks)
        radius = where(proposal.is_poor & ~by_length, proposal.shorter, proposal.longer)
        return {
            "x": where(taken, tried.to, x),
            "radius": where(length > 0, radius, s["radius"]),
            "ends": taken | tried.is_negligible,
            "taken": taken,
            "length": length,
            "count": s["count"] + 1,
            "damping": proposal.damping,
            "gain": tried.gain,
            "predicted": tried.predicted,
            "relative_step": where(size > 0, ratio(length, size), where(length > 0, number(x, np.inf), 0.0)),
        }

    def pending(s: dict[str, Any]) -> Any:
        return ~s["ends"] & (s["count"] < trials) & (s["radius"] > min_radius)

    no = np.asarray(False)
    begin = {"x": x, "radius": radius, "ends": no, "taken": no, "count": np.asarray(0)}
    end = while_loop(pending, attempt, begin | dict.fromkeys(("length", *COLUMNS), number(x, 0.0)))
    kept = {name: where(end["taken"], end[name], state[name]) for name in ("radius", "length")}
    return end["x"], kept, {name: end[name] for name in COLUMNS}
