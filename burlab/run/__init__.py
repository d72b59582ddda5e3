"""Runs: an optimizer on a problem, stepped by a C++ thread that Python steers and reads."""

from burlab.run.record.history import Event, History
from burlab.run.record.stop import Stop, Stopped

from .load import load_run
from .minimize import minimize
from .run import Run

__all__ = ["Event", "History", "Run", "Stop", "Stopped", "load_run", "minimize"]
