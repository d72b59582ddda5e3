"""Pictures and reports: pure functions from data to plotly figures and to HTML that needs no network."""

from .comparison import compare
from .contour import Landscape, contour, landscape, landscape_traces, path_traces
from .report import write_report
from .thinning import thinned
from .training import training_curve

__all__ = [
    "Landscape",
    "compare",
    "contour",
    "landscape",
    "landscape_traces",
    "path_traces",
    "thinned",
    "training_curve",
    "write_report",
]
