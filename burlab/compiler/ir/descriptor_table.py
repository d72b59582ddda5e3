"""The integers behind the calls of a plan: all in one array, and again where fewer samples of a tile count."""

import ctypes
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from burlab.runtime.coerce import Array

from .plan import Execute, Invoke, PartContext


class Descriptor(NamedTuple):
    """The integers of a call; that at `position` is `unit` times the number of samples that count, unless unit is 0.

    parts: the integers that are contexts of sub-graphs, which differ with the number of samples too.
    """

    integers: tuple[int, ...]
    position: int = 0
    unit: int = 0
    parts: tuple[PartContext, ...] = ()


def descriptor_of(step: Execute) -> Descriptor:
    """Return the descriptor of an execution of sub-graphs."""
    return Descriptor(step.descriptor, parts=step.contexts)


def descriptors_of(step: Invoke) -> tuple[Descriptor, Descriptor]:
    """Return the descriptor of a kernel, and the box that is walked around it."""
    descriptor, box = Descriptor(step.descriptor), Descriptor(step.box)
    if step.samples is None:
        return descriptor, box
    at = {"position": step.samples.position, "unit": step.samples.unit}
    return (descriptor, box._replace(**at)) if step.samples.in_box else (descriptor._replace(**at), box)


class Contexts:
    """The first argument of a function, which leads to its descriptors: one, or one for each number of samples.

    descriptors: all that are used. link: from the address of each of them to a context: its address, and what keeps it
    alive.
    """

    def __init__(
        self, descriptors: Sequence[Descriptor], link: Callable[[dict[Descriptor, int]], tuple[int, Any]]
    ) -> None:
        self._starts: dict[Descriptor, int] = {}
        size = 0
        for d in descriptors:
            if d not in self._starts:
                self._starts[d] = size
                size += len(d.integers)
        self._integers: Array = np.fromiter((i for d in self._starts for i in d.integers), np.int64, size)
        self._link = link
        self._known: dict[int | None, tuple[int, Any]] = {}

    def __call__(self, samples: int | None = None) -> int:
        """The address of a context in which so many samples count; None: all of the tile."""
        if samples not in self._known:
            integers = self._integers.copy()
            if samples is not None:
                for d, start in self._starts.items():
                    if d.unit:
                        integers[start + d.position] = d.unit * samples
                    for part in d.parts:
                        integers[start + part.position] = part.contexts(samples)
            first = integers.ctypes.data
            context, keep = self._link({d: first + 8 * start for d, start in self._starts.items()})
            self._known.setdefault(samples, (context, (integers, keep)))  # if another thread was first, its stays
        return self._known[samples][0]


def table_of(addresses: Sequence[int]) -> Any:
    """An array of pointers, which is never empty."""
    return (ctypes.c_void_p * max(len(addresses), 1))(*addresses)
