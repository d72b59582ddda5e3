"""A loss, compiled: the kernel of its samples, and that of the regularizer, which is added once."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from burlab.compiler.executable import Executable
from burlab.graph import tree
from burlab.graph.executions import work_of
from burlab.problems.point import Point
from burlab.problems.sampling import Stream, full
from burlab.runtime.coerce import Array
from burlab.runtime.structs import CLoss, COutcome, CSummand
from burlab.runtime.thread_limit import most_threads
from burlab.typing import Key

from .sample_kernel import SampleKernel
from .sum_abi import Part
from .tiling import Tiling

_MIN_SHARED_WORK = 1 << 20  # elements of work, some hundred microseconds


@dataclass(frozen=True, eq=False)
class Loss:
    """The kernels of a query: the mean over samples, plus the regularizer if there is one.

    Both kernels have the same outputs, a tuple of trees of floats. Without data `samples` is a plain function.
    """

    samples: SampleKernel
    regularizer: SampleKernel | None
    _on_threads: dict[int, "Loss"] = field(default_factory=dict[int, "Loss"], init=False, repr=False)

    def on(self, threads: int) -> "Loss":
        """Return the kernels for a sum on so many threads, with the same bits."""
        most = min(threads, most_threads())
        if most in (1, self.samples.options.threads):
            return self
        if most not in self._on_threads:
            self._on_threads.setdefault(most, Loss(self.samples.on(most), self.regularizer))
        return self._on_threads[most]

    @cached_property
    def reading(self) -> "Loss":
        """The same for evaluations: of a loss with a state the value alone, which any batch has."""
        if not self.samples.program.state:
            return self
        return Loss(self.samples.value_alone(), self.regularizer and self.regularizer.value_alone())

    def gains(self, batch: int) -> bool:
        """Return True if a sum over a batch takes so long that several threads are worth it."""
        calls = 1 if self.samples.program.batch else batch
        return calls * work_of(self.samples.graph) >= _MIN_SHARED_WORK

    @property
    def tilings(self) -> dict[int, Tiling]:
        """The tiles chosen so far, by number of samples of a batch."""
        others = (loss.tilings for loss in list(self._on_threads.values()))
        return {batch: tiling for one in (self.samples.tilings, *others) for batch, tiling in list(one.items())}

    def mean(
        self,
        shared: Sequence[Point],
        stream: Stream,
        key: Key | None,
        threads: int,
        between: Callable[[], None] | None = None,
    ) -> Any:
        """Return the answer over a batch. shared: the arguments that samples share. between: as SampleKernel.mean."""
        fixed = [leaf for point in shared for leaf in point.leaves]
        result = self.samples.mean(fixed, stream, key, threads, between)
        if self.regularizer is not None:
            term = self.regularizer.mean(fixed, full(1), (0, 0), 1)
            for total, more in zip(tree.flatten(result)[0], tree.flatten(term)[0], strict=True):
                np.add(total, more, out=total, casting="same_kind")
        return result

    @property
    def has_gradient(self) -> bool:
        """Return True if it computes more than a value."""
        return sum(self.samples.groups[1:2]) > 0

    def measure(self, batch: int, fixed: Sequence[Array]) -> None:
        """Choose the tiles for a batch: see `SampleKernel.measure`."""
        self.samples.measure(batch, fixed)

    def vary(self, batch: int) -> None:
        """Prepare the kernels of a batch for smaller ones."""
        if batch > 1:
            self.samples.program.tile(batch).vary()

    def executables(self, batch: int) -> list[Executable]:
        """Return the kernels of a batch, in the order in which they run."""
        regularizer = [] if self.regularizer is None else [self.regularizer.executable]
        return [*self.samples.kernels(batch).values(), *regularizer]

    def mirror(self, batch: int) -> CLoss:
        """Return the struct for C++, valid as long as this."""
        regularizer = self.regularizer.summand(1) if self.regularizer else CSummand()
        return CLoss(samples=self.samples.summand(batch), regularizer=regularizer)

    def error(self, outcome: COutcome, batch: int) -> Exception:
        """The exception for an outcome, not OK, of an evaluation over a batch."""
        if outcome.part == Part.REGULARIZER and self.regularizer is not None:
            return self.regularizer.error(outcome)
        return self.samples.error(outcome, batch)
