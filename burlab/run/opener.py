"""Openers create runs of one problem: they check its options, and runs share compiled code."""

from collections import deque
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

from burlab.errors import ArgumentError, DTypeError
from burlab.graph import tree
from burlab.optim import Optimizer, SciPy
from burlab.optim.batches import Batches
from burlab.optim.lazy_rule import lazy_rule
from burlab.optim.number_formats import Formats
from burlab.optim.part_places import part_places
from burlab.optim.rule import UpdateRule
from burlab.optim.rule_cache import find_rule
from burlab.problems.batch import Batch
from burlab.problems.data import Data
from burlab.problems.finite_sum import FiniteSum
from burlab.problems.functions_of_numbers import of_numbers, validation_of_numbers
from burlab.problems.kernels.initial_queries import StartQueries
from burlab.problems.kernels.loss import Loss
from burlab.problems.kernels.loss_functions import takes_key
from burlab.problems.kernels.loss_numbers import Hyper, LossNumbers, advice_on
from burlab.problems.kernels.loss_state import check_steps
from burlab.problems.kernels.oracle import Oracle
from burlab.problems.kernels.row_loss import row_loss
from burlab.problems.point import Point, as_start
from burlab.problems.sampling import Sampling, Stream, drawn, full, is_full, weights_of
from burlab.problems.trainable import Trainable, chosen_of
from burlab.run.loop.loop import RunLoop
from burlab.run.loop.run_plan import without_zeros
from burlab.run.loop.setup import NumbersOfLoss, Setup, Validation
from burlab.run.record.engine import COLUMNS
from burlab.run.record.gradient_norms import ESTIMATOR, FULL, FULL_NORM
from burlab.run.record.stop import Stop, check_norm, check_stop, check_when, ended_by
from burlab.run.scipy.scipy_engine import ScipyEngine
from burlab.runtime.checks.callable import check_takes
from burlab.runtime.checks.numbers import shown, whole
from burlab.runtime.coerce import Array
from burlab.runtime.dtypes import computed_in, is_narrow_float
from burlab.runtime.memory import give_back
from burlab.runtime.thread_limit import MAX_THREADS, Threads, known_threads, most_threads

from .alike import SharedSetup, given_state
from .rounded_run import Reopening, in_rounded_arithmetic
from .run import Run

_VALIDATED = "validation_value"
MAX_INT64 = 2**63 - 1
_MIN_ENTRIES = 3  # of x, whose path is recorded if it has fewer
MAX_SHARED_SETUPS = 16  # that an opener stores


