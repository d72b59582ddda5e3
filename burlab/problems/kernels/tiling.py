"""The size of tiles: as given, by the size of caches, or by a measurement where that soon pays."""

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from burlab.compiler.executable import Executable
from burlab.graph import Graph
from burlab.graph.executions import work_of
from burlab.problems.data import Data
from burlab.runtime.coerce import Array
from burlab.runtime.gate import KernelAddress, Workspace, pointers

from .tiles import (
    MIN_INSIDE_WORK,
    KernelOptions,
    Tile,
    calls_of,
    even_size,
    is_inside,
    power,
    size_inside,
    sizes_for,
    sum_bytes,
)

_CALLS = 1000  # evaluations over a batch that are expected at least
_GAIN = 0.05  # part of the time that another size must save
MEASURING_NANOSECONDS = 5_000_000  # of calls in one measurement
MAX_CALL_NANOSECONDS = 20_000_000  # slower calls are not measured
_ROUNDS = 2  # measurements of each size, in turn


@dataclass(frozen=True, slots=True)
class Tiling:
    """The tiles of a batch. Neither size nor number changes a bit of any result.

    size: samples in a call of the kernel; calls: of a batch. how: "given", "by cache size", "by batch size", or
    "measured": then `nanoseconds` has the time per sample for each size that was tried.
    """

    size: int
    calls: int
    how: str
    nanoseconds: Mapping[int, float] = field(default_factory=dict[int, float])

    def __str__(self) -> str:
        times = ", ".join(f"{size}: {took:.4g} ns" for size, took in sorted(self.nanoseconds.items()))
        how = f"measured per sample: {times}" if times else self.how
        return f"{self.calls} tile{'s' * (self.calls != 1)} of {self.size} ({how})"


class Tilings:
    """The tiles of a kernel, chosen once for each batch.

    graph: simplified; sampled: which of its inputs belong to samples; groups: of its outputs, as in
    `OutputLayout.of`. least: samples of a slot.
    """

    def __init__(
        self, graph: Graph, sampled: list[bool], groups: tuple[int, ...], least: int, options: KernelOptions
    ) -> None:
        self._graph = graph
        self._sampled = sampled
        self._groups = groups
        self._least = least
        self._options = options
        self._tiles: dict[tuple[int, int, bool, bool], Tile] = {}
        self._work = work_of(graph)
        self._sums: dict[int, int] = {}
        self.chosen: dict[int, Tiling] = {}

    def tile(self, batch: int) -> Tile:
        """Return the tile of a batch of more than one sample; choose its size at the first call."""
        if batch not in self.chosen:
            self._choose(batch, None)
        return self._tile(self.chosen[batch].size, batch)

    def cut_evenly(self, batch: int) -> None:
        """Choose the size for a batch, unless it is chosen, so that all tiles are full."""
        if batch > 1 and batch not in self.chosen and self._options.tile is None:
            good = sizes_for(self._graph, self._sampled, batch, self._least, self._options.remat)[0]
            size = even_size(good, batch, self._nbytes(batch), self._least)
            self.chosen[batch] = Tiling(size, self._tile(size, batch).calls(batch), "by batch size")

    def measure(self, batch: int, fixed: Sequence[Array], data: Data, keyed: bool) -> None:
        """Choose the size for a batch, unless it is chosen, by measuring where that saves time.

        Compiling another size takes about as long as the first. It is done if _GAIN of the time of _CALLS evaluations
        is longer than that. fixed: the inputs that all samples share.
        """
        if batch > 1 and batch not in self.chosen:
            self._choose(batch, Stopwatch(fixed, data, keyed))

    def is_inside(self, batch: int) -> bool:
        """Return True if threads share each call of the kernel for a batch."""
        long = batch * self._work >= MIN_INSIDE_WORK
        return batch > 1 and long and is_inside(batch, self._nbytes(batch), self._least, self._options.threads)

    def _nbytes(self, batch: int) -> int:
        """Return the bytes of the sums over a batch."""
        kind = power(batch)
        if kind not in self._sums:
            self._sums[kind] = sum_bytes(self._graph, self._sampled, batch)
        return self._sums[kind]

    def _tile(self, size: int, batch: int) -> Tile:
        several = calls_of(size, batch, self._nbytes(batch), self._least) > 1
        inside = self.is_inside(batch)
        kind = size, power(batch), several, inside
        if kind not in self._tiles:
            how = self._groups, several, self._least, self._options.remat, self._options.threads if inside else 1
            self._tiles[kind] = Tile(self._graph, self._sampled, *kind[:2], *how)
        return self._tiles[kind]

    def _choose(self, batch: int, watch: "Stopwatch | None") -> None:
        given = self._options.tile
        size = given.get(batch) if isinstance(given, Mapping) else given
        if size is not None:
            self.chosen[batch] = Tiling(size, self._tile(size, batch).calls(batch), "given")
            return
        good, others = sizes_for(self._graph, self._sampled, batch, self._least, self._options.remat)
        if self.is_inside(batch):
            good = size_inside(self._graph, self._sampled, batch, good, self._options.threads, self._least)
            others = ()
        begin = time.perf_counter_ns()
        tile = self._tile(good, batch)
        cost = max(time.perf_counter_ns() - begin, 3e9 * tile.executable.plan.seconds)
        found: dict[int, float] = {}
        if watch is not None and others and not tile.executable.plan.parts:
            each = watch.time(tile)
            if each * good < MAX_CALL_NANOSECONDS and each * batch * _CALLS * _GAIN > cost:
                found = watch.compare([tile, *(self._tile(other, batch) for other in others)])
        size = min(found, key=lambda size: found[size] * (1 - _GAIN * (size == good)), default=good)
        how = "measured" if found else "by cache size"
        self.chosen[batch] = Tiling(size, self._tile(size, batch).calls(batch), how, found)


class Stopwatch:
    """Times tiles on the first samples of the data, at a point."""

    def __init__(self, fixed: Sequence[Array], data: Data, keyed: bool) -> None:
        self._fixed = fixed
        self._data = data
        self._keyed = keyed

    def compare(self, tiles: Sequence[Tile]) -> dict[int, float]:
        """Return nanoseconds per sample, by size; sizes are measured in turn, so that disturbances affect all."""
        rounds = [[self.time(tile) for tile in tiles] for _ in range(_ROUNDS)]
        return {tile.size: min(times) for tile, times in zip(tiles, zip(*rounds, strict=True), strict=True)}

    def time(self, tile: Tile) -> float:
        """Return nanoseconds per sample in the fastest of some calls; inf for a call that fails."""
        executable, once = tile.executable, tile.prepare
        made = [] if once is None else _buffers(once)
        if once is not None and once.function(self._fixed, made, Workspace(once.workspace_bytes)):
            return math.inf
        rows = np.arange(tile.size) % self._data.samples
        samples = [np.ascontiguousarray(array[rows]) for array in self._data.arrays]
        keys = [np.zeros((tile.size, 2), np.uint64)] * self._keyed
        arrays, buffers = [*self._fixed, *made, *samples, *keys], _buffers(executable)
        workspace = Workspace(executable.workspace_bytes)
        call = KernelAddress(executable.address)
        places: Any = executable.context, pointers(arrays), pointers(buffers), workspace.address
        best, start = math.inf, time.perf_counter_ns()
        end = start + MEASURING_NANOSECONDS
        while start < end:
            if call(*places):
                return math.inf
            now = time.perf_counter_ns()
            best, start = min(best, now - start), now
        return best / tile.size


def _buffers(executable: Executable) -> list[Array]:
    return [np.zeros(spec.shape, spec.dtype) for spec in executable.outputs]
