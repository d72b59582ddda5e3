"""Progress bars: a line on standard error in a terminal; a notebook registers one of its own."""

import math
import os
import sys
import time
from collections.abc import Callable
from typing import Any, Protocol, TextIO


class ProgressBar(Protocol):
    """A progress display. `update` is called about ten times a second, `close` once, also after an interrupt."""

    def update(self, done: int, value: float) -> None:
        """done: steps since the bar was opened; value: of the last step."""
        ...

    def close(self) -> None:
        """The work has ended."""
        ...


_WIDTH = 30  # columns of a bar
MIN_BAR_COLUMNS = 5
DELAY_SECONDS = 0.5  # of work before a bar appears by default
_screens: list[Callable[[int], ProgressBar | None]] = []


def register_screen(open_bar: Callable[[int], ProgressBar | None]) -> None:
    """Let a notebook show bars: `open_bar(total)` gives one, or None without a screen. The newest comes first."""
    _screens.insert(0, open_bar)


def open_bar(total: int, wanted: bool | None, unit: str = "steps", name: str = "") -> ProgressBar | None:
    """Return a bar for `total` steps, or another unit. name: of the work, for bars that show one.

    wanted: True: always, False: never, None: in a notebook or terminal, if the work takes half a second.
    """
    if wanted is False or total == 0:
        return None

    def shown() -> ProgressBar | None:
        for screen in _screens:
            if (bar := screen(total)) is not None:
                return bar
        return TextBar(total, sys.stderr, unit=unit) if wanted or sys.stderr.isatty() else None

    return _named(shown(), name, time.perf_counter()) if wanted else LateBar(shown, name)


def _named(bar: Any, name: str, start: float) -> Any:
    """Set the name and the start of the work on a bar that has these fields."""
    for field, value in (("name", name), ("start", start)):
        if hasattr(bar, field):
            setattr(bar, field, value)
    return bar


def time_left(done: int, total: int | None, seconds: float) -> str:
    """Return the time that the rest takes at the speed so far, such as "12 s left"; "" where it cannot be told.

    seconds: since the work began.

    >>> time_left(25, 100, 4.0), time_left(1, 1801, 2.0), time_left(5, 100_000, 10.0), time_left(0, 9, 1.0)
    ('12 s left', '1 h 0 min left', '55 h 33 min left', '')
    """
    if not done or total is None or done >= total:
        return ""
    left = seconds * (total - done) / done
    if left < 60:
        return f"{math.ceil(left)} s left"
    minutes, rest = divmod(round(left), 60)
    if minutes < 10:
        return f"{minutes} min {rest} s left"
    return f"{minutes} min left" if minutes < 60 else f"{minutes // 60:,} h {minutes % 60} min left"


class LateBar:
    """A bar that opens when the work has taken half a second."""

    def __init__(self, shown: Callable[[], ProgressBar | None], name: str) -> None:
        """shown: opens it, or returns None without a screen."""
        self._shown, self._name = shown, name
        self._start = time.perf_counter()
        self._bar: ProgressBar | None = None
        self._opened = False

    def update(self, done: int, value: float) -> None:
        """Show it, once it is time."""
        if not self._opened and time.perf_counter() - self._start >= DELAY_SECONDS:
            self._opened, self._bar = True, _named(self._shown(), self._name, self._start)
        if self._bar is not None:
            self._bar.update(done, value)

    def close(self) -> None:
        """The work has ended."""
        if self._bar is not None:
            self._bar.close()


class TextBar:
    """One line that is rewritten: `[####..]  1200/2000  4,100 steps/s  1 s left  value 0.0312`; in a file one a tenth.

    total: steps to do; None if unknown: `1,200 steps  4,100 steps/s  value 0.0312`, in a file at the end only.
    In a narrow terminal the bar is shorter, or left out: a line that wraps could not be rewritten.
    """

    def __init__(self, total: int | None, stream: TextIO, unit: str = "steps") -> None:
        self._total = total
        self._stream = stream
        self._unit = unit
        self.start = time.perf_counter()
        self._live = stream.isatty()
        self._line = ""
        self._longest = 0  # line so far: a shorter one must cover it
        self._tenths = 0  # written so far, where the stream is no terminal

    def update(self, done: int, value: float) -> None:
        """Write the line."""
        seconds = time.perf_counter() - self.start
        rate = done / max(seconds, 1e-9)
        left = f"  {text}" if (text := time_left(done, self._total, seconds)) else ""
        known = "" if self._total is None and math.isnan(value) else f"  value {value:.6g}"
        words = f"{self._part(done)}  {rate:,.{2 if 0 < rate < 10 else 0}f} {self._unit}/s{left}{known}"
        room = self._room()
        self._line = f"{self._drawn(done, room - len(words))}{words}"[:room]
        self._longest = max(self._longest, len(self._line))
        if self._live:
            self._stream.write(f"\r{self._line:<{min(self._longest, room)}}")
        elif self._total is not None and 10 * done // self._total > self._tenths:
            self._tenths = 10 * done // self._total
            self._stream.write(f"{self._line}\n")
        self._stream.flush()

    def close(self) -> None:
        """Leave the last state on the screen, and what comes next a line of its own."""
        if self._line and (self._live or self._total is None):
            self._stream.write("\n" if self._live else f"{self._line}\n")
            self._stream.flush()

    def _part(self, done: int) -> str:
        """Return the number of steps done, and of all if known."""
        return f"{done:,} {self._unit}" if self._total is None else f"{done}/{self._total}"

    def _drawn(self, done: int, room: int) -> str:
        """Return the bar, in at most `room` columns."""
        width = min(_WIDTH, room - len("[] "))
        if self._total is None or width < MIN_BAR_COLUMNS:
            return ""
        return f"[{'#' * (width * done // self._total):.<{width}}] "

    def _room(self) -> int:
        """Return the columns of the terminal but the last, where some begin a new line; sys.maxsize in a file."""
        try:
            columns = os.get_terminal_size(self._stream.fileno()).columns if self._live else 0
        except (OSError, ValueError):  # it has no number, or its terminal no size
            columns = 0
        return columns - 1 if columns > 1 else sys.maxsize
