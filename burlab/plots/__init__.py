"""Pictures and reports: pure functions from data to plotly figures and to HTML that needs no network."""

from .report import write_report
from .training import training_curve

__all__ = ["training_curve", "write_report"]
