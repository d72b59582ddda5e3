"""`end_loops`: sums down the columns of what a loop computes become part of the loop.

The gradient by what all samples share, a bias or the centres of clusters, is a sum over the first axis of an array as
large as all samples. The loop adds its elements up as it makes them (`codegen/column_loops.py`), so that the array is
not stored, to the bits of the library's sum.
"""

from dataclasses import replace

from burlab.compiler.ir.iteration import ends_columns
from burlab.compiler.ir.strides import elements
from burlab.graph import Node
from burlab.graph.operation import Ending

from .locate import Located
from .schedule import MAX_GROUP, Scheduled, Stage

_MIN_ROWS, _MIN_ELEMENTS = 16, 1024  # of an array for which it is worth it
_MIN_COLUMNS, _MAX_COLUMNS = 8, 512  # which have to stay in the first cache


def end_loops(scheduled: Scheduled) -> Scheduled:
    """Let loops add up the columns of what they compute."""
    located, stages = scheduled.located, list(scheduled.stages)
    at = {n: k for k, stage in enumerate(stages) for n in stage.nodes}
    for k, stage in enumerate(stages):
        if stage.space is None and len(stage.nodes) == 1 and _adds_columns(stage.nodes[0], located):
            (n,) = stage.nodes
            home = at.get(n.inputs[0], k)
            if _may_end(n, stages[home], located):
                stages[home] = Stage((*stages[home].nodes, n), stages[home].space)
                stages[k] = Stage((), None)
    return replace(scheduled, stages=tuple(stage for stage in stages if stage.nodes))


def _adds_columns(n: Node, located: Located) -> bool:
    """Return True for a sum of floats over the first axis that has the columns, and the rows, for it."""
    if n.row.epilogue is not Ending.SUM or n.params != (0,) or n.dtype.kind != "f":
        return False
    x = n.inputs[0]
    rows, columns = x.shape[0], elements(x.shape[1:])
    fits = rows >= _MIN_ROWS and _MIN_COLUMNS <= columns <= _MAX_COLUMNS and x.size >= _MIN_ELEMENTS
    return fits and x.dtype == n.dtype and not located.is_added(n) and n not in located.after


def _may_end(n: Node, stage: Stage, located: Located) -> bool:
    """Return True if a stage is a loop over the elements of what is added, which reduces nothing else."""
    if stage.space is None or stage.space.reduced or stage.space.shape != n.inputs[0].shape:
        return False
    windows = (located.views[x].window for m in stage.nodes for x in m.inputs)
    otherwise = any(m.row.epilogue and not ends_columns(m) for m in stage.nodes)
    return len(stage.nodes) < MAX_GROUP and not otherwise and not any(w and w[0] for w in windows)
