"""x.flat of arrays that may be written to while a function is traced: their entries in a row."""

from collections.abc import Iterator
from typing import Any, cast

import numpy as np

from burlab.graph.handles import present
from burlab.graph.node import METHODS, Node, as_node
from burlab.typing import ArrayLike, DTypeLike, Index

from .buffer import Buffer
from .writing import repeated


class Flat:
    """The entries of an array in a row, read and written by known indices of that row, as np.ndarray.flat."""

    __slots__ = ("base",)

    def __init__(self, base: Node | Buffer) -> None:
        self.base = base

    def __len__(self) -> int:
        return int(self.base.size)

    def __iter__(self) -> Iterator[Any]:
        row: Any = np.ravel(present(self.base))
        return iter(row)

    def __getitem__(self, key: Index) -> Any:
        held = present(self.base)
        return METHODS["ravel"](held)[present(key)] if isinstance(held, Node) else held.flat[present(key)]

    def __setitem__(self, key: Index, value: ArrayLike) -> None:
        places = cast("Any", np.arange(self.base.size))[present(key)]
        held = repeated(value, np.size(places)) if np.ndim(places) else as_node(value)
        self.base[np.unravel_index(places, self.base.shape)] = held

    def __array__(self, dtype: DTypeLike = None, copy: bool | None = None) -> Any:
        return np.asarray(np.ravel(present(self.base)), dtype)


# The ignore: NumPy's types say that an array has a flatiter here.
Buffer.flat = property(Flat, lambda x, values: Flat(x).__setitem__(slice(None), values))  # type: ignore[assignment]
