"""The time of a run's steps by part, in a panel."""

import threading
from time import monotonic
from typing import Any

import numpy as np

from burlab.run.record.traces import PARTS

from .background_work import in_background
from .pyramid import NOTHING, Series

_POLL_SECONDS = 0.5  # seconds between two looks at a run that plays
_MIN_SAMPLES = 3  # samples from which parts are worth a compiled twin
SMALL_PARTS = "the rest"  # small parts together
_MEDIAN_WIDTH = 5  # samples whose median is shown
_MAX_EAGER_BYTES = 1_000_000  # bytes of memory for computing up to which its kernels compile in a moment
_COMPUTING = ("parameters", "gradients", "activations", "optimizer_state", "scratch")


class PanelCosts:
    """Samples of a run's costs, those of `Run.traces`. `refresh` is quick.

    steps: of the samples, and the last step, shape (n + 1,). seconds: per step by part, medians of five samples in a
    row; empty as long as the split is not known. It takes a timed twin of the kernels, which is compiled in a thread:
    at once for small ones, and after `split` for others. version: changes with all.
    """

    def __init__(self) -> None:
        self.steps: Series = NOTHING
        self.seconds: dict[str, Series] = {}
        self.version = 0
        self._requested = False
        self._known = False
        self._small = True
        self._thread: threading.Thread | None = None
        self._seen: Any = None  # the length and the parent of the run at the last look
        self._next = 0.0

    @property
    def offered(self) -> bool:
        """Return True if the panel offers to split the time of a step."""
        return self.steps.size > _MIN_SAMPLES and not self._small and self._thread is None

    def split(self) -> None:
        """Split the time of a step, whatever it costs."""
        self._requested = True

    def refresh(self, run: Any) -> None:
        """Read the samples of a run that has some."""
        state = run.length, run.parent, self._known
        if state == self._seen or (run.running and monotonic() < self._next) or not hasattr(run, "traces"):
            return
        self._seen, self._next = state, monotonic() + _POLL_SECONDS
        traces = run.traces
        if not traces["step"].size:
            return
        self.steps = np.append(traces["step"], max(run.length, traces["step"][-1]))  # where the last sample holds, too
        if self._known:
            self.seconds = {part: 1e-9 * _held(calm(traces[part])) for part in PARTS if np.any(traces[part] > 0)}
        self.version += 1
        if PARTS[0] not in traces:  # of a loop that burlab does not do itself
            return
        self._small = sum(run.memory.get(kind, 0) for kind in _COMPUTING) < _MAX_EAGER_BYTES
        if self._thread is None and self.steps.size > _MIN_SAMPLES and (self._small or self._requested):
            self._thread = in_background(lambda: self._measure(run), "costs")

    def wait(self) -> None:
        """Wait for a split that is being measured."""
        if self._thread is not None:
            self._thread.join()

    def _measure(self, run: Any) -> None:
        run.traces["forward"]  # which measures, once for the run
        self._known = True


def _held(column: Series) -> Series:
    """A column of samples, and the last of them once more."""
    return np.append(column, column[-1:]).astype(np.float64)


def calm(column: Series) -> Series:
    """The median of each sample with its neighbours, five in all: a step that was interrupted says little of others.

    >>> calm(np.array([663.0, 1.0, 1.2, 90.0, 1.1, 1.0]))
    array([1.2, 1.2, 1.2, 1.1, 1.1, 1.1])
    """
    width = min(_MEDIAN_WIDTH, column.size)
    middles = np.median(np.lib.stride_tricks.sliding_window_view(column, width), axis=1)
    return middles[np.clip(np.arange(column.size) - width // 2, 0, middles.size - 1)]


def gathered(parts: dict[str, Series]) -> dict[str, Series]:
    """Return the parts of a whole, those below a hundredth of it (of its 90% quantile) summed up as "the rest".

    >>> gathered({"data": np.array([1.0, 2]), "update": np.array([1.0, 998])}).keys()
    dict_keys(['update', 'the rest'])
    """
    most = 0.01 * float(np.quantile(np.sum([*parts.values()], axis=0), 0.9))
    large = {name: part for name, part in parts.items() if part.max() >= most}
    small = [part for name, part in parts.items() if name not in large]
    return large | {SMALL_PARTS: np.sum(small, axis=0)} if small else large


def stacked(parts: dict[str, Series]) -> dict[str, tuple[Series, Series]]:
    """The lower and the upper edge of each part in a stack, the first one at the bottom.

    >>> {name: (low[0], high[0]) for name, (low, high) in stacked({"a": np.ones(1), "b": np.ones(1)}).items()}
    {'a': (np.float64(0.0), np.float64(1.0)), 'b': (np.float64(1.0), np.float64(2.0))}
    """
    edges: dict[str, tuple[Series, Series]] = {}
    low: Any = 0.0
    for name, part in parts.items():
        edges[name] = low + np.zeros_like(part), low + part
        low = edges[name][1]
    return edges
