"""Flags and threads that interrupts leave whole."""

import subprocess
import sys

from burlab.runtime.flag import Flag, Thread


def test_flag_releases_all_waiting_threads():
    flag, through = Flag(), []
    threads = [Thread(lambda k=k: (flag.wait(), through.append(k)), f"waits {k}") for k in range(8)]
    for thread in threads:
        thread.start()
    assert not flag.wait(0.01)
    assert through == []
    flag.set()
    flag.set()
    for thread in threads:
        thread.join(120)
    assert sorted(through) == list(range(8))
    assert flag.wait(0)
    flag.clear()
    assert not flag.wait(0.01)
    flag.set()
    assert flag.wait()


def test_thread_reports_whether_it_works():
    release = Flag()
    thread = Thread(release.wait, "works")
    assert not thread.is_alive()
    thread.start()
    thread.join(0.01)
    assert thread.is_alive()
    release.set()
    thread.join(120)
    assert not thread.is_alive()


_STORM = """
import signal, sys, threading, time
from burlab.runtime.flag import Flag, Thread

def press():
    for _ in range(400):
        time.sleep(0.001)
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
    over.append(1)

over, rounds = [], 0
presser = threading.Thread(target=press, daemon=True)
while True:
    try:
        if not presser.is_alive() and not over:
            presser.start()
        while not over:
            ask, answer = Flag(), Flag()
            thread = Thread(lambda: (ask.wait(), answer.set()), "answers")
            thread.start()
            ask.set()
            assert answer.wait(60), "the answer is lost"
            ask.clear()
            thread.join(60)
            assert not thread.is_alive()
            rounds += 1
        break
    except KeyboardInterrupt:
        continue
    except RuntimeError:  # the presser was started, and an interrupt came before it was said
        continue
print(rounds)
"""


def test_a_storm_of_interrupts_loses_nothing():
    done = subprocess.run([sys.executable, "-c", _STORM], capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 0
