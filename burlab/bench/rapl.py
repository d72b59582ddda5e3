"""Energy by RAPL, the counters that Linux shows in /sys/class/powercap."""

from collections.abc import Mapping
from pathlib import Path

from .problem import Answer, Array, Task, Unavailable

FOLDER = Path("/sys/class/powercap")


def meters(folder: Path = FOLDER) -> list[tuple[Path, int]]:
    """The counters of whole processors, each with where it wraps, in microjoules. Unavailable where there are none."""
    packages = sorted(path for path in folder.glob("*-rapl:*") if path.name.count(":") == 1)
    if not packages:
        raise Unavailable(f"no energy is measured here: {folder} has no counters (a virtual machine, or no RAPL)")
    try:
        return [(path / "energy_uj", _number(path / "max_energy_range_uj")) for path in packages if _reads(path)]
    except OSError as error:
        raise Unavailable(f"no energy is measured here: {error}. Allow reading it, or run as root.") from None


def _reads(package: Path) -> bool:
    _number(package / "energy_uj")
    return True


def _number(file: Path) -> int:
    return int(file.read_text())


class Metered:
    """A task whose repetitions are weighed: the fact "joules" is of one of them, in the longest measurement."""

    def __init__(self, task: Task, folder: Path = FOLDER) -> None:
        self._task, self._meters = task, meters(folder)
        self._joules, self._longest = 0.0, 0.0

    def answer(self, point: int, dtype: str) -> Answer:
        """See Task."""
        return self._task.answer(point, dtype)

    def displacements(self) -> Mapping[str, Array] | None:
        """See Task."""
        return self._task.displacements()

    def repeat(self, count: int) -> float:
        """See Task."""
        before = [_number(file) for file, _ in self._meters]
        seconds = self._task.repeat(count)
        after = [_number(file) for file, _ in self._meters]
        used = sum((b - a) % wrap for (_, wrap), a, b in zip(self._meters, before, after, strict=True))
        if seconds >= self._longest:
            self._longest, self._joules = seconds, used / 1e6 / count
        return seconds

    def facts(self) -> Mapping[str, float]:
        """See Task."""
        return {**self._task.facts(), "joules": self._joules}
