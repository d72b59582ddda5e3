"""Kernels of queries that equal problems share, and the forms of arguments and samples by which they are found."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from burlab.graph import Graph
from burlab.graph.tracing.trace_cache import TraceCache
from burlab.problems.data import Data
from burlab.problems.point import Point

from .sample_program import SampleProgram
from .tiles import KernelOptions


class Programs(NamedTuple):
    """The kernels of a query, whatever the data."""

    samples: SampleProgram
    regularizer: SampleProgram | None = None

    @property
    def graphs(self) -> list[Graph]:
        """Their graphs."""
        return [part.graph for part in self if part is not None]


PROGRAMS = TraceCache[Programs](lambda programs: programs.graphs)
"""Kernels of losses, by their structure: problems with equal losses and samples of one form share them."""


def form_of(shared: Sequence[Point]) -> tuple[Any, ...]:
    """Return the form of arguments that samples share: structures, shapes, dtypes."""
    return tuple((point.structure, *((leaf.shape, leaf.dtype) for leaf in point.leaves)) for point in shared)


def samples_form(data: Data) -> tuple[Any, ...]:
    """Return the form of samples, and of arrays taken whole."""
    wholes = tuple((array.shape, array.dtype) for array in data.wholes)
    return (*((array.shape[1:], array.dtype) for array in data.arrays), wholes, data.forms)


def hashable_options(options: KernelOptions) -> tuple[Any, ...]:
    """Return the options that kernels depend on, but for threads."""
    tile = options.tile
    return tuple(sorted(tile.items())) if isinstance(tile, Mapping) else tile, options.remat
