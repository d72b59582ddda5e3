"""Everything public, called with what no argument can be: each call ends in its time and with a word of ours."""

import subprocess
import sys

import pytest


def wrong_calls(share: float, seed: int) -> str:
    """Return the faults of a share of the calls, in a process of its own, which has to end by itself."""
    command = [sys.executable, "-m", "tests.misuse_calls", str(share), str(seed)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=590)
    rows = done.stdout.splitlines()
    assert rows, done.stderr[-2000:]
    assert "calls" in rows[-1], (done.returncode, rows[-1], done.stderr[-2000:])
    return "\n".join(rows[:-1])


def test_drawn_wrong_calls_raise_helpful_errors():
    assert wrong_calls(0.02, 1) == ""


@pytest.mark.full
@pytest.mark.parametrize("seed", range(4))
def test_many_wrong_calls_raise_helpful_errors(seed: int):
    assert wrong_calls(0.25, 10 + seed) == ""
