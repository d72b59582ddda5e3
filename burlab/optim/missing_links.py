"""Links that sparse layers do not have: gradients by all entries of their matrices, a block of rows at a time.

A gradient as large as the matrix is never made: a block is a 16th of it. Each takes a pass of the sparse network.
"""

from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from burlab.functions import top_k
from burlab.graph import tree
from burlab.graph.buffers.buffer_functions import at_set

Array = Any  # traced

BLOCKS = 16  # of each layer


def is_sparse(part: object) -> bool:
    """Return True for a `bl.nn.SparseLinear`, whose module is not below this one."""
    return type(part).__name__ == "SparseLinear" and getattr(part, "rows", None) is not None


def sparse_layers(x: Any) -> list[Any]:
    """Return the sparse layers of x, in its order."""
    return [part for part in tree.flatten_to(x, is_sparse)[0] if is_sparse(part)]


def block_rows(layer: Any) -> int:
    """Return the number of rows of a block of a layer."""
    return -(-layer.inputs // BLOCKS)


def first_rows(layers: Sequence[Any], block: Any) -> Any:
    """Return the first row of a block, by its number, in each layer: int64. The last blocks overlap those before."""
    return np.stack([np.minimum(block * block_rows(x), x.inputs - block_rows(x)) for x in layers]).astype(np.int64)


def zero_blocks(x: Any) -> list[Any]:
    """Return a block of zeros for each sparse layer of x, shape (rows, out)."""
    return [np.zeros((block_rows(layer), layer.outputs), layer.weight.dtype) for layer in sparse_layers(x)]


def with_blocks(x: Any, blocks: Sequence[Any], firsts: Any) -> Any:
    """Return x with a block added to the matrix of each sparse layer, from these rows on."""
    parts, structure = tree.flatten_to(x, is_sparse)
    pairs = iter(cast("Any", zip(firsts, blocks, strict=True)))
    return tree.unflatten(structure, [p.replace(block=next(pairs)) if is_sparse(p) else p for p in parts])


def places_of(layer: Any) -> Array:
    """Return where the links of a layer are in its flat matrix."""
    return layer.rows.astype(np.int64) * layer.outputs + layer.columns


def block_scores(layer: Any, gradient: Array, first: Array, block: Array) -> Array:
    """Return |gradient| of a block of rows, flat; -1 where there is a link, and in rows of the blocks before."""
    rows, width = gradient.shape
    size = rows * width
    own: Any = places_of(layer) - first * width
    inside: Any = (own >= 0) & (own < size)
    scores = np.concatenate([np.reshape(np.abs(gradient), (size,)), np.zeros(1, gradient.dtype)])
    scores = at_set(scores, np.where(inside, own, size), -1.0)[:size]
    before = cast("Any", np.arange(size) < (block * rows - first) * width)
    return np.where(before, -1.0, scores).astype(gradient.dtype)


def merged(best: tuple[Array, Array], scores: Array, begin: Array) -> tuple[Array, Array]:
    """Return the best scores of two kinds, and their places. begin: the place of the first of `scores`."""
    n = best[0].shape[0]
    both = np.concatenate([best[0], scores])
    chosen = top_k(both, n)[1]
    kept: Any = chosen < n
    places = cast("Any", np.where(kept, best[1][np.minimum(chosen, n - 1)], chosen - n + begin))
    return both[chosen], places
