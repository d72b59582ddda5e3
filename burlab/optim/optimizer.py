"""Base class of optimizers: fields, a state, and the rule that computes the next point from a gradient."""

import inspect
from abc import ABC, abstractmethod
from typing import Annotated, Any, ClassVar, cast

import numpy as np

from burlab.errors import ArgumentError
from burlab.runtime.checks.numbers import shown

from .field_ranges import check_numbers
from .queries import Queries

Vector = np.ndarray[Any, np.dtype[Any]]
State = Any  # a tree of arrays
Metrics = dict[str, Any]  # logged by an update: scalars by name
_WITH_METRICS = 3  # results of an update that logs metrics

Hyper = Annotated[Any, "live"]
"""The type of a field that may change between two steps: a number, or a schedule of the step (`lr=cosine(...)`).

In the rule it is a number, a weak float64: it never widens float32. A field typed `Hyper | None` may be left out: None
is no number that can change but a part of the program.
"""


class Optimizer(ABC):
    """A frozen dataclass with an update rule. Fields of type `Hyper` are live; all others are part of the program.

    The rule is plain NumPy on one flat vector `x` of shape (d,) and one dtype: all leaves, ravelled in order. It is
    traced once per run. A branch on a hyperparameter cannot be traced: use np.where.

    >>> from dataclasses import dataclass
    >>> import numpy as np, burlab as bl
    >>> @dataclass(frozen=True)
    ... class SignDescent(bl.optim.Optimizer):
    ...     lr: bl.optim.Hyper = 1e-3
    ...     def update(self, g, state, x, t):
    ...         return x - self.lr * np.sign(g), state
    >>> bl.minimize(lambda x: np.sum(x**2), np.array([1.0, -1.0]), SignDescent(0.25), steps=3).x
    array([ 0.25, -0.25])
    """

    per_leaf: ClassVar[bool] = False
    """True if the rule needs the shapes of x's leaves: then x, g and the new x are trees of x0's structure.

    Its queries take and return such trees too.
    """
    all_leaves: ClassVar[bool] = False
    """True if the rule may change the integers and masks of x0, too: then it gets and returns trees that hold them.

    The gradient is zero there. Other rules, and a wrapper around this one, get None in their place, and leave them.
    """

    def __post_init__(self) -> None:
        check_numbers(self)

    def init(self, x: Vector) -> State:  # noqa: ARG002 - what most rules start from
        """The state at step 0.

        A rule that starts from values or gradients writes `init(self, x, *, f)`: f answers as in `update`, but over all
        samples, or over those of `indices=`, since there is no step yet; about clients it answers as there.

        Args:
            x: The start, shape (d,).

        Returns:
            Any tree of arrays.
        """
        return {}

    def output(self, x: Vector, state: State) -> Vector:  # noqa: ARG002 - x, for most rules
        """The point that the run gives, where it is not x, at which gradients are taken: an average, say.

        It is `run.x`, and what a validation is about. Traced, as `update` is; live fields are those of the next step.

        Args:
            x: Point where the next gradient is taken, shape (d,).
            state: State after the step.

        Returns:
            A point, shape (d,).
        """
        return x

    def batch_size(self, state: State) -> Any:  # noqa: ARG002 - None, for most rules
        """Return the number of samples that the next step needs.

        Traced, as `update` is. It needs `batch=bl.Batch(first, most)`, which rounds it and keeps it between 1 and most.

        Args:
            state: State after the step.

        Returns:
            A number, shape (); None: as `bl.Batch` plans.
        """
        return None

    @abstractmethod
    def update(
        self, g: Vector, state: State, x: Vector, t: int, *, f: Queries
    ) -> tuple[Vector, State] | tuple[Vector, State, Metrics]:
        """Return the next point and state, and optionally metrics by name, which become columns of the history.

        A rule that never reads g costs no gradient: then values are computed alone, and gradient norms are nan. If it
        reads no `f.value(x)` either, and logs a metric "value", that is the value of the step, and none is computed.

        Args:
            g: Gradient of this step's batch at x, shape (d,).
            state: State before the step, as `init` or the last update gave it.
            x: Point before the step, shape (d,).
            t: Number of the step, from 0.
            f: The problem, for rules that need more than g; a rule that needs only g may leave it out of its signature.
        """


def start(optimizer: Optimizer, x: Vector, f: Queries | None) -> State:
    """The state of an optimizer at step 0; its init gets f only if it has such a parameter."""
    if "f" not in inspect.signature(optimizer.init).parameters:
        return optimizer.init(x)
    if f is None:
        kind = type(optimizer).__name__
        raise ArgumentError(
            f"{kind}.init reads f, the problem, and got None. A wrapper passes it on: init(self, x, *, f=None) and "
            "bl.optim.optimizer.start(self.inner, x, f)."
        )
    return cast("Any", optimizer).init(x, f=f)


def advance(optimizer: Optimizer, g: Vector, state: State, x: Vector, t: int, f: Queries) -> tuple[Vector, State]:
    """Return the next point and state; f, which is passed where the update takes it, logs the metrics."""
    extra = {"f": f} if "f" in inspect.signature(optimizer.update).parameters else {}
    result: Any = cast("Any", optimizer).update(g, state, x, t, **extra)
    if type(result) is tuple and len(cast("tuple[Any, ...]", result)) == _WITH_METRICS:
        x, state, logged = cast("tuple[Any, Any, Any]", result)
        if not isinstance(logged, dict) or not all(isinstance(name, str) for name in cast("dict[Any, Any]", logged)):
            raise ArgumentError(
                f"{type(optimizer).__name__}.update returned (x, state, {shown(logged)}), expected "
                "{name: number, ...} as the third: columns of the history."
            )
        f.log(cast("Metrics", logged))
        return x, state
    return cast("Any", result)
