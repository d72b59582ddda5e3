"""Segments in memory: the structs that `kernels/replay/segment.hpp` reads."""

import ctypes
from collections.abc import Iterable, Sequence

import numpy as np

from burlab.compiler.ir import library
from burlab.compiler.ir.library import LibraryKernel
from burlab.runtime.coerce import Array
from burlab.runtime.kernel_structs import CGroup, CSegment

from .instructions import Literals, Segment, ThreadedCode, encoded
from .threaded import threaded

LITERALS = LibraryKernel(
    "burlab_literals", "BURLAB_INTERPRETER(burlab_literals, LoadLiterals::run)\n", "burlab/kernels/replay/segment.hpp"
)


_GROUP = np.dtype(CGroup)


def kernels_of(segments: Iterable[Segment]) -> list[LibraryKernel]:
    """The kernels that segments call."""
    kernels: dict[LibraryKernel, None] = {}
    for segment in segments:
        if isinstance(segment, ThreadedCode):
            kernels[segment.kernel] = None
            kernels.update({i.operation: None for i in segment.instructions if isinstance(i.operation, LibraryKernel)})
        else:
            kernels.update({group.kernel: None for group in segment})
    return [LITERALS, *kernels] if kernels else []


class SegmentCode:
    """A segment in memory: its struct is at `address`, for as long as this object lives.

    literals: those to begin with.
    """

    def __init__(self, segment: Segment, allocations: Sequence[int], literals: Literals | None) -> None:
        words: list[int] = []
        ends: list[int] = []
        kernels: list[LibraryKernel] = []
        self._held: list[Array] = []

        def add(kernel: LibraryKernel, encoding: Iterable[int]) -> None:
            words.extend(encoding)
            kernels.append(kernel)
            ends.append(len(words))

        if isinstance(segment, ThreadedCode):
            code, self._held = threaded(segment, allocations, literals)
            add(segment.kernel, code.view(np.uint32).tolist())
        else:
            if literals:
                add(LITERALS, (literals.start, *np.frombuffer(literals.content, np.uint32).tolist()))
            for group in segment:
                add(group.kernel, [word for i in group.instructions for word in encoded(i, allocations)])
        self._code: Array = np.array(words, np.uint32)
        self._groups: Array = np.empty(len(kernels), _GROUP)
        self._groups["interpreter"] = [library.address(kernel.symbol) for kernel in kernels]
        self._groups["end"] = np.array(ends, np.uint64) * 4 + self._code.ctypes.data
        self._struct = CSegment(groups=self._groups.ctypes.data, code=self._code.ctypes.data, length=len(kernels))
        self.address = ctypes.addressof(self._struct)