@dataclass(frozen=True, slots=True)
class Opener:
    """Opens runs of one problem, at step 0; see `minimize` for the options.

    threads: None are those of the problem, or one; "where long" are all, if the problem has none and a step is long.

    A run that differs from an earlier one by hyperparameters, start or seed uses its trace, plan and compiled code:
    opening then takes a millisecond or two in place of some tens. Its bits are the same.
    """

    problem: Any
    batch: int | Batch | None = None
    sampler: Any = None
    stop: Stop = Stop()  # noqa: RUF009 - frozen
    state: tree.Tree = None
    trainable: Any = None
    has_aux: bool = False
    hyper: Hyper | None = None
    validation: Any = None
    validate_every: int = 100
    history_bytes: int = 256 << 20
    keyframe_bytes: int = 64 << 20
    threads: Threads | Literal["where long"] | None = None
    formats: Formats | None = None
    _setups: deque[SharedSetup] = field(
        default_factory=lambda: deque[SharedSetup](maxlen=MAX_SHARED_SETUPS), init=False, repr=False
    )
    _in_formats: "dict[Formats, Opener]" = field(default_factory=dict["Formats", "Opener"], init=False, repr=False)

    def __post_init__(self) -> None:
        """A function of x that reads numbers is a sum of one term, as others of a run see it."""
        problem = of_numbers(self.problem, self.hyper, self.has_aux)
        object.__setattr__(self, "problem", problem)
        known = problem.oracle.numbers if isinstance(problem, FiniteSum) else None
        object.__setattr__(self, "validation", validation_of_numbers(self.validation, known))

    def open(self, x0: tree.Tree, optimizer: Optimizer | SciPy, seed: int, again: Reopening | None = None) -> Run:
        """Return a run at step 0. Raises ArgumentError for options that do not fit.

        again: what the run begins again by, if not by this opener.
        """
        _check_optimizer(optimizer)
        check_stop(self.stop)
        budgets = (
            whole(self.history_bytes, "history_bytes", 1, MAX_INT64),
            whole(self.keyframe_bytes, "keyframe_bytes", 0, MAX_INT64),
        )
        check_when(self.stop, budgets[1])
        every = whole(self.validate_every, "validate_every", 1, MAX_INT64)
        start = point = as_start(x0, "x0")
        whole_numbers = any(leaf.dtype.kind in "iub" for leaf in point.leaves)
        if self.trainable is not None or whole_numbers:
            moves = isinstance(optimizer, Optimizer) and optimizer.all_leaves
            chosen = chosen_of(True if self.trainable is None else self.trainable, point)
            start = Trainable.split(point, chosen, moves)
            point = start.point
        x = _flat(point.leaves)
        if isinstance(optimizer, SciPy):
            if is_narrow_float(x.dtype):
                raise DTypeError(
                    f"x0 has dtype {x.dtype}, but SciPy's minimizers step in float64. Use x0.astype(np.float64)."
                )
            return self._scipy(optimizer, start, seed, budgets, again)
        for shared in tuple(self._setups):
            if (found := shared.setup_of(optimizer, x, start, seed, self.batch, self.state)) is not None:
                setup, leaves = found
                break
        else:
            setup, leaves = self._first(optimizer, x, start, seed, budgets, every)
        start = setup.start if setup.part is None else setup.part
        leaves, nbytes = without_zeros([*leaves, *setup.loss_state_start]), x.nbytes
        give_back(nbytes)
        engine = RunLoop.open(setup, [x, *leaves])
        del x, leaves  # the engine has copies
        give_back(nbytes)
        return Run(
            engine, start, setup.rule.schedules, self.problem, optimizer, again or Reopening(self, optimizer, seed)
        )

    def in_formats(self, formats: Formats) -> "Opener":
        """Return the opener of such runs in rounded arithmetic, the same one for equal formats."""
        if formats not in self._in_formats:
            problem = in_rounded_arithmetic(self.problem, formats)
            self._in_formats[formats] = replace(self, problem=problem, hyper=None, formats=formats)
        return self._in_formats[formats]

    def _scipy(
        self,
        optimizer: SciPy,
        start: Point | Trainable,
        seed: int,
        budgets: tuple[int, int],
        again: Reopening | None,
    ) -> Run:
        oracle = self._oracle(start)
        stream = drawn(oracle.data.samples, self.batch, self.sampler, seed)
        oracle = _of_batches(oracle, stream, self.stop)
        stop = ended_by(stream, self.stop)
        _check_local_samples(oracle, optimizer, True)
        if oracle.numbers is not None:
            raise ArgumentError(
                "SciPy's minimizers minimize one function, but the loss reads what changes (hyper, t or state). Bind "
                "it: bl.FiniteSum(functools.partial(loss, hyper=...), data), or take an optimizer of bl.optim."
            )
        if oracle.has_aux or self.validation is not None or self.state is not None:
            raise ArgumentError(
                "SciPy's minimizers record neither metrics nor a validation, and take no state. Leave these arguments "
                "out."
            )
        point = start if isinstance(start, Point) else start.point
        threads = self._threads(oracle.kernels("value_and_grad", [point]), int(stream.batch))
        engine = ScipyEngine.open(optimizer, oracle, point, stream, threads, stop, budgets[1])
        return Run(engine, start, {}, self.problem, optimizer, again or Reopening(self, optimizer, seed))

    def _first(
        self,
        optimizer: Optimizer,
        x: Array,
        start: Point | Trainable,
        seed: int,
        budgets: tuple[int, int],
        every: int,
    ) -> tuple[Setup, list[Array]]:
        """Return the setup of the first run of its kind, and the leaves of its state; store it for later runs."""
        oracle = self._oracle(start)
        part, point = (None, start) if isinstance(start, Point) else (start, start.point)
        like = point.computed.tree if part is None else part.seen
        stream = drawn(oracle.data.samples, self.batch, self.sampler, seed)
        oracle = _of_batches(oracle, stream, self.stop)
        stop = ended_by(stream, self.stop)
        varies = self.batch.of(stream.samples) if isinstance(self.batch, Batch) else None
        before = StartQueries(oracle, point, stream, self._given_threads() or 1, varies and varies.first)
        weights = weights_of(stream, computed_in(x.dtype))
        batches = _batches(oracle, point, stream, weights, varies and varies.size)
        lazy = None if part or stop.of == ESTIMATOR else _lazy(optimizer, x, oracle, point, stream, before)
        rule, leaves = lazy or find_rule(optimizer, x, batches, like, before, stop.of == ESTIMATOR)
        _check_local_samples(oracle, optimizer, rule.reads_gradient)
        leaves = given_state(self.state, rule, x, leaves)
        drawn_oracle = oracle if weights is None else oracle.weighted(weights)
        loss = drawn_oracle.kernels(_kernels_for(rule, oracle, stop), [point])
        if oracle.state is not None:
            check_steps(oracle.state.form, loss.samples.program, stream)
        threads = self._threads(loss, int(stream.batch))
        loss = loss.on(threads)
        loss.measure(int(stream.batch), point.leaves)
        second = None
        if self.validation is not None:
            second = _validation(self.validation, every, point, seed, part, oracle.numbers)
        setup = Setup.of(
            loss,
            rule,
            oracle,
            point,
            stream,
            threads=threads,
            stop=stop,
            budgets=budgets,
            validation=second,
            spent=before.spent,
            part=part,
            drawn=drawn_oracle,
            full=_full_gradient(rule, oracle, point, stream, threads, stop),
            numbers=_numbers_of(rule, oracle),
            formats=self.formats,
        )
        setup.norm_column(stop.of)
        _check_names(setup)
        if oracle.keepers is None:  # else every run sends its own queries to the clients
            self._setups.appendleft(SharedSetup(optimizer, seed, oracle, setup))
        return setup, leaves

    def _oracle(self, start: Point | Trainable) -> Oracle:
        oracle, _ = _oracle(self.problem, self.has_aux)
        oracle.refresh()
        return oracle if isinstance(start, Point) else oracle.of_trained(start)

    def _threads(self, loss: Loss, batch: int) -> int:
        """Return the number of threads for steps that evaluate a loss over a batch."""
        given = self._given_threads()
        if given is None:
            given = MAX_THREADS if self.threads == "where long" and loss.gains(batch) else 1
        return min(given, most_threads())

    def _given_threads(self) -> int | None:
        """Return the number that the user chose, for the run or for the problem."""
        if self.threads in (None, "where long"):
            return _oracle(self.problem, self.has_aux)[1]
        return known_threads(self.threads)


