"""The derivatives of `scan`, as a rule of the sweep."""

from . import scan_forward, scan_reverse
from .sweep import RULES, SweepRule

RULES["scan"] = SweepRule(scan_forward.passes, scan_forward.forward, scan_reverse.backward, scan_forward.execution)
