"""Named methods of sparse training: `rewire` with what their papers chose."""

from dataclasses import dataclass, field

from burlab.runtime.ranges import POSITIVE, number_in

from .rewiring import rewire


@dataclass(frozen=True)
class SET(rewire):
    """Mocanu et al. 2018, arXiv:1707.04780: links of `bl.nn.SparseLinear` with small weights move to random places.

    `rewire` with candidates=1. In the paper links change after each epoch, and start with random weights; here they
    start with 0, which changes no output. Cost: that of the optimizer inside.

    Args:
        inner: The optimizer.
        every: Steps from one change of links to the next.
        fraction: Of the links of a layer that change; zeta = 0.3 in the paper.
        end: The step from which on links stay, to which the fraction falls as a cosine; None: never, as in the paper.

    >>> import numpy as np, burlab as bl
    >>> layer = bl.nn.SparseLinear(8, 4, density=0.25, key=bl.random.key(0))
    >>> loss = lambda layer: np.sum((layer(np.ones(8, np.float32)) - 1) ** 2)
    >>> run = bl.minimize(loss, layer, bl.optim.SET(bl.optim.GD(0.1), every=5), steps=20)
    >>> run.x.weight.shape, bool(np.any(run.x.columns != layer.columns))
    ((8,), True)
    """

    candidates: int | None = field(default=1, init=False)


@dataclass(frozen=True)
class RigL(rewire):
    """Evci et al. 2020, arXiv:1911.11134: links of `bl.nn.SparseLinear` move to the places of the largest gradients.

    `rewire` with candidates=None: of all places of a layer without a link, by the gradient of the batch, a block of
    rows at a time. Here the step of a change also moves the weights, which the paper leaves out. Cost: that of the
    optimizer inside; at steps that change links 16 more gradients.

    Args:
        inner: The optimizer.
        every: Steps from one change of links to the next, 100 in the paper.
        fraction: Of the links of a layer that change at first; alpha = 0.3 in the paper.
        end: The step from which on links stay, to which the fraction falls as a cosine; 3/4 of all in the paper.

    >>> import numpy as np, burlab as bl
    >>> layer = bl.nn.SparseLinear(8, 1, density=0.25, key=bl.random.key(0))
    >>> loss = lambda layer: np.sum((layer(np.arange(8, dtype=np.float32)) - 1) ** 2)
    >>> run = bl.minimize(loss, layer, bl.optim.RigL(bl.optim.GD(1e-3), every=1), steps=1)
    >>> 7 in layer.rows, 7 in run.x.rows  # the largest input
    (False, True)
    """

    candidates: int | None = field(default=None, init=False)


@dataclass(frozen=True)
class GSE(rewire):
    """Heddes et al. 2024, arXiv:2401.04898: links move to the places of the largest gradients among some drawn ones.

    Guided stochastic exploration: `rewire` with gamma / fraction candidates for each link that moves, so that at first
    gamma times as many places are drawn as a layer has links, each as likely. The paper draws as many at every change,
    and compares all layers together; here each layer keeps its number of links. Cost: that of the optimizer inside; at
    steps that change links gamma / fraction more gradients of the sparse network.

    Args:
        inner: The optimizer.
        every: Steps from one change of links to the next, 1,000 in the paper.
        fraction: Of the links of a layer that change at first, 0.2 in the paper.
        end: The step from which on links stay, to which the fraction falls as a cosine; 2/3 of all in the paper.
        gamma: Places that are drawn for each link of a layer; 1 in the paper.

    >>> import burlab as bl
    >>> bl.optim.GSE(bl.optim.Adam(), gamma=2.0).candidates
    10
    """

    every: int = 1000
    fraction: float = 0.2
    candidates: int | None = field(default=None, init=False)
    gamma: float = 1.0

    def __post_init__(self) -> None:
        number_in(POSITIVE, self.gamma, "gamma of GSE")
        object.__setattr__(self, "candidates", 1)
        super().__post_init__()
        object.__setattr__(self, "candidates", max(round(self.gamma / self.fraction), 1))
