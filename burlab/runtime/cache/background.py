"""The process in the background that fills the cache, once per machine, compiler and version of burlab.

`burlab warm` runs it at once. A session that had to compile code which the cache could have held starts it at its end,
on what the processors have left over: not before, so that nothing that is timed in the session is disturbed, and not
when burlab is imported, since who imports may never compute.
"""

import atexit
import os
import sys
from functools import cache
from pathlib import Path

from .recipes import Recipe, leave, note, wanted
from .store import cache_file, cache_folder, code_cache, read_index

COMMAND = ("-m", "burlab.runtime.cache")
_KINDS = ("*.so", "*.own", "*.recipes", "*.wanted", "*.failed", ".*.part", "lock")  # what the folder may hold


@cache
def missed() -> None:
    """Fill the cache at the end of this process if it is empty; called before code is compiled."""
    if not code_cache().names:
        _fill_later()


def remember(recipe: Recipe) -> None:
    """Cache a kernel, which had to be compiled, at the end of this process."""
    note(recipe)
    _fill_later()


@cache
def _fill_later() -> None:
    if cache_file(write=True):
        atexit.register(_at_end, os.getpid())


def start() -> None:
    """Fill the cache in another process if something is missing and the last attempt did not fail."""
    file = cache_file(write=True)
    known = Path(sys.executable or "").name.startswith("python")  # a program that embeds Python is no Python
    if file is None or file.with_suffix(".failed").exists() or not known or (read_index(file) and not wanted(file)):
        return
    import subprocess

    try:
        process = subprocess.Popen(
            [sys.executable, *COMMAND, "--idle"],
            env=environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError:
        return
    process.returncode = 0  # never waited for: no ResourceWarning


def clear() -> str:
    """Delete the files of the cache, and return a sentence on what was deleted."""
    folder = cache_folder(write=True)
    if folder is None:
        return "Nothing is deleted: BURLAB_CACHE is `off` or names a read-only folder."
    files = [file for kind in _KINDS for file in folder.glob(kind)]
    freed = sum(file.stat().st_size for file in files)
    for file in files:
        file.unlink(missing_ok=True)
    return f"{folder}: {len(files)} files deleted, {freed / 2**20:.1f} MB."


def environment() -> dict[str, str]:
    """Return the environment of a process that imports this very burlab."""
    root = str(Path(__file__).resolve().parents[3])
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, [root, os.environ.get("PYTHONPATH")]))}


def _at_end(owner: int) -> None:
    if os.getpid() == owner:  # and not a fork of the session
        leave()
        start()
