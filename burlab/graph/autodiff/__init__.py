"""Derivatives: from a graph to a graph, in forward and in reverse mode."""
