"""Figure of losses over the steps of training."""

from typing import Any

import numpy as np

from burlab.charts.palette import FAINT, INK, colour
from burlab.errors import ArgumentError, ShapeError
from burlab.runtime.checks.numbers import real, shown
from burlab.runtime.extras import late
from burlab.runtime.plain import as_floats

from .style import layout
from .thinning import Series, thinned

go: Any = late("plotly.graph_objects", "plots")


def training_curve(x: Series, value: Series, *, levels: dict[str, float] | None = None, x_title: str = "step") -> Any:
    """A figure of a loss: every value thinned to 2,000 points that keep the extremes, and its running mean.

    Args:
        x, value: Shape (n,).
        levels: Named horizontal lines, such as {"uniform guess": 3.3}.

    >>> import numpy as np
    >>> len(training_curve(np.arange(5), np.ones(5)).data)
    2
    """
    x, value = as_floats(x, "x of training_curve"), as_floats(value, "value of training_curve")
    if x.ndim != 1 or x.shape != value.shape:
        raise ShapeError(f"training_curve got x {x.shape} and value {value.shape}, expected two of one shape (n,).")
    if levels is not None and not isinstance(levels, dict):  # pyright: ignore[reportUnnecessaryIsInstance] - users pass anything
        raise ArgumentError(f"levels must be numbers by name, such as {{'uniform guess': 3.3}}; got {shown(levels)}.")
    levels = {name: real(level, f"the level {name}") for name, level in (levels or {}).items()}
    if not isinstance(x_title, str):  # pyright: ignore[reportUnnecessaryIsInstance] - users pass anything
        raise ArgumentError(f"x_title must be a str; got {shown(x_title)}.")
    figure: Any = go.Figure(layout=layout())
    thin = thinned(value)
    mean = _running_mean(value)
    figure.add_scatter(x=x[thin], y=value[thin], name="batch", line={"color": FAINT, "width": 1})
    figure.add_scatter(x=x[thin], y=mean[thin], name="running mean", line={"color": colour(0), "width": 2.5})
    for name, level in levels.items():
        dotted = {"dash": "dot", "color": INK}
        figure.add_hline(y=level, line=dotted, name=f"{name}: {level:.3f}", showlegend=True)
    figure.update_layout(margin_t=20, xaxis_title=x_title, yaxis_title="loss")
    return figure


def _running_mean(value: Series) -> Series:
    """The mean over the last 2% of the values, of fewer at the start; NaN while one of them is not finite."""
    window = max(1, len(value) // 50)
    finite = np.isfinite(value)
    ends = np.arange(1, len(value) + 1)
    starts = np.maximum(ends - window, 0)
    total, count = (np.concatenate([[0.0], np.cumsum(x)]) for x in (np.where(finite, value, 0.0), finite))
    complete = count[ends] - count[starts] == ends - starts
    return np.where(complete, (total[ends] - total[starts]) / (ends - starts), np.nan)
