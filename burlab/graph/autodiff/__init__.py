"""Derivatives: from a graph to a graph, in forward and in reverse mode."""

from . import (
    call_derivatives as call_derivatives,
    checkpoint_rules as checkpoint_rules,
    cond as cond,
    halves_rules as halves_rules,
    scan_reverse as scan_reverse,
)
