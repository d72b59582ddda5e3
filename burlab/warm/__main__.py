"""The process that fills the shelf: `python -m burlab.warm`; with `--idle` on what the processors have left over."""

import os
import subprocess
import sys

from burlab.errors import BurlabError


def main() -> int:
    """Fill it and say where it is, or why it cannot be; the exit code."""
    idle = "--idle" in sys.argv[1:]
    if idle:
        os.nice(19)
        os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
    environment = dict(os.environ)  # which filling changes
    from .fill import fill

    try:
        sys.stdout.write(f"{fill(wait=not idle)}\n")
    except BurlabError as error:
        sys.stderr.write(f"burlab: {error}\n")
        return 1
    # The kernels of sessions, in a process that takes from the shelf what they call.
    return subprocess.run([sys.executable, "-m", "burlab.warm.kernels"], env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
