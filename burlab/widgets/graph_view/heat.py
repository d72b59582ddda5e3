"""The heat of a box: the share of the gradient, the time, the bytes or the lost digits it has, from 0 to 1."""

import math
from collections.abc import Callable
from typing import NamedTuple

from .collapse import Groups
from .viewed_graph import ViewedGraph

_DECADES = 6.0  # of gradients that colours tell apart


class Heat(NamedTuple):
    """share: of the hottest, between 0 and 1. text: the quantity with its unit."""

    share: float
    text: str


def heat(name: str, subject: ViewedGraph, groups: Groups) -> dict[int, Heat]:
    """The heat of each item that has any. name: "gradient", "time", "bytes", "digits", or "none".

    A gradient is the mean of absolute values, on a logarithmic scale of six decades; a group has that of its hottest
    vertex. Time is that of the steps of the plan, which vertices that are computed together share equally; a group has
    the sum, as of bytes. Digits are those that are not right, see `bl.digits`, and their share that of all digits of
    the dtype; a group has those of its worst vertex.
    """
    vertices = range(len(subject.network.vertices))
    if name == "gradient":
        sizes = {k: g.size for k in vertices if (g := subject.sweep.gradient(k)) and math.isfinite(g.size)}
        most = _over_groups(sizes, groups, max)
        top = max(most.values(), default=0.0)
        return {
            k: Heat(max(0.0, 1 + math.log10(size / top) / _DECADES) if size and top else 0.0, f"mean |∇| {size:.3g}")
            for k, size in most.items()
        }
    if name == "time":
        times = subject.times
        parts = {k: times[place.step] / place.nodes for k, place in enumerate(subject.places) if place and times}
        return _linear(_over_groups(parts, groups, sum), _time)
    if name == "bytes":
        return _linear(
            _over_groups({k: float(subject.network.vertices[k].nbytes) for k in vertices}, groups, sum), _size
        )
    if name == "digits":
        wrong = _over_groups({k: most - right for k, (right, most) in subject.digits.items()}, groups, max)
        shares = _over_groups({k: 1 - right / most for k, (right, most) in subject.digits.items()}, groups, max)
        return {k: Heat(shares[k], f"{lost:.1f} digits are not right") for k, lost in wrong.items()}
    return {}


def _over_groups(parts: dict[int, float], groups: Groups, joined: Callable[[list[float]], float]) -> dict[int, float]:
    found = dict(parts)
    for group, members in groups.members.items():
        own = [parts[k] for k in members if k in parts]
        if own and group != groups.root:
            found[group] = joined(own)
    return found


def _linear(amounts: dict[int, float], write: Callable[[float], str]) -> dict[int, Heat]:
    top = max(amounts.values(), default=0.0)
    return {k: Heat(math.sqrt(amount / top) if top else 0.0, write(amount)) for k, amount in amounts.items()}


def _time(nanoseconds: float) -> str:
    return f"{nanoseconds:.0f} ns" if nanoseconds < 1e4 else f"{nanoseconds / 1e3:,.1f} µs"


def _size(nbytes: float) -> str:
    return f"{nbytes:,.0f} B" if nbytes < 1e4 else f"{nbytes / 1e3:,.1f} kB"
