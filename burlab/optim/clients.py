"""The gradients of clients, made of gradients over chosen samples: what `f.client_grads` of an update computes."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from burlab.graph.node import Node, as_node
from burlab.transforms import scan, switch

from .arithmetic import arange

Vector = Any
Gradient = Callable[[Vector, Any], Vector]
"""(y, samples) -> the mean over these samples, which carry the weights by which all clients count alike."""


class Shares:
    """How the samples of a federation lie with its clients, one client after another. sizes: how many each holds."""

    def __init__(self, sizes: tuple[int, ...], samples: int) -> None:
        self.sizes = np.array(sizes)
        self.first = np.cumsum(self.sizes) - self.sizes
        self.scale = len(sizes) * self.sizes / samples  # undoes those weights

    def rows(self, grad: Gradient, y: Vector, clients: Any, indices: Any) -> Vector:
        """A row for each client; see `Queries.client_grads`."""
        chosen: Any = np.arange(len(self.sizes)) if clients is None else clients
        node = as_node(chosen)
        if indices is not None:
            return self._some(grad, y, node.params if node.is_constant else node, indices)
        if node.is_constant:
            return np.stack([self._all(grad, c, _point(y, k)) for k, c in enumerate(node.params.tolist())])

        def row(carry: Any, k: Any) -> Any:
            branches = [partial(self._all, grad, c) for c in range(len(self.sizes))]
            return carry, switch(chosen[k], branches, _point(y, k))

        return scan(row, np.zeros(()), np.arange(node.shape[0]))[1]

    def hessians(self, hvp: Callable[[Vector, Vector, Any], Vector], y: Vector) -> Vector:
        """Those of all clients, shape (clients, d, d): d products with unit vectors each."""
        units = np.eye(y.shape[0], dtype=y.dtype)

        def of(c: int) -> Any:
            samples, scale = self._range(c), float(self.scale[c])
            return scan(lambda carry, unit: (carry, hvp(y, unit, samples) * scale), np.zeros(()), units)[1]

        return np.stack([of(c) for c in range(len(self.sizes))])

    def _range(self, c: int) -> Any:
        return arange(self.first[c], self.first[c] + self.sizes[c])

    def _all(self, grad: Gradient, c: int, y: Vector) -> Vector:
        return grad(y, self._range(c)) * float(self.scale[c])

    def _some(self, grad: Gradient, y: Vector, chosen: Any, indices: Any) -> Vector:
        first, scale = _entries(self.first, chosen), _entries(self.scale, chosen)
        rows: Any = [grad(_point(y, k), first[k] + indices[k]) * scale[k] for k in range(chosen.shape[0])]
        return np.stack(rows)


def _point(y: Vector, k: Any) -> Vector:
    """The point of the client at place k: its own, or that of all."""
    return y[k] if as_node(y).ndim > 1 else y


def _entries(table: Any, chosen: Any) -> Any:
    return as_node(table)[chosen] if isinstance(chosen, Node) else table[chosen]
