"""`minimize`: from a problem, a start and an optimizer to a run."""

from collections.abc import Callable
from typing import Any

import numpy as np

from burlab.checks.callable import check_takes
from burlab.checks.numbers import whole
from burlab.errors import ArgumentError, DTypeError
from burlab.graph import tree
from burlab.optim import Optimizer, SciPy
from burlab.optim.queries import Batches
from burlab.optim.rule import Rule, like_state, trace_rule
from burlab.problems.batch import Batch
from burlab.problems.data import Data
from burlab.problems.finite_sum import FiniteSum
from burlab.problems.kernels.oracle import Oracle, takes_key
from burlab.problems.kernels.start import StartQueries
from burlab.problems.point import Point, as_start
from burlab.problems.sampling import Stream, drawn, full, is_full, weights_of
from burlab.problems.trainable import Trainable, chosen_of
from burlab.run.loop.loop import Loop
from burlab.run.loop.setup import Setup, Validation
from burlab.run.record.engine import COLUMNS
from burlab.run.record.norms import ESTIMATOR, FULL, FULL_NORM
from burlab.run.record.stop import Stop, check_norm, check_stop, ended_by
from burlab.run.scipy.engine import ScipyEngine
from burlab.runtime.coerce import Array

from .run import Run

_DEFAULT = Stop()
_VALIDATED = "validation_value"
_MOST = 2**63 - 1  # what an int64 of C++ holds


def minimize(  # noqa: PLR0913 - all that a run can be told
    problem: FiniteSum | Callable[..., Any],
    x0: tree.Tree,
    optimizer: Optimizer | SciPy,
    *,
    batch: int | Batch | None = None,
    sampler: Any = None,
    seed: int = 0,
    steps: int | None = None,
    stop: Stop = _DEFAULT,
    state: tree.Tree = None,
    trainable: Any = None,
    has_aux: bool = False,
    validation: FiniteSum | Callable[..., Any] | None = None,
    validate_every: int = 100,
    history_bytes: int = 256 << 20,
    keyframe_bytes: int = 64 << 20,
    progress: bool | None = None,
) -> Run:
    """A run of an optimizer on a problem, paused at step 0. With `steps` it does them, shows progress, and returns.

    problem: a FiniteSum, or a function of x alone. x0: the start, a float array or a tree of them, all float64 or all
    float32, of which a complex array holds two; whole numbers become floats, as SciPy takes them. It is never changed.
    batch: samples per step, None for the full gradient, or a `bl.Batch`, whose size changes as the run goes on.
    sampler: "reshuffle" (each sample once per epoch; the default, but with a `bl.Batch`), "uniform" (with replacement),
    "nice" (a subset, anew at every step) or "sequential"; or integers of shape (steps, b), the samples of each step,
    with whose last row the run ends; or a function of (key, t), or an object that is called so, that gives the samples
    of step t, integers of shape (b,), drawn by `bl.random` from the key; or probabilities of shape (n,): draws with
    replacement in which sample i counts 1 / (n p_i), so that values, gradients and answers over a batch are unbiased.
    seed: of all randomness; the same seed gives the same bits. stop: when it rests by itself. progress: True for a bar,
    False for none, None where someone sees it. state: of the optimizer at the start, in place of what its `init` gives,
    in the same form: `run.state` of another run. trainable: which arrays of x0 are trained, a tree of bools of x0's
    structure or of its upper part, or a function that takes paths such as "blocks.0.weight"; all others stay as they
    are, and cost neither gradient nor state nor history.

    has_aux: the function returns (number, {name: number, ...}), and the history has these metrics as columns; for a
    FiniteSum it is an argument of FiniteSum. validation: a second problem, whose full value at x is the column
    "validation_value" at every `validate_every` steps and NaN between. history_bytes: where the history needs more, it
    keeps minimum and maximum of neighbouring steps. keyframe_bytes: for snapshots that `seek` starts from.

    >>> import numpy as np, burlab as bl
    >>> run = bl.minimize(lambda x: np.sum((x - 1.0) ** 2), np.zeros(2), bl.optim.GD(0.5), steps=1)
    >>> run.x
    array([1., 1.])
    """
    _check_optimizer(optimizer)
    check_stop(stop)
    steps = None if steps is None else whole(steps, "steps", 0)
    budgets = whole(history_bytes, "history_bytes", 1, _MOST), whole(keyframe_bytes, "keyframe_bytes", 0, _MOST)
    every = whole(validate_every, "validate_every", 1, _MOST)
    oracle, threads = _oracle(problem, has_aux)
    start = point = as_start(x0, "x0")
    part = None
    if trainable is not None:
        start = part = Trainable.split(point, chosen_of(trainable, point))
        oracle, point = oracle.of_trained(part), part.point
    x = _flat(point.leaves)
    stream = drawn(oracle.data.samples, batch, sampler, seed)
    stop = ended_by(stream, stop)
    _check_here(oracle, optimizer, isinstance(optimizer, SciPy))
    if isinstance(optimizer, SciPy):
        if oracle.has_aux or validation is not None or state is not None:
            raise ArgumentError(
                "SciPy's minimizers record neither metrics nor a validation, and take no state. Leave these arguments "
                "out."
            )
        engine = ScipyEngine.open(optimizer, oracle, point, stream, threads, stop, budgets[1])
        run = Run(engine, start, {}, problem, optimizer)
    else:
        varies = batch.of(stream.samples) if isinstance(batch, Batch) else None
        before = StartQueries(oracle, point, stream, threads, varies and varies.first)
        weights = weights_of(stream, x.dtype)
        batches = _batches(oracle, point, stream, weights, varies and varies.size)
        rule, leaves = trace_rule(optimizer, x, batches, point.tree, before, stop.of == ESTIMATOR)
        _check_here(oracle, optimizer, rule.reads_gradient)
        leaves = leaves if state is None else like_state(state, rule, leaves)
        drawn_oracle = oracle if weights is None else oracle.weighted(weights)
        loss = drawn_oracle.kernels(_kernels_for(rule, oracle, stop), [point])
        loss.measure(int(stream.batch), point.leaves)
        second = None if validation is None else _validation(validation, every, point, seed, part)
        whole_gradient = _full_gradient(rule, oracle, point, stream, threads, stop)
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
            full=whole_gradient,
        )
        setup.norm_column(stop.of)
        _check_names(setup)
        run = Run(Loop.open(setup, [x, *leaves]), start, rule.schedules, problem, optimizer)
    if steps is not None:
        run.step(steps, progress=progress)
    return run


