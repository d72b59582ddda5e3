"""The threads of this process, by their ids: how many there are tells nothing, as others may end at any time."""

import time
from pathlib import Path


def threads() -> set[str]:
    """The ids of all threads, those of C++ too."""
    return {path.name for path in Path("/proc/self/task").iterdir()}


def end_soon(some: set[str], seconds: float = 120.0) -> bool:
    """Return True if these threads end within some time."""
    end = time.monotonic() + seconds
    while some & threads() and time.monotonic() < end:
        time.sleep(0.01)
    return not some & threads()
