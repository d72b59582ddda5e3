"""Threads that use burlab for the first time together, and threads that are at work when the interpreter ends."""

import subprocess
import sys

import pytest

FIRST = """
import threading
import numpy as np
import burlab as bl

barrier, answers, errors = threading.Barrier(6), [], []

def use():
    barrier.wait()
    try:
        a = bl.Value(3.0)
        b = a * 2.0
        b.backward()
        run = bl.minimize(lambda x: np.sum(x**2), np.ones(2), bl.optim.GD(0.25), steps=3)
        value = bl.FiniteSum(lambda x, a: np.sum(x * a), np.ones((5, 2))).value(np.ones(2))
        batch = bl.compile(np.tanh, 1.0).map(np.ones(3)).sum()
        answers.append((id(type(a)), a.grad, float(run.x[0]), float(value), float(batch)))
    except BaseException as error:
        errors.append(error)

threads = [threading.Thread(target=use) for _ in range(6)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(len(answers), len(set(answers)), errors)
"""


def test_concurrent_first_threads_share_one_initialization():
    done = subprocess.run([sys.executable, "-c", FIRST], capture_output=True, text=True, timeout=300, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "6 1 []\n", "")


WORK = {
    "a kernel": "k = bl.compile(lambda x: np.sum(np.tanh(x)), x)\nwork = lambda: k(x)",
    "a finite sum": "table = np.arange(500.0)\n"
    "p = bl.FiniteSum(lambda y, a: np.sum(np.tanh(table * (a @ y))), x.reshape(-1, 4))\n"
    "work = lambda: p.value(np.ones(4))",
    "a run": "r = bl.minimize(lambda y: np.sum(y**2), np.ones(2), bl.optim.GD(1e-9))\nwork = lambda: r.step(10**9)",
    "two orders": "r = bl.minimize(lambda y: np.sum(y**2), np.ones(2), bl.optim.GD(1e-9))\nr.start()\n"
    "def work(): r.wait(1e-4); r.x; r.hyper['lr'] = r.t * 1e-12",
    "SciPy": "p = bl.FiniteSum(lambda y, a: np.tanh(a @ y)**2, x.reshape(-1, 4))\n"
    "r = bl.minimize(p, np.ones(4), bl.optim.SciPy('BFGS', options={'gtol': 0}))\nwork = lambda: r.start()",
}
LAST = """
import threading, time
import numpy as np
import burlab as bl

x = np.ones(400_000)
WORK
work() if "step" not in SOURCE else None
def forever():
    while True:
        work()
for _ in range(4):
    threading.Thread(target=forever, daemon=True).start()
time.sleep(0.2)
"""


@pytest.mark.parametrize("name", WORK)
def test_the_interpreter_ends_while_daemon_threads_are_in_cpp(name: str):
    """A thread that wants Python's lock back at that time is unwound: no frame of ours may stop that."""
    program = LAST.replace("WORK", WORK[name]).replace("SOURCE", repr(WORK[name]))
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=300, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
