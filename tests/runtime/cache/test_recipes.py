"""Kernels that one session compiled are there for the next: the same bits, believed where whole, and never needed."""

import shutil
from pathlib import Path

import pytest

from burlab import runtime
from burlab.runtime.cache import recipes
from burlab.runtime.cache.recipes import Recipe, fewer, read_recipes, write_recipes
from burlab.runtime.cache.store import read_index
from tests.runtime.cache.test_store import FILL, run_python, start

# A session with two kernels, which leaves its kernels and has nobody compile them: bits, and whether Cling was started.
SESSION = """
import hashlib, numpy as np, burlab as bl
from burlab import runtime
from burlab.runtime.cache import background
background.start = lambda: None
x = np.linspace(-1.0, 1.5, 12)
def f(x): return np.sum(bl.softmax(x) * np.log1p(np.exp(x))) + np.sum(np.outer(x, x[:5]) @ np.tanh(x[:5]))
def g(x): return np.sum(np.cumsum(x)[::-1] * np.where(x > 0.25, x, np.max(x)))
digest = hashlib.sha256()
for h in (f, g):
    gradient = bl.value_and_grad(h)
    for _ in range(3):
        value, slope = gradient(x)
        digest.update(value.tobytes() + slope.tobytes())
print(digest.hexdigest(), runtime.started())
"""
ONE = SESSION.replace("(f, g)", "(g,)")
# What every session needs: the partials of operations, and the gate.
CACHE = FILL.replace("*MORE", "load_common, lambda f=bl.jit(np.tanh): [f(np.ones(3)) for _ in range(3)]").replace(
    "import fill", "import fill; from burlab.graph.scalar import load_common"
)
KEEP = "import runpy; runpy.run_module('burlab.runtime.cache.kernels', run_name='__main__')"


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small shelf."""
    folder = tmp_path_factory.mktemp("shelf") / "cache"
    assert read_index(Path(run_python(CACHE, folder)))
    return folder


@pytest.fixture
def folder(shelf: Path, tmp_path: Path) -> Path:
    """A copy of it."""
    return Path(shutil.copytree(shelf, tmp_path / "cache"))


def only(folder: Path, kind: str) -> Path:
    (file,) = folder.glob(f"*.{kind}")
    return file


def test_the_next_session_compiles_nothing(folder: Path):
    bits, _ = run_python(SESSION, "off").split()
    assert run_python(SESSION, folder).split() == [bits, "True"]
    assert len(read_recipes(only(folder, "wanted"))) == 2
    run_python(KEEP, folder)
    assert sorted(file.suffix for file in folder.iterdir()) == ["", ".own", ".recipes", ".so"]
    assert run_python(SESSION, folder).split() == [bits, "False"]
    assert not [*folder.glob("*.wanted")]
    # What another session adds leaves these where they are.
    other = SESSION.replace("(f, g)", "(lambda x: np.sum(np.sin(x) ** 3),)")
    other_bits, started = run_python(other, folder).split()
    assert started == "True"
    run_python(KEEP, folder)
    assert run_python(other, folder).split() == [other_bits, "False"]
    assert run_python(SESSION, folder).split() == [bits, "False"]


def test_files_that_are_not_whole_or_of_others_are_not_believed(folder: Path):
    bits, _ = run_python(ONE, folder).split()
    left = only(folder, "wanted")
    left.chmod(0o622)
    run_python(KEEP, folder)
    assert sorted(file.suffix for file in folder.iterdir()) == ["", ".so"]
    run_python(ONE, folder)
    run_python(KEEP, folder)
    own = only(folder, "own")
    content = own.read_bytes()
    own.write_bytes(content[:-100] + b"?" + content[-99:])
    assert run_python(ONE, folder).split() == [bits, "True"]
    own.write_bytes(content)
    own.chmod(0o622)
    assert run_python(ONE, folder).split() == [bits, "True"]
    own.chmod(0o600)
    assert run_python(ONE, folder).split() == [bits, "False"]
    only(folder, "so").unlink()  # without what it calls
    assert run_python(ONE, folder).split() == [bits, "True"]


def test_a_text_that_does_not_compile_takes_no_other_with_it(folder: Path):
    bits, _ = run_python(ONE, folder).split()
    left = only(folder, "wanted")
    write_recipes(left, [Recipe("this is not C++", []), *read_recipes(left)])
    run_python(KEEP, folder)
    assert run_python(ONE, folder).split() == [bits, "False"]


def test_a_folder_that_cannot_be_written_is_left_alone(tmp_path: Path):
    (tmp_path / "file").write_text("")
    process = start(ONE, tmp_path / "file" / "cache")
    out, err = process.communicate()
    assert (process.returncode, err) == (0, ""), err
    assert out.split()[1] == "True"


def test_warming_keeps_them_too(folder: Path):
    bits, _ = run_python(ONE, folder).split()
    run_python("import sys, burlab.cli; sys.exit(burlab.cli.main(['warm']))", folder)
    assert run_python(ONE, folder).split() == [bits, "False"]
    run_python("import sys, burlab.cli; sys.exit(burlab.cli.main(['warm', '--clear']))", folder)
    assert [*folder.iterdir()] == []


def test_a_kernel_is_named_by_what_it_calls_too():
    body = 'extern "C" int @unit_run() { return 8723; }'
    first, second = (runtime.declare(body, needs=[text]) for text in ("int a();", "int b();"))
    assert first != second
    assert runtime.is_compiled(body, needs=["int a();"])
    assert not runtime.is_compiled(body, needs=["int c();"])
    assert not runtime.is_compiled(body)


def test_the_newest_recipes_are_stored(monkeypatch: pytest.MonkeyPatch):
    rows = [Recipe(f"kernel {k}", [["symbol", "text", "header"]]) for k in range(300)]
    assert fewer([*rows[:5], *rows]) == rows[:100]
    monkeypatch.setattr(recipes, "MAX_CHARACTERS", 4 * rows[0].length)
    assert fewer(rows) == rows[:4]
    assert fewer([Recipe("x" * 1000, []), rows[0]]) == rows[:1]


def test_recipes_are_read_as_they_were_written(tmp_path: Path):
    tmp_path.chmod(0o700)
    file = tmp_path / "a.wanted"
    rows = [Recipe('a "text"\n\u2028', (("s", "t", "h"),)), Recipe("", ())]
    write_recipes(file, rows)
    assert file.stat().st_mode & 0o777 == 0o600
    assert [(r.text, [tuple(c) for c in r.calls]) for r in read_recipes(file)] == [(r.text, [*r.calls]) for r in rows]
    assert read_recipes(tmp_path / "absent") == []
