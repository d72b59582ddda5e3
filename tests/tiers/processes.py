"""Processes of pytest beside each other, and what each of them said."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path

from tests.tiers.parcels import ROOT, Parcel

_NO_TESTS = 5  # pytest's exit code where the marks leave nothing of the files


@dataclass(frozen=True)
class Finished:
    """A process that has ended.

    seconds: wall time. peak: most bytes of its memory, or of the largest process that it started. report: what pytest
    wrote as JUnit's XML, which is missing after a crash.
    """

    parcel: Parcel
    code: int
    seconds: float
    peak: int
    output: str
    report: Path

    @property
    def failed(self) -> bool:
        """Return True if a test failed, or the process itself."""
        return self.code not in (0, _NO_TESTS)


def run_concurrently(work: list[Parcel], jobs: int, arguments: list[str], folder: Path) -> Iterator[Finished]:
    """Run parcels, so many beside each other, and give each when it has ended; their files go into `folder`."""
    with ThreadPoolExecutor(jobs) as pool:
        started = [pool.submit(_run, parcel, arguments, folder / str(i)) for i, parcel in enumerate(work)]
        try:
            for future in as_completed(started):
                yield future.result()
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def _run(parcel: Parcel, arguments: list[str], stem: Path) -> Finished:
    report, said = stem.with_suffix(".xml"), stem.with_suffix(".txt")
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "--no-header",
        "-o",
        "junit_family=xunit1",
        f"--junit-xml={report}",
    ]
    begun = time.monotonic()
    with said.open("w") as output:
        process = subprocess.Popen(
            [*command, *parcel.options, *arguments, *parcel.files], cwd=ROOT, stdout=output, stderr=subprocess.STDOUT
        )
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    seconds = time.monotonic() - begun
    text = said.read_text(errors="replace")
    return Finished(parcel, process.returncode, seconds, usage.ru_maxrss * 1024, text, report)
