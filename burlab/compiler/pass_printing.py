"""Views of the pipeline: values after passes, and times, for people (`BURLAB_PRINT`) and for programs.

BURLAB_PRINT=after:schedule         print what `schedule` gives, to standard error
BURLAB_PRINT=after:lower,after:place
BURLAB_PRINT=after:all              what every pass gives
BURLAB_PRINT=times                  a line for each pass with its milliseconds
"""

import os
import sys
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from typing import Any, NamedTuple

from burlab.errors import ConfigurationError

Observer = Callable[[str, str, Any, int], None]
"""Takes the name of a pass, the gear, what the pass has given, and its nanoseconds."""


class PassRecord(NamedTuple):
    """A pass that has run: its name, the gear, what it gave, and the nanoseconds that it took."""

    name: str
    gear: str
    value: object
    nanoseconds: int


_recorder: ContextVar[Observer | None] = ContextVar("recorder", default=None)


@contextmanager
def recorded_passes() -> Generator[list[PassRecord]]:
    """Record the passes of all builds of this thread inside.

    Passes over sub-graphs stand before the pass that has planned or linked them, whose time includes theirs.

    >>> import numpy as np
    >>> import burlab as bl
    >>> with recorded_passes() as records:
    ...     _ = bl.compile(np.sin, 1.0, gear="replay").executable
    >>> [record.name for record in records][:3]
    ['simplify', 'match_sparse', 'block_rows']
    """
    records: list[PassRecord] = []

    def record(name: str, gear: str, value: object, nanoseconds: int) -> None:
        records.append(PassRecord(name, gear, value, nanoseconds))

    token = _recorder.set(record)
    try:
        yield records
    finally:
        _recorder.reset(token)


def observer(names: Callable[[], Sequence[str]]) -> Observer:
    """Return the callback after each pass of a build. names: returns those of all passes.

    Raises ConfigurationError if BURLAB_PRINT cannot be read.
    """
    if recorder := _recorder.get():
        return recorder
    wish = os.environ.get("BURLAB_PRINT")
    return _printer(wish, tuple(names())) if wish else _ignore


def _ignore(name: str, gear: str, value: object, nanoseconds: int) -> None:
    """Print nothing."""


@cache
def _printer(wish: str, names: tuple[str, ...]) -> Observer:
    """Return a function that prints the output that BURLAB_PRINT selects."""
    wishes = {part.strip() for part in wish.split(",")}
    known = {"times", "after:all", *(f"after:{name}" for name in names)}
    if unknown := sorted(wishes - known):
        raise ConfigurationError(
            f"BURLAB_PRINT is {wish!r}, and {unknown[0]!r} is unknown. Use 'times', 'after:all', or after: and one of "
            f"{', '.join(names)}, several of them with commas between."
        )

    def show(name: str, gear: str, value: object, nanoseconds: int) -> None:
        if "times" in wishes:
            sys.stderr.write(f"{nanoseconds / 1e6:9.3f} ms  {name} ({gear})\n")
        if wishes & {"after:all", f"after:{name}"}:
            sys.stderr.write(f"--- after {name} ({gear}) ---\n{value}\n")

    return show
