"""The process that fills the cache: `python -m burlab.runtime.cache`; with `--idle` it runs on idle processors only."""

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
    # The kernels of sessions are compiled by another process, which finds the functions that they call in the cache.
    command = [sys.executable, "-m", "burlab.runtime.cache.kernels"]
    return subprocess.run(command, env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
