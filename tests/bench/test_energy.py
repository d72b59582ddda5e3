"""Energy: counters that are there, that wrap, that are not there, that cannot be read."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from burlab.bench.problem import Answer, Array, Unavailable
from burlab.bench.rapl import Metered, meters


class Heater:
    """A task that makes the counters of a folder run: 2 joules for each repetition."""

    def __init__(self, counters: list[Path], wrap: int):
        self.counters, self.wrap = counters, wrap

    def answer(self, point: int, dtype: str) -> Answer:
        return Answer(0.0, {})

    def displacements(self) -> Mapping[str, Array] | None:
        return None

    def repeat(self, count: int) -> float:
        for file in self.counters:
            file.write_text(str((int(file.read_text()) + 1_000_000 * count) % self.wrap))
        return 0.5 * count

    def facts(self) -> Mapping[str, float]:
        return {"jit": 1.0}


def package(folder: Path, name: str, start: int, wrap: int) -> Path:
    (folder / name).mkdir(parents=True)
    (folder / name / "max_energy_range_uj").write_text(str(wrap))
    (folder / name / "energy_uj").write_text(str(start))
    return folder / name / "energy_uj"


def test_the_counters_of_all_processors_are_added_even_where_they_wrap(tmp_path: Path):
    wrap = 100_000_000
    files = [package(tmp_path, f"intel-rapl:{k}", start, wrap) for k, start in enumerate((5, wrap - 7))]
    package(tmp_path, "intel-rapl:0:0", 0, wrap)  # a part of the first processor: counted with it already
    task = Metered(Heater(files, wrap), tmp_path)
    task.repeat(1)
    task.repeat(4)
    assert task.facts() == {"jit": 1.0, "joules": 2.0}


def test_no_counters_are_a_gap_with_its_reason(tmp_path: Path):
    with pytest.raises(Unavailable, match=r"no energy is measured here: .* has no counters"):
        Metered(Heater([], 1), tmp_path)


def test_counters_that_cannot_be_read_are_a_gap_with_its_reason(tmp_path: Path):
    package(tmp_path, "intel-rapl:0", 0, 1).unlink()
    with pytest.raises(Unavailable, match=r"no energy is measured here.*energy_uj"):
        meters(tmp_path)
