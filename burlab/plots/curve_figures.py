"""Figures of values over steps: the loss of one training, and several runs in one picture."""

from collections.abc import Mapping
from typing import Any, cast

import numpy as np

from burlab.charts.palette import FAINT, INK, colour
from burlab.errors import ArgumentError, ShapeError
from burlab.monitor import Monitor
from burlab.run import Run
from burlab.run.record.recorder import COSTS, FLOPS, SAMPLES
from burlab.runtime.checks.numbers import real, shown
from burlab.runtime.extras import late
from burlab.runtime.plain import as_floats
from burlab.runtime.ranges import FINITE, number_in
from burlab.typing import Array, ArrayLike, Indices

from .style import layout, line, log_axis

go: Any = late("plotly.graph_objects", "plots")
tsdownsample: Any = late("tsdownsample", "plots")

_POINTS = 2000  # more than a screen has columns; a browser redraws this many at once
_AXES = {"step": ("step", 1.0), "time": ("time, ms", 1e-6)} | {name: (words, 1.0) for name, words in COSTS.items()}
_NONE = COSTS.keys() - {SAMPLES, FLOPS}  # of these a history without the column has spent none


def training_curve(
    x: ArrayLike, value: ArrayLike, *, levels: dict[str, float] | None = None, x_title: str = "step"
) -> Any:
    """A figure of a loss: every value thinned to 2,000 points that keep the extremes, and its running mean.

    Args:
        x, value: Shape (n,).
        levels: Named horizontal lines, such as {"uniform guess": 3.3}.

    Returns:
        A plotly figure.

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


def compare(
    runs: Mapping[str, Run | Monitor | Mapping[str, ArrayLike]],
    *,
    against: str = "step",
    column: str = "value",
    minimum: float = 0.0,
    title: str = "",
) -> Any:
    """A figure of a column of several histories, one line each, on a logarithmic axis.

    Args:
        runs: By name, runs or their histories (mappings of columns).
        against: "step", "time" (shown in milliseconds), or a cost: "samples", "values", "hvps", "jvps", "partials",
            "surrogates", "bits", of which a run without such a column has spent none; or "flops".
        minimum: Subtracted from the column first, such as the minimum of the problem. Numbers that are not
            positive then have no logarithm and leave a gap.

    Returns:
        A plotly figure.

    Raises:
        ArgumentError: `against` or `column` is unknown.

    >>> import numpy as np, burlab as bl
    >>> history = {"step": np.arange(3), "value": np.array([4.0, 2.0, 1.0])}
    >>> bl.plots.compare({"halving": history}).data[0].y
    array([4., 2., 1.])
    """
    if not isinstance(against, str) or against not in _AXES:  # pyright: ignore[reportUnnecessaryIsInstance] - users
        raise ArgumentError(f"against must be one of {', '.join(map(repr, _AXES))}; got {shown(against)}.")
    if not isinstance(runs, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance] - users pass anything
        raise ArgumentError(f"runs is {shown(runs)}, expected runs or histories by name, such as {{'Adam': run}}.")
    for name, run in runs.items():
        if (
            not isinstance(history := getattr(run, "history", run), Mapping)
            or not isinstance(column, str)  # pyright: ignore[reportUnnecessaryIsInstance] - users pass anything
            or column not in history
        ):
            raise ArgumentError(
                f"runs[{shown(name)}] is {shown(run)}, expected a run, or a history with a column {shown(column)}."
            )
    minimum = number_in(FINITE, minimum, "minimum")
    axis, unit = _AXES[against]
    figure: Any = go.Figure(layout=layout(title=title))
    for k, (name, run) in enumerate(runs.items()):
        history = cast("Mapping[str, ArrayLike]", getattr(run, "history", run))
        y = as_floats(history[column], f"the column {column} of {shown(name)}") - minimum
        spent = history.get(against, np.zeros(y.size)) if against in _NONE else history[against]
        x = as_floats(spent, f"the column {against} of {shown(name)}") * unit
        x, y = x[~np.isnan(y)], y[~np.isnan(y)]  # a validation value has rows between
        y = np.where(y > 0, y, np.nan)
        kept = thinned(np.log(y))
        figure.add_scatter(x=x[kept], y=y[kept], name=name, line=line(k))
    figure.update_xaxes(title=axis)
    what = column.replace("_", " ")
    title_text = f"{what} − minimum" if minimum else what
    return figure.update_yaxes(title=title_text, **log_axis(trace.y for trace in figure.data))


def thinned(value: ArrayLike) -> Indices:
    """The positions of at most 2,000 points that keep the shape and the extremes of a curve. value: shape (n,).

    >>> import numpy as np
    >>> thinned(np.sin(np.arange(10**6) / 1e4)).shape
    (2000,)
    """
    value = as_floats(value, "value of thinned").ravel()
    if len(value) <= _POINTS:
        return np.arange(len(value))
    finite = np.where(np.isfinite(value), value, 0.0)  # the downsampler compares, and nothing compares with NaN
    downsampler: Any = tsdownsample.MinMaxLTTBDownsampler()
    return np.asarray(downsampler.downsample(finite, n_out=_POINTS))


def _running_mean(value: Array) -> Array:
    """The mean over the last 2% of the values, of fewer at the start; NaN while one of them is not finite."""
    window = max(1, len(value) // 50)
    finite = np.isfinite(value)
    ends = np.arange(1, len(value) + 1)
    starts = np.maximum(ends - window, 0)
    total, count = (np.concatenate([[0.0], np.cumsum(x)]) for x in (np.where(finite, value, 0.0), finite))
    complete = count[ends] - count[starts] == ends - starts
    return np.where(complete, (total[ends] - total[starts]) / (ends - starts), np.nan)
