"""A setup as the plan that C++ opens a loop from: `cpp/burlab/run/abi/plan.hpp`."""

import ctypes
import math
from collections.abc import Sequence

import numpy as np

from burlab.problems.kernels.sum_abi import kernel_of
from burlab.run.record.recorder import COUNTERS
from burlab.runtime.coerce import Array
from burlab.runtime.dtypes import computed_in, is_narrow_float
from burlab.runtime.structs import CFused, CLoss, CLossLeaf, CPiece, CPlan, CSummand, CValidation

from .fused import FusedStep
from .lazy_step import LazyStep
from .row_buffers import mirrored
from .setup import Setup, Validation
from .shift_buffers import mirrored as mirrored_shifts
from .update import InPlace

FEED = 1 << 16  # rows that a predicate may be behind
MIN_DROPPED = 1 << 17  # bytes of zeros that are not handed over
_NARROW = ("", "float16", "bfloat16")  # the order of `Narrow` in C++


Start = list[Array | None]
"""Arrays that a run begins with, x first; None for zeros."""


def without_zeros(arrays: Sequence[Array | None]) -> Start:
    """Drop long arrays of zeros, so that memory holds them once at a time: most states of optimizers begin so."""
    return [None if x is not None and x.nbytes >= MIN_DROPPED and _is_zero(x) else x for x in arrays]


def _is_zero(x: Array) -> bool:
    """Return True if all bits are 0."""
    raw = np.ascontiguousarray(x).reshape(-1).view(np.uint8)
    whole = raw.size // 8 * 8
    return not (raw[:whole].view(np.uint64).any() or raw[whole:].any())


def plan_of(setup: Setup, start: Start | None = None) -> CPlan:
    """The plan. What the loop points to lives as long as the plan and `setup.used`.

    start: of the buffers, which are copied; None if they come from another run.
    """
    x = setup.start.leaves[0]
    ends = np.cumsum([0, *(leaf.nbytes for leaf in setup.start.leaves)]).astype(np.int64)
    hyper = np.array(list(setup.rule.hyper.values()), np.float64)
    sizes = np.array([math.prod(shape) * dtype.itemsize for shape, dtype in setup.buffers], np.int64)
    addresses = np.array([0 if array is None else array.ctypes.data for array in start or []], np.uint64)
    samples = setup.step_loss.samples
    offsets, metrics, given = samples.layout.offsets, len(samples.metrics), samples.program.summed
    leaves = _state_leaves(setup, offsets[given:])
    spent = np.array([setup.spent.get(name, 0.0) for name in setup.totals], np.float64)
    validation = None if setup.validation is None else _validation(setup.validation)
    full_gradient = None if setup.full is None else _validation(setup.full, setup.dimension)
    plan = CPlan(
        stream=setup.stream,
        threads=setup.threads,
        dtype=computed_in(x.dtype).itemsize,
        narrow=_NARROW.index(x.dtype.name) if is_narrow_float(x.dtype) else 0,
        dimension=setup.dimension,
        leaves=len(setup.start.leaves),
        places=ends.ctypes.data,
        gradient=offsets[1] if setup.loss.has_gradient else -1,
        metrics=metrics,
        measured=offsets[given - max(metrics, 1)],
        validation=None if validation is None else ctypes.addressof(validation),
        full=None if full_gradient is None else ctypes.addressof(full_gradient),
        counters=sum(1 << COUNTERS.index(name) for name in setup.counters),
        totals=len(spent),
        spent=spent.ctypes.data,
        queries=setup.queries.address,
        hypers=len(hyper),
        buffers=len(sizes),
        hyper=hyper.ctypes.data,
        numbers=0 if setup.numbers is None else setup.numbers.inputs,
        first_number=0 if setup.numbers is None else setup.numbers.first,
        loss_buffers=len(leaves),
        loss_leaf=ctypes.addressof(leaves),
        noted=len(setup.rule.schedules) + len(setup.rule.logged),
        logs_value=setup.rule.logs_value,
        logs_norm=setup.rule.logs_norm,
        start=addresses.ctypes.data if start else None,
        bytes=sizes.ctypes.data,
        history_bytes=setup.budgets[0],
        keyframe_bytes=setup.budgets[1],
        feed_rows=FEED if setup.stop.when else 0,
        criteria=setup.stop.criteria(setup.norm_column(setup.stop.of), setup.repeats),
    )
    if isinstance(setup.update, FusedStep):
        plan.loss = CLoss(samples=samples.source, regularizer=CSummand())
        plan.fused, plan.kept = _fused(setup.update)
        plan.in_place = InPlace.NO if setup.update.halves is None else InPlace.AT_ONCE
    elif isinstance(setup.update, LazyStep):
        plan.loss = CLoss(samples=setup.update.rows.samples.summand(1), regularizer=CSummand())
        plan.lazy, plan.in_place = setup.update.struct, InPlace.AT_ONCE
    else:
        plan.loss = setup.step_loss.mirror(int(setup.stream.batch))
        if setup.knows_rows:
            plan.each = samples.together
        plan.update = kernel_of(setup.update.executable)
        plan.chunk, plan.in_place = setup.update.chunk, setup.update.in_place
        rows = mirrored(setup.update.row_buffers)
        plan.row_buffers, plan.row_buffer = len(rows), ctypes.addressof(rows)
        shifts = mirrored_shifts(setup.update.shift_buffers)
        plan.shift_buffers, plan.shift_buffer = len(shifts), ctypes.addressof(shifts)
        plan.rows = rows, shifts
    if setup.size is not None:
        plan.size = kernel_of(setup.size)
    if setup.sampler is not None:
        plan.sampler = kernel_of(setup.sampler)
    if setup.output is not None:
        plan.output = kernel_of(setup.output)
    plan.held = ends, hyper, sizes, addresses, leaves, spent, validation, full_gradient
    return plan


def _state_leaves(setup: Setup, offsets: Sequence[int]) -> "ctypes.Array[CLossLeaf]":
    """Return where C++ finds the leaves of the new state. offsets: of the outputs of the loss that they are."""
    found, places = list[CLossLeaf](), iter(offsets)
    for (shape, dtype), rows in zip(setup.loss_state_forms, setup.state_rows, strict=True):
        numbers = next(places) if rows else 0
        size = math.prod(shape[1:]) * dtype.itemsize
        found.append(CLossLeaf(place=next(places), rows=rows, numbers=numbers, size=size))
    return (CLossLeaf * len(found))(*found)


def _fused(step: FusedStep) -> tuple[CFused, tuple[object, ...]]:
    """Return the mirror of a step as one kernel or two, and what it points to."""
    table = (CPiece * len(step.pieces))(*(CPiece(buffer=c, offset=at) for c, at in step.pieces))
    fused = CFused(kernel=kernel_of(step.executable), pieces=len(table), table=ctypes.addressof(table))
    if step.halves is None:
        return fused, (table,)
    cuts = np.array(step.halves.cuts, np.int64)
    fused.second, fused.cuts, fused.cut_bytes = kernel_of(step.halves.second), len(cuts), cuts.ctypes.data
    return fused, (table, cuts)


def _validation(validation: Validation, dimension: int = 0) -> CValidation:
    """dimension: of its gradient; 0: it returns a value."""
    loss = validation.loss.mirror(int(validation.stream.batch))
    return CValidation(
        loss=loss, stream=validation.stream, threads=validation.threads, every=validation.every, dimension=dimension
    )
