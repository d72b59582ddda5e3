"""Memory that is mapped from a file without a name, which is gone with the last use of the memory."""

import errno
import mmap
import os
import tempfile
from pathlib import Path
from typing import Any, cast

import numpy as np

from burlab.errors import ArgumentError, FileError
from burlab.runtime.checks.numbers import shown

from .memory import spoken


def check_folder(folder: object) -> str | None:
    """Return a folder to spill to, or None. Raises ArgumentError unless it exists and files can be made in it."""
    if folder is None:
        return None
    if not isinstance(folder, (str, os.PathLike)):
        raise ArgumentError(f"spill must be a folder, or None, got {shown(folder)}.")
    path = Path(cast("str | os.PathLike[str]", folder))
    if not path.is_dir() or not os.access(path, os.W_OK):
        raise ArgumentError(
            f"spill={str(path)!r} is not a folder that can be written to. Create it, or pass another one."
        )
    return str(path)


def mapped(nbytes: int, folder: str) -> "np.ndarray[Any, np.dtype[np.uint8]]":
    """Bytes that a file in the folder holds. Raises FileError where the disk has no room for them."""
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            _reserve(file.fileno(), max(nbytes, 1))
            return np.frombuffer(mmap.mmap(file.fileno(), max(nbytes, 1)), np.uint8)[:nbytes]
    except OSError as error:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
        why = "has no room for it" if full else f"cannot hold it ({error.strerror})"
        raise FileError(
            f"the workspace of this kernel takes {spoken(nbytes)}, and the folder {folder!r} {why}. Free some space, "
            "pass spill= another folder, or compile without spill."
        ) from None


def _reserve(file: int, nbytes: int) -> None:
    """Give a file its blocks now: a disk that is full later would end the process."""
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(file, 0, nbytes)
    else:
        os.truncate(file, nbytes)
