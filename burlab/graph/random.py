"""Random numbers in a graph: `fold_in` makes keys of keys, `uniform` numbers of keys.

A key is two uint64 words, the last axis of an array; the axes before it are a batch of keys.
"""

from collections.abc import Sequence

from burlab.runtime.checks import nothing, one_of, record

from . import parameters
from .node import Node
from .signatures import DTYPES, SIGNATURES, Form, Signature, form_of, require


def _of_key(_: None, inputs: Sequence[Node]) -> Form:
    require(len(inputs) == 2, "it needs a key and data")
    key, data = inputs
    require(data.shape == _keys(key) and data.dtype == DTYPES["int64"], "its data are not one int64 per key")
    return form_of(key)


def _of_numbers(params: tuple[tuple[int, ...], str], inputs: Sequence[Node]) -> Form:
    require(len(inputs) == 1, "it needs one input, a key")
    shape, dtype = params
    return (*_keys(inputs[0]), *shape), DTYPES[dtype]


def _keys(key: Node) -> tuple[int, ...]:
    """The axes of a batch of keys."""
    require(key.dtype == DTYPES["uint64"] and key.shape[-1:] == (2,), "its key is not a pair of uint64 words")
    return key.shape[:-1]


SIGNATURES["fold_in"] = Signature(nothing, _of_key)
SIGNATURES["uniform"] = Signature(record(parameters.shape, one_of(("float32", "float64"))), _of_numbers)
