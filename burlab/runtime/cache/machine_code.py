"""The machine code that Cling made in this process, as a shared library.

Where the environment variable CLING_DEBUG is set, Cling reports each object file that it makes in memory to debuggers,
through the list that GDB reads (`__jit_debug_descriptor`); the linker makes one library of them. So the
cache holds the code of Cling itself, with its bits, and not that of another compiler.
"""

import ctypes
import os
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from burlab.errors import ConfigurationError
from burlab.runtime.host import host_compiler
from burlab.runtime.interpreter import interpreter

# Our functions are exported; copies of the standard library's stay local.
_EXPORTS = "{ global: burlab*; _Z*6burlab*; local: *; };\n"


class _Entry(ctypes.Structure):
    pass


_Entry._fields_ = (  # pyright: ignore[reportPrivateUsage] - how ctypes ties a struct that points to itself
    ("next_entry", ctypes.POINTER(_Entry)),
    ("prev_entry", ctypes.c_void_p),
    ("symfile_addr", ctypes.c_void_p),
    ("symfile_size", ctypes.c_uint64),
)


class _Descriptor(ctypes.Structure):
    _fields_ = (
        ("version", ctypes.c_uint32),
        ("action_flag", ctypes.c_uint32),
        ("relevant_entry", ctypes.c_void_p),
        ("first_entry", ctypes.POINTER(_Entry)),
    )


def object_files() -> list[bytes]:
    """Return all object files that Cling has made, oldest first. Raises ConfigurationError if they cannot be read."""
    entry: Any = _Descriptor.from_address(_descriptor()).first_entry
    found: list[bytes] = []
    while entry:
        found.append(ctypes.string_at(entry.contents.symfile_addr, entry.contents.symfile_size))
        entry = entry.contents.next_entry
    return found[::-1]


def compiled(work: Callable[[], None]) -> bytes:
    """Return a shared library of what Cling compiles during work(), in a process that uses and fills no cache."""
    os.environ.update(CLING_DEBUG="1", BURLAB_CACHE="off")
    interpreter()
    before = len(object_files())  # with which Cling starts
    work()
    with tempfile.TemporaryDirectory() as folder:
        return link(object_files()[before:], Path(folder)).read_bytes()


def link(objects: list[bytes], folder: Path) -> Path:
    """One shared library of the objects, in a folder for temporary files, after loading it once to see that it loads.

    Raises ConfigurationError with the linker's message.
    """
    library, exports = folder / "cache.so", folder / "exports"
    exports.write_text(_EXPORTS)
    files = [folder / f"{k}.o" for k in range(len(objects))]
    for file, content in zip(files, objects, strict=True):
        file.write_bytes(content)
    # notext: Cling's code holds addresses, which the loader fills in. -S: without what debuggers read.
    options = f"-Wl,-z,notext,-z,now,-S,--version-script={exports}"
    compiler = host_compiler()
    _output(*(compiler.command if compiler else ("c++",)), "-shared", "-o", str(library), *map(str, files), options)
    try:
        ctypes.CDLL(str(library))
    except OSError as error:
        raise ConfigurationError(f"What Cling compiled cannot be linked: {error}. burlab works without it.") from error
    return library


def _descriptor() -> int:
    """The address of the list that debuggers read."""
    lines = [line.split(maxsplit=5) for line in Path("/proc/self/maps").read_text().splitlines()]
    place = next((words for words in lines if words[-1].endswith("/libCling.so")), None)
    if place:
        for line in _output("nm", place[-1]).splitlines():
            offset, _, name = line.rpartition(" ")
            if name == "__jit_debug_descriptor":
                return int(place[0].partition("-")[0], 16) + int(offset.split()[0], 16)
    raise ConfigurationError("This build of Cling does not report its object files. burlab works, and starts slower.")


def _output(*command: str) -> str:
    try:
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout
    except (OSError, subprocess.CalledProcessError) as error:
        message = error.stderr if isinstance(error, subprocess.CalledProcessError) else error
        raise ConfigurationError(
            f"{command[0]} fails: {message} burlab works without it, and starts slower."
        ) from error
