"""Runs: an optimizer on a problem, stepped by a C++ thread that Python steers and reads."""

from .history import Event, History
from .load import load_run
from .minimize import minimize
from .run import Run
from .stop import Stop, Stopped

__all__ = ["Event", "History", "Run", "Stop", "Stopped", "load_run", "minimize"]
