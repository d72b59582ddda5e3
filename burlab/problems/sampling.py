"""The samples of a batch: the caller's own, or a sampler's draw by seed, step and position (see `sampler.hpp`)."""

import ctypes
import enum
from collections.abc import Callable
from typing import Any

import numpy as np

from burlab.errors import ArgumentError, DTypeError, IndexRangeError, ShapeError, TraceError
from burlab.graph import Graph, Node
from burlab.graph.node import as_node
from burlab.graph.numpy_api.promotion import as_dtype
from burlab.graph.tracing.trace import trace
from burlab.graph.tracing.trace_cache import TraceCache, structure_outside
from burlab.runtime.checks.callable import check_takes
from burlab.runtime.checks.numbers import shown, whole
from burlab.runtime.coerce import Array
from burlab.runtime.plain import as_array
from burlab.runtime.structs import CStream
from burlab.typing import ArrayLike, Key

from .batch import Batch, BlockShuffle

Indices = np.ndarray[tuple[int], np.dtype[np.int64]]


class Sampling(enum.IntEnum):
    """The kinds of samplers; mirrors the C++ enumeration of the same name."""

    listed = 0
    sequential = 1
    reshuffle = 2
    uniform = 3
    nice = 4
    table = 5
    weighted = 6
    traced = 7
    blocks = 8


class Stream(CStream):
    """The batches of a run, or one batch, as C++ takes it.

    numbers: a table of samples, or probabilities. bounds: probabilities as cumulative sums, for C++. graph: the samples
    of a step, shape (b,), from its key and its number, for a sampler that is a function.
    """

    numbers: Any = None
    bounds: Any = None
    graph: Graph | None = None


def full(samples: int) -> Stream:
    """Return the batch of all samples, in order."""
    return Stream(sampling=Sampling.sequential, samples=samples, batch=samples, key=_key(0))


def is_full(stream: Stream) -> bool:
    """Return True if every batch is all samples, in order."""
    return stream.sampling == Sampling.sequential and stream.batch == stream.samples


def listed(samples: int, indices: Indices) -> Stream:
    """Return the batch of an index array, which must outlive the stream."""
    return Stream(sampling=Sampling.listed, samples=samples, batch=len(indices), list=indices.ctypes.data, key=_key(0))


def chosen(stream: Stream, batch: int) -> Stream:
    """Return a batch of so many samples of a stream, whose indices follow later."""
    return Stream(sampling=Sampling.listed, samples=stream.samples, batch=batch, key=stream.key)


def reseeded(stream: Stream, seed: int) -> Stream:
    """Return a stream of the same form with another seed."""
    other = Stream.from_buffer_copy(stream)
    other.key = _key(whole(seed, "seed", 0, 2**64 - 1))
    other.numbers, other.bounds, other.graph = stream.numbers, stream.bounds, stream.graph
    return other


def drawn(samples: int, batch: int | Batch | None, sampler: object, seed: int) -> Stream:
    """Return the batches of a run; of a `Batch`, the largest. batch: samples per step, None for all.

    sampler: a name, or a `BlockShuffle`, or the samples of every step, shape (steps, b), or their probabilities, floats
    of shape (n,), or a function of the key of a step and t that gives its samples, shape (b,). Raises ArgumentError for
    other samplers.
    """
    if isinstance(batch, Batch):
        stream = _varying(samples, batch.of(samples), sampler, seed)
        stream.varies = 1
        return stream
    sampler = "reshuffle" if sampler is None else sampler
    if isinstance(sampler, BlockShuffle):
        return _blocked(samples, batch, sampler, seed)
    if isinstance(sampler, Graph) or callable(sampler):
        return _traced(samples, batch, sampler, seed)
    if isinstance(sampler, (np.ndarray, list, tuple)):
        array = as_array(sampler, "sampler")
        return (_weighted if _is_weights(array) else _tabled)(samples, batch, array, seed)
    if not isinstance(sampler, str) or sampler not in _SAMPLERS:
        raise ArgumentError(
            f"sampler must be one of {', '.join(map(repr, _SAMPLERS))}, a bl.BlockShuffle, an integer array (steps, "
            f"b), probabilities ({samples},), or a function of (key, t) that gives the samples of step t; got "
            f"{shown(sampler)}."
        )
    key = _key(whole(seed, "seed", 0, 2**64 - 1))
    if batch is None:
        return Stream(sampling=Sampling.sequential, samples=samples, batch=samples, key=key)
    batch = whole(batch, "batch", 1)
    if batch > samples and sampler != "uniform":
        few = f"the {samples} samples" if samples > 1 else "the one sample, as a function without data counts"
        raise ArgumentError(
            f"batch={shown(batch)} is more than {few}. Pass batch=None for the full gradient, or "
            'sampler="uniform", which draws with replacement.'
        )
    return Stream(sampling=Sampling[sampler], samples=samples, batch=batch, key=key)


