"""Wrappers: optimizers around another one, `clip_by_norm(Adam(1e-3), 1.0)`. They compose; the outermost acts first.

They modify what they are given, so they have small letters. The live fields of the optimizer inside stay live under
their names, those of the wrapper come after them; a name that is taken gets the wrapper's in front.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from burlab.errors import ArgumentError
from burlab.runtime.checks.numbers import shown
from burlab.transforms import random

from .optimizer import Hyper, Optimizer, State, Vector, advance, start
from .queries import Queries


@dataclass(frozen=True)
class Wrapper(Optimizer):
    """The base of all wrappers: it holds the inner optimizer and keeps its state. Abstract.

    >>> from dataclasses import dataclass
    >>> import numpy as np, burlab as bl
    >>> @dataclass(frozen=True)
    ... class halved(bl.optim.Wrapper):
    ...     def update(self, g, state, x, t, *, f):
    ...         return self.advance(g / 2, state, x, t, f)
    >>> bl.minimize(lambda x: np.sum(x**2), np.ones(1), halved(bl.optim.GD(0.5)), steps=1).x
    array([0.5])
    """

    inner: Optimizer

    def __post_init__(self) -> None:
        super().__post_init__()
        inner: Any = self.inner
        if not isinstance(inner, Optimizer):
            hint = "Call it" if isinstance(inner, type) else "Pass one"
            kind = type(self).__name__
            raise ArgumentError(
                f"{kind} is put around an optimizer, got {shown(inner)}. {hint}: {kind}(bl.optim.Adam(lr=1e-3), ...)."
            )

    def init(self, x: Vector, *, f: Any = None) -> State:
        """The state of the optimizer inside."""
        return start(self.inner, x, f)

    def output(self, x: Vector, state: State) -> Vector:
        """The point that the optimizer inside gives."""
        return self.inner.output(x, state)

    def batch_size(self, state: State) -> Any:
        """Return the batch size of the inner optimizer."""
        return self.inner.batch_size(state)

    def advance(self, g: Vector, state: State, x: Vector, t: int, f: Queries) -> tuple[Vector, State]:
        """Return the inner optimizer's next point and state for the gradient g."""
        return advance(self.inner, g, state, x, t, f)


def step_size(optimizer: Optimizer, user: str) -> Any:
    """The lr of an optimizer or of the one inside. user: who needs it, for the ArgumentError where there is none."""
    lr = getattr(optimizer, "lr", None)
    if lr is None and isinstance(optimizer, Wrapper):
        return step_size(optimizer.inner, user)
    if lr is None:
        raise ArgumentError(
            f"{user} is scaled by the step size lr, which {type(optimizer).__name__} does not have. "
            "Use an optimizer with a field lr."
        )
    return lr


@dataclass(frozen=True)
class clip_by_norm(Wrapper):
    """Pascanu, Mikolov and Bengio 2013, section 3.2, arXiv:1211.5063: the whole gradient is at most max_norm long.

    g <- g min(1, max_norm / (|g| + slack)), as torch.nn.utils.clip_grad_norm_; the paper and optax.clip_by_global_norm
    have no slack. Cost: that of the optimizer inside.

    Args:
        inner: The optimizer.
        max_norm: Largest Euclidean norm.
        slack: 1e-6 in torch.

    >>> import numpy as np, burlab as bl
    >>> bl.minimize(lambda x: 50 * x @ x, np.ones(1), bl.optim.clip_by_norm(bl.optim.GD(0.5), 1.0), steps=1).x.round(4)
    array([0.5])
    """

    max_norm: Hyper
    slack: float = 1e-6

    def update(self, g: Vector, state: State, x: Vector, t: int, *, f: Queries) -> tuple[Vector, State]:
        """The step along the shortened gradient."""
        return self.advance(np.minimum(self.max_norm / (np.linalg.norm(g) + self.slack), 1.0) * g, state, x, t, f)