def _check_here(oracle: Oracle, optimizer: Any, reads: bool) -> None:
    """Raise where an optimizer reads gradients over samples that are elsewhere."""
    if reads and oracle.keepers is not None:
        raise ArgumentError(
            f"{type(optimizer).__name__} reads the gradient over samples, and these lie with clients on the cluster. "
            "Use a rule for clients, such as DCGD or FedAvg, or make the problem without cluster=."
        )


def _batches(oracle: Oracle, point: Point, stream: Stream, weights: Array | None, planned: Any) -> Batches:
    """What an update knows of its batches."""
    elsewhere = oracle.keepers is not None
    sizes = int(stream.batch), int(stream.samples)
    return Batches(*sizes, is_full(stream), oracle.clients, elsewhere, weights, planned, oracle.target_size(point))


def _kernels_for(rule: Rule, oracle: Oracle, stop: Stop) -> str:
    """What is computed in each step: no gradient where the rule reads none."""
    if rule.reads_gradient:
        return "measured" if oracle.has_aux else "training"
    check_norm(stop.grad_norm, stop.of, False, "stop", "Stop(value=), or Stop(when=)")
    return "measured_value" if oracle.has_aux else "value_like"


def _validation(problem: Any, every: int, point: Point, seed: int, part: Trainable | None) -> Validation:
    oracle, threads = _oracle(problem, False, "validation")
    oracle = oracle if part is None else oracle.of_trained(part)
    loss = oracle.kernels("value", [point])
    stream = drawn(oracle.data.samples, None, "sequential", seed)
    loss.measure(int(stream.batch), point.leaves)
    return Validation(loss, stream, threads, every)


def _full_gradient(
    rule: Rule, oracle: Oracle, point: Point, stream: Stream, threads: int, stop: Stop
) -> Validation | None:
    """What a run evaluates besides its steps to stop by the full gradient; None where its steps compute that."""
    if stop.of != FULL or (rule.reads_gradient and rule.output is None and is_full(stream)):
        return None
    loss, batches = oracle.kernels("grad", [point]), full(oracle.data.samples)
    batches.key = stream.key
    loss.measure(int(batches.batch), point.leaves)
    return Validation(loss, batches, threads, int(stop.every))


def _check_names(setup: Setup) -> None:
    """Every column of the history has a name of its own."""
    own = {*COLUMNS, _VALIDATED, FULL_NORM}
    for what, names in (
        ("field", tuple(setup.rule.hyper)),
        ("metric", setup.loss.samples.metrics),
        ("number", setup.rule.told),
    ):
        if taken := own.intersection(names):
            raise ArgumentError(f"the {what} {taken.pop()!r} is a column of every history. Give it another name.")
        own.update(names)


def _check_optimizer(optimizer: Any) -> None:
    if not isinstance(optimizer, (Optimizer, SciPy)):
        hint = "Call it: " if isinstance(optimizer, type) else "Pass "
        raise ArgumentError(f"optimizer is {optimizer!r}, expected a bl.optim.Optimizer. {hint}bl.optim.Adam(lr=1e-3).")


def _oracle(problem: Any, has_aux: bool, name: str = "problem") -> tuple[Oracle, int]:
    if isinstance(problem, FiniteSum):
        if has_aux and not problem.oracle.has_aux:
            raise ArgumentError(
                "has_aux=True is for a function of x. A sum is told itself: FiniteSum(..., has_aux=True)."
            )
        return problem.oracle, problem.threads
    if callable(problem):
        advice = "It is a function of x; a loss of x and samples goes into a bl.FiniteSum(loss, data)."
        if takes_key(problem):
            advice = (
                "A function that draws random numbers is the loss of one sample, which need not be read: "
                "bl.FiniteSum(lambda x, _, *, key: f(x, key=key), np.zeros(1))."
            )
        check_takes(problem, name, "x alone", advice)
        return Oracle(problem, Data.none(), None, has_aux), 1
    raise ArgumentError(f"{name} is a {type(problem).__name__}, expected a bl.FiniteSum or a function of x.")


def _flat(leaves: list[Array]) -> Array:
    """All leaves in one vector."""
    dtypes = {leaf.dtype for leaf in leaves}
    if len(dtypes) > 1:
        raise DTypeError(
            f"x0 mixes {' and '.join(sorted(d.name for d in dtypes))}; a run has one dtype. "
            "Convert the leaves with .astype."
        )
    return np.concatenate([leaf.reshape(-1) for leaf in leaves])
