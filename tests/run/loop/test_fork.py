"""A forked child has no thread to step with, and raises instead of waiting for one."""

import subprocess
import sys

from tests.run.forks import STEP_IN_A_CHILD

# In a process of its own: other tests load libraries that object to forks.
PROGRAM = f"""
import os
import numpy as np
import burlab as bl
from burlab.errors import StatusError

run = bl.minimize(lambda x: np.sum(x**2), np.ones(2), bl.optim.GD(0.1))
run.step(3)
{STEP_IN_A_CHILD}run.step(1)
assert run.t == 4
"""


def test_a_run_of_the_parent_does_not_step_in_the_child():
    subprocess.run([sys.executable, "-c", PROGRAM], check=True, timeout=300)
