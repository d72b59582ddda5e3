"""Code kept between sessions is believed where it is whole and its own, gives the same bits, and is never needed."""

import os
import re
import shutil
import signal
import subprocess
import sys
import textwrap
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from burlab.runtime.cache import background, store
from burlab.runtime.cache.store import cache_file, read_index, sealed

NAMES = {"burlab_each": "0123456789abcdef"}

# Values of runs, gradients, products, replays and Values, as one hash; whether the first of them started Cling; how
# often it compiled what every session needs.
PROGRAM = """
import hashlib, numpy as np, burlab as bl
from burlab import runtime
from burlab.runtime import cling

compiled, compile_text = [], cling._compile
cling._compile = lambda text, *how: (compiled.append(text), compile_text(text, *how))
digest = hashlib.sha256()
def note(*arrays):
    for x in arrays:
        digest.update(np.asarray(x).tobytes())

a = bl.Value(-4.0)
c = (a * np.tanh(a) + np.exp(a)) ** 2
c.backward()
note(c.data, a.grad)
alone = runtime.started()
for dtype in (np.float64, np.float32):
    x = np.linspace(-1.25, 1.5, 24).astype(dtype).reshape(4, 6)
    f = lambda x: np.sum(np.log1p(np.exp(x @ x.T)) * np.max(x)) + np.sum(np.tanh(x).sum(0) * x.mean(0))
    note(*bl.value_and_grad(f)(x), *bl.compile(bl.value_and_grad(f), x, gear="replay")(x))
    rows = np.random.default_rng(0).normal(size=(40, 6)).astype(dtype)
    problem = bl.FiniteSum(lambda w, r: np.log(1 + np.exp(-r @ w)), rows)
    for batch in (None, 1, 4):
        run = bl.minimize(problem, np.zeros(6, dtype), bl.optim.Adam(1e-2), batch=batch)
        run.step(30)
        run.seek(17)
        note(run.x, run.history["value"], run.history["gradient_norm"], problem.hvp(run.x, run.x))
    model = bl.nn.GPT(16, 8, 12, 3, 1, key=bl.random.key(1), dtype=dtype)
    loss = lambda m, t: bl.nn.cross_entropy(m(t), t)
    run = bl.minimize(bl.FiniteSum(loss, np.arange(64).reshape(8, 8) % 16), model, bl.optim.Adam(1e-2), batch=2)
    run.step(5)
    note(run.history["value"])
    note(bl.jit(lambda x: bl.while_loop(lambda y: np.sum(y) < 90, lambda y: y * 1.5 + 1, x))(x))
print(digest.hexdigest(), alone, sum("exports" in text or "table of operations" in text for text in compiled))
"""
# A shelf with little on it, made fast.
FILL = """
import numpy as np, burlab as bl
from burlab.runtime.cache import fill
fill.programs = lambda: [lambda: bl.grad(lambda x: np.sum(np.tanh(x)))(np.ones(4)), *MORE]
print(fill.fill())
"""
SMALL = FILL.replace("*MORE", "")


