"""The tests that a change touches: those whose imports reach a changed file, directly or through other modules."""

import ast
import re
import subprocess
from collections.abc import Iterable
from functools import cache
from importlib import import_module
from pathlib import Path

import grimp

from tests.tiers.parcels import ROOT, files_of_tests, modules_with_examples

# What is not Python: the tests that look at files below a folder. A header is looked at by all tests of C++.
_CPP = ("tests/numbers", "tests/arm", "tests/project/test_headers", "tests/project/test_sanitizers")
_READERS = {
    "cpp/burlab/kernels": (*_CPP, "tests/compiler", "tests/problems/kernels"),
    "cpp/burlab/ops": (*_CPP, "tests/graph", "tests/compiler", "tests/eager"),
    "cpp/burlab/tape": (*_CPP, "tests/eager"),
    "cpp/burlab/run": (*_CPP, "tests/run", "tests/problems", "tests/optim"),
    "cpp/burlab/python": (*_CPP, "tests/compiler/test_gate", "tests/runtime", "tests/eager"),
    "cpp": (*_CPP, "tests/graph", "tests/compiler"),
    "burlab/widgets": ("tests/widgets", "tests/browser"),
    "burlab/bench": ("tests/bench",),
    "notebooks": ("tests/project/test_notebooks", "tests/browser/test_notebooks"),
}
_EVERYWHERE = ("tests/project",)  # pages, tables and the repository's own files


def changed(since: str) -> set[str]:
    """Files that differ from a commit or are new, relative to the root."""
    said = [
        subprocess.run(["git", *words], cwd=ROOT, check=True, capture_output=True, text=True).stdout.splitlines()
        for words in (["diff", "--name-only", since], ["ls-files", "--others", "--exclude-standard"])
    ]
    return {file for files in said for file in files}


def near(files: set[str]) -> set[str]:
    """The files of tests, tutorials and modules with examples that reach one of the changed files."""
    if not files:
        return set()
    affected = files | _importers(files)
    tests = {file for file in files_of_tests() if imported(file) & affected or _reads(file, files)}
    examples = {file for file in modules_with_examples() if {file, *_used(file)} & affected}
    return tests | examples | {file for file in files if file.endswith(".ipynb")}


def _reads(test: str, files: set[str]) -> bool:
    rooms = {room for file in files if not file.endswith(".py") for room in _rooms(file)}
    return any(test.startswith(room) for room in rooms)


def _rooms(file: str) -> tuple[str, ...]:
    return next((rooms for folder, rooms in _READERS.items() if file.startswith(folder + "/")), _EVERYWHERE)


def _importers(files: set[str]) -> set[str]:
    """The files of the package that import one of these, directly or through others."""
    graph = grimp.build_graph("burlab", exclude_type_checking_imports=True)
    modules = {file.removesuffix(".py").removesuffix("/__init__").replace("/", ".") for file in files}
    return {_file(name) for module in modules & graph.modules for name in graph.find_downstream_modules(module)}


def _file(module: str) -> str:
    stem = module.replace(".", "/")
    return f"{stem}/__init__.py" if (ROOT / stem).is_dir() else f"{stem}.py"


def imported(file: str) -> set[str]:
    """A file of tests, the helpers that it imports, also through others, and what these import of the package."""
    ahead, found = [file], set[str]()
    while ahead:
        current = ahead.pop()
        if current not in found:
            found.add(current)
            ahead += _imports(current) if current.startswith("tests/") else ()
    return found | {f"{folder}/conftest.py" for folder in Path(file).parents}


@cache
def _imports(file: str) -> frozenset[str]:
    """Return the imports of a file of tests, wherever they stand in its text."""
    found = set[str]()
    for node in ast.walk(ast.parse((ROOT / file).read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names if alias.name != "burlab"}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return _used(file) | _files(name for name in found if name.startswith(("burlab.", "tests.")))


@cache
def _used(file: str) -> frozenset[str]:
    """Return the files of public names that a text uses, as in `bl.optim.Adam`."""
    names = re.findall(r"\bbl((?:\.[A-Za-z_]\w*)+)", (ROOT / file).read_text())
    return _files(f"burlab{name}" for name in set(names))


def _files(names: Iterable[str]) -> frozenset[str]:
    return frozenset(file for name in names if (ROOT / (file := _file(_home(name)))).is_file())


@cache
def _home(name: str) -> str:
    """The module that defines what a dotted name says: that of `burlab.optim.Adam` is `burlab.optim.adam`."""
    if _file(name) != f"{name.replace('.', '/')}.py" or (ROOT / _file(name)).is_file():
        return name
    package, _, last = name.rpartition(".")
    if package in ("burlab", "tests") or not name.startswith("burlab.") or (ROOT / _file(package)).is_file():
        owner = import_module(package) if name.startswith("burlab.") else None
        home = getattr(getattr(owner, last, None), "__module__", None)
        return home if isinstance(home, str) and home.startswith("burlab.") else package
    return _home(package)
