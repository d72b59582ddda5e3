"""Arrays of files and of small dtypes are read where they lie: no call and no run makes a copy of all of them."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

pytestmark = pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="memory is read from /proc")
ROWS, COLUMNS = 32768, 784

# Runs `use` on a few rows first, which compiles and starts what it needs, then on all; prints how much the peak of
# memory, pages of files included, rose above what the process and the data held before.
PROGRAM = """
import sys
import numpy as np, burlab as bl

def megabytes(name):
    rows = dict(line.split(":", 1) for line in open("/proc/self/status"))
    return int(rows[name].split()[0]) / 1024

W = np.zeros((784, 10), np.float32)
{use}
X = {data}
use(np.array(X[:4096]))
before = megabytes("VmRSS")
use(X)
print(max(megabytes("VmHWM") - before, 0))
"""
MAPPED = 'np.memmap(sys.argv[1], np.float32, "r", shape=(32768, 784))'
AS_DATA = """
def use(X):
    problem = bl.FiniteSum(lambda w, x: np.sum(np.tanh(x @ w)), X)
    for batch in (None, 32):
        run = bl.minimize(problem, W, bl.optim.GD(0.1), batch=batch, steps=3, progress=False)
    assert np.isfinite(run.x).all() and run.x.any()
"""
AS_ARGUMENT = """
def use(X):
    f = bl.grad(lambda w, x: np.sum(np.tanh(x @ w)))
    out = np.empty_like(W)
    for _ in range(3):
        assert f(W, X, out=out).any()
        assert bl.jit(lambda x: np.sum(np.sign(x)))(X) == X.size
"""


def used(use: str, data: str, *arguments: str) -> float:
    """Megabytes, in a process of its own."""
    command = [sys.executable, "-c", PROGRAM.format(use=use, data=data), *arguments]
    done = subprocess.run(command, text=True, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    return float(done.stdout)


@pytest.mark.parametrize("use", [AS_DATA, AS_ARGUMENT], ids=["data", "argument"])
def test_arrays_of_a_file_are_not_copied(tmp_path: Path, use: str):
    np.ones((ROWS, COLUMNS), np.float32).tofile(tmp_path / "x.bin")
    megabytes = ROWS * COLUMNS * 4 / 2**20
    assert used(use, MAPPED, str(tmp_path / "x.bin")) < 1.5 * megabytes


PIXELS = "np.ones((32768, 784), np.{})"
OF_PIXELS = """
def use(X):
    problem = bl.FiniteSum(lambda w, x: np.sum(np.tanh(x.astype(np.float32) / 255 @ w)), X)
    run = bl.minimize(problem, W, bl.optim.GD(0.1), steps=2, progress=False)
    assert np.isfinite(run.x).all() and run.x.any() and problem.grad(W).any()
"""
AS_PIXELS = """
def use(X):
    f = bl.grad(lambda w, x: np.sum(np.tanh(x / np.float32(255) @ w)))
    for _ in range(3):
        assert f(W, X).any()
"""
AS_CONSTANT = """
def use(X):
    f = bl.grad(lambda w: np.sum(np.tanh(X @ w)))
    for _ in range(3):
        assert f(W).any()
"""


@pytest.mark.parametrize(
    "dtype", ["uint8", *(pytest.param(name, marks=pytest.mark.full) for name in ("int16", "float16"))]
)
@pytest.mark.parametrize("use", [OF_PIXELS, AS_PIXELS, AS_CONSTANT], ids=["data", "argument", "constant"])
def test_small_dtypes_are_widened_in_the_loop_that_reads_them(use: str, dtype: str):
    data = ROWS * COLUMNS * np.dtype(dtype).itemsize / 2**20  # as float32 98 MB
    copies = 1 if use is AS_CONSTANT else 0
    assert used(use, PIXELS.format(dtype)) < 40 + copies * data
