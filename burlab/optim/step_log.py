"""Numbers that an update logs about its step."""

from typing import Any

import numpy as np

from burlab.errors import ArgumentError
from burlab.graph import tree
from burlab.graph.origin import location
from burlab.typing import Tree

from .batches import VALUE


class StepLog:
    """The metrics of a step, by name, and the point of its value.

    value_at: the point of the step's value in words, "" where no rule names it. estimate: the norm of what `estimated`
    was given last; gradient_norm: that of what `log_gradient` was.
    """

    def __init__(self) -> None:
        self._logged: dict[str, Any] = {}
        self.value_at = ""
        self.estimate: Any = None
        self.gradient_norm: Any = None

    def log(self, metrics: dict[str, Any]) -> None:
        """Log metrics: each becomes a column of the history, as those that an update returns behind its state.

        Args:
            metrics: By name, scalars; they are stored as float64. "bits" is added up over the steps; "value" is the
                value of the step, where the rule reads neither its gradient nor `f.value(x)`.

        Raises:
            ArgumentError: Another rule of the update logs a metric of that name.
        """
        if VALUE in self._logged:  # of several rules, for parts of x, the first one counts
            metrics = {name: number for name, number in metrics.items() if name != VALUE}
        if taken := metrics.keys() & self._logged.keys():
            raise ArgumentError(f"{location()}two rules of this update log a metric {taken.pop()!r}. Rename one.")
        self._logged |= metrics

    def log_value(self, value: Any, at: str) -> None:
        """Log the value of the step, unless a rule inside has logged one.

        Args:
            value: Shape (); None for that at x, which the step computes.
            at: Its point in words, such as "T(x)".
        """
        if VALUE not in self._logged:
            self.value_at = at
            self.log({} if value is None else {VALUE: value})

    def estimated(self, v: Tree) -> Any:
        """v, which is what a rule takes for the gradient: `Stop(grad_norm=, of="estimator")` is about its norm."""
        self.estimate = norm_of(v)
        return v

    def log_gradient(self, gradient: Tree) -> None:
        """Name the gradient of a step that reads no other one: its norm is that in the history, where g's would be.

        Args:
            gradient: Of x's form.
        """
        self.gradient_norm = norm_of(gradient)


def norm_of(v: Tree) -> Any:
    """The Euclidean norm of all leaves together."""
    squares = [np.sum(leaf * leaf) for leaf in tree.flatten(v)[0]]
    return np.sqrt(sum(squares[1:], squares[0]))
