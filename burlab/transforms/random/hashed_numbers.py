"""Uniform numbers as a hash of their places: arithmetic in the loop that reads them, where Philox is a kernel.

The output function of SplitMix64 (Steele, Lea and Flood 2014, Fast splittable pseudorandom number generators, with the
constants of Stafford's mix 13) of a Weyl sequence over the places, to which a key of Philox is added.
"""

import numpy as np

from burlab.errors import ArgumentError
from burlab.graph.linear_nodes import broadcast, convert, reshape, slice_
from burlab.graph.node import Node, constant
from burlab.graph.operation import make_node
from burlab.graph.origin import location
from burlab.typing import Key, Shape

from .keys import key_node

_STEP = 0x9E3779B97F4A7C15  # 2^64 divided by the golden ratio
_MIX = ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB))
_BITS = {"float32": 24, "float64": 53}


def hashed_node(k: Key, shape: Shape, dtype: str) -> Node:
    """Uniform numbers in [0, 1) by a key of shape (2,); those of one key and other places are independent."""
    key = key_node(k)
    if key.ndim != 1:
        raise ArgumentError(f"{location()}a batch of keys, of shape {key.shape}, needs a call for each: use bl.vmap.")
    first, second = (broadcast(reshape(slice_(key, (i,), (1,), (1,)), ()), shape) for i in range(2))
    places = np.arange(np.prod(shape, dtype=np.int64), dtype=np.uint64).reshape(shape) * np.uint64(_STEP)
    word = make_node("add", None, constant(places), first)
    for shift, factor in _MIX:
        word = make_node("mul", None, _folded(word, shift), _repeated(factor, shape))
        word = make_node("add", None, word, second)
    bits = make_node("right_shift", None, _folded(word, 31), _repeated(64 - _BITS[dtype], shape))
    unit = broadcast(constant(2.0 ** -_BITS[dtype], np.dtype(dtype)), shape)
    return make_node("mul", None, convert(bits, np.dtype(dtype)), unit)


def _folded(word: Node, shift: int) -> Node:
    return make_node("bitwise_xor", None, word, make_node("right_shift", None, word, _repeated(shift, word.shape)))


def _repeated(number: int, shape: Shape) -> Node:
    return broadcast(constant(np.uint64(number), np.uint64), shape)
