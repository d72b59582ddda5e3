"""Sparse derivatives: their pattern from the graph, their columns in colours, their entries from few products."""

from .sparse_derivatives import sparse_hessian, sparse_jacobian

__all__ = ["sparse_hessian", "sparse_jacobian"]
