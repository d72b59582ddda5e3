"""Cheap values that a later loop computes again: what they are made of is smaller, or there anyway.

The difference of every point and every centre is larger than both. Where all that read such a value are loops over its
elements, it is computed in each of them, and never stored. The same operation on the same numbers has the same bits.
"""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace

from burlab.compiler.ir.strides import is_whole
from burlab.graph import Node

from .locate import Located
from .schedule import MAX_GROUP, Scheduled, Stage

_MIN_ELEMENTS = 1024  # of a value that is worth it
_SMALLER = 4  # times smaller than the value has to be a computed operand, which is kept for longer


def repeat_cheap(scheduled: Scheduled) -> Scheduled:
    """Let loops compute again what they would read from an earlier one, if it is cheap."""
    located, stages = scheduled.located, scheduled.stages
    at = {n: k for k, stage in enumerate(stages) for n in stage.nodes}
    kept = {*located.homes, *(located.views[y].base for y, _ in located.copies)}
    cheap = [x for x, first in at.items() if x not in kept and _is_cheap(x, first, at, located)]
    if not cheap:
        return scheduled
    users = _users(located)
    again: dict[int, list[Node]] = defaultdict(list)
    for x in cheap:
        later = {at[n] for n in users[x]} - {at[x]}
        if all(_may_repeat(x, stages[k], located) for k in later):
            for k in later:
                again[k].append(x)
    whole = (Stage((*again.get(k, ()), *stage.nodes), stage.space) for k, stage in enumerate(stages))
    return replace(scheduled, stages=tuple(whole))


def _users(located: Located) -> dict[Node, list[Node]]:
    """The nodes that read each base."""
    users: dict[Node, list[Node]] = defaultdict(list)
    for n in located.graph.nodes:
        if located.views[n].base is n:
            for base in {located.views[x].base for x in n.inputs}:
                users[base].append(n)
    return users


def _is_cheap(x: Node, stage: int, at: Mapping[Node, int], located: Located) -> bool:
    """Return True if a loop makes a large value by one operation of arguments of the caller, or of small arrays."""
    if x not in located.loops or not x.row.cheap or x.size < _MIN_ELEMENTS:
        return False
    bases = {located.views[i].base for i in x.inputs}
    if any(located.views[i].window for i in x.inputs) or any(at.get(base) == stage for base in bases):
        return False
    small = all(base.row.leaf or base.size == 1 or _SMALLER * base.nbytes <= x.nbytes for base in bases)
    return small and sum(base.nbytes for base in bases) <= x.nbytes + x.nbytes // _SMALLER


def _may_repeat(x: Node, stage: Stage, located: Located) -> bool:
    """Return True if a stage is a loop over the elements of a value, and each node in it reads its own one."""
    if stage.space is None or stage.space.shape != x.shape or len(stage.nodes) >= MAX_GROUP:
        return False
    read = [i for n in stage.nodes for i in n.inputs if located.views[i].base is x]
    return all(is_whole(located.views[i], i) and i.shape == x.shape for i in read)