def _blocked(samples: int, batch: int | None, sampler: BlockShuffle, seed: int) -> Stream:
    """Return batches that go through blocks; a block of all samples or more is one of all."""
    stream = drawn(samples, batch, "reshuffle", seed)
    if stream.sampling == Sampling.reshuffle:
        stream.sampling, stream.rows = Sampling.blocks, min(sampler.size, samples)
    return stream


def weights_of(stream: Stream, dtype: "np.dtype[Any]") -> Array | None:
    """Return importance weights 1 / (n p_i), shape (n,), for an unbiased mean over a batch; None for 1 each."""
    return (1.0 / (stream.samples * stream.numbers)).astype(dtype) if stream.sampling == Sampling.weighted else None


def _weighted(samples: int, batch: int | None, sampler: Array, seed: int) -> Stream:
    """Return independent draws by probabilities, which are copied."""
    p = np.array(sampler, np.float64)
    if p.shape != (samples,):
        raise ShapeError(f"sampler holds probabilities of shape {p.shape}, expected ({samples},): one for each sample.")
    if (bad := np.flatnonzero(~(p > 0))).size:
        raise ArgumentError(
            f"sampler[{bad[0]}] is {p[bad[0]]}, expected a probability above 0: a sample that is never drawn would be "
            f"missing from the mean. Mix with the uniform ones: 0.9 * p + 0.1 / {samples}."
        )
    if not abs(p.sum() - 1.0) < _CLOSE:
        raise ArgumentError(f"the probabilities of sampler sum to {p.sum():.9g}, expected 1. Pass p / p.sum().")
    if batch is None:
        raise ArgumentError(
            "sampler holds probabilities, so batch must be a number; got None. Pass batch=, the samples of a step."
        )
    below = np.minimum(np.cumsum(p), 1.0) * 2.0**64
    bounds = np.where(below < 2.0**64, below, 0.0).astype(np.uint64) - (below >= 2.0**64).astype(np.uint64)
    stream = Stream(sampling=Sampling.weighted, samples=samples, batch=whole(batch, "batch", 1))
    stream.list, stream.key = bounds.ctypes.data, _key(whole(seed, "seed", 0, 2**64 - 1))
    stream.numbers, stream.bounds = p, bounds
    return stream


def _tabled(samples: int, batch: int | None, table: Array, seed: int) -> Stream:
    """Return batches from a table, which is copied."""
    if table.dtype.kind not in "iu":
        raise DTypeError(
            f"sampler has dtype {table.dtype}, expected integers from 0 to {samples - 1} of shape (steps, b): the "
            "samples of each step."
        )
    if table.ndim != _AXES or not table.size:
        raise ShapeError(f"sampler has shape {table.shape}, expected (steps, b), with one sample at least in each.")
    if batch is not None and batch != table.shape[1]:
        raise ArgumentError(f"batch={batch}, but sampler has {table.shape[1]} samples for each step. Leave batch out.")
    numbers = as_indices(table.reshape(-1), samples, "sampler").copy()
    rows, width = (int(size) for size in table.shape)
    stream = Stream(sampling=Sampling.table, samples=samples, batch=width, list=numbers.ctypes.data, rows=rows)
    stream.key = _key(whole(seed, "seed", 0, 2**64 - 1))
    stream.numbers = numbers.reshape(rows, width)
    return stream


