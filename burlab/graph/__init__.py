"""Computation graphs: tracing NumPy code, differentiating and simplifying what was traced."""

from . import compose, contraction, elementwise, indexing, layout, linear, reduction
from .graph import Call, Graph
from .node import Node, scope
from .order import topological
from .sweep import jvp, vjp

__all__ = ["Call", "Graph", "Node", "jvp", "scope", "topological", "vjp"]
