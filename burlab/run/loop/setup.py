"""What a family of loops opens from: kernels, a rule, the batches, budgets; and that as the plan of C++."""

import ctypes
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from burlab.compiler.executable import Executable
from burlab.optim.rule import Rule
from burlab.problems.kernels.abi import CKernel, Summand
from burlab.problems.kernels.queries import Asked
from burlab.problems.kernels.sample_kernel import SampleKernel
from burlab.problems.point import Array, Point
from burlab.problems.sampling import Stream
from burlab.run.record.stop import Stop

from .abi import CValidation, Fused, Plan
from .fused import FusedStep
from .update import Update

_FEED = 1 << 16  # rows that a predicate may be behind
_IN_REGULARIZER = -2  # in place of a sample
_IN_VALIDATION = 15  # above the low 48 bits of a status


@dataclass(frozen=True)
class Validation:
    """A second problem, whose value is written down at every `every` steps; samples, once: with the value alone."""

    samples: SampleKernel
    once: SampleKernel | None
    stream: Stream
    threads: int
    every: int

    @property
    def mirror(self) -> Any:
        """For C++."""
        once = self.once.summand(1) if self.once else Summand()
        batch = int(self.stream.batch)
        return ctypes.pointer(CValidation(self.samples.summand(batch), once, self.stream, self.threads, self.every))

    def error(self, status: int, sample: int) -> Exception | None:
        """The exception for an outcome of a step, if it was here that it failed."""
        if status >> 48 != _IN_VALIDATION:
            return None
        of_samples = sample >= 0 or self.once is None
        kernel: Any = self.samples if of_samples else self.once
        batch = int(self.stream.batch) if of_samples else 1
        error = kernel.error(status & ((1 << 48) - 1), sample, batch)
        error.add_note("In the validation problem.")
        return error


@dataclass(frozen=True)
class Setup:
    """What every loop of a family of forks opens from.

    samples, once: the loss of one sample and the regularizer, with gradients; a fused step needs none of their kernels.
    budgets: bytes for history and snapshots.
    """

    samples: SampleKernel
    once: SampleKernel | None
    update: Update | FusedStep
    rule: Rule
    asked: Asked
    start: Point
    stream: Stream
    threads: int
    stop: Stop
    budgets: tuple[int, int]
    validation: Validation | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        """What the record stores."""
        validated = () if self.validation is None else ("validation_value",)
        return ("value", "gradient_norm", "step_norm", *self.samples.metrics, *validated, *self.rule.schedules)

    @property
    def used(self) -> tuple[object, ...]:
        """What C++ points to while a loop is open, and no more: nothing here leads to functions of a user."""
        validation = self.validation
        checks = () if validation is None else (validation.samples, validation.once)
        return (self.samples, self.once, self.update, self.asked, *checks)

    @property
    def executables(self) -> list[Executable]:
        """What a step runs, in the order in which it does, besides what the update asks."""
        if isinstance(self.update, FusedStep):
            return [self.update.executable]
        once = [] if self.once is None else [self.once.executable]
        return [*self.samples.kernels(int(self.stream.batch)).values(), *once, self.update.executable]

    @property
    def dimension(self) -> int:
        """Entries of x."""
        return sum(leaf.size for leaf in self.start.leaves)

    @property
    def cells(self) -> list[tuple[tuple[int, ...], "np.dtype[Any]"]]:
        """Shapes and dtypes of x and the leaves of the state."""
        return [((self.dimension,), self.start.leaves[0].dtype), *self.rule.state]

    def open(self, start: list[Array] | None, act: Callable[[Any], Any]) -> Any:
        """Call act(pointer to the plan). start: of the cells, which are copied; None if they come from another run."""
        ends = np.cumsum([0, *(leaf.nbytes for leaf in self.start.leaves)]).astype(np.int64)
        hyper = np.array(list(self.rule.hyper.values()), np.float64)
        sizes = np.array([math.prod(shape) * dtype.itemsize for shape, dtype in self.cells], np.int64)
        addresses = np.array([cell.ctypes.data for cell in start or []], np.uint64)
        offsets, metrics = self.samples.layout.offsets, len(self.samples.metrics)
        plan = Plan(
            *self._parts[:2], self.stream, self.threads,
            self.cells[0][1] == np.float64, self.dimension, len(self.start.leaves), ends.ctypes.data,
            offsets[1], metrics, offsets[len(offsets) - max(metrics, 1)],
            self.validation and self.validation.mirror, *self._parts[2:],
            self.asked.address,
            len(hyper), len(sizes), hyper.ctypes.data, len(self.rule.schedules),
            addresses.ctypes.data if start else None, sizes.ctypes.data,
            *self.budgets, _FEED if self.stop.when else 0, self.stop.criteria,
        )  # fmt: skip
        return act(ctypes.pointer(plan))

    @property
    def _parts(self) -> tuple[Summand, Summand, CKernel, Fused, int]:
        """What a step runs, for C++: loss and regularizer, update, all of these in one, the stretch of an update."""
        update = self.update
        if isinstance(update, FusedStep):
            return self.samples.source, Summand(), CKernel(), update.mirror, 0
        samples, once = self.samples.summand(int(self.stream.batch)), self.once.summand(1) if self.once else Summand()
        return samples, once, CKernel.of(update.executable), Fused(), update.stretch

    def error(self, status: int, sample: int) -> Exception:
        """The exception for how a step ended, if not well. sample: -1 where it was not in the loss."""
        error = self.asked.error(status, sample)
        if error is None and self.validation is not None:
            error = self.validation.error(status, sample)
        if error is not None:
            return error
        if isinstance(self.update, FusedStep):
            failed = self.update.executable.error(status)
            return self.samples.with_sample(failed, sample) if self.update.sees_sample(status) else failed
        if sample < 0:
            part = self.once if self.once is not None and sample == _IN_REGULARIZER else self.update
            return part.executable.error(status)
        return self.samples.error(status, sample, int(self.stream.batch))