def start(code: str, folder: Path | str, **environment: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", code]
    variables = os.environ | {"BURLAB_CACHE": str(folder)} | environment
    return subprocess.Popen(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=variables)


def run_python(code: str, folder: Path | str, **environment: str) -> str:
    process = start(code, folder, **environment)
    out, err = process.communicate()
    assert process.returncode == 0, err
    return out.strip()


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file that `burlab warm` makes, or has made before these tests, as `make test` lets it."""
    folder = tmp_path_factory.mktemp("cache")
    made = cache_file()
    if made is not None and read_index(made):
        return Path(shutil.copy2(made, folder))
    return Path(run_python("import sys, burlab.cli; sys.exit(burlab.cli.main(['warm']))", folder))


def test_the_same_bits_with_and_without(filled: Path):
    compiled, _, times = run_python(PROGRAM, "off").split()
    assert int(times) > 0
    assert run_python(PROGRAM, filled.parent).split() == [compiled, "False", "0"]


def test_symbol_is_not_found_by_a_prefix_of_its_name(filled: Path):
    """As long as the name of a unit is `burlab_contract_float64`, which is on the shelf; what it begins here is not."""
    program = """
    import numpy as np
    from burlab.compiler import build
    from burlab.graph.tracing.trace import trace
    for x in (np.ones((3, 3)), np.ones(64)):
        print(np.sum(build(trace(lambda x: x @ x, (x,)).graph, gear="replay")(x)[0]))
    """
    assert run_python(textwrap.dedent(program), filled.parent).split() == ["27.0", "64.0"]


def test_a_file_that_is_not_whole_is_not_believed(tmp_path: Path):
    tmp_path.chmod(0o700)
    file = tmp_path / "a.so"
    content = b"".join(sealed(b"library" * 100, NAMES))

    def index(content: bytes) -> Any:
        file.write_bytes(content)
        file.chmod(0o600)
        return read_index(file)

    assert index(content) == NAMES
    for k in range(0, len(content), 3):
        broken = bytearray(content)
        broken[k] ^= 1
        assert index(bytes(broken)) is None, k
        assert index(content[:k]) is None, k
    assert index(content + b"\0") is None
    assert read_index(tmp_path / "absent.so") is None


def test_a_file_that_others_may_write_is_not_believed(tmp_path: Path):
    tmp_path.chmod(0o700)
    file = tmp_path / "a.so"
    file.write_bytes(b"".join(sealed(b"", NAMES)))
    for mode, folder_mode in ((0o620, 0o700), (0o602, 0o700), (0o600, 0o720), (0o600, 0o702)):
        file.chmod(mode)
        tmp_path.chmod(folder_mode)
        assert read_index(file) is None, (mode, folder_mode)
    file.chmod(0o644)
    tmp_path.chmod(0o755)
    assert read_index(file) == NAMES


def test_a_whole_file_that_does_not_load_is_as_good_as_none(tmp_path: Path):
    tmp_path.chmod(0o700)
    file = Path(run_python("from burlab.runtime.cache.store import cache_file; print(cache_file())", tmp_path))
    file.write_bytes(b"".join(sealed(b"no ELF", NAMES)))
    file.chmod(0o600)
    assert run_python("import numpy as np, burlab as bl; print(bl.grad(np.tanh)(0.0))", tmp_path) == "1.0"


def test_everything_that_code_depends_on_is_in_the_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("BURLAB_CACHE", str(tmp_path))
    root = tmp_path / "headers"
    (root / "burlab").mkdir(parents=True)
    header = root / "burlab" / "abi.hpp"
    header.write_text("int a;")
    monkeypatch.setattr(store, "header_folder", lambda: root)
    compiler = tmp_path / "c++"
    compiler.write_text("")
    monkeypatch.setattr(store, "commands", lambda: [("c++",)])
    monkeypatch.setattr(store.shutil, "which", lambda _: str(compiler))
    names = [cache_file()]
    assert cache_file() == names[0]
    header.write_text("int b;")
    names.append(cache_file())
    header.rename(root / "burlab" / "other.hpp")
    names.append(cache_file())
    compiler.write_text("another")
    names.append(cache_file())
    for variable in ("EXTRA_CLING_ARGS", "CLING_STANDARD_PCH", "CPATH", "CPLUS_INCLUDE_PATH", "STDCXX"):
        monkeypatch.setenv(variable, "/somewhere")
        names.append(cache_file())
    monkeypatch.setenv("EXTRA_CLING_ARGS", "-O2 -march=native")
    names.append(cache_file())
    for name in ("__version__", "instruction_set", "cpu_identity"):
        monkeypatch.setattr(store, name, lambda: SimpleNamespace(name="another"))
        names.append(cache_file())
    assert None not in names
    assert len(set(names)) == len(names)


def test_flags_that_name_no_cpu_make_code_for_images(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Another machine runs it, and the layers of an image keep whole seconds of the times of files."""
    header = tmp_path / "header.pch"
    header.write_text("")
    monkeypatch.setenv("BURLAB_CACHE", str(tmp_path))
    monkeypatch.setenv("CLING_STANDARD_PCH", str(header))
    monkeypatch.setenv("EXTRA_CLING_ARGS", "-O2")
    os.utime(header, (5.25, 5.25))
    name = cache_file()
    os.utime(header, (5, 5))
    monkeypatch.setattr(store, "cpu_identity", lambda: ("another",))
    assert cache_file() == name
    os.utime(header, (6, 6))
    assert cache_file() != name


def test_cache_folder_follows_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("BURLAB_CACHE")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    assert store.cache_folder() == tmp_path / ".cache" / "burlab"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert store.cache_folder() == tmp_path / "xdg" / "burlab"
    monkeypatch.setenv("BURLAB_CACHE", str(tmp_path / "own"))
    assert store.cache_folder() == tmp_path / "own"
    monkeypatch.setenv("BURLAB_CACHE", f"{tmp_path / 'own'}:ro")
    assert (store.cache_folder(), store.cache_folder(write=True)) == (tmp_path / "own", None)
    for word in ("off", "OFF", "0"):
        monkeypatch.setenv("BURLAB_CACHE", word)
        assert store.cache_folder() is None


def test_cache_writes_nothing_when_off_or_unused(tmp_path: Path):
    computing = "import numpy as np, burlab as bl; bl.grad(np.tanh)(0.0); bl.Value(1.0)"
    run_python(computing, "off", HOME=str(tmp_path), XDG_CACHE_HOME=str(tmp_path))
    run_python("import burlab, sys; assert 'subprocess' not in sys.modules", tmp_path / "cache", HOME=str(tmp_path))
    assert [*tmp_path.iterdir()] == []


def test_a_folder_that_is_only_read(filled: Path, tmp_path: Path):
    """Its code is used, and what a session compiles beside is not kept.

    It is a folder of this test alone: the sessions of other tests leave processes that go on writing into theirs.
    """
    folder = tmp_path / "cache"
    folder.mkdir(mode=0o700)
    file = Path(shutil.copy2(filled, folder))
    before = file.stat().st_mtime_ns
    assert run_python(PROGRAM, f"{folder}:ro").split()[2] == "0"
    computing = "import numpy as np, burlab as bl; bl.grad(lambda x: np.sin(x) * x)(0.0); print('end')"
    assert run_python(computing, f"{folder}:ro") == "end"
    said = start(SMALL, f"{folder}:ro").communicate()[1]
    assert "read-only" in said
    clearing = "from burlab.runtime.cache import background; print(background.clear())"
    assert "Nothing is deleted" in run_python(clearing, f"{folder}:ro")
    assert [*folder.iterdir()] == [file]
    assert file.stat().st_mtime_ns == before


def test_threads_of_cached_and_of_fresh_code_wake_each_other(filled: Path):
    """One side of a team may come from the file, the other from Cling."""
    program = """
    import numpy as np, burlab as bl
    problem = bl.FiniteSum(lambda x, a: np.sum((a - x) ** 2), np.ones((400, 3)), threads=2, tile=16)
    for k in range(100):
        problem.value(k * np.ones(3)), problem.grad(np.ones(3))
    print(bl.minimize(problem, np.zeros(3), bl.optim.GD(0.25), steps=100).x)
    """
    process = start(textwrap.dedent(program), filled.parent)
    assert process.communicate(timeout=120)[0].strip() == "[1. 1. 1.]"


def test_two_fill_it_at_once(tmp_path: Path):
    both = [start(SMALL, tmp_path / "cache") for _ in range(2)]
    said = [process.communicate() for process in both]
    assert [process.returncode for process in both] == [0, 0], said
    assert said[0][0] == said[1][0]
    assert read_index(Path(said[0][0].strip()))
    assert sorted(f.suffix for f in (tmp_path / "cache").iterdir()) == ["", ".so"]  # and the lock


def test_killed_fill_leaves_no_valid_file(tmp_path: Path):
    process = start(
        FILL.replace("*MORE", "lambda: print('here', flush=True) or __import__('time').sleep(60)"), tmp_path
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "here\n"
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.communicate()
    half = tmp_path / ".half.so.00000000.part"
    half.write_text("half")
    os.utime(half, (0, 0))  # a young one may be somebody's who has not locked it yet
    assert not [*tmp_path.glob("*.so")]
    assert read_index(Path(run_python(SMALL, tmp_path)))
    assert not [*tmp_path.glob(".*.part")]


def test_headers_changed_during_a_fill_store_nothing(tmp_path: Path):
    change = "lambda: __import__('os').environ.__setitem__('CPATH', '/elsewhere')"
    process = start(FILL.replace("*MORE", change), tmp_path)
    assert "changed meanwhile" in process.communicate()[1]
    assert not [*tmp_path.glob("*.so"), *tmp_path.glob("*.failed")]


def test_a_folder_that_takes_no_file(tmp_path: Path):
    """A file where the folder should be, as root may write anywhere, and a disk with too little room."""
    (tmp_path / "file").write_text("")
    process = start(SMALL, tmp_path / "file" / "cache")
    assert "Set BURLAB_CACHE to a folder" in process.communicate()[1]
    run_python("import numpy as np, burlab as bl; bl.grad(np.tanh)(0.0)", tmp_path / "file" / "cache")
    limit = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))\n"
    process = start(limit + SMALL, tmp_path / "full")
    assert "ConfigurationError" in process.communicate()[1]
    assert not [*(tmp_path / "full").glob("*.so")]
    assert read_index(Path(run_python(SMALL, tmp_path / "full")))


