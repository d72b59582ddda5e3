"""The tiers leave out no file, tell of a crash, and find the tests that a change touches."""

from pathlib import Path

import pytest

from tests.tiers import seconds
from tests.tiers.near import near
from tests.tiers.parcels import ROOT, TESTS, TIERS, Parcel, files_of_tests, modules_with_examples, parcels, tutorials
from tests.tiers.processes import Finished, run_concurrently
from tests.tiers.summary import Case, cases, lines


def run(folder: Path, text: str, *arguments: str) -> Finished:
    """One process of pytest over a file with this text."""
    file = folder / "test_it.py"
    file.write_text(text)
    (finished,) = run_concurrently([Parcel((str(file),), TESTS)], 1, ["-p", "no:cacheprovider", *arguments], folder)
    return finished


@pytest.mark.parametrize("name", TIERS)
def test_each_file_is_in_one_parcel(name: str):
    tier = TIERS[name]
    dealt = [file for parcel in parcels(tier) for file in parcel.files]
    examples = modules_with_examples() if tier.doctests else []
    tests = [file for file in files_of_tests() if not file.startswith(tier.without)]
    assert sorted(dealt) == sorted(tests + examples + tutorials(tier))
    assert max(len(parcel.files) for parcel in parcels(tier)) <= 3 * tier.files


def test_full_is_all_there_is():
    assert (TIERS["full"].marks, TIERS["full"].seconds, TIERS["full"].without) == ("", None, ())
    assert (TIERS["test"].least, TIERS["test"].without) == (1, ())
    assert len(tutorials(TIERS["full"])) == len(list((ROOT / "notebooks").glob("*.ipynb"))) + 1
    assert len(tutorials(TIERS["test"])) == 4
    assert "docs/from_scratch.ipynb" in tutorials(TIERS["test"])


def test_a_part_of_a_tier():
    parts = parcels(TIERS["full"], ("tests/project/test_sanitizers.py",))
    assert [parcel.files for parcel in parts] == [("tests/project/test_sanitizers.py",)]


def test_passed_failed_and_skipped_tests_are_counted(tmp_path: Path):
    text = """
import pytest
def test_right(): pass
def test_wrong(): assert False
@pytest.fixture
def broken(): raise ValueError
def test_error(broken): pass
def test_absent(): pytest.skip("no such peer")
"""
    finished = run(tmp_path, text)
    assert finished.failed
    said = lines(cases(finished), [finished], 1.0)
    assert said[-1] == "1 passed, 2 failed, 1 skipped"
    assert "skipped 1: no such peer" in said
    assert any(line.startswith("FAILED") and line.endswith("test_wrong") for line in said)


def test_a_process_that_crashes_counts_as_failed(tmp_path: Path):
    finished = run(tmp_path, "import os\ndef test_it(): os.abort()")
    assert finished.failed
    (case,) = cases(finished)
    assert case.outcome == "failed"
    assert "test_it.py" in case.name
    assert lines([case], [finished], 1.0)[-1] == "0 passed, 1 failed, 0 skipped"


def test_marks_that_leave_nothing_are_no_failure(tmp_path: Path):
    finished = run(tmp_path, "def test_it(): pass", "-k", "zebra")  # a word that no path holds
    assert (finished.failed, cases(finished)) == (False, [])


TEN = [f"tests/test_it.py::test_long[{i}]" for i in range(10)]
ONE = ["tests/test_it.py::test_longer"]


@pytest.mark.parametrize(
    ("tier", "of_ten", "of_one"), [("quick", 0, 0), ("test", 2, 1), ("full", 10, 1), ("near", 10, 1)]
)
def test_as_many_cases_run_as_the_tier_has_time_for(
    tier: str, of_ten: int, of_one: int, monkeypatch: pytest.MonkeyPatch
):
    known = {"tests/test_it/test_long": 0.16, "tests/test_it/test_longer": 100.0}
    monkeypatch.setattr(seconds, "measured", lambda: known)
    monkeypatch.setenv("BURLAB_TIER", tier)
    new = ["tests/test_it.py::test_not_yet_measured[a]"]
    kept = seconds.chosen([*TEN, *ONE, *new])
    assert (len(kept & {*TEN}), len(kept & {*ONE}), kept >= {*new}) == (of_ten, of_one, True)
    assert kept == seconds.chosen([*new, *ONE, *reversed(TEN)])


def test_measured_seconds_are_written_and_read(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setattr(seconds, "FILE", tmp_path / "seconds.txt")
    each = {
        "tests/a::test_twice[1]": 0.5,
        "tests/a::test_twice[2]": 1.5,
        "tests/a::test_fast": 0.01,
        "tests/b::TestIt::test_in_a_class": 4.0,
        "notebooks/01/ipynb::Cell 3": 9.0,
    }
    seconds.record([Case(name, time, "passed", "") for name, time in each.items()])
    assert seconds.measured.__wrapped__() == {"tests/a/test_twice": 1.0, "tests/b/TestIt/test_in_a_class": 4.0}


def test_the_tests_near_a_change_are_those_that_import_it():
    assert "tests/optim/test_optimizers.py" in near({"burlab/optim/adam.py"})
    assert "tests/graph/test_ops.py" not in near({"burlab/optim/adam.py"})
    assert {"tests/graph/test_ops.py", "burlab/optim/adam.py"} <= near({"burlab/graph/node.py"})
    assert "tests/charts/test_png.py" not in near({"burlab/graph/node.py"})
    assert "tests/graph/test_ops.py" in near({"tests/op_cases.py"})  # a helper of tests
    assert "tests/browser/test_race.py" in near({"tests/browser/conftest.py"})
    assert "tests/project/test_headers.py" in near({"cpp/burlab/tape/tape.hpp"}) & near({"tests/cpp/tape.cpp"})
    assert near({"notebooks/01_gradients.ipynb"}) >= {"notebooks/01_gradients.ipynb", "tests/project/test_notebooks.py"}
    assert "docs/from_scratch.ipynb" in near({"docs/from_scratch.ipynb"})
    assert near({"README.md"}) == {file for file in files_of_tests() if file.startswith("tests/project/")}
    assert near(set()) == set()