def _check_local_samples(oracle: Oracle, optimizer: object, reads: bool) -> None:
    """Raise ArgumentError for an optimizer that reads gradients over samples of remote clients."""
    if reads and oracle.keepers is not None:
        raise ArgumentError(
            f"{type(optimizer).__name__} reads the gradient over samples, but these are on the cluster. Use a rule "
            "for clients, such as DCGD or FedAvg, or create the problem without cluster=."
        )


def _batches(oracle: Oracle, point: Point, stream: Stream, weights: Array | None, planned: Any) -> Batches:
    """Return the facts about batches that an update reads."""
    remote = oracle.keepers is not None
    sizes = int(stream.batch), int(stream.samples)
    whole = is_full(stream)
    clients_log = bool(oracle.clients) and whole and not oracle.keyed  # a sample's key depends on its place in a query
    targets = oracle.target_size(point)
    tables = oracle.tables(point)
    products = oracle.products(point) if whole and weights is None else None
    numbers = () if oracle.numbers is None else oracle.numbers.fields
    facts = whole, oracle.clients, remote, weights, planned, targets, clients_log, tables, products, numbers
    return Batches(*sizes, *facts, part_places(oracle.part_names, point.computed.tree))


def _numbers_of(rule: UpdateRule, oracle: Oracle) -> NumbersOfLoss | None:
    """Return the places of the loss's numbers among the hyperparameters."""
    if oracle.numbers is None:
        return None
    names = oracle.numbers.names
    first = list(rule.hyper).index(names[0]) if names else 0
    return NumbersOfLoss(first, len(names), oracle.numbers.takes_step, oracle.state and oracle.state.form)


def _of_batches(oracle: Oracle, stream: Stream, stop: Stop) -> Oracle:
    """Return the oracle for batches of the size of steps. Raises ArgumentError for what needs losses of samples."""
    if oracle.batch is None:
        return oracle
    if stream.varies or stream.sampling == Sampling.weighted:
        given = "batch=bl.Batch(...)" if stream.varies else "probabilities as sampler="
        raise ArgumentError(f"{given} need losses of samples, but a BatchLoss sees batches of one size. Leave it out.")
    if stop.of == FULL and not is_full(stream):
        raise ArgumentError(
            'stop=bl.Stop(of="full") needs losses of samples, but a BatchLoss of other batches is another function. '
            'Use of="batch".'
        )
    return oracle.of_batch(int(stream.batch))


def _lazy(
    optimizer: Optimizer, x: Array, oracle: Oracle, point: Point, stream: Stream, before: StartQueries
) -> tuple[UpdateRule, list[Array]] | None:
    """Return the rule and state of a run that goes row by row through sparse data; None where it cannot, or is slow."""
    single = int(stream.batch) == 1 and not stream.varies and stream.sampling != Sampling.weighted
    plain = single and oracle.data.wholes and x.dtype == np.float64 and oracle.state is None
    if not plain or oracle.has_aux or oracle.clients or oracle.keyed:
        return None
    rows = row_loss(oracle.kernels("training", [point]), point.leaves)
    if rows is None or x.size < _MIN_ENTRIES:
        return None
    return lazy_rule(optimizer, x, before, rows.ridge.weight, rows.entries)


