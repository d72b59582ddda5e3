"""The process that fills the shelf: `python -m burlab.warm`; with `--idle` on what the processors have left over."""

import os
import sys

from burlab.errors import BurlabError


def main() -> int:
    """Fill it and say where it is, or why it cannot be; the exit code."""
    idle = "--idle" in sys.argv[1:]
    if idle:
        os.nice(19)
        os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
    from .fill import fill

    try:
        sys.stdout.write(f"{fill(wait=not idle)}\n")
    except BurlabError as error:
        sys.stderr.write(f"burlab: {error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
