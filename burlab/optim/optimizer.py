"""What an optimizer is: fields, a state, and the rule that makes the next point from a gradient."""

from abc import ABC, abstractmethod
from dataclasses import fields, is_dataclass
from typing import Annotated, Any, cast

import numpy as np

from burlab.errors import ArgumentError, DTypeError

Vector = np.ndarray[Any, np.dtype[Any]]
State = Any  # a tree of arrays

Hyper = Annotated[float, "live"]
"""The type of a field that may change between two steps. Its value is a weak float64: it never widens float32."""


class Optimizer(ABC):
    """A frozen dataclass with an update rule. Fields typed `Hyper` are live, all others are part of the program.

    The rule is plain NumPy on one flat vector `x` of shape (d,), all leaves ravelled in order, of one dtype. It is
    traced once per run; a branch on a hyperparameter cannot be traced: use np.where.

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

    def init(self, x: Vector) -> State:  # noqa: ARG002 - what most rules start from
        """The state at step 0: any tree of arrays. x: the start, shape (d,)."""
        return {}

    @abstractmethod
    def update(self, g: Vector, state: State, x: Vector, t: int, *, f: Any) -> tuple[Vector, State]:
        """The next point and state.

        g: gradient of this step's batch at x, shape (d,). t: the step, from 0. f: reserved for rules that ask the
        problem for more than g; a rule that needs only g may leave it out of its signature.
        """


def hyperparameters(optimizer: Optimizer) -> dict[str, float]:
    """The live fields of an optimizer, in order. Raises where the class or a value is not what it must be."""
    kind = type(optimizer).__name__
    if not is_dataclass(optimizer):
        raise ArgumentError(f"{kind} is no dataclass, so its fields are unknown. Put @dataclass(frozen=True) above it.")
    unseen = [
        name
        for name, annotation in vars(type(optimizer)).get("__annotations__", {}).items()
        if _is_hyper(annotation) and name not in {f.name for f in fields(optimizer)}
    ]
    if unseen:
        raise ArgumentError(
            f"{kind} declares {', '.join(unseen)} but only a base class of it is a dataclass. "
            "Put @dataclass(frozen=True) above it too."
        )
    return {f.name: hyper_value(f.name, getattr(optimizer, f.name)) for f in fields(optimizer) if _is_hyper(f.type)}


def hyper_value(name: str, value: Any) -> float:
    """A hyperparameter as a float. Raises DTypeError where it is not a real number."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, float, np.integer, np.floating)):
        raise DTypeError(f"the hyperparameter {name} is {value!r}, expected a real number such as 0.01.")
    return float(cast("Any", value))


def _is_hyper(annotation: Any) -> bool:
    """Also under `from __future__ import annotations`, where an annotation is its text."""
    return annotation is Hyper or (isinstance(annotation, str) and annotation.rpartition(".")[2] == "Hyper")
