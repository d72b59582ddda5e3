"""A function at a point, computed in the ways that `check_gears` compares."""

from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import numpy as np

from burlab.graph import tree
from burlab.transforms import compile, jvp, vjp, vmap
from burlab.transforms.differences import central_difference, inner, random_like
from burlab.typing import DTypeLike, Tree

SPREAD = (1.0, 1 - 1 / 64, 1 + 1 / 64)  # factors of the points that vmap maps over: signs stay


class GearPoint(NamedTuple):
    """A function and its arguments. Derivatives are by the floating leaves, of the floating results."""

    f: Callable[..., Any]
    args: tuple[Tree, ...]

    def cast(self, dtype: DTypeLike) -> "GearPoint":
        """Return the point with floating leaves of another dtype."""
        return self._with([np.asarray(leaf).astype(dtype)[()] for leaf in self._floats()])

    def eager(self) -> Tree:
        """Return the values that NumPy computes."""
        return self.f(*self.args)

    def run(self, gear: Literal["replay", "compiled"], *, strict: bool = False) -> Tree:
        """Return the values of a gear."""
        return compile(self.f, *self.args, gear=gear, strict=strict)(*self.args)

    def mapped(self) -> Tree:
        """Return the values at several points, by `vmap`."""
        leaves = [tree.flatten(point.args)[0] for point in self._points()]
        stacked = [np.stack(column) for column in zip(*leaves, strict=True)]
        return vmap(self.f)(*tree.unflatten(tree.flatten(self.args)[1], stacked))

    def looped(self) -> Tree:
        """Return the same values, computed one by one by NumPy."""
        results = [tree.flatten(point.eager()) for point in self._points()]
        columns = zip(*(leaves for leaves, _ in results), strict=True)
        return tree.unflatten(results[0][1], [np.stack(column) for column in columns])

    def forward(self) -> list[Any]:
        """Return J v, v a random direction."""
        pushed = compile(lambda *xs: jvp(self._results, xs, self._direction())[1], *self._floats(), gear="replay")
        return pushed(*self._floats())

    def reverse(self, gear: Literal["replay", "compiled"]) -> list[Any]:
        """Return J^T g, g a random cotangent that is not orthogonal to J v."""
        g = self._cotangent()
        pulled = compile(lambda *xs: list(vjp(self._results, *xs)[1](g)), *self._floats(), gear=gear)
        return pulled(*self._floats())

    def inner_products(self) -> tuple[float, float]:
        """Return <g, J v> and <J^T g, v>."""
        return inner(self._cotangent(), self.forward()), inner(self.reverse("replay"), list(self._direction()))

    def differences(self, step: float) -> list[Any]:
        """Return J v by differences of NumPy's values."""
        return central_difference(self._results, tuple(self._floats()), self._direction(), step)

    def along(self, gradient: Tree) -> float:
        """Return the inner product of a tree like the arguments with the random direction."""
        return inner([leaf for leaf in tree.flatten(gradient)[0] if _is_floating(leaf)], list(self._direction()))

    def _floats(self) -> list[Any]:
        return [leaf for leaf in tree.flatten(self.args)[0] if _is_floating(leaf)]

    def _with(self, floats: Any) -> "GearPoint":
        leaves, structure = tree.flatten(self.args)
        rest = iter(floats)
        return GearPoint(self.f, tree.unflatten(structure, [next(rest) if _is_floating(x) else x for x in leaves]))

    def _points(self) -> list["GearPoint"]:
        return [self._with([np.asarray(x) * np.asarray(x).dtype.type(k) for x in self._floats()]) for k in SPREAD]

    def _results(self, *floats: Any) -> list[Any]:
        return [y for y in tree.flatten(self._with(floats).eager())[0] if _is_floating(y)]

    def _direction(self) -> tuple[Any, ...]:
        rng = np.random.Generator(np.random.Philox(0))
        return tuple(random_like(x, rng) for x in self._floats())

    def _cotangent(self) -> list[Any]:
        """Return J v + noise of its size: so the inner product with J v does not cancel."""
        rng = np.random.Generator(np.random.Philox(1))
        pushed = [np.asarray(y) for y in self.forward()]
        sizes = [np.sqrt(np.mean(y * y)) if y.size else y.dtype.type(0) for y in pushed]
        return [y + (size or y.dtype.type(1)) * random_like(y, rng) for y, size in zip(pushed, sizes, strict=True)]


def _is_floating(leaf: Any) -> bool:
    dtype = leaf.dtype if hasattr(leaf, "dtype") else np.asarray(leaf).dtype
    return dtype.kind == "f"
