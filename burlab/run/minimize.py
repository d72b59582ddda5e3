"""`minimize`: from a problem, a start and an optimizer to a run."""

from collections.abc import Callable
from typing import Any

import numpy as np

from burlab.compiler.executable import build
from burlab.errors import ArgumentError, DTypeError
from burlab.graph import tree
from burlab.optim import Optimizer, SciPy
from burlab.optim.rule import trace_rule
from burlab.problems.asked import Asked
from burlab.problems.data import Data
from burlab.problems.finite_sum import FiniteSum
from burlab.problems.oracle import Oracle
from burlab.problems.point import Array, as_point
from burlab.problems.sampling import drawn

from .engine import COLUMNS
from .loop import Loop, Setup
from .run import Run
from .scipy_engine import ScipyEngine
from .stop import Stop

_DEFAULT = Stop()


def minimize(  # noqa: PLR0913 - all that a run can be told
    problem: FiniteSum | Callable[..., Any],
    x0: tree.Tree,
    optimizer: Optimizer | SciPy,
    *,
    batch: int | None = None,
    sampler: str = "reshuffle",
    seed: int = 0,
    steps: int | None = None,
    stop: Stop = _DEFAULT,
    history_bytes: int = 256 << 20,
    keyframe_bytes: int = 64 << 20,
    progress: bool | None = None,
) -> Run:
    """A run of an optimizer on a problem, paused at step 0; with `steps` it does them, shows progress, and returns.

    problem: a FiniteSum, or a function of x alone. x0: the start, a float array or a tree of them, all float64 or all
    float32; it is never changed. batch: samples per step, None for the full gradient. sampler: "reshuffle" (each sample
    once per epoch), "uniform" (with replacement), "nice" (a subset, anew at every step) or "sequential". seed: of all
    randomness; the same seed gives the same bits. stop: when it rests by itself. progress: True for a bar, False for
    none, None where someone sees it.

    >>> import numpy as np, burlab as bl
    >>> run = bl.minimize(lambda x: np.sum((x - 1.0) ** 2), np.zeros(2), bl.optim.GD(0.5), steps=1)
    >>> run.x
    array([1., 1.])
    """
    _check_optimizer(optimizer)
    if not isinstance(stop, Stop):  # pyright: ignore[reportUnnecessaryIsInstance] - users pass anything
        raise ArgumentError(f"stop is {stop!r}, expected a bl.Stop such as bl.Stop(steps=1000, grad_norm=1e-6).")
    oracle, threads = _oracle(problem)
    point = as_point(x0, "x0")
    x = _flat(point.leaves)
    stream = drawn(oracle.data.samples, batch, sampler, seed)
    if isinstance(optimizer, SciPy):
        engine = ScipyEngine.open(optimizer, oracle, point, stream, threads, stop, keyframe_bytes)
        run = Run(engine, point, {}, problem, optimizer)
        if steps is not None:
            run.step(steps, progress=progress)
        return run
    rule = trace_rule(optimizer, x, int(stream.batch), point.tree)
    hypers = tuple(rule.hyper)
    if taken := set(hypers) & set(COLUMNS):
        raise ArgumentError(f"the field {taken.pop()!r} is a column of every history. Give it another name.")
    samples, once = oracle.kernels("training", [point])
    asked = Asked(oracle, point, rule.questions, stream)
    budgets = history_bytes, keyframe_bytes
    setup = Setup(samples, once, build(rule.graph), rule, asked, point, stream, threads, stop, budgets)
    loop = Loop.open(setup, [x, *rule.state])
    run = Run(loop, point, rule.schedules, problem, optimizer)
    if steps is not None:
        run.step(steps, progress=progress)
    return run


def _check_optimizer(optimizer: Any) -> None:
    if not isinstance(optimizer, (Optimizer, SciPy)):
        hint = "Call it: " if isinstance(optimizer, type) else "Pass "
        raise ArgumentError(f"optimizer is {optimizer!r}, expected a bl.optim.Optimizer. {hint}bl.optim.Adam(lr=1e-3).")


def _oracle(problem: Any) -> tuple[Oracle, int]:
    if isinstance(problem, FiniteSum):
        return problem.oracle, problem.threads
    if callable(problem):
        return Oracle(problem, Data.none()), 1
    raise ArgumentError(f"problem is a {type(problem).__name__}, expected a bl.FiniteSum or a function of x.")


def _flat(leaves: list[Array]) -> Array:
    """All leaves in one vector."""
    dtypes = {leaf.dtype for leaf in leaves}
    if len(dtypes) > 1:
        raise DTypeError(
            f"x0 mixes {' and '.join(sorted(d.name for d in dtypes))}; a run has one dtype. "
            "Convert the leaves with .astype."
        )
    return np.concatenate([leaf.reshape(-1) for leaf in leaves])
