"""The queries about a sum of losses: each query is a traced function of one sample, compiled at first use."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from types import NoneType
from typing import Any, NamedTuple

import numpy as np

from burlab.errors import ArgumentError
from burlab.graph import Graph, tree
from burlab.graph.executions import work_of
from burlab.graph.query import TARGET_QUERIES
from burlab.graph.tracing.function_structure import Structure
from burlab.graph.tracing.trace import trace
from burlab.graph.tracing.trace_cache import TraceCache, structure_outside
from burlab.optim.batches import PairedRows
from burlab.problems.data import Data
from burlab.problems.point import Point
from burlab.problems.sampling import Stream
from burlab.problems.trainable import Trainable
from burlab.runtime.checks.numbers import flag, shown
from burlab.runtime.coerce import Array
from burlab.typing import Key

from .batch_program import BatchProgram
from .client_queries import ClientKeepers, RemoteClients
from .direct import Directs
from .loss import Loss
from .loss_functions import first, measured, own, takes_key, weighted, with_zeros
from .loss_numbers import LossNumbers
from .loss_state import LossState
from .part_losses import PartLosses
from .product_jacobian import ProductJacobian
from .product_loss import ProductSource
from .product_parts import product_parts
from .query_programs import PROGRAMS, Programs, form_of, hashable_options, samples_form
from .query_rules import QUERY_RULES, STATEFUL, value_alone
from .robust_loss import RobustLoss
from .sample_kernel import SampleKernel
from .sample_program import SampleProgram
from .sparse_gradients import factors
from .targets import Targets, plain, tables_of, with_goals
from .tiles import DEFAULT_OPTIONS, HEAVY, KernelOptions, least_of
from .tiling import Tiling

Function = Callable[..., Any]

QUERY_WORK_RATIO = 16  # work of the heaviest query over that of the loss


class _Given(NamedTuple):
    loss: Function
    data: Data
    regularizer: Function | None
    has_aux: bool
    options: KernelOptions
    clients: tuple[int, ...]
    keepers: ClientKeepers | None
    resampled: Function | None
    targets: Targets | None
    batch: int | None
    numbers: LossNumbers | None
    parts: PartLosses | None

    @property
    def functions(self) -> tuple[Any, ...]:
        """All that kernels are traced from."""
        schedules = () if self.numbers is None else self.numbers.schedules
        return self.loss, self.regularizer, self.resampled, self.targets, self.parts, *schedules


_TARGET_SIZES = TraceCache[int](lambda _: ())


class Oracle:
    """A loss, the samples it is averaged over, the regularizer that is added once; without data: a plain function."""

    def __init__(  # noqa: PLR0913, PLR0917 - what a problem consists of
        self,
        loss: Function,
        data: Data,
        regularizer: Function | None = None,
        has_aux: bool = False,
        options: KernelOptions = DEFAULT_OPTIONS,
        clients: tuple[int, ...] = (),
        keepers: ClientKeepers | None = None,
        resampled: Function | None = None,
        targets: Targets | None = None,
        batch: int | None = None,
        numbers: LossNumbers | None = None,
        parts: PartLosses | None = None,
    ) -> None:
        """has_aux: the loss returns (value, metrics); "measured" and "measured_value" then return both.

        With a state among the numbers it returns (value, state), or (value, state, metrics); "stateful" and
        "stateful_value" return all.

        options: of the kernels. clients: number of samples of each client of a federation. keepers: the remote clients.
        resampled: the loss with a label that the model draws, by the sample's key. targets: the parts of the loss.
        batch: None for a loss of one sample, which is averaged; of a loss of a batch the size, 0 for any (`of_batch`).
        numbers: what its functions read besides x and a sample. parts: losses of the parts of x.
        """
        has_aux = flag(has_aux, "has_aux")
        typed: tuple[tuple[str, object, type], ...] = (("numbers", numbers, LossNumbers), ("parts", parts, PartLosses))
        for name, given, kind in typed:
            if not isinstance(given, (kind, NoneType)):  # pyright: ignore[reportUnnecessaryIsInstance] - users pass anything
                raise ArgumentError(f"{name} of an Oracle is {shown(given)}, expected {kind.__name__} or None.")
        made_of = loss, data, regularizer, has_aux, options, clients, keepers, resampled, targets, batch, numbers
        self._given = _Given(*made_of, parts)
        self.batch = batch
        self.clients = clients
        self.keepers = keepers
        self.options = options
        takes, term = ((), ()) if numbers is None else (numbers.loss, numbers.regularizer)
        self.numbers = numbers
        self.start_numbers = () if numbers is None else (numbers.point(),)
        whole = own(loss)
        parts_of = None if self.state is None else self.state.parts(whole, has_aux)
        self._stateful = None if parts_of is None else self._bind(parts_of, takes)
        self.loss = self._bind(first(parts_of or whole) if has_aux or parts_of else whole, takes)
        self._measured = self._bind(measured(parts_of) if parts_of else whole, takes) if has_aux else None
        self.data = data
        self.regularizer = None if regularizer is None else self._bind(own(regularizer), term)
        self.keyed = takes_key(loss)
        self._losses: dict[Any, Loss] = {}
        self._structure: Structure | None = None  # of all that the functions are, when kernels were last sought
        self._of_digits: dict[Any, Oracle] = {}
        self._of_batches: dict[int, Oracle] = {}
        self._products: dict[Any, ProductSource] = {}
        self._jacobians: dict[Any, ProductJacobian | None] = {}
        self.directs = Directs()

    def __reduce__(self) -> Any:
        """Copy and pickle the arguments only: compiled kernels point into memory of C++."""
        return Oracle, tuple(self._given)

    def of_clients(self, sizes: tuple[int, ...], keepers: ClientKeepers | None) -> "Oracle":
        """Return the oracle with samples that belong to clients."""
        return Oracle(*self._given._replace(clients=sizes, keepers=keepers))

    def with_numbers(self, numbers: LossNumbers) -> "Oracle":
        """Return the oracle whose functions read other numbers."""
        return Oracle(*self._given._replace(numbers=numbers))

    def with_losses(self, change: Callable[[Function], Function]) -> "Oracle":
        """Return the oracle with other functions in place of loss, regularizer and model."""
        loss, targets = self._given.loss, self._given.targets
        if targets is not None:
            if targets.robust is not None or targets.paired is not None:
                raise ArgumentError("formats with compute= are for losses, expected no residuals. Leave compute out.")
            targets = replace(targets, model=change(targets.model), loss=change(targets.loss))
            loss = targets.whole
        regularizer, resampled = (g and change(g) for g in (self._given.regularizer, self._given.resampled))
        parts = self._given.parts and self._given.parts.map(change)
        changed = loss if targets is not None else change(loss)
        return Oracle(
            *self._given._replace(
                loss=changed, regularizer=regularizer, resampled=resampled, targets=targets, parts=parts
            )
        )

    def over(self, data: Data) -> "Oracle":
        """Return the oracle over other samples, without clients."""
        return Oracle(*self._given._replace(data=data, clients=(), keepers=None))

    def remote(self, point: Point) -> RemoteClients | None:
        """Return the clients that are not in this process. point: x."""
        return None if self.keepers is None else self.keepers.session(self, point)

    def weighted(self, weights: Array) -> "Oracle":
        """Return the oracle with weights of samples, shape (n,), of x's dtype."""
        data, own = self._given.data.with_array(weights), self._given.resampled
        loss, resampled = weighted(self._given.loss), None if own is None else weighted(own)
        targets = self._given.targets and replace(self._given.targets, weighted=True)
        parts = self._given.parts and self._given.parts.map(weighted)
        return Oracle(*self._given._replace(loss=loss, data=data, resampled=resampled, targets=targets, parts=parts))

    def of_batch(self, size: int) -> "Oracle":
        """Return the oracle for batches of a size: another one for each size, where a loss sees whole batches."""
        if self.batch in (None, size):
            return self
        if size not in self._of_batches:
            self._of_batches.setdefault(size, Oracle(*self._given._replace(batch=size)))
        return self._of_batches[size]

    def of_trained(self, part: Trainable) -> "Oracle":
        """Return the oracle as a function of the trained part of x."""
        given = self._given
        loss, *others = (None if f is None else part.bound(f) for f in (given.loss, given.regularizer, given.resampled))
        targets = given.targets and replace(given.targets, model=part.bound(given.targets.model))
        parts = given.parts and given.parts.map(part.bound)
        own = given._replace(loss=loss or given.loss, regularizer=others[0], resampled=others[1])
        return Oracle(*own._replace(targets=targets, parts=parts))

    def of_digits(self, part: Trainable) -> "Oracle":
        """Return the oracle at points of this form, of which nothing is constant: made once for each form."""
        form = part.whole, part.kinds
        if form not in self._of_digits:
            self._of_digits[form] = self.of_trained(part)
        return self._of_digits[form]

    def of_residuals(self, robust: RobustLoss, paired: Function | None) -> "Oracle":
        """Return the oracle of a loss whose targets are residuals. paired: as for `Targets`."""
        parts = self._given.targets
        return Oracle(*self._given._replace(targets=parts and replace(parts, robust=robust, paired=paired)))

    def of_parts(self, parts: PartLosses) -> "Oracle":
        """Return the oracle with losses of the parts of x."""
        return Oracle(*self._given._replace(parts=parts))

    @property
    def part_names(self) -> tuple[str, ...]:
        """The parts of x that have losses of their own."""
        return () if self._given.parts is None else self._given.parts.names

    def tables(self, point: Point) -> PairedRows | None:
        """Return the two tables of unknowns that residuals are of, if they are. point: x."""
        if self._given.targets is None or self._given.targets.paired is None:
            return None
        shapes = [(len(leaf), leaf.size // len(leaf)) for leaf in tables_of(point.leaves)]
        first, second = (np.asarray(numbers, np.int64) for numbers in self.data.arrays[:2])
        return PairedRows(first, second, shapes[0], shapes[1])

    def target_size(self, point: Point) -> int:
        """Return the size of the model's output for a sample; 0 for a loss without parts."""
        parts = self._given.targets
        if parts is None:
            return 0
        if self._structure is None:
            self._structure = structure_outside(self._given.functions)
        key = form_of([point]), samples_form(self.data)
        functions, structure = self._given.functions, self._structure
        return _TARGET_SIZES.traced(key, functions, structure, lambda: parts.size(point, self.data))

    def refresh(self) -> None:
        """Forget all kernels if what the functions read from around themselves has changed."""
        structure = structure_outside(self._given.functions)
        if structure != self._structure:
            self._structure, self._losses, self.directs = structure, {}, Directs()
            self._of_batches, self._products, self._jacobians = {}, {}, {}

    def kernels(self, query: str, shared: Sequence[Point]) -> Loss:
        """Return the kernels of a query. shared: x, and its other arguments."""
        form = query, form_of(shared)
        if form not in self._losses:
            self._losses.setdefault(form, self._found(form, query, shared))  # concurrent threads get the same
        return self._losses[form]

    def products(self, point: Point) -> ProductSource | None:
        """Return the source of the parts of a loss of products with sparse rows; None for other data."""
        if not self.data.wholes or self.keyed or self.clients or self.numbers is not None:
            return None
        form, parts = form_of([point]), (self.loss, self.regularizer, self.data)
        return self._products.get(form) or self._products.setdefault(form, ProductSource(*parts, point))

    def sparse_jacobian(self, point: Point) -> ProductJacobian | None:
        """Return the Jacobian of targets that are made of products with sparse rows; None for others."""
        form, targets = form_of([point]), self._given.targets
        if targets is None or self.keyed or not self.data.wholes:
            return None
        if form not in self._jacobians:
            parts = product_parts(targets.vector, self.data, point)
            self._jacobians.setdefault(form, parts and ProductJacobian(parts))
        return self._jacobians[form]

    def factors(self, shared: Sequence[Point]) -> SampleKernel:
        """Return the kernel of the numbers by which rows of sparse data are multiplied in gradients of samples."""
        form = "factors", form_of(shared)
        if form not in self._losses:
            self._losses.setdefault(form, Loss(factors(self.kernels("grad", shared).samples), None))
        return self._losses[form].samples

    def _found(self, form: Any, query: str, shared: Sequence[Point]) -> Loss:
        """Return the kernels of a query, with the programs of an equal loss where there are some."""
        if self._structure is None:
            self._structure = structure_outside(self._given.functions)
        data = self.data
        if query == "surrogate":
            data = with_goals(data, self.target_size(shared[0]), shared[0].leaves[0].dtype)
        numbers = self.numbers and self.numbers.form
        key = form, samples_form(data), self.batch, self.keyed, self.has_aux, numbers, *hashable_options(self.options)
        programs = PROGRAMS.traced(
            key, self._given.functions, self._structure, lambda: self._traced(query, shared, data)
        )
        known = tuple(leaf for point in self.start_numbers for leaf in point.leaves)
        regularizer = programs.regularizer and SampleKernel(programs.regularizer, Data.none(), known)
        return Loss(SampleKernel(programs.samples, data, known), regularizer)

    def _traced(self, query: str, shared: Sequence[Point], data: Data) -> Programs:
        if query in (*TARGET_QUERIES, "jacobian") and self._given.targets is not None:
            return self._of_targets(query, self._given.targets, shared, data)
        trees = [*(p.tree for p in shared), *self._inputs]

        def least(graph: Graph) -> int:
            return least_of(self._work(query, graph, trees[0]))

        if query.startswith("part_") and self._given.parts is not None:
            rule = self._given.parts.rule(query)
            return Programs(SampleProgram.trace(rule, trees, data, self.keyed, least, self.options))
        rule = QUERY_RULES[query]
        if query == "resampled_grad":  # the curvature of the loss alone
            return Programs(
                SampleProgram.trace(partial(rule, self._resampled()), trees, data, True, least, self.options)
            )
        regularizer = None if query == "link_grads" else self.regularizer  # links that are missing have weight 0
        measures = query in ("measured", "measured_value", *STATEFUL)
        loss = self._measured if measures and self._measured is not None else self.loss
        if query in STATEFUL and self._stateful is not None:
            loss = self._stateful
        if self.batch is None:
            samples = SampleProgram.trace(partial(rule, loss), trees, data, self.keyed, least, self.options)
        else:
            samples = BatchProgram.traced(partial(rule, loss), trees, data, self.batch, self.keyed, self.options)
        if regularizer is None:
            return Programs(samples)
        other = with_zeros(regularizer, samples.metrics) if measures else regularizer
        added = QUERY_RULES[STATEFUL.get(query, query)]  # of which a state is no part
        return Programs(samples, SampleProgram.trace(partial(added, other), trees, Data.none(), False))

    def _of_targets(self, query: str, parts: Targets, shared: Sequence[Point], data: Data) -> Programs:
        """Return the kernels of the queries about targets of samples."""
        trees = [p.tree for p in shared]
        if query in ("residuals_and_jacobian", "jacobian"):
            rule = parts.jacobian if query == "jacobian" else parts.residuals_and_jacobian
            return Programs(SampleProgram.trace(rule, trees, data, self.keyed, options=self.options))
        if query == "targets":
            loss = first(parts.loss) if self.has_aux else parts.loss
            return Programs(
                SampleProgram.trace(partial(parts.row, loss), trees, data, self.keyed, options=self.options)
            )

        def least(graph: Graph) -> int:
            return least_of(work_of(graph))

        samples = SampleProgram.trace(parts.surrogate, trees, data, self.keyed, least, self.options, placed=1)
        if self.regularizer is None:
            return Programs(samples)
        return Programs(samples, SampleProgram.trace(partial(plain, self.regularizer), trees, Data.none(), False))

    def _resampled(self) -> Function:
        """Return the loss with labels that the model draws. Raises ArgumentError for a problem without one."""
        if self._given.resampled is None:
            raise ArgumentError(
                "f.resampled_grad needs a loss for labels that the model draws. Pass it as bl.FiniteSum(loss, data, "
                "resampled=f), where f(x, *sample, key=) is the loss for such a label."
            )
        return self._bind(own(self._given.resampled), () if self.numbers is None else self.numbers.resampled)

    @property
    def state(self) -> LossState | None:
        """The state of the loss at the start of a run."""
        return None if self.numbers is None else self.numbers.state

    def _bind(self, f: Function, keywords: tuple[str, ...]) -> Function:
        return f if self.numbers is None else self.numbers.bind(f, keywords)

    @property
    def _inputs(self) -> tuple[tree.Tree, ...]:
        """An example of the argument behind those of a query, which the numbers of the loss are, if it has some."""
        return () if self.numbers is None else (self.numbers.inputs,)

    def _work(self, query: str, graph: Graph, x: tree.Tree) -> int:
        """Return the work of the loss of a sample, the same for all queries, so that they cut batches alike.

        graph: of the query; its work serves as the estimate if it is heavy.
        """
        if query != "value" and work_of(graph) <= QUERY_WORK_RATIO * HEAVY:
            keyword = {"key": np.zeros(2, np.uint64)} if self.keyed else {}
            graph = trace(partial(value_alone, self.loss), (x, *self._inputs, *self.data.sample(0)), keyword).graph
        return work_of(graph)

    @property
    def tiles(self) -> dict[tuple[str, int], Tiling]:
        """The tiles chosen so far, by query and number of samples of a batch."""
        losses = ((key[0], loss) for key, loss in list(self._losses.items()))
        return {(query, batch): tiling for query, loss in losses for batch, tiling in loss.tilings.items()}

    @property
    def has_aux(self) -> bool:
        """Return True if the loss returns metrics with its value."""
        return self._measured is not None

    def mean(
        self, query: str, shared: Sequence[Point], stream: Stream, key: Key | None, threads: int, *numbers: Point
    ) -> Any:
        """Return the answer over a batch: the mean over its samples, plus the regularizer's.

        numbers: those of the loss, if not its start values at step 0.
        """
        return self.kernels(query, shared).on(threads).mean([*shared, *numbers], stream, key, threads)
