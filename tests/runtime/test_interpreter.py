"""The door to the C++ interpreter: one unit per text, errors that leave it usable, nothing started by an import."""

import ctypes
import inspect
import os
import platform
import subprocess
import sys
import threading
from importlib.util import find_spec
from pathlib import Path

import pytest

from burlab import runtime
from burlab.errors import CompileError
from burlab.runtime.cache.store import cache_file
from burlab.runtime.cppjit_interpreter import CppjitInterpreter
from burlab.runtime.cppyy_interpreter import CppyyInterpreter
from burlab.runtime.interpreter import Interpreter


def call(unit, name="run"):
    return ctypes.CFUNCTYPE(ctypes.c_int)(runtime.address(f"{unit}_{name}"))()


def test_the_same_text_is_one_unit():
    text = 'extern "C" int @unit_run() { return 41 + 1; }'
    first = runtime.declare(text)
    assert runtime.declare(text) == first
    assert call(first) == 42
    assert runtime.declare(text.replace("41", "40")) != first


def test_two_units_may_use_the_same_names():
    units = [runtime.declare(f'int f() {{ return {k}; }} extern "C" int @unit_run() {{ return f(); }}') for k in (1, 2)]
    assert [call(unit) for unit in units] == [1, 2]


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("int f() { return undeclared_name; }", "undeclared_name"),
        ("int f( {", "expected"),
        ("#error stop here", "stop here"),
        ("namespace left { open", "expected"),
    ],
    ids=["unknown name", "syntax", "error line", "open bracket"],
)
def test_failing_text_raises_its_reason_and_leaves_cling_usable(text, word):
    with pytest.raises(CompileError, match=word):
        runtime.declare(text)
    with pytest.raises(CompileError, match=word):  # again: it is not remembered as done
        runtime.declare(text)
    assert call(runtime.declare(f'/* after {word} */ extern "C" int @unit_run() {{ return 7; }}')) == 7


def test_the_message_points_at_the_users_line():
    with pytest.raises(CompileError, match="cell:3:"):
        runtime.declare("int one = 1;\nint two = 2;\nint three = missing;\n", name="cell")


def test_a_warning_about_an_error_is_no_error(capsys):
    unit = runtime.declare('#warning "this is no error"\nextern "C" int @unit_run() { return 3; }')
    assert call(unit) == 3
    assert "no error" in capsys.readouterr().err


def test_missing_symbol_raises_when_it_is_looked_up():
    unit = runtime.declare('extern "C" int burlab_nowhere(); extern "C" int @unit_run() { return burlab_nowhere(); }')
    with pytest.raises(CompileError, match="defined nowhere"):
        runtime.address(f"{unit}_run")
    with pytest.raises(CompileError, match="burlab_no_such_function"):
        runtime.address("burlab_no_such_function")
    assert call(runtime.declare('extern "C" int @unit_run() { return 11; }')) == 11


def test_many_threads_may_declare_at_once():
    found = []

    def work(k):
        found.extend(
            call(runtime.declare(f'extern "C" int @unit_run() {{ return {j}; }}')) - j for j in range(k, k + 5)
        )

    threads = [threading.Thread(target=work, args=(100 * (k // 2),)) for k in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [0] * 30


def python(code):
    done = subprocess.run([sys.executable, "-c", code], text=True, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_importing_everything_starts_no_compiler_and_reads_no_scipy():
    rooms = (
        "runtime graph compiler transforms transforms.sparse functions nn problems optim run run.scipy.scipy_session"
    )
    modules = ", ".join(["burlab", *(f"burlab.{room}" for room in rooms.split())])
    late = "[m for m in sys.modules if m.startswith(('cppyy', 'scipy'))]"
    assert python(f"import sys, {modules}; print({late})").strip() == "[]"


def test_cppyy_may_come_before_or_after():
    use = "import cppyy; cppyy.cppdef('int twice(int x) { return 2 * x; }'); assert cppyy.gbl.twice(21) == 42"
    burlab = "import numpy as np, burlab as bl; assert bl.grad(lambda x: np.sum(x**3))(np.ones(2))[0] == 3"
    for order in ([use, burlab], [burlab, use]):
        python("\n".join(order))


def test_definitions_are_shared_with_cppyy():
    python(
        "import ctypes, burlab.runtime as r\n"
        "r.compile_text('extern \"C\" int burlab_shared() { return 5; }')\n"
        "import cppyy\n"
        "assert cppyy.gbl.burlab_shared() == 5\n"
        "cppyy.cppdef('extern \"C\" int users_own() { return 6; }')\n"
        "assert ctypes.CFUNCTYPE(ctypes.c_int)(r.address('users_own'))() == 6\n"
    )


SIGNALS = """
import signal, time
rung = []
signal.signal(signal.SIGALRM, lambda *_: rung.append(1))
def caught():  # of the signals that are not the C library's own
    lines = [line.split() for line in open("/proc/self/status") if line.startswith(("SigCgt", "SigIgn"))]
    return [int(mask, 16) & 0x7FFFFFFF for _, mask in lines]
before = caught()
import burlab as bl
bl.Value(1.0)
assert caught() == before, (before, caught())
signal.setitimer(signal.ITIMER_REAL, 0.01)
end = time.monotonic() + 60
while not rung and time.monotonic() < end:
    time.sleep(0.01)
assert rung
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_the_backend_takes_no_signal():
    """It would take a dozen: a timer of Python's would never ring."""
    subprocess.run([sys.executable, "-c", SIGNALS], check=True, timeout=300)


# Which interpreter.


def failure(code: str, **environment: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code], env=os.environ | environment, text=True, capture_output=True, check=False
    )
    assert done.returncode == 1
    return done.stderr.splitlines()[-1]


def test_an_unknown_interpreter_is_an_error_that_names_the_known_ones():
    last = failure("import burlab.runtime as r; r.interpreter()", BURLAB_INTERPRETER="cling")
    assert last.endswith("BURLAB_INTERPRETER=cling is unknown. Set it to cppyy or cppjit, or unset it.")


@pytest.mark.skipif(find_spec("cppjit") is not None, reason="cppjit is installed")
def test_an_interpreter_that_is_not_installed_is_an_error_that_names_the_command():
    last = failure("import burlab.runtime as r; r.interpreter()", BURLAB_INTERPRETER="cppjit")
    assert "cppjit is not installed. Install it by pip install 'cppjit==0.1.0a1'" in last


@pytest.mark.parametrize("name", ["cppyy", "cppjit"])
def test_code_is_kept_where_the_interpreter_hands_out_object_files(
    name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    monkeypatch.setenv("BURLAB_INTERPRETER", name)
    monkeypatch.setenv("BURLAB_CACHE", str(tmp_path))
    kept = name == "cppyy" and sys.platform == "linux" and platform.machine() == "x86_64"
    assert (cache_file() is not None) == kept


@pytest.mark.parametrize("kind", [CppyyInterpreter, CppjitInterpreter])
def test_both_fill_the_interface(kind: type):
    asked = [name for name in vars(Interpreter) if not name.startswith("_")]
    assert {"declare", "find", "add_include_path", "object_files"} <= set(asked)
    for name in asked:
        assert inspect.signature(getattr(kind, name)) == inspect.signature(getattr(Interpreter, name))
