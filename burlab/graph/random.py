"""Random numbers in a graph: `fold_in` derives keys from keys, `uniform` numbers from keys.

A key is two uint64 words, the last axis of an array; the axes before it are a batch of keys.
"""
# ruff: noqa: D102 - Operation documents the methods

from collections.abc import Sequence

from burlab.runtime.checks.stored import one_of, record

from . import parameters
from .node import Node
from .operation import Together, Unary, structural
from .signatures import DTYPES, Form, form_of, require
from .tally import Tally


@structural
class FoldIn(Together):
    """Derives a key from a key and an integer."""

    name = "fold_in"
    dense_operands = True

    def form(self, _: None, inputs: Sequence[Node]) -> Form:
        require(len(inputs) == 2, "it needs a key and data")
        key, data = inputs
        require(data.shape == _keys(key) and data.dtype == DTYPES["int64"], "its data are not one int64 per key")
        return form_of(key)

    def tally(self, n: Node) -> Tally:
        return Tally(logic=n.size)


@structural
class Uniform(Unary):
    """Uniform numbers from 0 to 1, for each key. Parameters: shape and dtype."""

    name = "uniform"
    dense_operands = True
    constant = True
    parameters = record(parameters.shape, one_of(("float32", "float64")))

    def of(self, params: tuple[tuple[int, ...], str], key: Node) -> Form:
        shape, dtype = params
        return (*_keys(key), *shape), DTYPES[dtype]

    def tally(self, n: Node) -> Tally:
        """Return one for each number, which is made of bits."""
        return Tally(logic=n.size)


def _keys(key: Node) -> tuple[int, ...]:
    """Return the shape of a batch of keys."""
    require(key.dtype == DTYPES["uint64"] and key.shape[-1:] == (2,), "its key is not a pair of uint64 words")
    return key.shape[:-1]
