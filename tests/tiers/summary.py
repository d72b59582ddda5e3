"""The results of many processes of pytest as one: counts, what was skipped and why, the slowest tests."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from xml.etree import ElementTree as ET

from tests.tiers.processes import Finished


@dataclass(frozen=True)
class Case:
    """A test that has run; seconds: wall time with its fixtures. outcome: passed, failed or skipped, and why."""

    name: str
    seconds: float
    outcome: str
    reason: str


def cases(process: Finished) -> list[Case]:
    """The tests of a process. A process that crashed has a failed one that bears its name."""
    found = [_case(element) for element in _elements(process)]
    if process.failed and not any(case.outcome == "failed" for case in found):
        found.append(Case(f"the process of {process.parcel.name}", process.seconds, "failed", f"code {process.code}"))
    return found


def _elements(process: Finished) -> Iterable[ET.Element]:
    try:
        return list(ET.parse(process.report).iter("testcase"))
    except (FileNotFoundError, ET.ParseError):
        return []


def _case(element: ET.Element) -> Case:
    children = {child.tag: child for child in element}
    outcome = "failed" if {"failure", "error"} & set(children) else "skipped" if "skipped" in children else "passed"
    reason = children["skipped"].get("message", "") if outcome == "skipped" else ""
    name = f"{element.get('classname', '').replace('.', '/')}::{element.get('name')}"
    return Case(name, float(element.get("time", 0)), outcome, reason)


def lines(found: list[Case], finished: list[Finished], seconds: float, slowest: int = 25) -> list[str]:
    """Return the lines printed at the end; the last one counts the passed tests."""
    counts = Counter(case.outcome for case in found)
    skipped = Counter(case.reason for case in found if case.outcome == "skipped")
    largest = max(finished, key=lambda process: process.peak)
    return [
        f"The {slowest} slowest tests, in seconds:",
        *(f"{case.seconds:8.1f}  {case.name}" for case in sorted(found, key=lambda case: -case.seconds)[:slowest]),
        *(f"skipped {count}: {reason}" for reason, count in skipped.items()),
        *(f"FAILED {case.name} {case.reason}".rstrip() for case in found if case.outcome == "failed"),
        f"Largest process: {largest.peak / 1e9:.1f} GB, {largest.parcel.name}",
        f"{len(finished)} processes, {seconds / 60:.1f} minutes",
        f"{counts['passed']} passed, {counts['failed']} failed, {counts['skipped']} skipped",
    ]
