"""Formats of a whole run: of the loss, of gradients, of the state and of x."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from burlab.graph import tree
from burlab.transforms.numbers.formats import Format
from burlab.transforms.numbers.rounded_functions import precision
from burlab.transforms.numbers.roundings import FormatName, Rounding, round_to

from .gradient_place import through
from .loss_scale import LossScale
from .low_precision import nearest, rounded
from .optimizer import Optimizer, State

FIELDS = ("params", "compute", "gradients", "state")
"""What of a run has a format."""


def text_of(name: FormatName) -> str:
    """Return a format as a user names it.

    >>> text_of("bfloat16"), text_of((4, 3)), text_of(Format.integer(8))
    ('bfloat16', '(4, 3)', 'a format of your own')
    """
    return "a format of your own" if isinstance(name, Format) else str(name)


@dataclass(frozen=True)
class RoundParameters:
    """T of `through`: the rounded x at which gradients are taken. format: of all leaves, as of `bl.round_to`."""

    format: FormatName

    def __call__(self, x: Any) -> Any:
        """Return every leaf, rounded to the nearest number."""
        leaves, structure = tree.flatten(x)
        return tree.unflatten(structure, [round_to(self.format, leaf) for leaf in leaves])


@dataclass(frozen=True, slots=True)
class Formats:
    """Formats of a run of `bl.minimize`: mixed precision, emulated in x0's dtype.

    Formats are names or others of `bl.round_to`; None leaves a thing as it is. Micikevicius et al. 2018, Mixed
    precision training, arXiv:1710.03740.

    Args:
        params: Of the x at which the loss is computed. With `master` weights, x itself is kept in its dtype: it is
            `run.iterate`, and `run.x` is the rounded one.
        compute: Of all operations of the loss: `bl.precision`. Derivatives pass through their roundings, and the
            backward pass is computed in the dtype.
        gradients: Of the gradient of a step, rounded where it would be stored or sent, times the loss scale.
        state: Of the arrays in the optimizer's state, such as moments.
        scale: Of the loss: "dynamic", a number, or a `bl.optim.LossScale`; None: none.
        accumulate: Format of sums and products before they are rounded to `compute`.
        master: False to keep nothing more exact than x in the format `params`; x0 is rounded to the nearest then.
        stochastic: True to round state, and x without master weights, stochastically; False: to the nearest.

    >>> import numpy as np, burlab as bl
    >>> half = bl.Formats(params="bfloat16", compute="bfloat16", gradients="e5m2", scale="dynamic")
    >>> run = bl.minimize(lambda x: np.sum((x - 1.1) ** 2), np.zeros(2), bl.optim.GD(0.1), formats=half, steps=50)
    >>> run.x, bool(np.all(run.x == bl.round_to("bfloat16", run.iterate)))
    (array([1.1015625, 1.1015625]), True)
    """

    params: FormatName | None = None
    compute: FormatName | None = None
    gradients: FormatName | None = None
    state: FormatName | None = None
    scale: LossScale | float | str | None = None
    accumulate: FormatName | None = None
    master: bool = True
    stochastic: bool = True

    def __post_init__(self) -> None:
        for name in (self.params, self.compute, self.gradients, self.state, self.accumulate):
            if name is not None:
                Rounding.of(name, "nearest", has_key=False, what="Formats")
        LossScale.of(self.scale)

    def of_loss(self, loss: Callable[..., Any]) -> Callable[..., Any]:
        """Return a loss in rounded arithmetic."""
        return loss if self.compute is None else precision(loss, self.compute, accumulate=self.accumulate)

    def of_optimizer(self, optimizer: Optimizer) -> Optimizer:
        """Return an optimizer with a rounded gradient, state and x."""
        params = None if self.master else self.params
        found = rounded(optimizer, self.gradients, self.state, params, self.scale, self.stochastic)
        inner = found if self._rounds else optimizer
        if self.params is None or not self.master:
            return inner
        return through(inner, RoundParameters(self.params), at="T(x)")

    @property
    def summary(self) -> str:
        """The formats in words: a name, where all four have one format.

        >>> from burlab import Formats
        >>> Formats(params="e4m3", state="bfloat16").summary, Formats(*4 * ["bfloat16"]).summary
        ('params e4m3, state bfloat16', 'bfloat16')
        """
        found = {field: getattr(self, field) for field in FIELDS}
        if len(set(found.values())) == 1 and self.params is not None:
            return text_of(self.params)
        words = [f"{field} {text_of(name)}" for field, name in found.items() if name is not None]
        return ", ".join(words) or ("a loss scale" if self.scale is not None else "x0's dtype")

    @property
    def _rounds(self) -> bool:
        """Return True if `of_optimizer` wraps in `rounded`."""
        params = None if self.master else self.params
        return any(x is not None for x in (self.gradients, self.state, params, self.scale))

    @property
    def _moves(self) -> bool:
        """Return True if `of_optimizer` wraps in `through`."""
        return self.master and self.params is not None

    def inside(self, optimizer: Any) -> Any:
        """Return the optimizer that `of_optimizer` was given."""
        optimizer = optimizer.inner if self._moves else optimizer
        return optimizer.inner if self._rounds else optimizer

    def inside_state(self, state: State) -> State:
        """Return the state of the optimizer inside, from that of the one that `of_optimizer` gives."""
        state = state["inner"] if self._moves else state
        return state["inner"] if self._rounds else state

    def around_state(self, initial: State, inside: State, t: int) -> State:
        """Return the state in these formats for an optimizer inside that is at step t.

        Args:
            initial: The state at step 0, of which the loss scale stays.
            inside: The state of the optimizer inside, whose arrays are rounded to the nearest number.
            t: Steps done.
        """
        if self._moves:
            return {**initial, "inner": self._stored(initial["inner"], inside), "t": np.asarray(t)}
        return self._stored(initial, inside)

    def _stored(self, initial: State, inside: State) -> State:
        if not self._rounds:
            return inside
        leaves, structure = tree.flatten(inside)
        return {**initial, "inner": tree.unflatten(structure, [nearest(self.state, leaf) for leaf in leaves])}

    def of_start(self, x0: Any) -> Any:
        """Return a start that has the format of x, if nothing more exact is kept."""
        return x0 if self.master or self.params is None else RoundParameters(self.params)(x0)
