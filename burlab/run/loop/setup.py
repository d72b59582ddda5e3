"""The setup of a family of loops: a loss, a rule, the batches, budgets."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from burlab.compiler.executable import Executable, build
from burlab.errors import IndexRangeError
from burlab.graph import Graph, tree
from burlab.graph.tracing.function_structure import Weak
from burlab.graph.tracing.trace_cache import TraceCache
from burlab.optim.batches import ROWS
from burlab.optim.number_formats import Formats
from burlab.optim.rule import Form, UpdateRule
from burlab.problems.kernels.loss import Loss
from burlab.problems.kernels.loss_state import StateForm
from burlab.problems.kernels.query_kernels import KernelSource, QueryKernels, counter_of
from burlab.problems.kernels.sum_abi import FULL_GRADIENT, VALIDATION, Part, answer_of
from burlab.problems.point import Point
from burlab.problems.sampling import Stream, is_full
from burlab.problems.trainable import Trainable
from burlab.run.record.gradient_norms import FULL_NORM, column_of
from burlab.run.record.recorder import BITS, COUNTERS, SAMPLES
from burlab.run.record.stop import Stop
from burlab.runtime.coerce import Array
from burlab.runtime.structs import COutcome

from .fused import FusedStep
from .lazy_step import LazyStep
from .update import Update, update_of

_BUILT = TraceCache[Executable](lambda executable: [executable.graph])  # by graphs, which runs share


def _built(graph: Graph) -> Executable:
    found = _BUILT.find(Weak(graph))
    if found is None:
        found = build(graph)
        _BUILT.put(Weak(graph), found)
    return found


class NumbersOfLoss(NamedTuple):
    """Inputs of losses besides x and samples.

    first, named: the places of hyperparameters among those of the run. reads_step: whether a loss reads t. state: the
    form of the state of the loss.
    """

    first: int
    named: int
    reads_step: bool
    state: StateForm | None = None

    @property
    def inputs(self) -> int:
        """The number of inputs of a loss that they are: hyperparameters, t, the state."""
        return self.named + 1 + len(self.state_forms)

    @property
    def state_forms(self) -> tuple[Form, ...]:
        """Shapes and dtypes of the leaves of the state."""
        return () if self.state is None else self.state.leaves

    def start(self, hyper: Mapping[str, float], state: Sequence[Array] = ()) -> Point:
        """Return these inputs at step 0. hyper: all hyperparameters."""
        return self.point([*list(hyper.values())[self.first : self.first + self.named], 0], state)

    def point(self, values: Sequence[float], state: Sequence[Array]) -> Point:
        """Return these inputs. values: of the hyperparameters, and t. state: its leaves."""
        *numbers, step = values
        leaves = [*(np.array(number, np.float64) for number in numbers), np.array(step, np.int64), *state]
        return Point(leaves, tree.flatten(tuple(leaves))[1])


@dataclass(frozen=True)
class Validation:
    """A second loss that is evaluated every `every` steps: of a validation problem, or the full gradient of the first.

    loss: with the value alone for a validation problem, with the gradient alone for its norm.
    """

    loss: Loss
    stream: Stream
    threads: int
    every: int

    def error(self, outcome: COutcome, where: str = "In the validation problem.") -> Exception:
        """Return the exception of a failed validation."""
        error = self.loss.error(outcome, int(self.stream.batch))
        error.add_note(where)
        return error


@dataclass(frozen=True)
class Setup:
    """The values that all loops of a family of forks share.

    loss: with gradients; a fused step needs none of its kernels. budgets: bytes for history and snapshots.
    """

    loss: Loss
    update: Update | FusedStep | LazyStep
    rule: UpdateRule
    queries: QueryKernels
    start: Point
    stream: Stream
    threads: int
    stop: Stop
    budgets: tuple[int, int]
    validation: Validation | None = None
    output: Executable | None = None  # the point that the optimizer gives, where it is not x
    spent: Mapping[str, int] = field(default_factory=dict[str, int])  # before the first step, by counters
    part: Trainable | None = None  # of x that is trained, where it is not all of it
    full: Validation | None = None  # the full gradient, whose norm is written down
    size: Executable | None = None  # how many samples a step has, where that varies
    sampler: Executable | None = None  # names the samples of a step, where a function of the user's does
    numbers: NumbersOfLoss | None = None  # that the losses read
    formats: Formats | None = None  # that loss and update round to

    @cached_property
    def step_loss(self) -> Loss:
        """The loss as steps evaluate it: of tables in its state it gives the rows that a step writes."""
        return self._by_rows[0]

    @property
    def state_rows(self) -> tuple[int, ...]:
        """Rows that a step writes in each leaf of the state of the loss; 0 for a leaf that it gives as a whole."""
        return self._by_rows[1]

    @cached_property
    def _by_rows(self) -> tuple[Loss, tuple[int, ...]]:
        alone = self.stream.batch == 1 or self.loss.samples.program.batch > 0
        if not self.loss_state_forms or not alone:
            return self.loss, (0,) * len(self.loss_state_forms)
        samples, rows = self.loss.samples.by_rows()
        return (Loss(samples, self.loss.regularizer), rows) if any(rows) else (self.loss, rows)

    @staticmethod
    def of(  # noqa: PLR0913 - what a run consists of
        loss: Loss,
        rule: UpdateRule,
        oracle: KernelSource,
        start: Point,
        stream: Stream,
        *,
        threads: int,
        stop: Stop,
        budgets: tuple[int, int],
        validation: Validation | None,
        spent: Mapping[str, int],
        part: Trainable | None = None,
        drawn: KernelSource | None = None,
        full: Validation | None = None,
        numbers: NumbersOfLoss | None = None,
        formats: Formats | None = None,
    ) -> "Setup":
        """Return a setup whose update and queries are compiled. drawn: the source for the batches, if not `oracle`."""
        inputs = 0 if numbers is None else numbers.inputs
        queries = QueryKernels(oracle, start.computed, rule.queries, stream, drawn or oracle, threads, inputs)
        update = update_of(rule, loss, start, int(stream.batch), threads, queries.only_gradient)
        output = None if rule.output is None else _built(rule.output)
        if stream.varies:
            loss.vary(int(stream.batch))
        return Setup(
            loss,
            update,
            rule,
            queries,
            start,
            stream,
            threads,
            stop,
            budgets,
            validation,
            output,
            spent,
            part,
            full,
            None if rule.size is None else _built(rule.size),
            None if stream.graph is None else _built(stream.graph),
            numbers,
            formats,
        )

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """The columns of the record."""
        seen = () if self.validation is None else ("validation_value",)
        seen = seen if self.full is None else (*seen, FULL_NORM)
        extra = (*self.loss.samples.metrics, *seen, *self.rule.schedules, *self.rule.columns, *self.counters)
        return ("value", "gradient_norm", "step_norm", *extra)

    @cached_property
    def counters(self) -> tuple[str, ...]:
        """The counters among the columns: of queries of the update, and of costs before the first step."""
        counted = {counter_of(question.name) for question in self.queries.questions}
        counted |= set() if self.loss.has_gradient else {SAMPLES, "values"}
        counted |= set() if self.full is None and self.size is None else {SAMPLES}
        counted |= {SAMPLES} if self.rule.lazy is not None and self.rule.lazy.refresh else set()
        return tuple(name for name in COUNTERS if name in counted or self.spent.get(name))

    @property
    def totals(self) -> tuple[str, ...]:
        """The last columns, which are added up."""
        return (*((BITS,) if BITS in self.rule.logged else ()), *self.counters)

    @property
    def used(self) -> tuple[object, ...]:
        """The objects that C++ points to while a loop is open. None of them leads to functions of a user."""
        validation = self.validation
        second = None if validation is None else validation.loss
        full = None if self.full is None else self.full.loss
        own = self.loss, self.step_loss
        return (*own, self.update, self.queries, second, full, self.output, self.size, self.sampler, self.stream)

    @property
    def knows_norm(self) -> bool:
        """Return True if a row has the norm of its step's gradient."""
        return self.loss.has_gradient or self.rule.logs_norm

    def norm_column(self, of: str) -> int:
        """The column of the record that holds a norm: see `Stop.of`. Raises ArgumentError if there is none."""
        return column_of(of, self.columns, self.loss.has_gradient and self.output is None and is_full(self.stream))

    @property
    def is_exact(self) -> bool:
        """Return True if the value of a row is that of the function at `run.x`."""
        rule, samples = self.rule, self.loss.samples
        return self.takes_all and self.output is None and not rule.logs_value and not samples.keyed

    @property
    def takes_all(self) -> bool:
        """Return True if the value of a row is of all samples, without randomness."""
        return is_full(self.stream) and not self.loss.samples.keyed

    @property
    def repeats(self) -> bool:
        """Return True if a step that changes neither x nor the state repeats for ever."""
        return is_full(self.stream) and self.rule.repeats and not (self.numbers and self.numbers.reads_step)

    @property
    def needs_remote(self) -> bool:
        """Return True if only clients in other processes know the value of a step."""
        return self.rule.logs_value and self.queries.is_remote

    @property
    def knows_rows(self) -> bool:
        """Return True if a step computes gradients sample by sample, because the update reads them."""
        return ROWS in self.rule.queries and self.loss.has_gradient and not self.loss_state_forms

    @property
    def batch_of_kernels(self) -> int:
        """Samples of one evaluation of the loss in a step: its batch, or one after another."""
        return 1 if self.knows_rows else int(self.stream.batch)

    @property
    def executables(self) -> list[Executable]:
        """The kernels of a step in order, without queries; output, size and sampler last."""
        update = self.update
        step = (
            (*self.step_loss.executables(self.batch_of_kernels), update.executable)
            if isinstance(update, Update)
            else update.executables
        )
        return [
            *step,
            *(one for one in (self.output, self.size, self.sampler) if one is not None),
        ]

    @property
    def dimension(self) -> int:
        """Entries of x."""
        return sum(leaf.size for leaf in self.start.leaves)

    @property
    def buffers(self) -> list[tuple[tuple[int, ...], "np.dtype[Any]"]]:
        """Shapes and dtypes of x, the leaves of the optimizer's state, and those of the state of the loss."""
        return [((self.dimension,), self.start.leaves[0].dtype), *self.rule.state, *self.loss_state_forms]

    @property
    def loss_state_forms(self) -> tuple[Form, ...]:
        """Shapes and dtypes of the leaves of the state of the loss."""
        return () if self.numbers is None else self.numbers.state_forms

    @property
    def loss_state_start(self) -> tuple[Array, ...]:
        """The leaves of the state of the loss at step 0."""
        known = self.loss.samples.numbers
        return known[len(known) - len(self.loss_state_forms) :]

    def error(self, outcome: COutcome) -> Exception:
        """Return the exception of a failed step."""
        own = {Part.OUTPUT: self.output, Part.SIZE: self.size, Part.SAMPLER: self.sampler}
        if (failing := own.get(outcome.part)) is not None:
            return failing.error(answer_of(outcome))
        if outcome.part == Part.DRAWN:
            return IndexRangeError(
                f"sampler gave {outcome.sample}, but there are {self.stream.samples} samples: use 0 to "
                f"{self.stream.samples - 1}."
            )
        if outcome.part == Part.ROW and self.numbers is not None and self.numbers.state is not None:
            samples, leaf = self.loss.samples, int(outcome.node)
            return self.numbers.state.no_row(leaf, outcome.sample, samples.graph.outputs[samples.program.summed + leaf])
        if self.validation is not None and outcome.owner == VALIDATION:
            return self.validation.error(outcome)
        if self.full is not None and outcome.owner == FULL_GRADIENT:
            return self.full.error(outcome, "In the full gradient that the run stops by.")
        if (error := self.queries.error(outcome)) is not None:
            return error
        if isinstance(self.update, LazyStep):
            return self.update.rows.samples.error(outcome)
        if isinstance(self.update, FusedStep):
            failed, sampled = self.update.executable.error(answer_of(outcome)), self.update.sees_sample(outcome.node)
            return self.loss.samples.with_sample(failed, outcome.sample) if sampled else failed
        if outcome.part == Part.UPDATE:
            return self.update.executable.error(answer_of(outcome))
        return self.step_loss.error(outcome, self.batch_of_kernels)
