"""Computation graphs: tracing NumPy code, differentiating and simplifying the traced graphs."""

from typing import Any

from burlab.graph.autodiff import sweep
from burlab.graph.autodiff.sweep import jvp, vjp

from . import (
    block_results as block_results,
    blocks as blocks,
    buffers as buffers,
    format_hook,
    hooks,
    indexed_table as indexed_table,
    nonlinear_table as nonlinear_table,
    query as query,
    random as random,
)
from .buffers import results
from .buffers.flat import Flat
from .graph import Call, Graph, topological
from .node import Node
from .numpy_api import (
    bits as bits,
    indexing as indexing,
    joining as joining,
    norm_powers as norm_powers,
    products as products,
    reduction as reduction,
    refused,
    shapes as shapes,
    sums_of_squares as sums_of_squares,
    ufuncs as ufuncs,
)
from .operation import ROWS
from .origin import scope

__all__ = ["Call", "Graph", "Node", "jvp", "scope", "topological", "vjp"]


def _import_rare() -> None:
    from . import rare as rare


def _complex_numbers() -> hooks.ComplexNumbers:
    from . import rare as rare
    from .complex import complex_hook

    return complex_hook


def _sparse_array(matrix: Any) -> Any:
    from .sparse import of_scipy

    return of_scipy(matrix)


def _sparse_constant(matrix: Any) -> Any:
    from .sparse import of_scipy

    return of_scipy(matrix).of_nodes()


hooks.results, hooks.formats, hooks.sweeps = results, format_hook, sweep
hooks.rows, hooks.flat_of, hooks.why_not = ROWS, Flat, refused.why_not
hooks.complex_numbers, hooks.import_rare = _complex_numbers, _import_rare
hooks.sparse_array, hooks.sparse_constant = _sparse_array, _sparse_constant
