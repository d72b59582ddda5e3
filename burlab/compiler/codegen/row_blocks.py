"""Blocks of a loop whose rows are reduced: how many rows and strips they have, and what stays in a buffer."""

from burlab.compiler.ir.iteration import IterationSpace
from burlab.compiler.ir.library import register
from burlab.compiler.ir.spelling import has_common_lanes, is_own
from burlab.graph import Node

from .nest import LoopNest
from .simd import lane_steps, widest_of

MAX_NARROW_ROW = 4  # elements of rows that are written out, in lanes over rows
MIN_SPARED = 1.25  # times as many iterations of long functions as without elements that are left over
_MAX_PITCH = 1.25  # times the length of a row, whose distance is that of rows in buffers
_BLOCK = 1024  # elements of the rows of a block, at most
_ROWS, _NARROW_ROWS = 16, 64  # rows of a block, at most; of narrow ones
_STRIP_ROWS, _STRIPS = 32, 384  # where these lie in several strips: rows, and elements, of a block
_GROUP, _GROUPED = 8, 64  # rows that are reduced together, and rows of strips that fill such groups


def rows_of_block(nest: LoopNest, row: int) -> int:
    """Return the number of rows, of so many elements each, along the last axis that is not reduced."""
    most = _NARROW_ROWS if row <= MAX_NARROW_ROW else _ROWS
    cut = nest.each if nest.depth == 1 else 0  # rows of a unit, if several threads share them
    return min(cut or nest.sizes[nest.depth - 1], most, max(_BLOCK // row, 1))


def strips_of_block(nest: LoopNest, row: int) -> int:
    """Return the number of strips of a block, a divisor of all strips: several if the dependency chain is long.

    Also if groups of eight rows, which are reduced together, are better filled by the rows of several strips.
    """
    rows = rows_of_block(nest, row)
    one = rows < nest.sizes[nest.depth - 1] or nest.depth == 1 or nest.each
    if one or any(a.bounds for a in nest.all_arrays):
        return 1
    own, several = any(map(is_own, nest.step.nodes)), row > MAX_NARROW_ROW and rows % _GROUP
    if not (own or several):
        return 1
    most = min(_STRIP_ROWS // rows, _STRIPS // (rows * row)) if own else min(_GROUPED // rows, _BLOCK // (rows * row))
    fits = [k for k in range(1, most + 1) if nest.sizes[nest.depth - 2] % k == 0] or [1]
    return max(fits) if own else min(fits, key=lambda k: -(-rows * k // _GROUP) / k)


def buffered(nest: LoopNest, space: IterationSpace, sweep: dict[Node, int]) -> set[Node]:
    """Values of elements that stay in a buffer for a later sweep or a reduction."""
    found: set[Node] = set()
    for n in nest.step.nodes:
        members = [base for x in n.inputs if (base := nest.plan.views[x].base) in sweep]
        full = (base for base in members if base.shape == space.shape)
        found.update(base for base in full if n.shape != space.shape or sweep[base] < sweep[n] or space.apart(n))
    return found.difference(nest.results)


def pitch_of_block(nest: LoopNest, space: IterationSpace) -> int:
    """Return the distance of rows in buffers: that of arrays, if a walk over all rows as one computes little more.

    What it computes between two rows nobody reads.
    """
    row, lanes = space.row, register() // widest_of(nest.step.nodes)
    full = [a for a in nest.all_arrays if any(a.strides[nest.depth :]) and not a.is_number]
    pitches = {a.strides[nest.depth - 1] for a in full} - {0}
    one = len(nest.sizes) - nest.depth == 1 and not nest.plan.note and not any(a.bounds for a in nest.all_arrays)
    own = sum(map(is_own, nest.members)) > len(full) and not any(map(has_common_lanes, nest.members))
    if len(pitches) != 1 or not one or not own or lane_steps(row, lanes) * lanes < MIN_SPARED * row:
        return row
    (pitch,) = pitches
    return pitch if row < pitch <= _MAX_PITCH * row else row
