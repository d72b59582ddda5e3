"""A column of a record in bounded memory, for charts of long runs; each update reads only the new rows."""

import math
from time import monotonic
from typing import Any

import numpy as np

from .derived import times
from .live import RecordCursor, rows_since
from .recorder import COSTS, COUNTERS, FIRST, FLOPS, SAMPLES, Recorder
from .tables import read

Numbers = np.ndarray[Any, np.dtype[np.float64]]
SINGLE_STEPS = 1024  # stretches of their own; after them each doubling of the steps has half as many stretches
MAX_ENTRIES = 1 << 18  # that are read at once
_NONE: Numbers = np.empty((6, 0))


class Digest:
    """Means and extremes of stretches of steps, read as the record grows.

    The first 1,024 steps are stretches of their own. From there on a stretch is 1/1024 to 1/512 as long as the way to
    it, so a digest is as fine on a logarithmic axis as on a linear one, and ten million steps are 8,000 stretches. Rows
    that are NaN are passed over. After `read`, all of shape (n,), float64:

    steps: the last step of each stretch, from 0. mean, low, high: of the column over the stretch.

    >>> import numpy as np, burlab as bl
    >>> run = bl.minimize(lambda x: np.sum(x**2), np.ones(1), bl.optim.GD(0.25), steps=100_000)
    >>> digest = run.digest()
    >>> digest.read(), digest.steps.size, digest.steps[-1], digest.mean[:3]
    (True, 4366, np.float64(99999.0), array([1.    , 0.25  , 0.0625]))
    """

    def __init__(self, recorder: Recorder, column: str) -> None:
        self._recorder = recorder
        self._counters = [name for name in COSTS if name in recorder.columns]
        self._columns = tuple(dict.fromkeys((column, *self._counters)))
        self._cursor: RecordCursor | None = None
        self._rows = _NONE  # number of the stretch, last step, rows, sum, low, high
        self._used: Numbers = np.empty((len(self._counters), 0))
        self.version = 0
        """Counter of changes."""
        rows_since(recorder, None, self._columns, most=2)  # raises where there is no such column

    @property
    def recorder(self) -> Recorder:
        """The recorder that it reads."""
        return self._recorder

    @property
    def steps(self) -> Numbers:
        """The last step of each stretch."""
        return self._rows[1]

    @property
    def rows(self) -> Numbers:
        """The number of rows of each stretch, float64."""
        return self._rows[2]

    @property
    def mean(self) -> Numbers:
        """The mean of each stretch."""
        return self._rows[3] / self._rows[2]

    @property
    def low(self) -> Numbers:
        """The lowest row of each stretch."""
        return self._rows[4]

    @property
    def high(self) -> Numbers:
        """The highest row of each stretch."""
        return self._rows[5]

    def cost(self, name: str) -> Numbers:
        """Return the cost up to the end of each stretch, by a name of `COSTS`."""
        if name == FLOPS:
            return self._recorder.flops.totals(self.steps, self.cost)
        if name in self._counters:
            return self._used[self._counters.index(name)]
        return (self.steps + 1) * self._recorder.batch if name == SAMPLES else np.zeros_like(self.steps)

    @property
    def evaluations(self) -> Numbers:
        """All evaluations up to the end of each stretch: gradients, and other queries, of one sample."""
        return np.sum([self.cost(name) for name in COUNTERS], axis=0)

    @property
    def seconds(self) -> Numbers:
        """The seconds of running up to the end of each stretch."""
        stamps = read(self._recorder.record.stamps, (0, 1))[1]
        view = self._recorder.view()
        return times((stamps[0], stamps[1]), view.elapsed, view.length, self.steps) * 1e-9

    def read(self, seconds: float = math.inf) -> bool:
        """Read new rows; return True if these were all. seconds: after which the rest is left."""
        end = monotonic() + seconds
        while (count := self._read_piece()) == MAX_ENTRIES and monotonic() < end:
            pass
        return count < MAX_ENTRIES

    def _read_piece(self) -> int:
        rows, self._cursor, fresh = rows_since(self._recorder, self._cursor, self._columns, most=MAX_ENTRIES)
        if fresh:
            self._rows, self._used = _NONE, np.empty((len(self._counters), 0))
            self.version += 1
        steps, values = rows[FIRST], rows[self._columns[0]]
        known = ~np.isnan(values)
        if known.any():
            used = np.array([rows[name][known] for name in self._counters]).reshape(
                len(self._counters), np.count_nonzero(known)
            )
            self._append(steps[known].astype(np.float64), values[known], used)
            self.version += 1
        return int(steps.size)

    def _append(self, steps: Numbers, values: Numbers, used: Numbers) -> None:
        numbers = interval_of(steps)
        begins = np.flatnonzero(np.diff(numbers, prepend=-1.0))
        ends = np.append(begins[1:], steps.size) - 1
        with np.errstate(over="ignore", invalid="ignore"):  # of a run that diverges
            sums = np.add.reduceat(values, begins)
        low, high = np.minimum.reduceat(values, begins), np.maximum.reduceat(values, begins)
        new = np.stack((numbers[begins], steps[ends], ends - begins + 1.0, sums, low, high))
        old, used_before = self._rows, self._used
        if old.size and old[0, -1] == new[0, 0]:  # the last stretch was not full
            last = old[:, -1]
            new[2:4, 0] += last[2:4]
            new[4, 0], new[5, 0] = min(new[4, 0], last[4]), max(new[5, 0], last[5])
            old, used_before = old[:, :-1], used_before[:, :-1]
        self._rows = np.hstack((old, new))
        self._used = np.hstack((used_before, used[:, ends]))


def interval_of(steps: Numbers) -> Numbers:
    """Return the number of the interval of each step.

    >>> interval_of(np.array([0.0, 1023.0, 1024.0, 1025.0, 1026.0, 2048.0]))
    array([   0., 1023., 1024., 1024., 1025., 1536.])
    """
    doublings = np.maximum(np.frexp(steps / SINGLE_STEPS)[1] - 1, -1)
    inside = SINGLE_STEPS * 2.0**doublings
    later = SINGLE_STEPS + SINGLE_STEPS / 2 * doublings + np.floor((steps - inside) / 2.0 ** (doublings + 1))
    return np.where(steps < SINGLE_STEPS, steps, later)
