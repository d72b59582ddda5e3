"""`minimize`: from a problem, a start and an optimizer to a run."""

from collections.abc import Callable
from typing import Any

from burlab.graph import tree
from burlab.optim import Optimizer, SciPy
from burlab.optim.number_formats import Formats
from burlab.problems.batch import Batch, BlockShuffle
from burlab.problems.finite_sum import FiniteSum
from burlab.problems.kernels.loss_numbers import Hyper
from burlab.run.record.stop import Stop
from burlab.runtime.checks.numbers import MAX_STEPS, truth, whole
from burlab.runtime.thread_limit import Threads, known_threads
from burlab.typing import ArrayLike, Tree

from .opener import Opener
from .rounded_run import Reopening
from .run import Run

_DEFAULT = Stop()


def minimize(  # noqa: PLR0913 - all options of a run
    problem: FiniteSum | Callable[..., Any],
    x0: tree.Tree,
    optimizer: Optimizer | SciPy,
    *,
    batch: int | Batch | None = None,
    sampler: str | BlockShuffle | ArrayLike | Callable[..., Any] | None = None,
    seed: int = 0,
    steps: int | None = None,
    stop: Stop = _DEFAULT,
    state: tree.Tree = None,
    trainable: Tree = None,
    has_aux: bool = False,
    hyper: Hyper | None = None,
    formats: Formats | None = None,
    validation: FiniteSum | Callable[..., Any] | None = None,
    validate_every: int = 100,
    history_bytes: int = 256 << 20,
    keyframe_bytes: int = 64 << 20,
    threads: Threads | None = None,
    progress: bool | None = None,
) -> Run:
    """Return a run of an optimizer on a problem, paused at step 0, or after `steps` steps.

    Args:
        problem: A `FiniteSum`, or a function of x alone.
        x0: The start, never changed: an array or a tree of them, all float64, all float32, all float16 or all bfloat16;
            steps of the last two compute in float32 and round x. A complex array holds two
            floats, and integers alone become floats. Beside a float array, arrays of integers and masks keep their
            dtype: the loss reads them, and a rule with `all_leaves` may change them.
        optimizer: A `bl.optim.Optimizer` or `bl.optim.SciPy`.
        batch: Samples per step, None for the full gradient, or a `bl.Batch`, whose size can change.
        sampler: The samples of each step. "reshuffle": each sample once per epoch (the default); "uniform": with
            replacement; "nice": a new subset at every step (the default of a `bl.Batch`); "sequential"; a
            `bl.BlockShuffle`, for data on a disk. Or integers of shape (steps, b), after whose last row the run ends.
            Or a function of (key, t) that returns the samples of step t, integers of shape (b,), drawn by `bl.random`.
            Or probabilities of shape (n,), with replacement: sample i has the weight 1 / (n p_i), so that means over a
            batch are unbiased.
        seed: Seed of all randomness; the same seed gives the same bits.
        steps: Steps to do before it returns, with a progress bar.
        stop: Criteria at which the run stops by itself.
        state: `run.state` of another run, in place of the result of the optimizer's `init`.
        trainable: Arrays of x0 to train: a tree of bools with x0's structure or its upper part, or a predicate on paths
            such as "blocks.0.weight". The others are constants without gradient, state or history.
        has_aux: True if the function returns (number, {name: number, ...}): metrics, which become columns of the
            history. For a `FiniteSum` pass it there.
        hyper: Numbers that a function of x reads, as for a `FiniteSum`, to which they belong otherwise: f(x, hyper).
        formats: `bl.Formats` of numbers: rounded arithmetic in the loss, gradients, state and x, with a loss scale.
        validation: A second problem, whose full value at x is the column "validation_value". Numbers that it reads
            (hyper, t) have the values of the run's step.
        validate_every: Steps from one validation to the next; NaN between.
        history_bytes: Bytes from which on the history keeps minimum and maximum of neighbouring steps.
        keyframe_bytes: Bytes of keyframes for `seek`, each as large as x and the state of the optimizer together; that
            of the start is kept even if it is larger. 0: none; then `seek`, `Stop.when` and breakpoints with `when=`
            are refused.
        threads: Threads of a step, "auto" for as many as `bl.set_threads` allows. None: those of the `FiniteSum`, else
            "auto" where a step is long enough. They change no bit.
        progress: True for a bar, False for none, None for a bar in a notebook or terminal.

    Returns:
        The `Run`.

    Raises:
        ArgumentError: For options that do not fit each other, the problem or the optimizer.
        DTypeError, ShapeError: For an x0 or a batch of samples of another form.

    >>> import numpy as np, burlab as bl
    >>> run = bl.minimize(lambda x: np.sum((x - 1.0) ** 2), np.zeros(2), bl.optim.GD(0.5), steps=1)
    >>> run.x
    array([1., 1.])
    """
    steps = None if steps is None else whole(steps, "steps", 0, MAX_STEPS)
    truth(has_aux, "has_aux")
    if progress is not None:
        truth(progress, "progress")
    opener = Opener(
        problem,
        batch=batch,
        sampler=sampler,
        stop=stop,
        state=state,
        trainable=trainable,
        has_aux=has_aux,
        hyper=hyper,
        validation=validation,
        validate_every=validate_every,
        history_bytes=history_bytes,
        keyframe_bytes=keyframe_bytes,
        threads="where long" if threads is None else known_threads(threads),
    )
    run = (
        opener.open(x0, optimizer, seed)
        if formats is None
        else Reopening(opener, optimizer, seed).in_formats(formats)(x0)
    )
    if steps is not None:
        run.step(steps, progress=progress)
    return run
