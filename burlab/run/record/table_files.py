"""Columns as files that other programs read."""

import os
from collections.abc import Iterator, Mapping

from burlab.runtime.files import as_path, write_whole

from .tables import Column

_ROWS = 1 << 14  # that are text at one time


def write_csv(path: str | os.PathLike[str], columns: Mapping[str, Column]) -> None:
    """A line of names, then a line per entry; numbers as Python writes them, which is exact. Whole, or not at all.

    Raises FileError if the system refuses.
    """
    write_whole(as_path(path).resolve(), _lines(columns))


def _lines(columns: Mapping[str, Column]) -> Iterator[bytes]:
    yield (",".join(columns) + "\n").encode()
    arrays = list(columns.values())
    for first in range(0, len(arrays[0]), _ROWS):
        rows = zip(*(array[first : first + _ROWS].tolist() for array in arrays), strict=True)
        yield "".join(",".join(map(repr, row)) + "\n" for row in rows).encode()
