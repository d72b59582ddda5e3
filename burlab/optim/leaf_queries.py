"""The `f` of an update that sees x leaf by leaf."""

from collections.abc import Callable
from typing import Any

import numpy as np

from burlab.graph import tree
from burlab.graph.query import CLIENT_QUERIES, QUERIES
from burlab.transforms import vmap

from .queries import Vector


class LeafQueries:
    """The same queries at trees of leaves. Gradients and the like are such trees too."""

    def __init__(
        self, f: Any, flat_x: Vector, x: Any, to_tree: Callable[[Any], Any], to_flat: Callable[..., Any]
    ) -> None:
        self._f, self._flat_x, self._x, self._to_tree, self._to_flat = f, flat_x, x, to_tree, to_flat

    def _flat(self, y: Any) -> Vector:
        return self._flat_x if y is self._x else self._to_flat(y, "update asked about a point")

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._f, name)  # raises for what is no query
        if name in CLIENT_QUERIES:
            return self._about_clients(method)
        if name not in QUERIES:
            return method

        def answer(*points: Any, **chosen: Any) -> Any:
            if name == "partial_grad":
                return method(self._flat(points[0]), *points[1:], **chosen)
            if name in ("targets", "surrogate"):
                result = method(self._flat(points[0]), *points[1:])
                return result if name == "targets" else (result[0], self._to_tree(result[1]))
            result = method(*map(self._flat, points), **chosen)
            if name == "value_and_grad":
                return result[0], self._to_tree(result[1])
            return result if name.endswith(("value", "values")) or name in ("jvp", "hessian") else self._to_tree(result)

        return answer

    def _about_clients(self, method: Any) -> Any:
        """A question about clients, at one tree or, of gradients, at one whose leaves have a row for each client."""

        def answer(y: Any, **chosen: Any) -> Any:
            leaves, like = tree.flatten(y)[0], tree.flatten(self._x)[0]
            rows = [np.ndim(a) - np.ndim(b) for a, b in zip(leaves, like, strict=False)]
            each = bool(leaves) and set(rows) == {1} and {np.shape(leaf)[0] for leaf in leaves}
            if each and len(each) == 1:
                flat: Any = vmap(self._flat)(y)
            else:
                flat = self._flat(y)
            found = method(flat, **chosen)
            return self._to_tree(found) if len(found.shape) == 2 else found  # Hessians are of flat vectors

        return answer
