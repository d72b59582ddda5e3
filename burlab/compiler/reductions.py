"""Lowering of what runs along axes: sums, extremes, their positions, and running sums."""

from burlab.graph import Node
from .layout import Ref, Shape, dense_strides, merged
from .library import kernel
from .spelling import C_TYPES
from .steps import Task

Refs = dict[Node, Ref]
_NARROW = 4  # results in a row below which sums along rows are cheaper than sums down columns


def _split(x: Node, ref: Ref, axes: Shape) -> tuple[tuple[list[int], list[int]], tuple[list[int], list[int]]]:
    """Sizes and strides of the axes that are reduced, and of those that stay."""
    parts: list[tuple[list[int], list[int]]] = []
    for inside in (True, False):
        chosen = [a for a in range(x.ndim) if (a in axes) == inside]
        sizes, (strides,) = merged(tuple(x.shape[a] for a in chosen), tuple(ref.strides[a] for a in chosen))
        parts.append((sizes, strides))
    return parts[0], parts[1]


def _box(sizes: list[int], strides: list[int]) -> tuple[int, ...]:
    return (len(sizes), *sizes, *strides)


def _rows(reduced: tuple[list[int], list[int]], kept: tuple[list[int], list[int]]) -> tuple[int, ...]:
    sizes, strides = reduced
    row = (sizes[-1], strides[-1]) if sizes else (1, 0)
    return (*row, *_box(sizes[:-1], strides[:-1]), *_box(*kept))


def sum_(n: Node, refs: Refs, strict: bool) -> list[Task]:
    """Along rows where the reduced axis is contiguous, else down columns."""
    x = n.inputs[0]
    ref = refs[x]
    reduced, kept = _split(x, ref, n.params)
    dtype = n.dtype.name
    strict = strict and n.dtype.kind == "f"
    name, arguments = f"{dtype}{'_strict' * strict}", f"{C_TYPES[dtype]}, {str(strict).lower()}"
    operands = ((ref.root, ref.offset),)
    columns = kept[0] and kept[1][-1] == 1 and kept[0][-1] >= _NARROW and reduced[0] and reduced[1][-1] != 1
    if not columns:
        return [Task(kernel(f"sum_{name}", f"Sum<{arguments}>", "reduce"), _rows(reduced, kept), operands)]
    (sizes, strides), (widths, steps) = reduced, kept
    blocks = _box(sizes[:-1], strides[:-1])
    descriptor = (widths[-1], sizes[-1], strides[-1], *blocks, *_box(widths[:-1], steps[:-1]))
    return [Task(kernel(f"sum_columns_{name}", f"SumColumns<{arguments}>", "reduce"), descriptor, operands)]


def extreme(n: Node, refs: Refs, strict: bool) -> list[Task]:
    """Largest or smallest value over axes."""
    x = n.inputs[0]
    ref = refs[x]
    largest = str(n.op == "reduce_max").lower()
    made = kernel(f"{n.op}_{x.dtype.name}", f"Extreme<{C_TYPES[x.dtype.name]}, {largest}>", "extreme")
    return [Task(made, _rows(*_split(x, ref, n.params)), ((ref.root, ref.offset),))]


def argument(n: Node, refs: Refs, strict: bool) -> list[Task]:
    """Position of the largest or smallest value along an axis."""
    x = n.inputs[0]
    ref = refs[x]
    others = [a for a in range(x.ndim) if a != n.params]
    sizes, (strides,) = merged(tuple(x.shape[a] for a in others), tuple(ref.strides[a] for a in others))
    largest = str(n.op == "argmax").lower()
    made = kernel(f"{n.op}_{x.dtype.name}", f"Where<{C_TYPES[x.dtype.name]}, {largest}>", "extreme")
    descriptor = (x.shape[n.params], ref.strides[n.params], *_box(sizes, strides))
    return [Task(made, descriptor, ((ref.root, ref.offset),))]


def cumsum(n: Node, refs: Refs, strict: bool) -> list[Task]:
    """Running sums along an axis, from its end if reversed."""
    x = n.inputs[0]
    ref = refs[x]
    axis, reverse = n.params
    length, to, origin = x.shape[axis], dense_strides(n.shape)[axis], ref.strides[axis]
    others = [a for a in range(x.ndim) if a != axis]
    shape = tuple(x.shape[a] for a in others)
    sizes, rows = merged(shape, *(tuple(s[a] for a in others) for s in (dense_strides(n.shape), ref.strides)))
    sign, last = (-1, max(length - 1, 0)) if reverse else (1, 0)
    descriptor = (length, sign * to, sign * origin, last * to, last * origin, len(sizes), *sizes, *rows[0], *rows[1])
    made = kernel(f"cumsum_{n.dtype.name}", f"Cumsum<{C_TYPES[n.dtype.name]}>", "scan")
    return [Task(made, descriptor, ((ref.root, ref.offset),))]
