"""Derivatives: from a graph to a graph, in forward and in reverse mode."""

from . import calls as calls, cond as cond, scan_reverse as scan_reverse
