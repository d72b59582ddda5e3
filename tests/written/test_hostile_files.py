"""Files with any one value changed: an error of ours at the door, or something that works. Nothing in them ever runs.

Each batch is a process of its own, since what it looks for includes crashes. `BURLAB_EXPLORE=1 pytest ...` tries 60
times as many, for half an hour. What went wrong comes again by its seed: `python -m tests.written.hostile graphs 17 1`.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

FEW_FILES = {"graphs": 500, "runs": 120}
TIMES = 60 if "BURLAB_EXPLORE" in os.environ else 1


@pytest.mark.parametrize("kind", FEW_FILES)
def test_a_changed_file_is_refused_or_works(kind: str, root: Path) -> None:
    for k in range(TIMES):
        seed = 1000 * k
        command = [sys.executable, "-m", "tests.written.hostile", kind, str(seed), str(FEW_FILES[kind])]
        ran = subprocess.run(command, cwd=root, check=False, capture_output=True, text=True, timeout=1200)
        assert ran.returncode == 0, f"seeds from {seed}: exit {ran.returncode}\n{ran.stdout}\n{ran.stderr[-2000:]}"
