"""Figures and reports: pure functions from data to plotly figures, and to HTML that needs no network."""

from burlab.analysis.height_map import HeightMap

from .contour_map import contour, landscape, landscape_traces
from .curve_figures import compare, thinned, training_curve
from .html_report import write_report
from .paths import apart, path_traces
from .seed_bands import bands
from .style import theme
from .surface_map import surface

__all__ = [
    "HeightMap",
    "apart",
    "bands",
    "compare",
    "contour",
    "landscape",
    "landscape_traces",
    "path_traces",
    "surface",
    "theme",
    "thinned",
    "training_curve",
    "write_report",
]
