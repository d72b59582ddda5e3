"""Samples of the cost of a run: nanoseconds per step by part, and bytes by purpose."""

import os
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from burlab.errors import ArgumentError
from burlab.runtime.checks.numbers import shown
from burlab.runtime.extras import require

from .table_files import write_csv
from .tables import KINDS, Column, TableReader, read

MAX_SAMPLES = 2048
_FUNCTION = "function"
SAMPLED: tuple[str, ...] = ("step", "time", "data", _FUNCTION, "update", "other", "watching", "resident", *KINDS)
"""The columns that engines write: see `TraceColumn` in `cpp/burlab/run/record/traces.hpp`."""
PARTS = ("data", "forward", "backward", "fused", "update", "other")
"""The columns that a step's time consists of."""
NO_KINDS = ("step", "time", *PARTS, "watching", "resident")
"""The columns that are no kinds of bytes."""
_NAMES = (*NO_KINDS, *KINDS)


class Shares(NamedTuple):
    """Shares in the time of the function's kernels in a step; they add up to 1."""

    forward: float
    backward: float
    fused: float
    update: float


class Traces(Mapping[str, Column]):
    """Samples of what a run costs, as columns of one length, which is less than its steps.

    step: the last step of each sample, int64. time: nanoseconds of running until then.

    Nanoseconds per step, the mean of up to 32 steps in a row: data (samples drawn and copied), forward and backward
    (kernels of the function, sums over the batch), fused (loops that compute gradient and update at once), update (the
    optimizer's rule and what it asks), other (norms, validation, the record). These six add up to the whole step.
    watching: nanoseconds that the sample itself took, once; samples are so far apart, up to 1 s, that this is 0.5% of
    the time.

    Bytes: resident (of the process; nan where the system does not say), and those of `run.memory`, by kind.

    What kernels of the function do is measured by a timed twin of them, when forward, backward, fused or update is
    looked up first: it is compiled, and does some steps from the current point; its shares then hold for all samples.
    Of a minimizer of SciPy they are not known: forward and backward are nan, fused is all that the function takes, and
    update what SciPy does itself.

    >>> import numpy as np, burlab as bl
    >>> from burlab.run.record.traces import PARTS
    >>> run = bl.minimize(lambda x: np.sum(np.tanh(x)), np.ones(1000), bl.optim.Adam(), steps=100)
    >>> traces = run.traces
    >>> int(traces["parameters"][0]), bool(sum(traces[part][0] for part in PARTS) > 0)
    (16000, True)
    """

    def __init__(self, samples: TableReader, shares: Callable[[], Shares | None]) -> None:
        """samples: the columns `SAMPLED`. shares: of the function, called at most once; None if unknown."""
        columns: dict[str, Column] = dict(zip(SAMPLED, read(samples, range(len(SAMPLED)))[1], strict=True))
        columns |= {name: columns[name].astype(np.int64) for name in ("step", *KINDS)}
        self._columns = columns
        self._shares = shares

    def at(self, step: int) -> dict[str, float] | None:
        """The sample that holds at a step: the last one that is not after it; None before the first.

        >>> import numpy as np, burlab as bl
        >>> run = bl.minimize(lambda x: np.sum(x**2), np.ones(3), bl.optim.GD(0.1), steps=50)
        >>> run.traces.at(49)["parameters"]
        128.0
        """
        if isinstance(step, bool) or not isinstance(step, (int, np.integer)):  # pyright: ignore[reportUnnecessaryIsInstance] - users pass anything
            raise ArgumentError(f"step={shown(step)} is not a whole number. Pass an int such as run.t - 1.")
        row = int(np.searchsorted(self["step"], step, side="right")) - 1
        return None if row < 0 else {name: float(self[name][row]) for name in self}

    def __getitem__(self, name: str) -> Column:
        if name not in _NAMES:
            raise KeyError(f"the column must be one of {', '.join(_NAMES)}; got {shown(name)}.")
        return (self._split() if name in Shares._fields else self._columns)[name]

    def __iter__(self) -> Iterator[str]:
        return iter(_NAMES)

    def __len__(self) -> int:
        return len(_NAMES)

    def __repr__(self) -> str:
        return f"<Traces of {len(self._columns['step'])} samples: {', '.join(_NAMES)}>"

    def frame(self) -> Any:
        """All columns as a pandas DataFrame."""
        return require("pandas", "frames").DataFrame(dict(self), copy=False)

    def to_csv(self, path: str | os.PathLike[str]) -> None:
        """All columns as a file of comma-separated values, as `History.to_csv` writes them."""
        write_csv(path, self)

    def _split(self) -> dict[str, Column]:
        """The columns that follow from the shares."""
        if "forward" not in self._columns:
            shares = self._shares() or Shares(np.nan, np.nan, 1.0, 0.0)
            whole, update = self._columns[_FUNCTION], self._columns["update"]
            split = {name: share * whole for name, share in zip(Shares._fields, shares, strict=True)}
            self._columns |= split | {"update": update + split["update"]}
        return self._columns
