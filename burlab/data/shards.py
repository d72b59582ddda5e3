"""Data larger than memory: a folder of `.npy` files as one array, which a `FiniteSum` reads from the disk."""

import os
import re
from pathlib import Path

from burlab.errors import ArgumentError, FileError
from burlab.runtime.checks.numbers import shown
from burlab.runtime.files import as_path
from burlab.runtime.sharded import ShardedArray, mapped_file


def shards(folder: str | os.PathLike[str], pattern: str = "*.npy") -> ShardedArray:
    """The rows of all `.npy` files of a folder as one array that stays on the disk.

    The files are mapped, as `np.load(file, mmap_mode="r")` maps one: what is used is read, and the system drops it when
    memory is needed. Write them by `np.save`, each with some rows. They are in the order of their names, where numbers
    count as numbers: 2.npy is before 10.npy. Files without rows are left out.

    Args:
        folder: Of the files.
        pattern: Which of its files, as a shell has it, such as "x_*.npy" where a folder holds targets too.

    Returns:
        An array for `bl.FiniteSum(loss, (features, targets))`: shape (n, ...), where n is the rows of all files.

    Raises:
        FileError: There is no such file, or one that `np.save` did not write.
        ShapeError, DTypeError: Files differ in the form or dtype of a row.
        LayoutError: A file is in Fortran's order.

    >>> import burlab as bl, numpy as np, pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for k in range(3):
    ...         np.save(pathlib.Path(folder) / f"x_{k}.npy", np.full((2, 4), float(k)))
    ...     X = bl.data.shards(folder)
    >>> X, X[5]
    (<ShardedArray of 3 shards: float64[6, 4]>, array([2., 2., 2., 2.]))
    """
    place = as_path(folder, "folder")
    if not isinstance(pattern, str) or not pattern or Path(pattern).name != pattern:  # pyright: ignore[reportUnnecessaryIsInstance] - users pass anything
        raise ArgumentError(f"pattern={shown(pattern)} is not a pattern of names. Pass one such as 'x_*.npy'.")
    files = sorted(place.glob(pattern), key=_natural)
    if not files:
        raise FileError(
            f"{place} has no file {pattern}. Write shards by np.save, and check the folder and the pattern."
        )
    parts = [part for file in files if (part := mapped_file(file)).ndim == 0 or len(part)]
    if not parts:
        raise FileError(f"no file {pattern} in {place} has a row. Write shards with at least one.")
    return ShardedArray(parts)


def _natural(place: Path) -> list[tuple[int, str]]:
    """A key that orders numbers in names by size."""
    return [(int(word), "") if word.isdigit() else (-1, word) for word in re.split(r"([0-9]+)", place.name)]
