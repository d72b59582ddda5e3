"""The border to the file system: files that are written whole or not at all, and read only if they are files.

Whatever path users give, or other processes can reach, is opened here: a pipe or a device, which may never end, is
refused, and what is written to is never a link to something else.
"""

import errno
import os
import re
import stat
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import cache
from io import BufferedRandom, BufferedReader, TextIOWrapper
from pathlib import Path
from typing import Any, cast

from burlab.errors import ArgumentError, FileError
from burlab.runtime.checks.numbers import shown

_PIECE = 4 << 20  # bytes
_PART = re.compile(r"\..+\.[0-9a-f]{8}\.part")
_NOW = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)  # not on every system
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)
_MAX_PREFIX_BYTES = 200  # of a name
_FRESH = 60  # seconds in which another process may have made a part, and not locked it yet
_KINDS = {stat.S_IFIFO: "a pipe", stat.S_IFSOCK: "a socket", stat.S_IFDIR: "a folder"}


def as_path(path: object, name: str = "path") -> Path:
    """A path given by users, by the name of the argument. Raises ArgumentError where it cannot be one."""
    text = os.fspath(cast("os.PathLike[Any]", path)) if isinstance(path, (str, os.PathLike)) else None
    if not isinstance(text, str):
        raise ArgumentError(f"{name}={shown(path)} is not a path. Pass a str or a pathlib.Path such as 'run.burlab'.")
    if "\0" in text:
        raise ArgumentError(f"{name}={shown(path)} holds a null character, which no file's name can. Leave it out.")
    try:
        os.fsencode(text)
    except UnicodeEncodeError:
        raise ArgumentError(f"{name}={text!a} holds a character that no file's name can. Leave it out.") from None
    return Path(text)


def make_folder(folder: Path) -> None:
    """Make a folder and those around it, unless it is there. Raises FileError."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(f"the folder {folder} cannot be made: {error.strerror}. Give another one.") from error


def opened(place: Path) -> BufferedReader:
    """A file for reading. Raises OSError, also where it is a pipe, a device or a folder."""
    return os.fdopen(_regular(place, os.O_RDONLY), "rb")


def read_bytes(place: Path) -> bytes:
    """All of a file. Raises OSError, also where it is a pipe, a device or a folder."""
    with opened(place) as stream:
        return stream.read()


def read_text(place: Path) -> str:
    """All of a file of UTF-8, its lines ended by newlines. Raises OSError and UnicodeDecodeError."""
    with TextIOWrapper(opened(place), "utf-8") as stream:
        return stream.read()


def lock_file(place: Path) -> BufferedRandom:
    """A file to hold a lock on, made if it is not there, for reading and writing. Raises OSError.

    A link is refused, since what it points to would be written to.
    """
    descriptor = _regular(place, os.O_RDWR | os.O_CREAT | _NO_LINK)
    if os.fstat(descriptor).st_nlink > 1:
        os.close(descriptor)
        raise OSError(errno.EMLINK, "it is a link to another file", str(place))
    return os.fdopen(descriptor, "r+b")


def _regular(place: Path, flags: int) -> int:
    """The descriptor of a file; a pipe without a writer must not be waited for."""
    try:
        descriptor = os.open(place, flags | _NOW, 0o666)
    except OSError as error:
        if error.errno == errno.ELOOP and flags & _NO_LINK:
            raise OSError(errno.ELOOP, "it is a link to another file", str(place)) from None
        raise
    mode = os.fstat(descriptor).st_mode
    if not stat.S_ISREG(mode):
        os.close(descriptor)
        kind = _KINDS.get(stat.S_IFMT(mode), "a device")
        raise OSError(errno.EINVAL, f"it is {kind} and not a file", str(place))
    return descriptor


def pieces(raw: memoryview) -> Iterator[memoryview]:
    """A few milliseconds of work at a time, so that signals are handled in between."""
    return (raw[k : k + _PIECE] for k in range(0, len(raw), _PIECE))


def write_text(target: Path, text: str) -> None:
    """Write a text, whole or not at all. Raises FileError."""
    write_whole(target, [text.encode()])


def write_whole(target: Path, parts: Iterable[bytes | memoryview]) -> None:
    """Write to a new file beside the target, and only then give it the target's name. Raises FileError.

    What a process left that was killed in between goes when its folder is written to again.
    """
    try:
        folder = target.is_dir()
    except OSError as error:
        raise FileError(f"{target!s:.80} cannot be written: {error.strerror}. Give another path.") from error
    if folder:
        raise FileError(f"{target} is a folder. Give the path of a file, such as {target / 'run.burlab'}.")
    _forget_once(target.parent)
    beside = target.with_name(f".{_beginning(target.name)}.{os.urandom(4).hex()}.part")
    try:
        with beside.open("xb") as stream:
            _locked(stream.fileno())  # so others see that it is being written
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


def _beginning(name: str) -> str:
    """Return the first bytes of a name, so few that a suffix fits."""
    return os.fsdecode(os.fsencode(name)[:_MAX_PREFIX_BYTES])


def forget_parts(folder: Path, age: float = _FRESH) -> None:
    """Remove what processes left of files when they were killed. age: seconds since it was written to, at least."""
    with suppress(OSError):
        for entry in os.scandir(folder):
            if _PART.fullmatch(entry.name) and time.time() - entry.stat(follow_symlinks=False).st_mtime >= age:
                with suppress(OSError):
                    _forget(Path(entry.path))


@cache
def _forget_once(folder: Path) -> None:
    """Once in a process, whose own parts go when their writing fails."""
    forget_parts(folder)


def _forget(part: Path) -> None:
    descriptor = _regular(part, os.O_RDWR | _NO_LINK)
    try:
        if _locked(descriptor):
            part.unlink()
    finally:
        os.close(descriptor)


def _locked(descriptor: int) -> bool:
    """Lock a file until it is closed, unless another process has."""
    try:
        import fcntl  # not on every system

        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (ImportError, OSError):
        return False
    return True


def _settle(folder: Path) -> None:
    """Have the new name survive a loss of power, where the file system knows how."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
