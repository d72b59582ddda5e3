"""The logged rows of a loop, as columns."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from burlab.errors import ArgumentError
from burlab.run.record.tables import Column
from burlab.runtime.checks.numbers import shown
from burlab.runtime.extras import require

OTHER_NAMES = {"loss": "value", "grad_norm": "gradient_norm", "val_loss": "validation_value"}
"""Other names of columns, and the names under which a panel finds them."""


class LoopHistory(Mapping[str, Column]):
    """The record of a loop when it was read; columns are NumPy arrays of one length, float64.

    An entry per call of `log`, NaN in the columns that the call did not name. step: int64. time: nanoseconds of running
    until the call, rests left out. memory: bytes of the process, some 20 times a second. Then what was logged, and a
    column per hyperparameter. `span` calls share two entries, minimum and maximum, once the record is long.

    >>> import burlab as bl
    >>> with bl.watch(lr=0.1) as w:
    ...     for step in range(3):
    ...         w.log(step, loss=2.0**-step)
    >>> w.history["loss"], w.history["lr"]
    (array([1.  , 0.5 , 0.25]), array([0.1, 0.1, 0.1]))
    """

    def __init__(self, columns: dict[str, Column], span: int) -> None:
        self._columns = columns | {"step": columns["step"].astype(np.int64)}
        self._span = span

    @property
    def span(self) -> int:
        """The calls that two entries stand for: 2 where each has its own."""
        return self._span

    def __getitem__(self, name: str) -> Column:
        known = name if name in self._columns else OTHER_NAMES.get(name, name)
        if known not in self._columns:
            raise KeyError(f"{shown(name)} was not logged; there are {', '.join(self)}.")
        return self._columns[known]

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)

    def __repr__(self) -> str:
        merged = "" if self._span == 2 else f", minimum and maximum of each {self._span}"
        return f"<LoopHistory of {len(self['step'])} entries{merged}: {', '.join(self)}>"

    def frame(self) -> Any:
        """All columns as a pandas DataFrame."""
        return require("pandas", "frames").DataFrame(dict(self), copy=False)


def column_name(name: str, hypers: Mapping[str, Any]) -> str:
    """The name of the column for what is logged. Raises ArgumentError where a watch has that itself."""
    if name in hypers:
        raise ArgumentError(
            f"{shown(name)} is a hyperparameter of this watch, and recorded as such. Set it by "
            f"w.hyper[{shown(name)}] = ..., or log the number under another name."
        )
    if name in ("step", "time", "memory"):
        raise ArgumentError(f"{shown(name)} is a column that every watch has. Log the number under another name.")
    return OTHER_NAMES.get(name, name)
