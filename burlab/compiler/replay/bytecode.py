"""Stretches in memory: the structs that `kernels/replay/stretch.hpp` reads."""

import ctypes
from collections.abc import Iterable, Sequence

import numpy as np

from burlab.compiler.ir import library
from burlab.compiler.ir.library import LibraryKernel
from burlab.runtime.coerce import Array

from .terms import Numbers, Run, words_of
from .threaded import OWN, is_thread, turns_of

NUMBERS = LibraryKernel(
    "burlab_numbers", "BURLAB_TURNS(burlab_numbers, Numbers::run)\n", "burlab/kernels/replay/stretch.hpp"
)


class _Stretch(ctypes.Structure):
    _fields_ = (("runs", ctypes.c_void_p), ("words", ctypes.c_void_p), ("length", ctypes.c_int64))


_RUN = np.dtype([("turns", "u8"), ("end", "u8")])


def kinds_of(stretches: Iterable[Sequence[Run]]) -> list[LibraryKernel]:
    """The kinds of terms that stretches call."""
    runs = [run for stretch in stretches for run in stretch]
    inside = {t.kind: None for run in runs if is_thread(run.kind) for t in run.terms if t.kind not in OWN}
    return [NUMBERS, *dict.fromkeys(run.kind for run in runs), *inside] if runs else []


class Code:
    """A stretch in memory: its struct is at `address`, for as long as this object lives.

    numbers: those to begin with.
    """

    def __init__(self, runs: Sequence[Run], allocations: Sequence[int], numbers: Numbers | None) -> None:
        words: list[int] = []
        ends: list[int] = []
        kinds: list[LibraryKernel] = []
        self._held: list[Array] = []
        if numbers and not is_thread(runs[0].kind):
            words += (numbers.start, *np.frombuffer(numbers.content, np.uint32).tolist())
            kinds.append(NUMBERS)
            ends.append(len(words))
        for kind, terms in runs:
            if is_thread(kind):
                turns, self._held = turns_of(kind, terms, allocations, numbers)
                words += turns.view(np.uint32).tolist()
            else:
                for t in terms:
                    words += words_of(t, allocations)
            kinds.append(kind)
            ends.append(len(words))
        self._words: Array = np.array(words, np.uint32)
        self._runs: Array = np.empty(len(kinds), _RUN)
        self._runs["turns"] = [library.address(kind.symbol) for kind in kinds]
        self._runs["end"] = np.array(ends, np.uint64) * 4 + self._words.ctypes.data
        self._struct = _Stretch(self._runs.ctypes.data, self._words.ctypes.data, len(kinds))
        self.address = ctypes.addressof(self._struct)
