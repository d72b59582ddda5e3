"""Computation graphs: tracing NumPy code, differentiating and simplifying what was traced."""

from burlab.graph.autodiff.sweep import jvp, vjp

from . import (
    blocks as blocks,
    buffers as buffers,
    indexed_table as indexed_table,
    nonlinear_table as nonlinear_table,
    query as query,
    random as random,
    show as show,
)
from .file import reading as reading, serial as serial
from .graph import Call, Graph
from .node import Node
from .numpy_api import (
    bits as bits,
    indexing as indexing,
    joining as joining,
    norm_powers as norm_powers,
    products as products,
    reduction as reduction,
    refused as refused,
    shapes as shapes,
    sums_of_squares as sums_of_squares,
    ufuncs as ufuncs,
)
from .order import topological
from .origin import scope

__all__ = ["Call", "Graph", "Node", "jvp", "scope", "topological", "vjp"]
