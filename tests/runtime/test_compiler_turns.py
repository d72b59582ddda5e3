"""The compiler releases the GIL while it compiles burlab's own texts, and only then."""

import subprocess
import sys
from pathlib import Path

_HEAD = """
import atexit, sys, threading, time
from burlab import runtime
from burlab.runtime.compiler_turns import compiler_lock, may_release_gil
LONG = "template <int N> struct Deep { static int f() { return N + Deep<N - 1>::f(); } };" \\
    "template <> struct Deep<0> { static int f() { return 0; } };" \\
    'extern "C" int @unit_deep() { return Deep<%d>::f(); }'
last_words = []
atexit.register(lambda: print(*(words() for words in last_words)))  # after what the compiler registers
runtime.interpreter()

def ticks_during(work):
    "How often another thread came to work, of those that 2 ms naps allow."
    done, count = threading.Event(), [0]
    def tick():
        while not done.is_set():
            time.sleep(0.002)
            count[0] += 1
    thread = threading.Thread(target=tick)
    thread.start()
    start = time.perf_counter()
    work()
    spent = time.perf_counter() - start
    done.set()
    thread.join()
    return count[0] / (spent / 0.002)
"""


def _python(text, head=_HEAD):
    """Run a program in a Python of its own, whose compiler has compiled nothing, and return what it prints."""
    done = subprocess.run(
        [sys.executable, "-c", head + text],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_other_threads_go_on_while_it_compiles():
    share = float(_python("print(ticks_during(lambda: runtime.declare(LONG % 600)))"))
    assert share > 0.3  # 0.02 where the GIL is held


def test_texts_of_users_and_of_a_session_with_cppyy_hold_the_gil():
    text = 'runtime.compile_text("int mine() { return 1; }", users=True); assert may_release_gil()\n'
    text += "import cppyy; assert not may_release_gil()\nprint(ticks_during(lambda: runtime.declare(LONG % 600)))"
    assert float(_python(text)) < 0.15


def test_the_import_of_cppyy_waits_for_the_compiler():
    text = """
thread = threading.Thread(target=lambda: runtime.declare(LONG % 700))
thread.start()
while not compiler_lock._is_owned() and compiler_lock.acquire(blocking=False):
    compiler_lock.release()
import cppyy
print(thread.is_alive() and len(runtime.declared()), cppyy.gbl.std.string("text").size())
"""
    alive, size = _python(text).split()
    assert (alive, size) in (("False", "4"), ("1", "4"))  # what was compiled is there when the import goes on


def test_python_ends_only_between_two_compilations():
    text = """
thread = threading.Thread(target=lambda: runtime.declare(LONG % 700), daemon=True)
thread.start()
while compiler_lock.acquire(blocking=False):
    compiler_lock.release()
last_words.append(lambda: (len(runtime.declared()), may_release_gil()))
"""
    assert _python(text) == "(1, False)\n"


def test_a_fork_waits_for_the_compiler():
    text = """
import os
thread = threading.Thread(target=lambda: runtime.declare(LONG % 700))
thread.start()
while compiler_lock.acquire(blocking=False):
    compiler_lock.release()
child = os.fork()
if child == 0:
    print(len(runtime.declared()), bool(runtime.declare('extern "C" int @unit_one() { return 1; }')), flush=True)
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
thread.join()
"""
    assert _python(text) == "1 True\n\n"


def test_a_cppyy_that_was_imported_before_the_compiler_started_counts():
    text = "import burlab.runtime\nfrom burlab.runtime.compiler_turns import may_release_gil\n"
    text += "import cppyy\nburlab.runtime.interpreter()\nprint(may_release_gil())"
    assert _python(text, head="") == "False\n"
