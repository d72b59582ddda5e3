"""`python -m tests.tiers quick`: run a tier of the tests, in processes beside each other on all cores.

python -m tests.tiers test --jobs 4
python -m tests.tiers near --since main        the tests that reach what was changed since then
python -m tests.tiers full -- -k softmax       what stands after -- goes to pytest
"""

import argparse
import os
import sys
import tempfile
import time
from pathlib import Path

from tests.tiers.near import changed, near
from tests.tiers.parcels import ROOT, TIERS, parcels
from tests.tiers.processes import Finished, run_concurrently
from tests.tiers.seconds import record
from tests.tiers.summary import Case, cases, lines


def main() -> int:
    """Run what the command line says; the exit code is 0 if no test failed."""
    parser = argparse.ArgumentParser(prog="python -m tests.tiers", description="Run a tier of the tests.")
    parser.add_argument("tier", choices=[*TIERS, "near"])
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)), help="processes beside each other")
    parser.add_argument("--since", default="HEAD", help="near: what differs from this commit")
    parser.add_argument("--only", nargs="+", default=[""], help="files and folders, relative to the repository's root")
    parser.add_argument("--record", action="store_true", help="test, full: write how long each test took")
    parser.add_argument("pytest", nargs="*", help="options of pytest, after --")
    options = parser.parse_args()
    if options.record and (options.tier not in ("test", "full") or options.only != [""]):
        parser.error("--record needs a tier that runs each function of tests, test or full, and no --only")
    chosen = near(changed(options.since)) if options.tier == "near" else None
    tier = TIERS["test" if options.tier == "near" else options.tier]
    work = parcels(tier, tuple(options.only), chosen)
    if not work:
        _report("No test reaches these files.")
        return 0
    begun = time.monotonic()
    os.environ["BURLAB_TIER"] = options.tier  # how many examples random tests try
    finished: list[Finished] = []
    found: list[Case] = []
    with tempfile.TemporaryDirectory() as folder:
        arguments = [*(["-m", tier.marks] if tier.marks else []), *options.pytest]
        for process in run_concurrently(work, options.jobs, arguments, Path(folder)):
            finished.append(process)
            found += cases(process)
            _announce(process, len(finished), len(work))
    if options.record:
        record(case for case in found if case.outcome == "passed")
    _report(*lines(found, finished, time.monotonic() - begun))
    return int(any(process.failed for process in finished))


def _announce(process: Finished, place: int, count: int) -> None:
    last = process.output.rstrip().rpartition("\n")[2]
    _report(f"[{place:3}/{count}] {process.seconds:4.0f} s {process.peak / 1e9:4.1f} GB  {process.parcel.name}: {last}")
    if process.failed:
        _report(process.output)


def _report(*lines: str) -> None:
    sys.stdout.write("".join(f"{line}\n" for line in lines))
    sys.stdout.flush()


if __name__ == "__main__":
    os.chdir(ROOT)
    sys.exit(main())
