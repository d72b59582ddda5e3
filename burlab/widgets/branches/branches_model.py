"""The state of the panel of a tree of branches, and the actions of its controls."""

import math
from dataclasses import replace
from typing import Any

import numpy as np

from burlab.charts import Chart, Mark, Plot
from burlab.charts.limits import shown_rows
from burlab.experiments import Branch, Branches
from burlab.experiments.branch_tree import number
from burlab.widgets.live import readable
from burlab.widgets.live.fields import one_of, real_from, whole_from
from burlab.widgets.live.live_model import LiveModel
from burlab.widgets.page_worker import Intent

_AXES = ("step", "gradients", "seconds")
_OUTLINE_POINTS = 60  # of a small picture
_READ_SECONDS = 0.05  # seconds of reading at once


class BranchesModel(LiveModel):
    """The panel of one tree.

    chosen: names of the branches that are compared; None for all. current: the branch that is forked and continued.
    cursor: the step at which a fork leaves it.
    """

    def __init__(self, branches: Branches) -> None:
        super().__init__()
        self.branches = branches
        self.chosen: set[str] | None = None
        self.against = "step"
        self.tree = branches.tree
        self._outlines = branches.outlines(self.tree)
        self.current = self.tree[0].name
        self.cursor = self.tree[0].step
        self._seen: Any = None

    @property
    def active(self) -> bool:
        """Return True if a branch steps."""
        return any(branch.run.running for branch in self.tree)

    def apply(self, intent: Intent) -> None:
        """Carry out an intent; errors become part of the state."""
        super().apply(intent)
        self._seen = None

    def refresh(self) -> bool:
        """Read new rows and return True if there are any."""
        self.tree = self.branches.tree
        names = {branch.name for branch in self.tree}
        if self.current not in names:
            self.current, self.cursor = self.tree[0].name, self.tree[0].step
        if self.chosen is not None:
            self.chosen &= names
        # Where a branch rests at the end of its record there is one more value.
        key = [(branch.name, branch.step, branch.length, branch.message, branch.run.running) for branch in self.tree]
        new, self._seen = key != self._seen, key
        if new:
            self._outlines = self.branches.outlines(self.tree)
        return new

    def state(self) -> dict[str, Any]:
        """All besides the chart: a row for each branch with its small picture, the cursor, the fields of a fork."""
        branch = self._branch()
        tone, text = self._status(branch)
        rows, more = shown_rows(self.tree)
        rows = [*rows, *(() if branch in rows else (branch,))]
        many = f"{len(self.tree)} branches" if len(self.tree) > 1 else "1 branch"
        return {
            "rows": [self._row(one) for one in rows],
            "current": self.current,
            "cursor": min(self.cursor, branch.length),
            "length": branch.length,
            "running": branch.run.running,
            "hypers": [[name, f"{name}, now {branch.run.hyper[name]:g}"] for name in branch.run.hyper],
            "against": self.against,
            "axes": [[name, f"by {name}"] for name in _AXES],
            "tone": tone,
            "status": text,
            "title": many + (f": the first {len(rows)} are listed" if more else ""),
        }

    def chart(self) -> Chart:
        """The chosen branches, with the cursor if the axis is that of steps."""
        names = [branch.name for branch in self.tree if self.chosen is None or branch.name in self.chosen]
        chart = self.branches.chart(names, self.against, seconds=_READ_SECONDS)
        plot, *others = chart.parts
        if self.against == "step" and isinstance(plot, Plot):
            at = float(max(self.cursor, 0.5 if plot.x.log else 0))
            plot = replace(plot, marks=(*plot.marks, Mark(at, "fork here", kind="cursor")))
        return Chart((plot, *others), about=chart.about)

    def _branch(self) -> Branch:
        return next(branch for branch in self.tree if branch.name == self.current)

    def _row(self, branch: Branch) -> dict[str, Any]:
        origin = "" if branch.at is None else f"from step {readable.count(branch.at)}"
        return {
            "name": branch.name,
            "depth": branch.depth,
            "colour": number(branch.name),
            "message": branch.message,
            "origin": origin,
            "value": readable.number(branch.value),
            "length": readable.count(branch.length),
            "gradients": readable.count(round(branch.gradients)),
            "seconds": readable.duration(branch.seconds),
            "chosen": self.chosen is None or branch.name in self.chosen,
            "own": self._small(branch.name, branch.at or 0),
            "past": [] if branch.at is None else self._small(branch.name, 0, branch.at),
        }

    def _small(self, name: str, first: int, last: float = math.inf) -> list[list[float]]:
        """A few points of the curve of a branch, from 0 to 1 both ways."""
        x, y = self._outlines[name]
        inside = np.flatnonzero((x >= first) & (x <= last))
        retained = inside[np.unique(np.linspace(0, inside.size - 1, min(inside.size, _OUTLINE_POINTS)).astype(int))]
        end = max([1.0, *(float(steps[-1]) for steps, _ in self._outlines.values() if steps.size)])
        return [[round(float(a) / end, 3), round(float(b), 3)] for a, b in zip(x[retained], y[retained], strict=True)]

    def _status(self, branch: Branch) -> tuple[str, str]:
        if self.error:
            return "failed", self.error
        if branch.run.running:
            return "running", f"{branch.name} goes on: step {readable.count(branch.step)}"
        at = min(self.cursor, branch.length)
        return (
            "paused",
            f"{branch.name} at step {readable.count(at)} of {readable.count(branch.length)}: a fork leaves it there",
        )

    def _do_current(self, intent: Intent) -> None:
        self.tree = self.branches.tree
        self.current = one_of(intent["name"], [branch.name for branch in self.tree], "the branch")
        self.cursor = self._branch().step

    def _do_choose(self, intent: Intent) -> None:
        every = {branch.name for branch in self.tree}
        chosen = every if self.chosen is None else set(self.chosen)
        chosen = chosen | {str(intent["name"])} if intent["value"] else chosen - {str(intent["name"])}
        self.chosen = None if chosen == every else chosen

    def _do_cursor(self, intent: Intent) -> None:
        step = real_from(str(intent["step"]).replace(",", ""), "the step")
        self.cursor = int(min(max(round(step), 0), self._branch().length))

    def _do_against(self, intent: Intent) -> None:
        self.against = one_of(intent["value"], _AXES, "the axis")

    def _do_fork(self, intent: Intent) -> None:
        name, text = str(intent.get("name", "")), str(intent.get("text", "")).strip()
        changes: dict[str, Any] = {name: real_from(text, name)} if name and text else {}
        branch = self.branches.fork(self.current, at=self.cursor, **changes)
        if self.chosen is not None:
            self.chosen.add(branch.name)
        self.refresh()
        self.current, self.cursor = branch.name, branch.step

    def _do_go(self, intent: Intent) -> None:
        count = whole_from(intent.get("count"), "the number of steps", 1)
        run = self._branch().run
        run.start(count)
        self.cursor = run.t + count

    def _do_pause(self, _: Intent) -> None:
        for branch in self.tree:
            branch.run.pause()
        self.cursor = self._branch().run.t
