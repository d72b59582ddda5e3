"""The breakpoints of a run in its panel: their texts, and where they were hit."""

from collections.abc import Iterator
from typing import Any

from burlab.charts import Mark
from burlab.run.record.breakpoints import Hit
from burlab.widgets.live.fields import one_of, real_from
from burlab.widgets.live.readable import number

from .groups import Group

_MAX_MARKS, _MAX_LISTED = 200, 12  # hits that are marked, and those that are listed: the last ones
_CONDITIONS = {
    "rises": "value rises by",
    "grad_norm": "gradient norm above",
    "every": "every",
    "non_finite": "inf or nan",
}


class BreakpointHits:
    """Breakpoints that were hit. hits: `run.breakpoints.hits`; () of what has no breakpoints."""

    def __init__(self) -> None:
        self.hits: tuple[Hit, ...] = ()

    def refresh(self, run: Any) -> None:
        """Read the hits of a run."""
        if hasattr(run, "breakpoints"):
            self.hits = run.breakpoints.hits

    def listed(self) -> list[dict[str, Any]]:
        """A dict for each of the last hits, the newest first: step, which one it was, and the value there."""
        last = self.hits[: -_MAX_LISTED - 1 : -1]
        return [{"step": hit.step, "text": _text(hit.breakpoint), "value": number(hit.value)} for hit in last]

    def marks(self, run: Any, group: Group) -> Iterator[Mark]:
        """Yield marks where a group was stopped, and at the limit of its gradient norm."""
        for hit in self.hits[-_MAX_MARKS:]:
            yield Mark(float(hit.step), f"break: {_text(hit.breakpoint)}", kind="break")
        if group.name != "gradient_norm" or not hasattr(run, "breakpoints"):
            return
        points = run.breakpoints
        for key, point in points.items():
            if point.grad_norm is not None and points.enabled(key):
                yield Mark(point.grad_norm, f"break above {number(point.grad_norm)}", "y", "break")


def listed(run: Any) -> list[dict[str, Any]] | None:
    """A dict for each breakpoint: number, text, and whether it is on. None for what has none."""
    if not hasattr(run, "breakpoints"):
        return None
    points = run.breakpoints
    return [{"number": key, "text": _text(point), "on": points.enabled(key)} for key, point in points.items()]


def offered(run: Any) -> list[str]:
    """The conditions that the panel offers: those that this run can come to."""
    return [name for name in _CONDITIONS if hasattr(run, "breakpoints") and name in run.breakpoints.conditions]


def add(run: Any, kind: str, text: str) -> None:
    """Add a breakpoint as the panel offers them.

    Args:
        run: What has `breakpoints`.
        kind: "rises", "grad_norm", "every" or "non_finite".
        text: Its number; a rise is in percent of the value's size.

    Raises:
        ArgumentError: The kind or the number is another one.
    """
    if one_of(kind, _CONDITIONS, "the condition of a breakpoint") == "non_finite":
        run.breakpoints.add(non_finite=True)
        return
    value = real_from(text.strip().removesuffix("%").replace(",", ""), "the breakpoint's number")
    given = {"rises": value / 100, "grad_norm": value, "every": int(value) if value.is_integer() else value}
    run.breakpoints.add(**{kind: given[kind]})


def _text(point: Any) -> str:
    kind = str(point.condition)
    if kind == "when":
        return f"{getattr(point.when, '__name__', 'a predicate').replace('<lambda>', 'a predicate')} holds"
    value = getattr(point, kind)
    after = {"rises": f" {number(100 * value)}%", "every": f" {value:,} steps", "grad_norm": f" {number(value)}"}
    often = f", {point.patience} times" if point.patience > 1 else ""
    return _CONDITIONS[kind] + after.get(kind, "") + often
