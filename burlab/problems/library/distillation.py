"""Data sets that are minimized themselves: a few samples that lead training where real ones led it."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, cast

import numpy as np

from burlab import transforms
from burlab.errors import ArgumentError, ShapeError
from burlab.problems.finite_sum import FiniteSum
from burlab.runtime.checks.callable import check_takes
from burlab.runtime.checks.numbers import shown, whole
from burlab.runtime.plain import as_floats
from burlab.transforms import tree_functions as tree
from burlab.typing import Tree


def dataset_distillation(
    loss: Callable[[Any, Any], Any], segments: Sequence[tuple[Tree, Tree]], steps: int
) -> FiniteSum:
    """The problem of samples X and a rate beta with which `steps` gradient steps lead from w0 to w*.

    TESLA (Cui et al. 2023, arXiv:2211.10586) for the trajectory matching of Cazenavette et al. 2022, arXiv:2203.11932:

        f(X, beta) = mean over segments of |w_T - w*|^2 / |w0 - w*|^2, w_{i+1} = w_i - beta grad l(w_i; X).

    The gradient by X is 2 beta / |w0 - w*|^2 times the sum over i of d/dX <w* - w_T, grad l(w_i; X)>, in which every
    w_i is constant: step by step, in memory that does not grow with the number of steps. It leaves out how X moves the
    later w_i, so it is not the exact gradient. The authors' code has half of it (it lacks the factor 2). The gradient
    by beta likewise takes all grad l(w_i; X) as constant.

    Args:
        loss: (w, X) -> number, the loss of all synthetic samples, in NumPy; labels may be constants of it, or in X.
        segments: Pairs (w0, w*) of the weights of trainings on real samples, w* some epochs after w0; trees of float
            arrays of one form. Each pair is a sample of the problem, so that `batch=1` draws one in each step.
        steps: T, the number of gradient steps, at least 1.

    Returns:
        A `bl.FiniteSum` over points {"samples": X, "rate": beta}.

    Raises:
        ArgumentError: For a loss of other arguments, no segments, or one that ends where it begins.
        ShapeError: For segments of different forms.

    >>> import numpy as np, burlab as bl
    >>> def loss(w, X): return np.mean(np.sum((w - X) ** 2, axis=1)) / 2
    >>> f = bl.problems.dataset_distillation(loss, [(np.zeros(2), np.ones(2))], steps=1)
    >>> float(f.value({"samples": np.ones((3, 2)), "rate": 1.0}))
    0.0
    """
    check_takes(loss, "loss", "weights and samples", "It is loss(w, samples).", 2)
    length = whole(steps, "steps", 1)
    starts, goals, like = _stacked(segments)

    def flat_loss(w: Any, samples: Any) -> Any:
        return loss(tree.unravel(w, like), samples)

    return FiniteSum(partial(_distance, flat_loss, length), (starts, goals))


def _stacked(segments: Any) -> tuple[Any, Any, Tree]:
    """Return all w0 and all w* as rows, and an example of the trees."""
    if not isinstance(segments, Sequence) or not segments:
        raise ArgumentError(f"segments is {shown(segments)}, expected a list of pairs (w0, w*) of weights.")
    pairs = [_pair(segment, number) for number, segment in enumerate(cast("Sequence[Any]", segments))]
    like = pairs[0][0]
    rows = [[_row(w, like, number) for w in pair] for number, pair in enumerate(pairs)]
    for number, (start, goal) in enumerate(rows):
        if np.array_equal(start, goal):
            raise ArgumentError(f"segment {number} ends where it begins: w* equals w0. Take it some epochs later.")
    return np.stack([start for start, _ in rows]), np.stack([goal for _, goal in rows]), like


def _pair(segment: Any, number: int) -> tuple[Tree, Tree]:
    parts = tuple(cast("Sequence[Tree]", segment)) if isinstance(segment, tuple | list) else ()
    if len(parts) != 2:
        raise ArgumentError(f"segment {number} is {shown(segment)}, expected a pair (w0, w*) of weights.")
    return parts[0], parts[1]


def _row(w: Tree, like: Tree, number: int) -> Any:
    shapes = [np.shape(leaf) for leaf in tree.leaves(w)]
    wanted = [np.shape(leaf) for leaf in tree.leaves(like)]
    if tree.structure(w) != tree.structure(like):
        raise ShapeError(f"segment {number} has another structure than the first w0. Pass weights of one network.")
    if shapes != wanted:
        raise ShapeError(f"segment {number} has arrays of shapes {shapes}, expected {wanted} as the first w0 has.")
    row = np.asarray(tree.ravel(w))
    if row.dtype.kind != "f" or not np.isfinite(as_floats(row, f"segment {number} of segments")).all():
        raise ArgumentError(f"segment {number} of segments has numbers that are not finite floats.")
    return row


def _distance(loss: Callable[[Any, Any], Any], steps: int, x: Any, start: Any, goal: Any) -> Any:
    """|w_T - w*|^2 / |w0 - w*|^2, with TESLA's gradient."""
    if not isinstance(x, dict) or sorted(cast("dict[str, Any]", x)) != ["rate", "samples"]:
        raise ArgumentError('x of dataset_distillation has other parts than {"samples": X, "rate": beta}.')
    samples, rate = cast("tuple[Any, Any]", (x["samples"], x["rate"]))
    args = samples, rate, start
    rule = partial(_rule, loss, steps)
    total = transforms.custom_vjp(partial(_total, loss, steps), rule, *args, surrogate=True)(*args)
    return np.sum((start - rate * total - goal) ** 2) / np.sum((start - goal) ** 2)


def _total(loss: Callable[[Any, Any], Any], steps: int, samples: Any, rate: Any, start: Any) -> Any:
    """Sum of the gradients of all steps."""

    def step(carry: Any, _: Any) -> Any:
        w, total = carry
        slope = transforms.grad(loss)(w, samples)
        return (w - rate * slope, total + slope), None

    return transforms.scan(step, (start, np.zeros_like(start)), length=steps)[0][1]


def _rule(
    loss: Callable[[Any, Any], Any], steps: int, g: Any, _: Any, samples: Any, rate: Any, start: Any
) -> tuple[Any, Any, Any]:
    """Cotangents of the sum for that of its value, g: every w_i is constant."""

    def step(carry: Any, _: Any) -> Any:
        w, found = carry

        def along(some: Any) -> Any:
            """<g, grad l(w; X)> as a function of X."""

            def at(v: Any) -> Any:
                return loss(v, some)

            return transforms.jvp(at, (w,), (g,))[1]

        mixed = transforms.grad(along)(samples)
        return (w - rate * transforms.grad(loss)(w, samples), tree.map(np.add, found, mixed)), None

    (_, found), _ = transforms.scan(step, (start, tree.map(np.zeros_like, samples)), length=steps)
    return found, np.zeros_like(rate), np.zeros_like(start)
