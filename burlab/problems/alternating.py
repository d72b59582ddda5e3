"""Problems whose parts of x have losses of their own."""

from collections.abc import Callable, Mapping
from itertools import accumulate, pairwise
from typing import Any, cast

import numpy as np

from burlab.errors import ArgumentError, ShapeError
from burlab.graph import tree
from burlab.runtime.checks.numbers import shown
from burlab.runtime.thread_limit import Threads
from burlab.transforms import stop_gradient
from burlab.typing import ArrayLike, Tree

from .finite_sum import FiniteSum, check_loss
from .kernels.oracle import takes_key
from .kernels.part_losses import PartLosses

Loss = Callable[..., Any]


class Alternating(FiniteSum):
    """Losses of the parts of x, which `bl.optim.alternating` minimizes in turns: each by its part, the others constant.

    x is a dict of trees. A loss sees all of x and one sample; a step of a part computes that loss alone, and its
    gradient by that part alone. As a FiniteSum it is the sum of the losses.

    Args:
        losses: For each key of x, loss(x, *sample) -> number, in NumPy, with a parameter `key` if it draws.
        data: As for `FiniteSum`: the samples of all losses; or a dict with those of each, of equal number n, where
            sample i of the problem is the i-th one of each. None: the losses are functions of x alone.
        threads, tile: As for `FiniteSum`.

    Raises:
        ArgumentError: For losses that do not take these arguments, or data of other parts.
        ShapeError: For data of different lengths.

    >>> import numpy as np, burlab as bl
    >>> saddle = bl.problems.Alternating({"a": lambda x: x["a"] * x["b"], "b": lambda x: -x["a"] * x["b"]})
    >>> turns = bl.optim.alternating({"a": bl.optim.GD(0.5), "b": bl.optim.GD(0.5)})
    >>> bl.minimize(saddle, {"a": 1.0, "b": 1.0}, turns, steps=2).x
    {'a': array(0.5), 'b': array(1.25)}
    """

    def __init__(
        self,
        losses: Mapping[str, Loss],
        data: Mapping[str, Any] | tuple[ArrayLike, ...] | ArrayLike | None = None,
        *,
        threads: Threads | None = None,
        tile: int | None = None,
    ) -> None:
        if not isinstance(losses, Mapping) or not losses or not all(isinstance(name, str) for name in losses):  # pyright: ignore[reportUnnecessaryIsInstance] - users pass anything
            raise ArgumentError(
                f"losses of Alternating is {shown(losses)}, expected a dict with a loss for each key of x."
            )
        names = tuple(sorted(losses))
        arrays, places = _arranged(names, data)
        for name in names:
            check_loss(losses[name], places[name].stop - places[name].start)
        parts = tuple(_of_part(names, losses[name], places[name]) for name in names)
        alone = [_by_itself(name, part) for name, part in zip(names, parts, strict=True)]
        keyed = any(takes_key(losses[name]) for name in names)
        super().__init__(_sum_of(alone, keyed), arrays, threads=threads, tile=tile)
        self.oracle = self.oracle.of_parts(PartLosses(names, parts))

    @property
    def parts(self) -> tuple[str, ...]:
        """The keys of x, in order."""
        return self.oracle.part_names


def arrays_of_parts(data: Mapping[str, Any]) -> tuple[Any, ...]:
    """Return the arrays of all parts as data of one problem: by the names of the parts, in order.

    >>> arrays_of_parts({"w": ("A", "y"), "alpha": "B"})
    ('B', 'A', 'y')
    """
    arrays: list[Any] = []
    for name in sorted(data, key=str):
        own = data[name]
        arrays += cast("tuple[Any, ...]", own) if isinstance(own, tuple) else (own,)
    return tuple(arrays)


def _arranged(names: tuple[str, ...], data: Any) -> tuple[tuple[Any, ...], dict[str, slice]]:
    """Return the arrays of all losses, and which of them each loss gets."""
    if data is None:
        return (np.zeros(1),), dict.fromkeys(names, slice(0, 0))
    if not isinstance(data, Mapping):
        arrays = cast("tuple[Any, ...]", data) if isinstance(data, tuple) else (data,)
        return arrays, dict.fromkeys(names, slice(0, len(arrays)))
    held = cast("Mapping[str, Any]", data)
    if set(held) != set(names):
        raise ArgumentError(
            f"data of Alternating is of {shown(sorted(held, key=str))}, but its losses are of {shown(list(names))}. "
            "Pass data of each, or one tuple for all."
        )
    arrays = arrays_of_parts(held)
    ends = list(accumulate((len(arrays_of_parts({name: held[name]})) for name in names), initial=0))
    places = {name: slice(*pair) for name, pair in zip(names, pairwise(ends), strict=True)}
    lengths = {name: len(arrays[place.start]) for name, place in places.items()}
    if len(set(lengths.values())) > 1:
        raise ShapeError(f"data of Alternating has numbers of samples {lengths}, expected one number. Cut or repeat.")
    return arrays, places


def _of_part(names: tuple[str, ...], loss: Loss, place: slice) -> Loss:
    """Return the loss of a part as a function of x and the arrays of all losses."""
    keyed = takes_key(loss)

    def of_part(x: Tree, *sample: Any, **key: Any) -> Any:
        if not isinstance(x, dict) or set(cast("dict[str, Any]", x)) != set(names):
            raise ArgumentError(
                f"x of Alternating is {tree.describe(tree.flatten(x)[1])}, expected a dict with the keys of its "
                f"losses, {', '.join(map(repr, names))}."
            )
        return loss(x, *sample[place], **(key if keyed else {}))

    return of_part


def _by_itself(name: str, part: Loss) -> Loss:
    """Return the loss of a part with the others constant."""

    def by_itself(x: Tree, *sample: Any, **key: Any) -> Any:
        known = isinstance(x, dict)  # else the loss refuses it
        fixed = {k: v if k == name else stop_gradient(v) for k, v in cast("dict[str, Any]", x).items()} if known else x
        return part(fixed, *sample, **key)

    return by_itself


def _sum_of(parts: list[Loss], keyed: bool) -> Loss:
    """Return the sum of losses, with a parameter `key` if any of them draws."""

    def whole(x: Tree, *sample: Any) -> Any:
        return sum(part(x, *sample) for part in parts[1:]) + parts[0](x, *sample)

    def drawn(x: Tree, *sample: Any, key: Any) -> Any:
        return sum(part(x, *sample, key=key) for part in parts[1:]) + parts[0](x, *sample, key=key)

    return drawn if keyed else whole
