"""Tiles: how many samples a kernel may take at once, and that kernel for C++."""

import ctypes
from collections import defaultdict
from collections.abc import Mapping
from typing import Any, NamedTuple

from burlab.compiler.executable import Executable, build, build_tile
from burlab.compiler.planning.rematerialize import Remat
from burlab.graph import Graph, Node
from burlab.graph.executions import executions
from burlab.graph.rewrite.batch_sum import inside, tiled
from burlab.graph.rewrite.linear_cut import of_samples

from .hoisted import prepared
from .output_blocks import OutputLayout, at

_PIECE = 64  # samples whose floats are added up as floats, as in `cpp/burlab/run/sum/sum.hpp`
LARGEST = 64  # samples: more fill no further lanes or rows
_CACHE = 1 << 19  # bytes of live values that a tile may have; more where results or scans are larger, see `sizes_for`
MAX_SCAN_BYTES = 1 << 25  # of what scans read, as far as it counts for the size of a tile
_SLOT = 4096  # elements of work that a slot should have, as far as `LARGEST` samples have them
MAX_INSIDE_BYTES = 48 << 20  # of the values of a tile that threads share
MIN_INSIDE_WORK = 1 << 23  # elements of work of a batch, some 300 us, from which threads may share each call
HEAVY = _SLOT // 8  # of a sample, from which slots are as small as results allow


