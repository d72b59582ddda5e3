"""Values of runs on Dask workers for a search, and its answers, by queues of the scheduler. Imports Dask."""

import time
from collections.abc import Callable
from typing import Any, NamedTuple

from burlab.runtime.extras import require

distributed: Any = require("distributed", "cluster")
PERIOD = 0.005  # seconds from one look for a report or an answer to the next


class RunReport(NamedTuple):
    """A value of a run that goes on, for a search."""

    number: int
    step: int
    value: float


class Reporter:
    """Sends values of a run to the process of the sweep, from a worker, and waits for its answers."""

    def __init__(self, name: str, number: int) -> None:
        client = distributed.get_client()
        self._number = number
        self._reports = distributed.Queue(name, client=client)
        self._answers = distributed.Queue(f"{name}-{number}", client=client)

    def is_hopeless(self, step: int, value: float, check: Callable[[], None]) -> bool:
        """Return True if the run is to stop. check: raises once the sweep was interrupted."""
        self._reports.put(RunReport(self._number, step, value))
        while True:
            check()
            if not self._answers.qsize():  # `get` with a timeout would be an error in the log of the scheduler
                time.sleep(PERIOD)
                continue
            about, stops = self._answers.get()
            if about == step:  # others are for a worker that was lost
                return stops


class ReportReader:
    """Receives values of runs from workers, and answers."""

    def __init__(self, client: Any, name: str) -> None:
        self._client, self._name = client, name
        self._reports = distributed.Queue(name, client=client)
        self._answers: dict[int, Any] = {}

    def next(self, seconds: float) -> RunReport | None:
        """Return the next value; None after so many seconds if there is none."""
        if not self._reports.qsize():
            time.sleep(seconds)
            return None
        return RunReport(*self._reports.get())

    def answer(self, report: RunReport, stops: bool) -> None:
        """Let the worker know if its run is to stop."""
        number = report.number
        if number not in self._answers:
            self._answers[number] = distributed.Queue(f"{self._name}-{number}", client=self._client)
        self._answers[number].put((report.step, stops))

    def close(self) -> None:
        """Give the queues back to the scheduler."""
        for queue in (self._reports, *self._answers.values()):
            queue.close()
