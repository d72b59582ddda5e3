"""`python -m tests.thresholds 20000 --seed 0` runs so many random programs, and prints those that burlab gets wrong."""

import argparse
import os
import sys
import time

os.environ.setdefault("BURLAB_POISON", "1")  # before burlab is imported: what no kernel writes is nan

from tests.thresholds.checks import check
from tests.thresholds.drawing import draw


def report(text: str) -> None:
    """A line, at once."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def main() -> int:
    """The number of programs that were wrong, at most 1."""
    parser = argparse.ArgumentParser(prog="python -m tests.thresholds", description=__doc__)
    parser.add_argument("count", type=int, help="programs")
    parser.add_argument("--seed", type=int, default=0, help="number of the first one")
    parser.add_argument("--compiled", type=int, default=100, help="compile each of so many; 1: all, 0: none")
    chosen = parser.parse_args()
    start, wrong = time.monotonic(), 0
    for number in range(chosen.seed, chosen.seed + chosen.count):
        program = draw(number)
        compiled = chosen.compiled > 0 and number % chosen.compiled == 0
        try:
            found = check(program, compiled)
        except Exception as error:  # a program that burlab refuses is one that it gets wrong
            found = f"{type(error).__name__}: {str(error)[:500]}"
        if found:
            wrong += 1
            report(f"{program}\n  {found}\n")
        done = number - chosen.seed + 1
        if done % 500 == 0 or done == chosen.count:
            report(f"{done} programs, {wrong} wrong, {time.monotonic() - start:.0f} s")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