def least_of(work: int) -> int:
    """Return the minimal number of samples of a slot, from the work of one: light ones fill a tile.

    >>> least_of(60), least_of(300), least_of(100_000)
    (64, 13, 1)
    """
    return min(LARGEST, max(1, _SLOT // max(work, 1)))


def slots_of(batch: int, nbytes: int, least: int) -> int:
    """Return the number of slots of a batch, as in `cpp/burlab/run/sum/sum.hpp`.

    nbytes: of the sum. least: samples of a slot; for large results there are more.

    >>> slots_of(64, 1000, 1), slots_of(64, 200_000, 1), slots_of(64, 1000, 32), slots_of(1, 8, 1)
    (8, 2, 2, 1)
    """
    least = max(least, 8 if nbytes < 1 << 16 else 32 if nbytes < 1 << 20 else 128)
    few = min(batch // least, 16 if nbytes < 1 << 16 else 8)
    many = min(batch // (8 * least), 64 if nbytes < 1 << 12 else 32 if nbytes < 1 << 16 else 1)
    return 1 << (max(1, few, many).bit_length() - 1)


def lengths_of(batch: int, nbytes: int, least: int) -> list[int]:
    """Return the number of samples of each slot."""
    slots = slots_of(batch, nbytes, least)
    return [batch * (k + 1) // slots - batch * k // slots for k in range(slots)]


def is_inside(batch: int, nbytes: int, least: int, threads: int) -> bool:
    """Return True if threads share each call of the kernel: slots are too few for them, or each result is large.

    >>> is_inside(4096, 1000, 1, 8), is_inside(64, 200_000, 1, 8), is_inside(4096, 5_000_000, 1, 2)
    (False, True, True)
    """
    return threads > 1 and (nbytes >= 1 << 20 or slots_of(batch, nbytes, least) < threads)


def calls_of(size: int, batch: int, nbytes: int, least: int) -> int:
    """Return the number of tiles of a size in a batch."""
    return sum(-(-length // size) for length in lengths_of(batch, nbytes, least))


def sum_bytes(graph: Graph, sampled: list[bool], batch: int) -> int:
    """Return the bytes of the sums over a batch, whose number says how it is cut into slots.

    They are less than those of the results where a result is made of the mean, or of no sample.
    """
    return OutputLayout.of_nodes(nodes := inside(graph, sampled, power(batch)).outputs, [1] * len(nodes)).nbytes


def sizes_for(
    graph: Graph, sampled: list[bool], batch: int, least: int, remat: Remat | None = None
) -> tuple[int, tuple[int, ...]]:
    """Return an estimate of the best size of tiles for a batch, and other sizes to try; powers of two.

    The live values of a tile of the good size fit into _CACHE or, where that is more, into half of the bytes of the
    result, or of what scans read: a scan keeps the values of all iterations, and reads the weights in each. Those of
    the larger size may take all of these bytes. No tile is larger than LARGEST or a slot, nor needs more bytes than
    `remat` allows if it keeps all; but each has a sample, however large that is.
    """
    result = sum_bytes(graph, sampled, batch)
    each = max(_most_at_once(inside(graph, sampled, power(batch)), sampled), 1)
    again = min(_read_by_scans(graph, sampled), MAX_SCAN_BYTES)
    most = min(LARGEST, batch // slots_of(batch, result, least))
    if isinstance(remat, int):
        most = min(most, remat // each)
    good = power(min(most, max(_CACHE, result // 2, again // 2) // each))
    larger = [2 * good] if 2 * good <= min(most, max(_CACHE, result, again) // each) else []
    smaller = [good // 2] if good > 1 else []
    return good, (*larger, *smaller)


def size_inside(graph: Graph, sampled: list[bool], batch: int, good: int, threads: int, least: int) -> int:
    """Return the size of tiles that threads share. good: that of one thread.

    For each thread it has twice the good size, or once where the live values would take more than MAX_INSIDE_BYTES.
    """
    most = min(LARGEST, batch // slots_of(batch, sum_bytes(graph, sampled, batch), least))
    each = _most_at_once(inside(graph, sampled, power(batch)), sampled)
    twice = power(min(2 * good * threads, most))
    return twice if twice * each <= MAX_INSIDE_BYTES else power(min(good * threads, most))


def even_size(size: int, batch: int, nbytes: int, least: int) -> int:
    """Return the size that cuts a batch into no more tiles than `size` does, all about equally large.

    nbytes: of the sum. least: samples of a slot.

    >>> [even_size(64, batch, 8, 64) for batch in (5, 64, 100, 200)], even_size(4, 5, 8, 64)
    ([5, 64, 50, 50], 5)
    """
    longest = max(lengths_of(batch, nbytes, least))
    return -(-longest // -(-longest // min(2 * size, LARGEST)))


def _read_by_scans(graph: Graph, sampled: list[bool]) -> int:
    """Return the bytes that the scans of a tile read, in all iterations, of arrays that samples share."""
    own, total = of_samples(graph, sampled), 0
    for execution in executions(graph):
        scan = execution.region.iterations
        if scan is not None:
            captured = execution.nodes[0].inputs[scan.carries + scan.sequences :]
            total += scan.length * sum(x.nbytes for x in captured if x not in own)
    return total


def _most_at_once(graph: Graph, sampled: list[bool]) -> int:
    """Return the peak of live bytes of one sample's values."""
    own = of_samples(graph, sampled)
    lasts: dict[Node, Node] = {}
    for n in graph.nodes:
        for x in n.inputs:
            lasts[x] = n
    ends: dict[Node, list[Node]] = defaultdict(list)
    for x, last in lasts.items():
        ends[last].append(x)
    alive = most = 0
    for n in graph.nodes:
        if n in own and not n.row.view and n in lasts:
            alive += n.nbytes
            most = max(most, alive)
        alive -= sum(x.nbytes for x in ends[n] if x in own and not x.row.view)
    return most


def power(size: int) -> int:
    """Return the largest power of two up to `size`, at least 1."""
    return 1 << (max(size, 1).bit_length() - 1)


class KernelOptions(NamedTuple):
    """Options of kernels. tile: samples in one call, for all batches or by batch, None to choose.

    remat: what kernels of value and gradient compute again, not store (`compiler/planning/rematerialize.py`).
    threads: how many may share a call.
    """

    tile: int | Mapping[int, int] | None = None
    remat: Remat | None = None
    threads: int = 1


DEFAULT_OPTIONS = KernelOptions()


class Tile:
    """The kernels of tiles of `size` samples.

    kernels, in the order of a step: `prepare`, if any, runs once for a batch, and its results are further shared inputs
    of the others; `kernel` adds a tile to the sums; `finish`, if any, computes the result from the mean of the sums.
    """

    def __init__(  # noqa: PLR0913, PLR0917 - what a kernel consists of
        self,
        graph: Graph,
        sampled: list[bool],
        size: int,
        batch: int,
        groups: tuple[int, ...],
        prepares: bool,
        least: int,
        remat: Remat | None,
        threads: int = 1,
    ) -> None:
        """Compile the kernels for batches of at least `batch` samples. graph: simplified; groups: those of its outputs.

        prepares: whether to compute anything once. least: samples of a slot. threads: how many share each call.
        """
        tile = tiled(graph, sampled, size, batch)
        once, tile = (prepares and prepared(tile, sampled)) or (None, tile)
        self.size, self._least, self.inside = size, least, threads > 1
        self.executable: Executable = build_tile(tile.graph, size, remat, threads)
        self.prepare = None if once is None else build(once)
        self.finish = None if tile.finish is None else build(tile.finish)
        parts = {"prepare": self.prepare, "kernel": self.executable, "finish": self.finish}
        self.kernels = {name: executable for name, executable in parts.items() if executable is not None}
        own = groups if self.finish is None else [1] * len(tile.graph.outputs)
        self.sums = OutputLayout.of_nodes(tile.graph.outputs, own)
        values = () if once is None else once.outputs
        self.prepared = OutputLayout.of_nodes(values, [1] * len(values))
        self._contexts: dict[int, int] = {}
        self._table: Any = (ctypes.c_void_p * size)()

    def contexts(self, batch: int) -> int:
        """Return the address of the contexts for the tiles of a batch: full ones, and the last ones of slots."""
        lengths = set(lengths_of(batch, self.sums.nbytes, self._least))
        parts = lengths | {length % _PIECE for length in lengths} | {_PIECE}
        rests = {part % self.size for part in parts}
        for count in {self.size, *rests, 1} - {0}:
            self._table[count - 1] = self.executable.context_for(count)
        return at(self._table)

    def vary(self) -> None:
        """Prepare contexts for tiles of every number of samples."""
        for count in range(1, self.size + 1):
            self._table[count - 1] = self.executable.context_for(count)

    def calls(self, batch: int) -> int:
        """Return the number of tiles in a batch."""
        return calls_of(self.size, batch, self.sums.nbytes, self._least)
