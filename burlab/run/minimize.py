"""`minimize`: from a problem, a start and an optimizer to a run."""

from collections.abc import Callable
from typing import Any

from burlab.graph import tree
from burlab.optim import Optimizer, SciPy
from burlab.problems.batch import Batch
from burlab.problems.finite_sum import FiniteSum
from burlab.run.record.stop import Stop
from burlab.runtime.checks.numbers import MAX_STEPS, truth, whole

from .opener import Opener
from .run import Run

_DEFAULT = Stop()


def minimize(  # noqa: PLR0913 - all options of a run
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
        validation=validation,
        validate_every=validate_every,
        history_bytes=history_bytes,
        keyframe_bytes=keyframe_bytes,
    )
    run = opener.open(x0, optimizer, seed)
    if steps is not None:
        run.step(steps, progress=progress)
    return run
