"""Paths are opened in one module, `runtime/files.py`, which refuses pipes, devices and links."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[2] / "burlab"
BARE = {
    *("write_text", "write_bytes", "read_text", "read_bytes", "getline", "getlines", "copyfile", "touch"),
    *("fromfile", "tofile", "loadtxt", "savetxt", "genfromtxt", "memmap", "fdopen"),
}
_MODE = re.compile(r"[rwaxbt+]+")

# What is opened elsewhere: files of burlab itself, of the system, and of folders that the process made for itself.
ALLOWED = {
    "analysis of assets": ("widgets/*", "compiler/codegen/export.py", "data/names.py", "cli/__init__.py"),
    "the system's": (
        "runtime/cpu.py",
        "runtime/memory.py",
        "runtime/object_reports.py",
        "runtime/thread_limit.py",
        "runtime/trial.py",
        "monitor/memory_samples.py",
        "run/scipy/callbacks.py",
        "bench/*",
    ),
    "a temporary folder": (
        "runtime/cache/machine_code.py",
        "runtime/host.py",
        "runtime/cache/*",
        "experiments/dask_plugin.py",
    ),
    "headers of the package": ("runtime/cache/store.py",),
    "lines of the user's own code": ("graph/origin.py",),
    "the border": ("runtime/files.py",),
}


def bare_calls(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Lines that open a path, and by which name."""
    for call in ast.walk(tree):
        if not isinstance(call, ast.Call):
            continue
        if isinstance(call.func, ast.Name) and call.func.id == "open":
            yield call.lineno, "open"
        elif isinstance(call.func, ast.Attribute):
            name, first = call.func.attr, call.args[0] if call.args else None
            mode = isinstance(first, ast.Constant) and isinstance(first.value, str) and _MODE.fullmatch(first.value)
            module = call.func.value.id if isinstance(call.func.value, ast.Name) else ""
            if (
                name in BARE
                or (name == "open" and (mode or module in ("os", "io", "Path", "gzip")))
                or (module == "np" and name in ("save", "load", "savez"))
            ):
                yield call.lineno, name


def test_paths_are_opened_in_one_module():
    allowed = [pattern for patterns in ALLOWED.values() for pattern in patterns]
    used: set[str] = set()
    found: list[str] = []
    for file in sorted(PACKAGE.rglob("*.py")):
        name = file.relative_to(PACKAGE).as_posix()
        kept = [pattern for pattern in allowed if Path(name).match(pattern) or name.startswith(pattern.rstrip("*"))]
        for line, call in bare_calls(ast.parse(file.read_text())):
            used.update(kept)
            if not kept:
                found.append(f"{name}:{line} {call}")
    assert not found, "open by burlab.runtime.files, which refuses pipes, devices and links"
    assert used == set(allowed), "an allowance is of no use any more"


def test_the_walk_sees_bare_calls():
    text = 'open(p)\np.open("wb")\nLoop.open(setup)\np.write_text("x")\nnp.load(p)\nos.open(p, 0)\nrun.save(p)'
    assert [line for line, _ in bare_calls(ast.parse(text))] == [1, 2, 4, 5, 6]
