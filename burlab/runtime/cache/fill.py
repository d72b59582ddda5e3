"""The library of common code: run the programs, link what Cling compiled for them, rename the file when complete.

Two at once, a full disk, or an end halfway leave what was there.
"""

import os
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

from burlab import runtime
from burlab.compiler.ir import library
from burlab.errors import BurlabError, ConfigurationError
from burlab.runtime.cache.machine_code import compiled
from burlab.runtime.cache.store import cache_file, cache_file_name, read_index, sealed, text_hash
from burlab.runtime.files import forget_parts, lock_file, write_text, write_whole

from .programs import programs

MAX_FILES = 8  # of other versions of burlab, machines, compilers


def fill(wait: bool = True) -> Path:
    """Return the path of the file for this machine, compiler and burlab, which is written if it does not exist.

    Call it in a process of its own, as it compiles everything. wait: for another process that fills the folder. Raises
    ConfigurationError if the cache is off, or the file cannot be compiled or written.
    """
    file = cache_file(write=True)
    if file is None:
        raise ConfigurationError(
            "Nothing is cached: BURLAB_CACHE is `off` or a read-only folder, or this is not Linux on x86-64."
        )
    os.umask(0o077)  # others must not write what this user runs
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with alone(file.parent, wait):
            if not read_index(file):
                _make(file)
    except OSError as error:
        raise ConfigurationError(
            f"{file.parent} cannot be written: {error}. Set BURLAB_CACHE to a folder that can, or to `off`."
        ) from error
    if not read_index(file):
        raise ConfigurationError(f"Others may write to {file.parent}, so nothing of it is run: chmod go-w it.")
    return file


@contextmanager
def alone(folder: Path, wait: bool) -> Generator[None]:
    """Lock the folder, so that one process fills it; the end of the process frees the lock. Raises OSError."""
    import fcntl  # like the cache, not on every system

    with lock_file(folder / "lock") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield


def _make(file: Path) -> None:
    """Compile, link and write the file; after a failure write a note next to it, so that sessions do not try again."""
    note = file.with_suffix(".failed")
    note.unlink(missing_ok=True)
    try:
        made = compiled(_compile_all)
    except BurlabError as error:
        if cache_file_name() == file.name:
            with suppress(OSError):
                write_text(note, f"{error}\n")
        raise
    if cache_file_name() != file.name:
        raise ConfigurationError("The headers or the compiler changed meanwhile: nothing of this is cached. Try again.")
    texts = {**runtime.declared(), **library.compiled_texts()}
    write_whole(file, sealed(made, {name: text_hash(text) for name, text in texts.items()}))
    _forget_others(file.parent)


def _compile_all() -> None:
    for program in programs():
        program()


def _forget_others(folder: Path) -> None:
    """Delete the oldest files and unfinished ones of processes that were killed; this process holds the lock."""
    old = sorted(folder.glob("*.so"), key=lambda file: file.stat().st_mtime)[:-MAX_FILES]
    gone = [file.with_suffix(kind) for file in old for kind in (".so", ".own", ".recipes")]
    for file in gone:
        file.unlink(missing_ok=True)
    forget_parts(folder)
