"""Runs: an optimizer on a problem, stepped by a C++ thread that Python steers and reads."""

from burlab.run.record.breakpoints import Breakpoint, Hit
from burlab.run.record.history import Event, History
from burlab.run.record.stop import Stop, Stopped
from burlab.run.record.traces import Traces

from .curve_fit import curve_fit
from .load_run import load_run
from .minimize import minimize
from .opener import Opener
from .run import Run

__all__ = [
    "Breakpoint",
    "Event",
    "History",
    "Hit",
    "Opener",
    "Run",
    "Stop",
    "Stopped",
    "Traces",
    "curve_fit",
    "load_run",
    "minimize",
]
