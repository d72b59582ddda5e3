"""How long the functions of tests take, and which of their cases run in a tier that has no time for all.

python -m tests.tiers test --record        measures, and writes seconds.txt anew
"""

import os
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from zlib import crc32

from tests.tiers.parcels import TIERS, Tier
from tests.tiers.summary import Case

FILE = Path(__file__).with_name("seconds.txt")
_MIN_SECONDS = 0.1  # seconds: functions below are not written down, as every tier has the time for them


@cache
def measured() -> Mapping[str, float]:
    """The mean seconds of a case, by `file/function`, of functions whose cases took longer than 0.1 s together."""
    rows = (line.split() for line in FILE.read_text().splitlines())
    return {name: float(seconds) for name, seconds in rows}


def chosen(tests: Sequence[str]) -> set[str]:
    """Of the names of some tests, those that the running tier has time for; all where no tier runs."""
    tier = TIERS.get(os.environ.get("BURLAB_TIER", ""))
    if tier is None or tier.seconds is None:
        return set(tests)
    functions = defaultdict[str, list[str]](list)
    for test in tests:
        functions[function_of(test)].append(test)
    return {test for function, cases in functions.items() for test in _within(tier, function, cases)}


def _within(tier: Tier, function: str, cases: list[str]) -> list[str]:
    """So many cases as fit, drawn by their names: every k-th would be those of one dtype, or of one gear."""
    each = measured().get(function, 0.0)
    if tier.seconds is None or each * len(cases) <= tier.seconds:
        return cases
    most = max(int(tier.seconds / each), tier.least)
    return sorted(cases, key=lambda name: crc32(name.encode()))[:most]


def function_of(test: str) -> str:
    """The function of a test: `tests/optim/test_gd/test_it` of `tests/optim/test_gd.py::test_it[a case]`."""
    return test.partition("[")[0].replace(".py::", "/").replace("::", "/")


def record(found: Iterable[Case]) -> None:
    """Write what was measured in place of what was known."""
    cases = defaultdict[str, list[float]](list)
    for case in found:
        if case.name.startswith("tests/"):  # cells of notebooks and examples run in every tier that has them
            cases[function_of(case.name)].append(case.seconds)
    rows = {name: sum(each) / len(each) for name, each in sorted(cases.items()) if sum(each) > _MIN_SECONDS}
    FILE.write_text("".join(f"{name} {each:.3g}\n" for name, each in rows.items()))
