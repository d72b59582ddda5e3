"""A run without a loop: rows are written when a test says so."""

from typing import Any

import numpy as np

from burlab.widgets.panel.panel_chart import PanelChart
from burlab.widgets.panel.panel_state import state_of


class FakeHypers(dict[str, float]):
    """Live values; `scheduled` names may be given back to their schedule with None."""

    def __init__(self, run: "FakeRun", values: dict[str, float], scheduled: tuple[str, ...] = ()) -> None:
        super().__init__(values)
        self._run = run
        self.scheduled = scheduled
        self.followed = set(scheduled)

    def __setitem__(self, name: str, value: float | None) -> None:
        if value is None:
            self.followed.add(name)
            return
        self.followed.discard(name)
        super().__setitem__(name, value)
        self._run.changed(name, value)

    def drag(self, name: str, value: float, *, begins: bool) -> None:
        assert isinstance(begins, bool)
        self[name] = value

    def follows(self, name: str) -> bool:
        return name in self.followed


class FakeRun:
    """Value 2^-s, gradient norm 2 * 2^-s, step norm 2^-s / 10, a time stamp every fourth row."""

    def __init__(self, hypers: dict[str, float] | None = None, scheduled: tuple[str, ...] = (), **columns: Any) -> None:
        self.can_seek = True
        self.title = self.remark = ""
        self.t = 0
        self.running = False
        self.pauses = 0
        self.stopped: Any = None
        self.parent: FakeRun | None = None
        self.path: Any = None
        self.problem: Any = None
        self.optimizer: Any = None
        self.events: list[Any] = []
        self.memory = {"parameters": 16, "history": 0, "total": 16}
        self.said: list[Any] = []
        self.hyper = FakeHypers(self, hypers or {"lr": 1e-3}, scheduled)
        self.columns = columns
        self.rows: dict[str, Any] = {}
        self.generation = 0
        self.write(0)

    @property
    def length(self) -> int:
        return len(self.rows["value"])

    def write(self, n: int) -> None:
        """Do n steps."""
        steps = np.arange(self.t + n, dtype=np.float64)
        value = 0.5 ** np.minimum(steps, 1000)
        self.rows = {"value": value, "gradient_norm": 2 * value, "step_norm": value / 10}
        self.rows |= {name: make(steps) for name, make in self.columns.items()}
        self.t += n
        self.memory["history"] = 24 * self.length

    def tail(self, cursor: Any, most: int) -> tuple[dict[str, Any], Any, bool]:
        fresh = cursor is None or cursor[0] != self.generation
        first = 0 if fresh else cursor[1]
        end = min(self.length, first + most)
        steps = np.arange(first, end, dtype=np.float64)
        rows = {"step": steps} | {name: column[first:end] for name, column in self.rows.items()}
        stamped = steps[steps % 4 == 3]
        rows |= {"stamp_step": stamped, "stamp_time": 1000.0 * (stamped + 1)}
        return rows, (self.generation, end), fresh

    def at(self, step: int) -> dict[str, float] | None:
        return {name: float(column[step]) for name, column in self.rows.items()} if step < self.length else None

    @property
    def x(self) -> Any:
        return np.full(1 if self.path is None else 2, float(self.t))

    def start(self, steps: int | None = None) -> None:
        self.said.append(("start", steps))
        if steps is None:
            self.running = True
        else:
            self.write(steps)

    def pause(self) -> None:
        self.pauses += 1
        if self.running:
            self.said.append("pause")
        self.running = False

    def seek(self, step: int) -> None:
        self.said.append(("seek", step))
        self.t = step

    def changed(self, name: str, value: float) -> None:
        """A change in the past: the old line stays as the parent."""
        self.said.append((name, value))
        if self.t < self.length:
            parent = FakeRun(dict(self.hyper))
            parent.rows, parent.t, parent.parent = self.rows, self.length, self.parent
            self.parent = parent
            self.rows = {column: rows[: self.t] for column, rows in self.rows.items()}
            self.generation += 1


def refreshed(model):
    model.refresh()
    return state_of(model)


def drawn(model):
    """The plots of a panel by name."""
    model.refresh()
    return {part.name: part for part in PanelChart().chart(model).parts}
