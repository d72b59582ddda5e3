"""OpenBLAS's threads stand still while burlab computes, and are the user's before and after."""

import ctypes
import os
import subprocess
import sys

import numpy as np
import pytest

import burlab as bl
from burlab.runtime.blas_threads import MODULES, OneBlasThread, setter

SETTERS = {
    module.partition(".")[0]: ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int)(place)
    for module in MODULES
    if (place := setter(module))
}
# Ticks of OpenBLAS's own threads: while SciPy minimizes with burlab's threads, and while the user multiplies.
TICKS = """
import os, time
from pathlib import Path

import numpy as np
import scipy.linalg

theirs = [path for path in Path("/proc/self/task").iterdir() if path.name != str(os.getpid())]
assert theirs, "OpenBLAS has threads"

def ticks():
    fields = [(path / "stat").read_text().rpartition(")")[2].split() for path in theirs]
    return sum(int(words[11]) + int(words[12]) for words in fields)

def quiet():
    before = -1
    while before != (before := ticks()):
        time.sleep(0.3)
    return before

import burlab as bl

rng = np.random.default_rng(0)
rows, x = rng.normal(size=(5000, 200)), np.zeros(200)
problem = bl.FiniteSum(lambda x, a: np.log1p(np.exp(a @ x)) + 0.01 * x @ x, rows, threads=2)
run = bl.minimize(problem, x, bl.optim.SciPy("METHOD"))
before = quiet()
run.step(8)
during = ticks() - before
before = quiet()
large = rng.normal(size=(300, 300))
scipy.linalg.lu_factor(large @ large)
time.sleep(0.1)
print(during, quiet() - before > 0, run.t > 3)
"""


@pytest.mark.skipif(len(SETTERS) < 2, reason="NumPy or SciPy has another BLAS")
@pytest.mark.skipif((os.cpu_count() or 1) < 2, reason="with one core OpenBLAS has no threads")
@pytest.mark.parametrize("method", ["BFGS", "SLSQP"])
def test_openblas_stands_still_while_scipy_minimizes(method: str) -> None:
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "2"}
    done = subprocess.run(
        [sys.executable, "-c", TICKS.replace("METHOD", method)],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        env=environment,
    )
    assert (done.stdout, done.stderr) == ("0 True True\n", "")


def threads_of(library: str) -> int:
    """The number of threads of an OpenBLAS, which stays."""
    now = SETTERS[library](1)
    SETTERS[library](now)
    return now


@pytest.mark.parametrize("library", SETTERS)
def test_numbers_of_threads_come_back(library: str) -> None:
    before = SETTERS[library](2)
    try:
        with OneBlasThread() as one:
            assert threads_of(library) == 1
            assert one.outside(threads_of)(library) == 2
            with OneBlasThread():
                assert threads_of(library) == 1
            assert threads_of(library) == 1
        assert threads_of(library) == 2
    finally:
        SETTERS[library](before)


@pytest.mark.parametrize("library", SETTERS)
def test_a_number_that_is_set_meanwhile_stays(library: str) -> None:
    before = SETTERS[library](1)
    try:
        with OneBlasThread():
            SETTERS[library](2)
        assert threads_of(library) == 2
    finally:
        SETTERS[library](before)


@pytest.mark.parametrize("library", SETTERS)
def test_a_child_process_has_its_threads(library: str) -> None:
    before = SETTERS[library](2)
    try:
        with OneBlasThread():
            child = os.fork()
            if child == 0:
                os._exit(threads_of(library))
            assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 2
            assert threads_of(library) == 1
    finally:
        SETTERS[library](before)


@pytest.mark.skipif("scipy" not in SETTERS, reason="SciPy has another BLAS")
def test_slots_with_large_matrices_have_the_same_bits_on_any_number_of_threads() -> None:
    """OpenBLAS's own threads change bits, and a thread that takes a slot must not have them."""
    rng = np.random.default_rng(0)
    matrices, x = rng.normal(size=(16, 520, 520)), rng.normal(size=520)
    before = SETTERS["scipy"](2)
    try:
        values = {
            k: bl.FiniteSum(lambda x, a: np.sum(np.linalg.solve(a, x)), matrices, threads=k).value(x) for k in (1, 2, 3)
        }
        assert len({np.float64(value).tobytes() for value in values.values()}) == 1
        SETTERS["scipy"](1)
        alone = bl.FiniteSum(lambda x, a: np.sum(np.linalg.solve(a, x)), matrices, threads=2).value(x)
        assert alone == values[1]
    finally:
        SETTERS["scipy"](before)
