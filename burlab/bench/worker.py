"""The process that one engine computes in: pinned, one thread, and alone with its memory.

`main`, started with the arguments ENGINE FD CORES, answers requests that come through a pipe. Nothing is timed across
the pipe: a request says how many repetitions, the answer how many seconds they took here.
"""

import os
import re
import sys
from importlib import import_module
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from .problem import Task, Unavailable
from .rapl import Metered, meters

# Which module opens tasks for an engine; each has `open_task(problem, variant)`.
ENGINES = {
    "burlab": "burlab.bench.variants",
    "golden": "burlab.bench.variants.golden",
    "torch": "burlab.bench.peers.torch",
    "jax": "burlab.bench.peers.jax",
    "autograd": "burlab.bench.peers.autograd",
    "micrograd": "burlab.bench.peers.micrograd_peer",
    "numpy": "burlab.bench.peers.numpy_loops",
    "optax": "burlab.bench.peers.optax",
    "mpmath": "burlab.bench.peers.mpmath_peer",
    "pychop": "burlab.bench.peers.pychop_peer",
    "complex step": "burlab.bench.peers.complex_step",
}
# What keeps libraries from starting more threads than they are asked to.
SINGLE = {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "JAX_PLATFORMS": "cpu"}
# The same beside a GPU, whose memory JAX would take whole.
WITH_GPU = {**SINGLE, "JAX_PLATFORMS": "", "XLA_PYTHON_CLIENT_PREALLOCATE": "false"}


def open_task(engine: str, case: str, size: dict[str, Any], variant: str) -> Task:
    """The task, in this process. Raises Unavailable where the engine is not installed or does not do it."""
    from .cases import find

    weighed = case == "energy"
    if weighed:
        meters()  # before anything is computed: there may be none
    task: Task = import_module(ENGINES[engine]).open_task(find(case).problem(size), variant)
    return Metered(task) if weighed else task


def resident() -> dict[str, float]:
    """Bytes of memory that this process holds now, and that it held at most, as the operating system counts them."""
    status = Path("/proc/self/status")
    text = status.read_text() if status.is_file() else ""
    found = dict(re.findall(r"(VmRSS|VmHWM):\s*(\d+) kB", text))
    return {name: 1024.0 * float(found[key]) for name, key in (("rss", "VmRSS"), ("peak_rss", "VmHWM")) if key in found}


def serve(engine: str, pipe: Connection) -> None:
    """Answer ("open", case, size, variant) with the task's number, and (number, method, *arguments) with what it gives.

    An answer is (True, result) or (False, exception).
    """
    tasks: list[Task] = []
    while True:
        try:
            request: Any = pipe.recv()
        except EOFError:
            return
        try:
            answer: Any
            if request[0] == "open":
                tasks.append(open_task(engine, *request[1:]))
                answer = len(tasks) - 1
            elif request[0] == "resident":
                answer = resident()
            else:
                answer = getattr(tasks[int(request[0])], str(request[1]))(*request[2:])
            pipe.send((True, answer))
        except Unavailable as gap:
            pipe.send((False, gap))
        except Exception as error:
            pipe.send((False, RuntimeError(f"{type(error).__name__}: {error}")))


def main() -> None:
    """Bind this process to its cores and serve."""
    engine, descriptor, cores = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    if cores and hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {int(core) for core in cores.split(",")})
    serve(engine, Connection(descriptor))
