"""Tiles: how many samples a kernel may take at once, and that kernel for C++."""

import ctypes
from collections import defaultdict
from collections.abc import Mapping
from typing import Any, NamedTuple

from burlab.compiler.executable import Executable, build, build_tile
from burlab.compiler.planning.rematerialize import Remat
from burlab.graph import Graph, Node
from burlab.graph.executions import executions
from burlab.graph.rewrite.batch_sum import inside, of_samples, tiled

from .blocks import Layout, at
from .hoisted import prepared

_PIECE = 64  # samples whose floats are added up as floats, as in `cpp/burlab/run/sum/sum.hpp`
LARGEST = 64  # samples: more fill no further lanes or rows
_CACHE = 1 << 19  # bytes of live values that a tile may have; more where results or scans are larger, see `sizes_for`
_FAR = 1 << 25  # of what scans read, at most so many bytes count
_SLOT = 4096  # elements of work that a slot should have, as far as `LARGEST` samples have them
HEAVY = _SLOT // 8  # of a sample, from which slots are as small as results allow


def least_of(work: int) -> int:
    """The samples of a slot, at least, from the work of the loss of one: of light ones so many that tiles are full.

    >>> least_of(60), least_of(300), least_of(100_000)
    (64, 13, 1)
    """
    return min(LARGEST, max(1, _SLOT // max(work, 1)))


def slots_of(batch: int, nbytes: int, least: int) -> int:
    """The number of slots that a batch is cut into, as in `cpp/burlab/run/sum/sum.hpp`.

    nbytes: of what is added up. least: samples of a slot, of which large results have more.

    >>> slots_of(64, 1000, 1), slots_of(64, 200_000, 1), slots_of(64, 1000, 32), slots_of(1, 8, 1)
    (8, 2, 2, 1)
    """
    least = max(least, 8 if nbytes < 1 << 16 else 32 if nbytes < 1 << 20 else 128)
    return min(16 if nbytes < 1 << 16 else 8, 1 << (max(1, batch // least).bit_length() - 1))


def lengths_of(batch: int, nbytes: int, least: int) -> list[int]:
    """The number of samples in each slot."""
    slots = slots_of(batch, nbytes, least)
    return [batch * (k + 1) // slots - batch * k // slots for k in range(slots)]


def calls_of(size: int, batch: int, nbytes: int, least: int) -> int:
    """The number of tiles of a size that a batch is cut into."""
    return sum(-(-length // size) for length in lengths_of(batch, nbytes, least))


def sizes_for(
    graph: Graph, sampled: list[bool], batch: int, least: int, remat: Remat | None = None
) -> tuple[int, tuple[int, ...]]:
    """The size of the tiles for a batch that should be good, and others that may be better; powers of two.

    The live values of a tile of the good size fit into _CACHE or, where that is more, into half of the bytes of the
    result, or of what scans read: a scan keeps the values of all iterations, and reads the weights in each. Those of
    the larger size may take all of these bytes. No tile is larger than LARGEST or a slot, nor needs more bytes than
    `remat` allows if it keeps all; but each has a sample, however large that is.
    """
    result = sum(y.nbytes for y in graph.outputs)
    each = max(_most_at_once(inside(graph, sampled, power(batch)), sampled), 1)
    again = min(_read_by_scans(graph, sampled), _FAR)
    most = min(LARGEST, batch // slots_of(batch, result, least))
    if isinstance(remat, int):
        most = min(most, remat // each)
    good = power(min(most, max(_CACHE, result // 2, again // 2) // each))
    larger = [2 * good] if 2 * good <= min(most, max(_CACHE, result, again) // each) else []
    smaller = [good // 2] if good > 1 else []
    return good, (*larger, *smaller)


def even_size(size: int, batch: int, nbytes: int, least: int) -> int:
    """The size that cuts a batch into no more tiles than `size` does, all of them about as large.

    nbytes: of what is added up. least: samples of a slot.

    >>> [even_size(64, batch, 8, 64) for batch in (5, 64, 100, 200)], even_size(4, 5, 8, 64)
    ([5, 64, 50, 50], 5)
    """
    longest = max(lengths_of(batch, nbytes, least))
    return -(-longest // -(-longest // min(2 * size, LARGEST)))


def _read_by_scans(graph: Graph, sampled: list[bool]) -> int:
    """Bytes that the scans of a tile read, in all iterations, of arrays that samples share."""
    own, total = of_samples(graph, sampled), 0
    for execution in executions(graph):
        scan = execution.region.iterations
        if scan is not None:
            captured = execution.nodes[0].inputs[scan.carries + scan.sequences :]
            total += scan.length * sum(x.nbytes for x in captured if x not in own)
    return total


def _most_at_once(graph: Graph, sampled: list[bool]) -> int:
    """Bytes of one sample's values, at the time when most of them are needed later."""
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
    """The largest power of two that is no larger, at least 1."""
    return 1 << (max(size, 1).bit_length() - 1)


class KernelOptions(NamedTuple):
    """Options of kernels. tile: samples in one call, for all batches or by batch, None to choose.

    remat: what kernels of value and gradient compute again, not store (`compiler/planning/rematerialize.py`).
    """

    tile: int | Mapping[int, int] | None = None
    remat: Remat | None = None


DEFAULT_OPTIONS = KernelOptions()


class Tile:
    """A kernel of `size` samples; what is computed before, once for all tiles of a batch; and what follows.

    kernels: `kernel`, which adds to the sums; `prepare`, if any, whose results are inputs of the others behind those
    that samples share anyway; `finish`, if any, makes the result of the mean of the sums. In the order of a step.
    """

    def __init__(
        self,
        graph: Graph,
        sampled: list[bool],
        size: int,
        batch: int,
        groups: tuple[int, ...],
        prepares: bool,
        least: int,
        remat: Remat | None,
    ) -> None:
        """Make it for a batch of at least so many samples. graph: simplified; groups: those of its outputs.

        prepares: whether to compute anything once. least: samples of a slot.
        """
        made = tiled(graph, sampled, size, batch)
        once, made = (prepares and prepared(made, sampled)) or (None, made)
        self.size, self._least = size, least
        self.executable: Executable = build_tile(made.graph, size, remat)
        self.prepare = None if once is None else build(once)
        self.finish = None if made.finish is None else build(made.finish)
        parts = {"prepare": self.prepare, "kernel": self.executable, "finish": self.finish}
        self.kernels = {name: executable for name, executable in parts.items() if executable is not None}
        own = groups if self.finish is None else [1] * len(made.graph.outputs)
        self.sums = Layout.of_nodes(made.graph.outputs, own)
        values = () if once is None else once.outputs
        self.prepared = Layout.of_nodes(values, [1] * len(values))
        self._contexts: dict[int, int] = {}
        self._table: Any = (ctypes.c_void_p * size)()

    def contexts(self, batch: int) -> int:
        """The address of the contexts for the tiles of a batch: those that are full, and the last ones of slots."""
        lengths = set(lengths_of(batch, self.sums.nbytes, self._least))
        parts = lengths | {length % _PIECE for length in lengths} | {_PIECE}
        rests = {part % self.size for part in parts}
        for count in {self.size, *rests, 1} - {0}:
            self._table[count - 1] = self.executable.context_for(count)
        return at(self._table)

    def vary(self) -> None:
        """Have contexts for tiles of every number of samples."""
        for count in range(1, self.size + 1):
            self._table[count - 1] = self.executable.context_for(count)

    def calls(self, batch: int) -> int:
        """The number of tiles that a batch is cut into."""
        return calls_of(self.size, batch, self.sums.nbytes, self._least)
