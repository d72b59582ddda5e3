"""Computation graphs: tracing NumPy code, differentiating and simplifying what was traced."""

from . import (
    calls as calls,
    contraction as contraction,
    indexing as indexing,
    joining as joining,
    layout as layout,
    linear_table as linear_table,
    random as random,
    reduction as reduction,
    ufuncs as ufuncs,
)
from .graph import Call, Graph
from .node import Node
from .order import topological
from .origin import scope
from .sweep import jvp, vjp

__all__ = ["Call", "Graph", "Node", "jvp", "scope", "topological", "vjp"]
