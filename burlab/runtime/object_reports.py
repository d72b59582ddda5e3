"""The object files that Cling has made in this process: it reports them to debuggers.

Where the environment variable CLING_DEBUG is set, Cling puts each object file that it makes in memory into the list
that GDB reads (`__jit_debug_descriptor`).
"""

import ctypes
from pathlib import Path
from typing import Any

from burlab.errors import ConfigurationError

from .host import output_of


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


def _descriptor() -> int:
    """The address of the list that debuggers read."""
    lines = [line.split(maxsplit=5) for line in Path("/proc/self/maps").read_text().splitlines()]
    place = next((words for words in lines if words[-1].endswith("/libCling.so")), None)
    if place:
        for line in output_of("nm", place[-1]).splitlines():
            offset, _, name = line.rpartition(" ")
            if name == "__jit_debug_descriptor":
                return int(place[0].partition("-")[0], 16) + int(offset.split()[0], 16)
    raise ConfigurationError("This build of Cling does not report its object files. burlab works, and starts slower.")
