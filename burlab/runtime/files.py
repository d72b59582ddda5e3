"""The border to the file system: files that are written whole or not at all."""

import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, cast

from burlab.errors import ArgumentError, FileError

_PIECE = 4 << 20  # bytes


def as_path(path: Any, name: str = "path") -> Path:
    """A path given by users, by the name of the argument. Raises ArgumentError where it cannot be one."""
    text = os.fspath(cast("os.PathLike[Any]", path)) if isinstance(path, (str, os.PathLike)) else None
    if not isinstance(text, str):
        raise ArgumentError(f"{name}={path!r} is not a path. Pass a str or a pathlib.Path such as 'run.burlab'.")
    if "\0" in text:
        raise ArgumentError(f"{name}={path!r} holds a null character, which no file's name can. Leave it out.")
    return Path(text)


def make_folder(folder: Path) -> None:
    """Make a folder and those around it, unless it is there. Raises FileError."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(f"the folder {folder} cannot be made: {error.strerror}. Give another one.") from error


def pieces(raw: memoryview) -> Iterator[memoryview]:
    """A few milliseconds of work at a time, so that signals are handled in between."""
    return (raw[k : k + _PIECE] for k in range(0, len(raw), _PIECE))


def write_whole(target: Path, parts: Iterable[bytes | memoryview]) -> None:
    """Write to a new file beside the target, and only then give it the target's name. Raises FileError."""
    if target.is_dir():
        raise FileError(f"{target} is a folder. Give the path of a file, such as {target / 'run.burlab'}.")
    beside = target.with_name(f".{target.name}.{os.urandom(4).hex()}.part")
    try:
        with beside.open("xb") as stream:
            for part in parts:
                for piece in pieces(memoryview(part)):
                    stream.write(piece)
            stream.flush()
            os.fsync(stream.fileno())
        beside.replace(target)
        _settle(target.parent)
    except OSError as error:
        raise FileError(
            f"{target} cannot be written: {error.strerror}. What was there is unchanged. "
            "Check that the folder exists, may be written to, and has room."
        ) from error
    finally:
        with suppress(OSError):
            beside.unlink(missing_ok=True)  # after an interrupt, too


def _settle(folder: Path) -> None:
    """Have the new name survive a loss of power, where the file system knows how."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
