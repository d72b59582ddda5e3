"""A `Chart` for a page: JSON, and numbers as buffers."""

import math
from dataclasses import fields
from typing import Any, cast

import numpy as np

from burlab.charts import Axis, Chart, Map, Plot
from burlab.charts.limits import bounded
from burlab.charts.palette import PALETTE


def encode(chart: Chart) -> dict[str, Any]:
    """The fields of a chart and of its parts by their names, each part with its `kind`, and the palette.

    No page gets more than `burlab.charts.limits` says, whatever was recorded. Numbers become buffers of float64, in
    the byte order of pages. What JSON cannot say, inf and nan, becomes None.

    >>> import numpy as np
    >>> from burlab.charts import Curve
    >>> x = np.arange(3.0)
    >>> found = encode(Chart((Plot("value", "Value", Axis("step"), Axis(), (Curve(x, x**2),)),)))["parts"][0]
    >>> found["kind"], found["x"]["label"], np.frombuffer(found["curves"][0]["y"])
    ('plot', 'step', array([0., 1., 4.]))
    """
    chart = bounded(chart)
    plain = _plain(chart)
    parts = [{"kind": "map" if isinstance(part, Map) else "plot"} | _encoded(part) for part in chart.parts]
    return plain | {"parts": parts, "palette": list(PALETTE)}


def _encoded(part: Plot | Map) -> dict[str, Any]:
    found = _plain(part)
    for name in ("curves", "bands", "dots", "marks"):
        if hasattr(part, name):
            found[name] = [_plain(one) for one in getattr(part, name)]
    if isinstance(part, Map):
        del found["shade"]
        found["heights"] = None if part.heights is None else _field(part.heights, part.shade)
    else:
        found["marks"] = [mark for mark in found["marks"] if mark["at"] is not None]
    return found


def _field(heights: Any, shade: Any) -> dict[str, Any]:
    rows, columns = heights.shape
    return {"rows": rows, "columns": columns, "values": _value(heights), "shade": _value(shade)} | (
        {"shade": _value(heights)} if shade is None else {}
    )


def _plain(part: Any) -> dict[str, Any]:
    return {field.name: _value(getattr(part, field.name)) for field in fields(part)}


def _value(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return memoryview(value.astype("<f8").tobytes())
    if isinstance(value, Axis):
        return _plain(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return list(cast("tuple[Any, ...]", value)) if isinstance(value, tuple) else value