def _varying(samples: int, batch: Batch, sampler: object, seed: int) -> Stream:
    if isinstance(sampler, BlockShuffle) or (isinstance(sampler, str) and sampler in ("reshuffle", "sequential")):
        raise ArgumentError(
            f"sampler={shown(sampler)} goes through whole epochs, which batches of varying size do not. "
            'Leave it out, for a subset at every step, or pass "uniform".'
        )
    if sampler is None or isinstance(sampler, str) or _is_weights(sampler):
        return drawn(samples, batch.most, "nice" if sampler is None else sampler, seed)
    stream = drawn(samples, None, sampler, seed)
    if stream.batch != batch.most:
        raise ArgumentError(
            f"Batch.most={batch.most}, but sampler gives {stream.batch} samples for a step. Pass most={stream.batch}."
        )
    return stream


def _is_weights(sampler: object) -> bool:
    """Return True for an array of probabilities, False for one of samples."""
    if not isinstance(sampler, (np.ndarray, list, tuple)):
        return False
    array = as_array(sampler, "sampler")
    return array.dtype.kind == "f" and array.ndim == 1


def _traced(samples: int, batch: int | None, sampler: Graph | Callable[..., Any], seed: int) -> Stream:
    """Return batches by a function of the key of a step and t, or by its graph."""
    if isinstance(sampler, Graph):
        graph = sampler
    else:
        graph = _TRACED_SAMPLERS.traced((), (sampler,), structure_outside((sampler,)), lambda: _graph(sampler))
    (width,) = graph.outputs[0].shape
    if batch is not None and batch != width:
        raise ArgumentError(f"batch={batch}, but sampler gives {width} samples for a step. Leave batch out.")
    stream = Stream(sampling=Sampling.traced, samples=samples, batch=width)
    stream.graph, stream.key = graph, _key(whole(seed, "seed", 0, 2**64 - 1))
    return stream


def _graph(sampler: Callable[..., Any]) -> Graph:
    check_takes(sampler, "sampler", "(key, t)", _ADVICE, 2)

    def samples(key: Key | None, t: Node) -> Node:
        return _indices(sampler(key, t))

    return trace(samples, (np.zeros(2, np.uint64), _STEP)).graph


def _indices(found: ArrayLike) -> Node:
    try:
        node = as_node(found)
    except (DTypeError, TraceError):
        raise DTypeError(f"sampler gave a {type(found).__name__}, expected integers. {_ADVICE}") from None
    if node.dtype.kind not in "iu":
        raise DTypeError(f"sampler gave {node.dtype}, expected integers: the samples of a step by number. {_ADVICE}")
    if node.ndim != 1 or not node.size:
        raise ShapeError(f"sampler gave shape {node.shape}, expected (b,) with one sample at least. {_ADVICE}")
    return as_dtype(node, np.dtype(np.int64))


_TRACED_SAMPLERS = TraceCache[Graph](lambda graph: [graph])
_STEP = Node("input", (), "t", (), np.dtype(np.int64), weak=True)
_ADVICE = "A sampler is a function such as lambda key, t: bl.random.randint(key, (32,), 0, n)."
_AXES = 2  # of a table
_CLOSE = 1e-6  # how far from 1 probabilities may sum, as those of float32 do
_SAMPLERS = ("reshuffle", "uniform", "nice", "sequential")


def _key(seed: int) -> Any:
    return (ctypes.c_uint64 * 2)(seed, 0)


def as_indices(indices: ArrayLike, limit: int, name: str = "indices", of: str = "samples") -> Indices:
    """Return integers in [0, limit), shape (b,), as int64. name, of: for errors."""
    array = as_array(indices, name)
    if array.size == 0:
        raise ArgumentError(f"{name} is empty: the mean over no {of} is not defined. Pass at least one.")
    if array.dtype == np.bool_:
        raise DTypeError(f"{name} is a boolean mask. Pass the positions: np.flatnonzero(mask).")
    if array.dtype.kind not in "iu":
        raise DTypeError(f"{name} has dtype {array.dtype}, expected integers from 0 to {limit - 1}.")
    if array.ndim != 1:
        raise ShapeError(f"{name} has shape {array.shape}, expected (b,). Pass a 1-d array or list of integers.")
    outside = array[(array < 0) | (array >= limit)]
    if outside.size:
        raise IndexRangeError(f"{name} holds {outside[0]}, but there are {limit} {of}: use 0 to {limit - 1}.")
    return np.ascontiguousarray(array, np.int64)
