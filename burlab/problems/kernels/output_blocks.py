"""The places of the outputs of a kernel in one block of memory."""

import ctypes
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from burlab.graph import Node
from burlab.runtime.coerce import Array
from burlab.runtime.memory import rounded
from burlab.runtime.structs import CBlock, CSpan


@dataclass(frozen=True)
class OutputLayout:
    """Offsets of the outputs of a kernel in one block of memory; each group starts at a multiple of 64 bytes."""

    shapes: tuple[tuple[int, ...], ...]
    dtypes: tuple["np.dtype[Any]", ...]
    offsets: tuple[int, ...]
    nbytes: int

    @staticmethod
    def of(
        shapes: Sequence[tuple[int, ...]], dtypes: Sequence["np.dtype[Any]"], groups: Sequence[int]
    ) -> "OutputLayout":
        """groups: how many outputs each group has; inside of one they follow each other without a gap."""
        firsts = {sum(groups[:k]) for k in range(len(groups))}
        offsets: list[int] = []
        end = 0
        for k, (shape, dtype) in enumerate(zip(shapes, dtypes, strict=True)):
            step = 64 if k in firsts else dtype.itemsize
            offsets.append(-(-end // step) * step)
            end = offsets[-1] + math.prod(shape) * dtype.itemsize
        return OutputLayout(tuple(shapes), tuple(dtypes), tuple(offsets), rounded(max(end, 1)))

    @staticmethod
    def of_nodes(nodes: Sequence[Node], groups: Sequence[int]) -> "OutputLayout":
        """The layout of values."""
        return OutputLayout.of([n.shape for n in nodes], [n.dtype for n in nodes], groups)

    def at(self, offsets: Sequence[int]) -> "OutputLayout":
        """The same outputs elsewhere."""
        return OutputLayout(self.shapes, self.dtypes, tuple(offsets), self.nbytes)

    @property
    def sizes(self) -> list[int]:
        """Bytes of each output."""
        return [math.prod(shape) * dtype.itemsize for shape, dtype in zip(self.shapes, self.dtypes, strict=True)]

    @property
    def block(self) -> CBlock:
        """For C++; valid as long as this."""
        return self.block_of(len(self.shapes))

    def block_of(self, summed: int) -> CBlock:
        """Likewise, where arithmetic is done with so many outputs, the first ones; others are not of floats."""
        offsets, parts = self._arrays
        return CBlock(
            outputs=len(self.shapes),
            spans=summed,
            offsets=at(offsets),
            parts=at(parts),
            bytes=self.nbytes,
        )

    @cached_property
    def _arrays(self) -> tuple[Any, Any]:
        """The objects that a block points to."""
        parts = (
            CSpan(offset=offset, count=math.prod(shape), dtype=dtype.itemsize)
            for shape, dtype, offset in zip(self.shapes, self.dtypes, self.offsets, strict=True)
        )
        return integers(self.offsets), (CSpan * len(self.shapes))(*parts)

    def views(self, block: Array) -> list[Array]:
        """The outputs in a block of bytes."""
        return [
            np.ndarray(shape, dtype, block, offset)
            for shape, dtype, offset in zip(self.shapes, self.dtypes, self.offsets, strict=True)
        ]

    def table(self, rows: int) -> "OutputLayout":
        """The layout of every output repeated along a new first axis."""
        return OutputLayout.of([(rows, *s) for s in self.shapes], self.dtypes, [1] * len(self.shapes))


def integers(values: Sequence[int]) -> Any:
    """An array for C++, which is never empty."""
    return (ctypes.c_int64 * max(len(values), 1))(*values)


def at(array: Any) -> int:
    """The address of a ctypes array."""
    return ctypes.addressof(array)
