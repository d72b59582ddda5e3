"""The bytes of a run over its steps in a panel: what samples of the run say, and what each look has found."""

from collections.abc import Mapping
from time import monotonic
from typing import Any

import numpy as np

from burlab.monitor.memory_samples import process_bytes
from burlab.run.record.traces import NO_KINDS

from .panel_costs import SMALL_PARTS
from .pyramid import NOTHING, Series

_POLL_SECONDS = 0.2  # seconds between two looks at a run that plays
_MAX_SAMPLES = 512  # that are kept; of more, every second one
_OTHER = "other"  # bytes of the process that a loop of the user's own does not explain: its line has them
COLOURS = {
    "parameters": 0, "gradients": 1, "activations": 2, "optimizer_state": 3, "scratch": 4, "history": 5, "keyframes": 6,
    "path": -2, "traces": -3, "events": -4, _OTHER: -5, SMALL_PARTS: -1,
}  # fmt: skip
"""Positions in the palette; from -2 downwards its tints."""


class PanelMemory:
    """Bytes over steps. `refresh` is quick.

    nbytes: by kind, as they are now: what bar and curves end with. steps: of samples and looks, shape (n,). kinds: the
    bytes of each kind there; resident: those of the process, nan where the system does not say. version: changes with
    all.
    """

    def __init__(self) -> None:
        self.nbytes: dict[str, int] = {}
        self.steps: Series = NOTHING
        self.kinds: dict[str, Series] = {}
        self.resident: Series = NOTHING
        self.version = 0
        self._samples: list[tuple[int, dict[str, int], int]] = []  # step, bytes by kind, and those of the process
        self._seen: Any = None  # the length and the parent of the run at the last look
        self._next = 0.0

    def refresh(self, run: Any) -> None:
        """Look at a run that has changed; at one that plays now and then."""
        state = run.length, run.parent
        if self._seen is not None and (state == self._seen or (run.running and monotonic() < self._next)):
            return
        self._seen, self._next = state, monotonic() + _POLL_SECONDS
        self.nbytes = {kind: n for kind, n in run.memory.items() if kind not in ("total", "peak")}
        step = int(run.length)
        self._samples = [look for look in self._samples if look[0] < step] + [(step, self.nbytes, process_bytes())]
        if len(self._samples) > _MAX_SAMPLES:
            self._samples = self._samples[1::2] if len(self._samples) % 2 == 0 else self._samples[::2]
        self._join(run.traces if hasattr(run, "traces") else {})
        self.version += 1

    def _join(self, traces: Mapping[str, Series]) -> None:
        """Put samples and looks in the order of their steps."""
        step = self._samples[-1][0]
        sampled = np.asarray(traces["step"] if traces else NOTHING, np.float64)
        kept = sampled < step
        steps = np.concatenate([sampled[kept], [float(at) for at, *_ in self._samples]])
        order = np.argsort(steps, kind="stable")

        def column(name: str, samples: list[int]) -> Series:
            known = np.asarray(traces[name], np.float64)[kept] if name in traces else np.zeros(int(kept.sum()))
            return np.concatenate([known, np.asarray(samples, np.float64)])[order]

        names = dict.fromkeys([*(name for name in traces if name not in NO_KINDS), *self.nbytes])
        names.pop(_OTHER, None)
        columns = {name: column(name, [look.get(name, 0) for _, look, _ in self._samples]) for name in names}
        self.steps = steps[order]
        self.kinds = {name: values for name, values in columns.items() if values.any()}
        self.resident = column("resident", [held for *_, held in self._samples])


def stairs(steps: Series, *rows: Series) -> tuple[Series, ...]:
    """Steps and rows, each of which holds from its step to the next one, as points of a line.

    >>> [line.tolist() for line in stairs(np.array([0.0, 5.0, 9.0]), np.array([1.0, 2.0, 3.0]))]
    [[0.0, 5.0, 5.0, 9.0, 9.0], [1.0, 1.0, 2.0, 2.0, 3.0]]
    """
    return np.repeat(steps, 2)[1:], *(np.repeat(row, 2)[:-1] for row in rows)


def colour_of(name: str, place: int) -> int:
    """The position in the palette of a kind of bytes; of one that only a user's loop has, its place."""
    return COLOURS.get(name, place)
