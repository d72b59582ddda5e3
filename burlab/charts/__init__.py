"""What a chart shows, as plain data: a notebook draws it on a canvas, a saved page as a still picture."""

from .chart import (
    Axis as Axis,
    Band as Band,
    Chart as Chart,
    Curve as Curve,
    Dots as Dots,
    Map as Map,
    Mark as Mark,
    Plot as Plot,
)
