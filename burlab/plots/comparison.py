"""Several runs in one picture."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from burlab.errors import ArgumentError
from burlab.run.record.recorder import COSTS, SAMPLES
from burlab.runtime.checks.numbers import shown
from burlab.runtime.extras import late
from burlab.runtime.plain import as_floats
from burlab.runtime.ranges import FINITE, number_in

from .style import layout, line, log_axis
from .thinning import thinned

go: Any = late("plotly.graph_objects", "plots")

_AXES = {"step": ("step", 1.0), "time": ("time, ms", 1e-6)} | {name: (words, 1.0) for name, words in COSTS.items()}
_NONE = COSTS.keys() - {SAMPLES}  # of these a history without the column has spent none


def compare(
    runs: Mapping[str, Any],
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
            "surrogates", "bits"; a run without such a column has spent none.
        minimum: Subtracted from the column first, such as the minimum of the problem. Numbers that are not
            positive then have no logarithm and leave a gap.

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
        history = getattr(run, "history", run)
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
