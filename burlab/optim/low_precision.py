"""A wrapper around an optimizer whose gradient, state and point are kept in narrow formats."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from burlab.graph import tree
from burlab.transforms import random
from burlab.transforms.numbers.formats import Format
from burlab.transforms.numbers.roundings import FormatName, Rounding, round_to

from .loss_scale import LossScale
from .optimizer import State, Vector, start
from .queries import Queries
from .wrappers import Wrapper

_DRAWS = 0x524F554E44  # folded into the key of a step: no other wrapper draws these numbers


@dataclass(frozen=True)
class rounded(Wrapper):
    """The gradient, the state and x in narrow formats, with a loss scale: the memory of low-precision training.

    The gradient of the step is scaled, rounded as it would be stored or sent, and divided by the scale again; a step is
    left out where it overflows, see `LossScale`. Arrays of the state and x are rounded after the step, stochastically
    by default, so that updates below half a unit count on average (Gupta et al. 2015, arXiv:1502.02551). What is
    computed within a step has x's dtype. With a scale, the history has the columns "loss_scale" and "skipped_steps".
    Cost: that of the optimizer inside, and keeps three numbers more with a scale.

    Args:
        inner: The optimizer.
        gradients: Format of the gradient, as of `bl.round_to`; None: x's dtype.
        state: Format of arrays in the optimizer's state; numbers of shape () are not rounded.
        params: Format of x, of which then nothing more exact is kept.
        scale: "dynamic", a number, or a `LossScale`; None: the gradient is rounded as it is.
        stochastic: False to round state and x to the nearest number.

    >>> import numpy as np, burlab as bl
    >>> low = bl.optim.rounded(bl.optim.GD(0.1), gradients="e4m3", scale=2.0**10)
    >>> run = bl.minimize(lambda x: 1e-3 * np.sum((x - 1.0) ** 2), np.zeros(2), low, steps=1)
    >>> run.x.round(6), int(run.history["skipped_steps"][0])
    (array([0.000195, 0.000195]), 0)
    """

    gradients: FormatName | None = None
    state: FormatName | None = None
    params: FormatName | None = None
    scale: LossScale | float | str | None = None
    stochastic: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in (self.gradients, self.state, self.params):
            if name is not None:
                Rounding.of(name, "nearest", has_key=False)
        LossScale.of(self.scale)

    def init(self, x: Vector, *, f: Any = None) -> State:
        """The state of the optimizer inside, and of the scale."""
        inner, scale = start(self.inner, x, f), LossScale.of(self.scale)
        own: dict[str, Any] = {} if scale is None else scale.init(x.dtype)
        leaves, structure = tree.flatten(inner)
        stored = tree.unflatten(structure, [nearest(self.state, leaf) for leaf in leaves])
        return {"inner": stored, "scale": own}

    def output(self, x: Vector, state: State) -> Vector:
        """The point that the optimizer inside gives."""
        return self.inner.output(x, state["inner"])

    def batch_size(self, state: State) -> Any:
        """Return the batch size of the inner optimizer."""
        return self.inner.batch_size(state["inner"])

    def update(self, g: Vector, state: State, x: Vector, t: int, *, f: Queries) -> tuple[Vector, State]:
        """The step along the rounded gradient, unless that overflows."""
        scale, own = LossScale.of(self.scale), state["scale"]
        if scale is None:
            g = nearest(self.gradients, g)
            after, inner = self.advance(g, state["inner"], x, t, f)
            return self._drawn(self.params, after, f, 0), {"inner": self._stored(inner, f), "scale": own}
        wanted = g * own["scale"]
        scaled = nearest(self.gradients, wanted)
        finite = np.all(self._fits(wanted, scaled, scale))
        known = np.where(finite, scaled / own["scale"], 0.0).astype(g.dtype)
        after, inner = self.advance(known, state["inner"], x, t, f)
        after, inner = self._drawn(self.params, after, f, 0), self._stored(inner, f)
        leaves, structure = tree.flatten(inner)
        olds = tree.flatten(state["inner"])[0]
        chosen: list[Any] = [np.where(finite, new, old) for new, old in zip(leaves, olds, strict=True)]
        f.log({"loss_scale": own["scale"], "skipped_steps": own["skipped"] + np.where(finite, 0, 1)})
        return np.where(finite, after, x), {
            "inner": tree.unflatten(structure, chosen),
            "scale": scale.after(own, finite),
        }

    def _fits(self, wanted: Any, scaled: Any, scale: LossScale) -> Any:
        """Return True where a scaled gradient does not overflow. wanted, scaled: before and after it is rounded."""
        form = None if self.gradients is None else Format.of(self.gradients)
        if form is None or not form.saturates or form.block or scale.backoff == 1.0:
            return np.isfinite(scaled)
        return np.abs(wanted) <= form.largest * form.scale

    def _stored(self, inner: State, f: Queries) -> State:
        """The state of the optimizer inside, rounded, each leaf by numbers of its own."""
        leaves, structure = tree.flatten(inner)
        return tree.unflatten(structure, [self._drawn(self.state, leaf, f, 1 + k) for k, leaf in enumerate(leaves)])

    def _drawn(self, name: FormatName | None, x: Any, f: Queries, number: int) -> Any:
        if not self.stochastic or name is None or not _is_stored(x):
            return nearest(name, x)
        return round_to(name, x, key=random.fold_in(random.fold_in(f.key, _DRAWS), number))


def nearest(name: FormatName | None, x: Any) -> Any:
    """Return an array of floats rounded to the nearest numbers of a format, and everything else as it is."""
    return round_to(name, x) if name is not None and _is_stored(x) else x


def _is_stored(x: Any) -> bool:
    """Return True for an array of floats."""
    return np.ndim(x) > 0 and x.dtype.kind == "f"
