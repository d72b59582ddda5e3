"""burlab on the interpreter of cppjit: numbers, programs of users, runs and the gate, in a fresh environment."""

import os
import subprocess
from pathlib import Path

import pytest

from tests.matrix.test_pythons import find

pytestmark = [pytest.mark.matrix, pytest.mark.timeout(1800)]
ROOT = Path(__file__).parents[2]


def test_flagship_programs_run_on_cppjit():
    python = next((found for version in ("3.13", "3.12", "3.14") if (found := find(version))), None)
    if python is None:
        pytest.skip("no Python 3.12 to 3.14, for which cppjit has wheels: put one on the PATH, or in BURLAB_PYTHONS")
    bare = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    command = ["make", "--no-print-directory", "cppjit", f"PYTHON={python}"]
    done = subprocess.run(command, cwd=ROOT, env=bare, text=True, capture_output=True, check=False)
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-5000:]
