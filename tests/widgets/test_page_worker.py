"""The thread of a panel: how it ends."""

import logging
import subprocess
import sys
import threading
from queue import SimpleQueue

import pytest

from burlab.widgets.page_worker import PageWorker

ENDS = """
import threading, time
from burlab.widgets.page_worker import PageWorker
began = threading.Event()
def turn(intents):
    began.set()
    time.sleep(0.5)
    print("its turn ended")
    return 60.0
worker = PageWorker(turn)
began.wait()
{before}
"""


@pytest.fixture
def failing():
    """A worker whose turn, once let, fails; and what lets it."""
    began, go = threading.Event(), threading.Event()

    def iteration(_intents):
        began.set()
        go.wait()
        raise NameError("what it works on is gone")

    worker = PageWorker(iteration)
    began.wait()
    yield worker, go
    go.set()
    worker.close()
    worker.join(60)


def test_failed_iteration_is_reported(failing):
    worker, go = failing
    told = SimpleQueue()
    handler = logging.Handler()
    handler.emit = told.put
    log = logging.getLogger("burlab.widgets.page_worker")
    log.addHandler(handler)
    go.set()
    assert "what it works on is gone" in str(told.get(timeout=60).exc_info[1])
    log.removeHandler(handler)
    worker.close()


def test_failed_iteration_after_the_end_is_not_reported(failing, caplog):
    worker, go = failing
    worker.close()
    go.set()
    worker.join(60)
    assert not caplog.records


@pytest.mark.parametrize("before", ["", "worker.close()"])
def test_exit_of_python_waits_for_the_iteration(before):
    command = [sys.executable, "-c", ENDS.format(before=before)]
    made = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (made.stdout.strip(), made.stderr, made.returncode) == ("its turn ended", "", 0)