def test_the_end_of_a_session_fills_it_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    started: list[list[str]] = []

    def popen(command: list[str], **options: Any) -> Any:
        assert options["start_new_session"]
        started.append(command)
        return SimpleNamespace()

    monkeypatch.setattr(subprocess, "Popen", popen)
    monkeypatch.setenv("BURLAB_CACHE", str(tmp_path))
    tmp_path.chmod(0o700)
    file = cache_file()
    assert file is not None
    file.write_bytes(b"half of one")
    background.start()
    assert started == [[sys.executable, "-m", "burlab.runtime.cache", "--idle"]]
    for reason, content in ((file, b"".join(sealed(b"", NAMES))), (file.with_suffix(".failed"), b"why")):
        reason.write_bytes(content)
        reason.chmod(0o600)
        background.start()
        assert len(started) == 1
        assert "files deleted" in background.clear()
        assert not reason.exists()
    monkeypatch.setenv("BURLAB_CACHE", "off")
    background.start()
    assert len(started) == 1


def test_a_session_that_compiles_has_it_filled_at_its_end(tmp_path: Path, filled: Path):
    session = (
        "import numpy as np, burlab as bl\n"
        "from burlab.runtime.cache import background\n"
        "background.start = lambda: print('filled')\n"
        "bl.{}\n"
        "print('end')"
    )
    computing, idle = session.format("compile(np.sin, 0.0, gear='replay')(0.0)"), session.format("grad")
    assert run_python(computing, tmp_path).split() == ["end", "filled"]
    assert run_python(computing, filled.parent).split() == ["end"]
    assert run_python(session.format("grad(lambda x: np.sin(x) * x)(0.0)"), filled.parent).split() == ["end", "filled"]
    assert run_python(idle, tmp_path).split() == ["end"]


def test_state_of_headers_is_one_in_a_process(root: Path):
    """A function that comes from the shelf and from Cling is there twice, and what is static in it too."""
    state = re.compile(r"\s+(static|thread_local)\s+(?!const\b|constexpr\b)[^(]*(=|;|\{)")
    found = {
        (file.name, line.strip())
        for file in (root / "cpp" / "burlab").rglob("*.hpp")
        for line in file.read_text().splitlines()
        if state.match(re.sub(r"\[.*?\]", "", line))
    }
    assert found == {
        ("thread_own.hpp", "thread_local T own;"),  # of the stop token and the count of threads: through variables
        ("thread_own.hpp", "static T spare;  // where there is no memory, threads share one"),  # without a cache only
        ("tools.hpp", "static PyMethodDef methods[std::size(tools)];"),  # and these of functions that are called once
        ("float_tape.hpp", 'static PyMethodDef method{"make_float", as_method(make_float), METH_FASTCALL, nullptr};'),
        ("value_type.hpp", 'static PyGetSetDef attributes[] = {{"data", get_number, set_number, nullptr, nullptr},'),
        ("value_type.hpp", "static PyMethodDef methods[] = {"),
        ("value_type.hpp", "static PyMemberDef members[] = {"),
    }