@dataclass(frozen=True)
class clip_by_value(Wrapper):
    """Every entry of the gradient between -max_value and max_value: torch.nn.utils.clip_grad_value_, optax.clip.

    Cost: that of the optimizer inside.

    >>> import numpy as np, burlab as bl
    >>> bl.minimize(lambda x: 50 * x @ x, np.ones(1), bl.optim.clip_by_value(bl.optim.GD(0.5), 1.0), steps=1).x
    array([0.5])
    """

    max_value: Hyper

    def update(self, g: Vector, state: State, x: Vector, t: int, *, f: Queries) -> tuple[Vector, State]:
        """The step along the clipped gradient."""
        return self.advance(np.clip(g, -self.max_value, self.max_value), state, x, t, f)


@dataclass(frozen=True)
class weight_decay(Wrapper):
    """Coupled: g <- g + weight_decay x, the gradient with weight_decay / 2 |x|^2 added to the loss.

    It is the weight_decay of torch.optim.SGD, Adam, RMSprop and others, but not of AdamW; optax.add_decayed_weights
    before the optimizer. Adam divides it by the root of the second moment with the rest: see decoupled_weight_decay.
    Cost: that of the optimizer inside.

    >>> import numpy as np, burlab as bl
    >>> bl.minimize(lambda x: 0 * np.sum(x), np.ones(1), bl.optim.weight_decay(bl.optim.GD(0.5), 0.5), steps=1).x
    array([0.75])
    """

    weight_decay: Hyper

    def update(self, g: Vector, state: State, x: Vector, t: int, *, f: Queries) -> tuple[Vector, State]:
        """The step of the loss and the decay together."""
        return self.advance(g + self.weight_decay * x, state, x, t, f)


@dataclass(frozen=True)
class decoupled_weight_decay(Wrapper):
    """Loshchilov and Hutter 2019, arXiv:1711.05101, in torch's form: x also shrinks by lr weight_decay x.

    Around Adam it is AdamW; around AMSGrad, NAdam and RAdam torch's decoupled_weight_decay. lr is the one inside; the
    paper has a schedule's multiplier there. Cost: that of the optimizer inside.

    >>> import numpy as np, burlab as bl
    >>> decayed = bl.optim.decoupled_weight_decay(bl.optim.Adam(0.5), 0.5)
    >>> bl.minimize(lambda x: 0 * np.sum(x), np.ones(1), decayed, steps=1).x
    array([0.75])
    """

    weight_decay: Hyper

    def update(self, g: Vector, state: State, x: Vector, t: int, *, f: Queries) -> tuple[Vector, State]:
        """The step, and the decay beside it."""
        after, state = self.advance(g, state, x, t, f)
        return after - step_size(self.inner, "decoupled_weight_decay") * self.weight_decay * x, state


@dataclass(frozen=True)
class gradient_noise(Wrapper):
    """Neelakantan et al. 2015, arXiv:1511.06807, equation 1: g <- g + N(0, eta / (1 + t)^gamma); optax.add_noise.

    The numbers come from the key of the step, so a run with the same seed has the same numbers.
    Cost: that of the optimizer inside, and d normal numbers.

    Args:
        inner: The optimizer.
        eta: Variance at the first step; the paper tries 0.01, 0.3 and 1.
        gamma: Power of its decay.

    >>> import numpy as np, burlab as bl
    >>> noisy = bl.optim.gradient_noise(bl.optim.GD(1.0), eta=0.01)
    >>> bool(0 < np.std(bl.minimize(lambda x: 0 * np.sum(x), np.ones(9), noisy, steps=1).x) < 0.2)
    True
    """

    eta: Hyper = 0.01
    gamma: Hyper = 0.55

    def update(self, g: Vector, state: State, x: Vector, t: int, *, f: Queries) -> tuple[Vector, State]:
        """The step along the noisy gradient."""
        deviation = (self.eta / (1 + t) ** self.gamma) ** 0.5
        key = random.fold_in(f.key, self._layer)
        return self.advance(g + deviation * random.normal(key, g.shape, g.dtype), state, x, t, f)

    @property
    def _layer(self) -> int:
        """Number of such wrappers inside: each draws numbers of its own."""
        layer, inner = 0, self.inner
        while isinstance(inner, Wrapper):
            layer, inner = layer + isinstance(inner, gradient_noise), inner.inner
        return layer
