"""A pool of worker processes: one per engine, started for a row of the table and then ended."""

import os
import subprocess
import sys
from collections.abc import Mapping
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from types import TracebackType
from typing import Any, Self

from .problem import Answer, Array, Size, Unavailable
from .worker import SINGLE, WITH_GPU


class ProcessPool:
    """One process per engine, all bound to the same cores, of which one works at a time.

    threads: how many cores they get. device: "cpu", or "cuda" for engines that find a GPU.
    """

    def __init__(self, threads: int = 1, device: str = "cpu") -> None:
        self._threads = threads
        self._alone = SINGLE if device == "cpu" else WITH_GPU
        self._workers: dict[str, tuple[subprocess.Popen[bytes], Connection]] = {}

    def open(self, engine: str, case: str, size: Size, variant: str) -> "Remote":
        """A task in the engine's process, which starts now if it has not."""
        if engine not in self._workers:
            self._workers[engine] = self._start(engine)
        process, pipe = self._workers[engine]
        return Remote(process, pipe, _request(process, pipe, "open", case, dict(size), variant))

    def _start(self, engine: str) -> tuple[subprocess.Popen[bytes], Connection]:
        ours, theirs = Pipe()
        os.set_inheritable(theirs.fileno(), True)
        start = "from burlab.bench.worker import main; main()"
        command = [sys.executable, "-c", start, engine, str(theirs.fileno()), cores(self._threads)]
        flags = f"--xla_cpu_multi_thread_eigen={'true' if self._threads > 1 else 'false'}"
        environment = {**os.environ, **self._alone, "XLA_FLAGS": flags, "BURLAB_BENCH_THREADS": str(self._threads)}
        process = subprocess.Popen(command, env=environment, pass_fds=(theirs.fileno(),), stdin=subprocess.DEVNULL)
        theirs.close()
        return process, ours

    def resident(self, engine: str) -> dict[str, float]:
        """Bytes of memory of the engine's process, now and at most."""
        process, pipe = self._workers[engine]
        return _request(process, pipe, "resident")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        for process, pipe in self._workers.values():
            pipe.close()  # a worker that waits for a request ends
            if kind is not None:
                process.kill()
        for process, _ in self._workers.values():
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


class Remote:
    """A Task in another process."""

    def __init__(self, process: subprocess.Popen[bytes], pipe: Connection, number: int) -> None:
        self._process, self._pipe, self._number = process, pipe, number

    def answer(self, point: int, dtype: str) -> Answer:
        """See Task."""
        return self._call("answer", point, dtype)

    def repeat(self, count: int) -> float:
        """See Task."""
        return self._call("repeat", count)

    def displacements(self) -> Mapping[str, Array] | None:
        """See Task."""
        return self._call("displacements")

    def facts(self) -> Mapping[str, float]:
        """See Task."""
        return self._call("facts")

    def _call(self, *request: Any) -> Any:
        return _request(self._process, self._pipe, self._number, *request)


def _request(process: subprocess.Popen[bytes], pipe: Connection, *request: Any) -> Any:
    try:
        pipe.send(request)
        fine, answer = pipe.recv()
    except (EOFError, OSError):
        code = process.wait(10)
        raise RuntimeError(f"the process of this engine ended with code {code}") from None
    if not fine:
        raise answer
    return answer


def cores(count: int) -> str:
    """The cores to compute on, the last ones that this process may use: "1", or "0,1"; empty where none can be chosen.

    >>> cores(1).isdigit() or cores(1) == ""
    True
    """
    if not hasattr(os, "sched_getaffinity"):
        return ""
    return ",".join(map(str, sorted(os.sched_getaffinity(0))[-count:]))


__all__ = ["ProcessPool", "Remote", "Unavailable", "cores"]
