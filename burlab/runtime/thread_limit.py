"""The number of threads that this process may use, as the C++ threads that work are told (`cpp/burlab/crew.hpp`)."""

import ctypes
import os
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Literal

from burlab.errors import ArgumentError, ConfigurationError

from .checks.numbers import shown
from .exports import exports

MAX_THREADS = 64
"""Threads that are ever used."""
Threads = int | Literal["auto"]

_TOPOLOGY = Path("/sys/devices/system/cpu")
_GROUPS = Path("/sys/fs/cgroup")
_chosen: int | None = None  # by `set_threads`


def set_threads(threads: Threads) -> None:
    """Set how many threads kernels and runs of this process use at most, all together.

    Args:
        threads: 1 to 64, or "auto": as many as this process may use physical cores (affinity and the quotas of control
            groups count), or as the environment variable BURLAB_THREADS says. It changes no bit of any result.

    Raises:
        ArgumentError: For another number.

    >>> import burlab as bl
    >>> bl.set_threads(1)
    >>> bl.set_threads("auto")
    """
    global _chosen  # noqa: PLW0603 - one number for the process, as the threads are
    number = known_threads(threads)
    _chosen = None if isinstance(threads, str) else number
    if _crew.cache_info().currsize:
        _crew()(most_threads())


def known_threads(threads: object, name: str = "threads") -> int:
    """Return the number of threads of an argument, MAX_THREADS for "auto". Raises ArgumentError for anything else.

    >>> known_threads(3), known_threads("auto")
    (3, 64)
    """
    if isinstance(threads, str) and threads == "auto":
        return MAX_THREADS
    if isinstance(threads, bool) or not isinstance(threads, int) or threads < 1:
        raise ArgumentError(f'{name} must be a positive integer or "auto", got {shown(threads)}.')
    return min(threads, MAX_THREADS)


def most_threads() -> int:
    """Return how many threads this process uses at most. Raises ConfigurationError for a bad BURLAB_THREADS."""
    if _chosen is not None:
        return _chosen
    text = os.environ.get("BURLAB_THREADS", "")
    if not text or text == "auto":
        return min(usable_cores(), MAX_THREADS)
    if not text.isdigit() or int(text) < 1:
        raise ConfigurationError(f"BURLAB_THREADS is {text!r}. Set it to a positive integer or auto, or unset it.")
    return min(int(text), MAX_THREADS)


def hire() -> None:
    """Tell C++ how many threads it may use. Before something runs that may use several."""
    _crew()


@cache
def usable_cores() -> int:
    """Return the number of physical cores that this process may use, at least 1."""
    cores = {_core(cpu) for cpu in _affinity()}
    return max(1, min([len(cores), *(int(quota) for quota in _quotas())]))


def _affinity() -> list[int]:
    """The logical CPUs on which the system may run this process."""
    if hasattr(os, "sched_getaffinity"):
        return sorted(os.sched_getaffinity(0))
    return list(range(os.cpu_count() or 1))


def _core(cpu: int) -> str:
    """A name of the physical core of a logical CPU, which its other threads share."""
    file = _TOPOLOGY / f"cpu{cpu}/topology/thread_siblings_list"
    try:
        return file.read_text().strip()
    except OSError:
        return str(cpu)


def _quotas() -> Iterator[float]:
    """The cores' worth of time that control groups of this process may use, of both versions of them."""
    for folder in _own_groups():
        both = _words(folder / "cpu.max")
        if len(both) == 2 and both[0].isdigit():
            yield max(1.0, int(both[0]) / int(both[1]))
        quota, period = _words(folder / "cpu.cfs_quota_us"), _words(folder / "cpu.cfs_period_us")
        if quota and period and int(quota[0]) > 0:
            yield max(1.0, int(quota[0]) / int(period[0]))


def _own_groups() -> Iterator[Path]:
    """The folders of the control groups that this process is in, up to the outermost."""
    try:
        lines = Path("/proc/self/cgroup").read_text().splitlines()
    except OSError:
        return
    for line in lines:
        _, controllers, path = line.split(":", 2)
        if controllers and "cpu" not in controllers.split(","):
            continue
        root = _GROUPS / controllers if controllers and (_GROUPS / controllers).is_dir() else _GROUPS
        own = root / path.strip("/")
        yield from (folder for folder in (own, *own.parents) if folder.is_relative_to(_GROUPS))


def _words(file: Path) -> list[str]:
    try:
        return file.read_text().split()
    except OSError:
        return []


@cache
def _crew() -> Callable[[int], None]:
    """The C++ function that takes the number, which has it already."""
    function = exports("burlab/crew.hpp", "burlab", {"allow_threads": (None, ctypes.c_int)})["allow_threads"]
    function(most_threads())
    return function
