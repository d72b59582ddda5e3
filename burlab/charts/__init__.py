"""Charts as plain data, which a notebook draws on a canvas, and a saved page as a still picture."""

from .chart import (
    Axis as Axis,
    Band as Band,
    Chart as Chart,
    Curve as Curve,
    Dots as Dots,
    DotShape as DotShape,
    Map as Map,
    Mark as Mark,
    MarkKind as MarkKind,
    Plot as Plot,
)