def _kernels_for(rule: UpdateRule, oracle: Oracle, stop: Stop) -> str:
    """Return the query of each step: without a gradient if the rule reads none."""
    stateful = oracle.state is not None
    if rule.reads_gradient:
        return "stateful" if stateful else "measured" if oracle.has_aux else "training"
    check_norm(stop.grad_norm, stop.of, rule.logs_norm, "stop", "Stop(value=), or Stop(when=)")
    return "stateful_value" if stateful else "measured_value" if oracle.has_aux else "value_like"


def _validation(
    problem: object, every: int, point: Point, seed: int, part: Trainable | None, numbers: LossNumbers | None
) -> Validation:
    """numbers: those of the run's problem, which it reads in place of its own."""
    oracle, threads = _oracle(problem, False, "validation")
    if numbers is not None:
        oracle = oracle.with_numbers(numbers.like(oracle.numbers, "validation"))
    elif oracle.numbers is not None:
        raise ArgumentError(
            "validation reads what a run changes (hyper, t or state), and the problem of the run has none of it. Give "
            "it to the problem, too."
        )
    oracle = oracle if part is None else oracle.of_trained(part)
    oracle.refresh()
    oracle = oracle.of_batch(oracle.data.samples)
    loss = oracle.kernels("value", [point]).on(threads or 1)
    stream = drawn(oracle.data.samples, None, "sequential", seed)
    loss.measure(int(stream.batch), point.leaves)
    return Validation(loss, stream, threads or 1, every)


def _full_gradient(
    rule: UpdateRule, oracle: Oracle, point: Point, stream: Stream, threads: int, stop: Stop
) -> Validation | None:
    """Return the full gradient for `Stop.of`, to evaluate now and then; None if not needed or if steps compute it."""
    if stop.of != FULL or (rule.reads_gradient and rule.output is None and is_full(stream)):
        return None
    loss, batches = oracle.kernels("grad", [point]).on(threads), full(oracle.data.samples)
    batches.key = stream.key
    loss.measure(int(batches.batch), point.leaves)
    return Validation(loss, batches, threads, int(stop.every))


def _check_names(setup: Setup) -> None:
    """Raise ArgumentError for a column name that occurs twice."""
    own = {*COLUMNS, _VALIDATED, FULL_NORM}
    for kind, names in (
        ("field", tuple(setup.rule.hyper)),
        ("metric", setup.loss.samples.metrics),
        ("number", setup.rule.columns),
    ):
        if taken := own.intersection(names):
            raise ArgumentError(f"the {kind} {shown(taken.pop())} is a column of every history. Give it another name.")
        own.update(names)


def _check_optimizer(optimizer: object) -> None:
    if not isinstance(optimizer, (Optimizer, SciPy)):
        hint = "Call it: " if isinstance(optimizer, type) else "Pass "
        raise ArgumentError(
            f"optimizer is {shown(optimizer)}, expected a bl.optim.Optimizer. {hint}bl.optim.Adam(lr=1e-3)."
        )


def _oracle(problem: object, has_aux: bool, name: str = "problem") -> tuple[Oracle, int | None]:
    """Return the oracle of a problem, and its own number of threads, if it has one."""
    if isinstance(problem, FiniteSum):
        if has_aux and not problem.oracle.has_aux:
            raise ArgumentError(
                "has_aux=True is for a function of x. For a sum, pass it to FiniteSum(..., has_aux=True)."
            )
        return problem.oracle, problem.threads
    if callable(problem):
        advice = "It is a function of x; a loss of x and samples goes into a bl.FiniteSum(loss, data)."
        if takes_key(problem):
            advice = (
                "A function that draws random numbers is the loss of one sample, which need not be read: "
                "bl.FiniteSum(lambda x, _, *, key: f(x, key=key), np.zeros(1))."
            )
        check_takes(problem, name, "x alone", advice + advice_on(problem))
        return Oracle(problem, Data.none(), None, has_aux), None
    raise ArgumentError(f"{name} is a {type(problem).__name__}, expected a bl.FiniteSum or a function of x.")


def _flat(leaves: list[Array]) -> Array:
    """Return all leaves in one vector: one leaf itself, if it is contiguous."""
    dtypes = {leaf.dtype for leaf in leaves}
    if len(dtypes) > 1:
        raise DTypeError(
            f"x0 mixes {' and '.join(sorted(d.name for d in dtypes))}; a run has one dtype. "
            "Convert the leaves with .astype, or train those of one dtype: trainable=."
        )
    return np.ascontiguousarray(leaves[0]).reshape(-1) if len(leaves) == 1 else np.concatenate([*map(np.ravel, leaves)])
