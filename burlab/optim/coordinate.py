"""Descent along one coordinate at a time."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from burlab.errors import ArgumentError, ShapeError
from burlab.graph.buffers.buffer_functions import at_set
from burlab.graph.numpy_api.indexing import asarray
from burlab.runtime.checks.numbers import shown, whole
from burlab.runtime.plain import as_floats
from burlab.transforms import random, scan

from .optimizer import Hyper, Optimizer, State, Vector
from .penalties import Penalty
from .queries import Queries

_searchsorted: Any = np.searchsorted
_minimum: Any = np.minimum


@dataclass(frozen=True)
class CoordinateDescent(Optimizer):
    """Nesterov 2012, Efficiency of coordinate descent methods on huge-scale optimization problems, method RCDM.

    x_i <- x_i - lr / L_i df/dx_i, i at random with probability L_i / sum L; all alike where L is not given.
    For strong convexity mu, E[f(x_k) - f*] <= (1 - mu / sum L)^k (f(x_0) - f*) at lr = 1. With a penalty h, a sum over
    entries, x_i is then brought to its proximal point: Richtarik and Takac 2014, Iteration complexity of randomized
    block-coordinate descent methods, Algorithm 2, where all i are alike.

    Over sparse data, where the loss reads x by one product a @ x of a row, the products A @ x are computed once for a
    step, and a coordinate then takes the entries of its column alone (section 6 of Nesterov's paper).
    lr: 1, or a step size where smoothness is None. smoothness: L_i > 0 of every coordinate, shape (d,). coordinates: so
    many in a step, one after another, as d for a pass over all of them. penalty: `l1`, `l2`, `elastic_net`, or None.
    Cost: one entry of the gradient for each coordinate; over sparse data these of a step, and one pass over the data.
    Keeps nothing.

    >>> import numpy as np, burlab as bl
    >>> h = np.array([1.0, 4.0])
    >>> rule = bl.optim.CoordinateDescent(smoothness=(1.0, 4.0))
    >>> bl.minimize(lambda x: 0.5 * np.sum(h * (x - 1) ** 2), np.zeros(2), rule, steps=20).x
    array([1., 1.])
    """

    lr: Hyper = 1.0
    smoothness: tuple[float, ...] | None = None
    coordinates: int = 1
    penalty: Penalty | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        whole(self.coordinates, "coordinates of CoordinateDescent", 1)
        if not isinstance(self.penalty, Penalty | None):  # pyright: ignore[reportUnnecessaryIsInstance] - users pass anything
            raise ArgumentError(
                f"penalty of CoordinateDescent is {shown(self.penalty)}, expected a bl.optim.Penalty such as "
                "bl.optim.l1(0.1), or None."
            )
        if self.smoothness is not None:
            numbers = as_floats(self.smoothness, "smoothness of CoordinateDescent")
            if numbers.ndim != 1 or not np.all((numbers > 0) & np.isfinite(numbers)):
                raise ArgumentError(
                    f"smoothness of CoordinateDescent is {shown(self.smoothness)}, expected a number above 0 for each "
                    "coordinate, shape (d,)."
                )
            object.__setattr__(self, "smoothness", tuple(numbers.tolist()))

    def update(self, g: Vector, state: State, x: Vector, t: int, *, f: Queries) -> tuple[Vector, State]:  # noqa: ARG002
        """Coordinates drawn at random, one after another."""
        return (self._plain(x, f) if f.products is None else self._by_products(x, f, f.products)), state

    def _plain(self, x: Vector, f: Queries) -> Vector:
        def move(x: Vector, i: Any) -> tuple[Any, None]:
            return at_set(x, i, self._next_entry(x, i, f.partial_grad(x, i))), None

        if self.coordinates == 1:
            return move(x, self._drawn(f, x, ()))[0]
        return scan(move, x, self._drawn(f, x, (self.coordinates,)))[0]

    def _by_products(self, x: Vector, f: Queries, products: Any) -> Vector:
        """The same, with the products of rows with x kept up to date."""

        def move(both: tuple[Any, Any], i: Any) -> tuple[Any, None]:
            x, margins = both
            after = self._next_entry(x, i, products.slope(margins, x, i))
            return (at_set(x, i, after), products.margins_after(margins, i, after - x[i])), None

        return scan(move, (x, products.margins(x)), self._drawn(f, x, (self.coordinates,)))[0][0]

    def _drawn(self, f: Queries, x: Vector, shape: tuple[int, ...]) -> Any:
        """Coordinates, integers of the shape () or (k,)."""
        d = x.shape[0]
        if self.smoothness is None:
            return random.randint(f.key, shape, 0, d)
        if len(self.smoothness) != d:
            raise ArgumentError(
                f"smoothness of CoordinateDescent has {len(self.smoothness)} numbers, but x has {d} entries."
            )
        bounds = np.cumsum(self.smoothness) / np.sum(self.smoothness)
        return _minimum(_searchsorted(bounds, random.uniform(f.key, shape), side="right"), d - 1)

    def _next_entry(self, x: Vector, i: Any, slope: Any) -> Any:
        """The next x_i."""
        rate = self.lr if self.smoothness is None else self.lr / asarray(np.array(self.smoothness, x.dtype))[i]
        after = x[i] - rate * slope
        if self.penalty is None:
            return after
        found = self.penalty.prox(after, rate)
        if np.shape(found) != ():
            raise ShapeError(
                f"penalty of CoordinateDescent gave shape {np.shape(found)} for one entry of x, expected (). Use one "
                "that is a sum over entries, as bl.optim.l1(0.1)."
            )
        return found
