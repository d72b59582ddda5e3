"""Filling the shelf: run the programs, link what Cling compiled for them, name the file when it is whole.

Two at once, a full disk, or an end halfway leave what was there.
"""

import os
import tempfile
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

from burlab import runtime
from burlab.compiler.ir import library
from burlab.errors import BurlabError, ConfigurationError
from burlab.runtime.cache import machine_code
from burlab.runtime.cache.store import read_index, sealed, shelf_file, shelf_name, text_hash
from burlab.runtime.files import forget_parts, lock_file, write_text, write_whole

from .programs import programs

_KEPT = 8  # files: of other versions of burlab, machines, compilers


def fill(wait: bool = True) -> Path:
    """Make the file of this machine, compiler and burlab, where it is not there yet, and give its place.

    For a process of its own: it compiles everything anew. wait: for another that does it already. Raises
    ConfigurationError where none is kept, can be made or be written.
    """
    file = shelf_file(write=True)
    if file is None:
        raise ConfigurationError(
            "Nothing is kept: BURLAB_CACHE says `off` or a folder that is only read, or this is not Linux on x86-64."
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
    """While no other process fills this folder, or an OSError; the lock is gone when its process is."""
    import fcntl  # not on every system, as little as the shelf

    with lock_file(folder / "lock") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield


def _make(file: Path) -> None:
    """Compile, link and write the file; where that cannot be, a note beside it, so that sessions do not try."""
    note = file.with_suffix(".failed")
    note.unlink(missing_ok=True)
    try:
        objects, names = _compile_all()
        with tempfile.TemporaryDirectory() as folder:
            made = machine_code.link(objects, Path(folder)).read_bytes()
    except BurlabError as error:
        if shelf_name() == file.name:
            with suppress(OSError):
                write_text(note, f"{error}\n")
        raise
    if shelf_name() != file.name:
        raise ConfigurationError("The headers or the compiler changed meanwhile: nothing is kept of this. Try again.")
    write_whole(file, sealed(made, names))
    _forget_others(file.parent)


def _compile_all() -> tuple[list[bytes], dict[str, str]]:
    """Run the programs; the object files, and what was compiled for them, with the hash of its text."""
    os.environ.update(CLING_DEBUG="1", BURLAB_CACHE="off")
    runtime.interpreter()
    own = len(machine_code.object_files())  # with which Cling starts
    for program in programs():
        program()
    texts = {**runtime.declared(), **library.made()}
    return machine_code.object_files()[own:], {name: text_hash(text) for name, text in texts.items()}


def _forget_others(folder: Path) -> None:
    """The oldest files, and what a process left that was ended halfway: this one works here alone."""
    old = sorted(folder.glob("*.so"), key=lambda file: file.stat().st_mtime)[:-_KEPT]
    gone = [file.with_suffix(kind) for file in old for kind in (".so", ".own", ".recipes")]
    for file in gone:
        file.unlink(missing_ok=True)
    forget_parts(folder)
