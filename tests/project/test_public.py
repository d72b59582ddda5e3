"""`import burlab` is quick and starts no compiler, and its list of public names is true."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import burlab


def python(code: str) -> str:
    """Run `code` in a fresh interpreter and return what it prints."""
    return subprocess.run([sys.executable, "-c", code], text=True, capture_output=True, check=True).stdout


def test_import_starts_nothing():
    loaded = python("import sys, burlab; print(*sys.modules)").split()
    assert [name for name in loaded if name.startswith(("cppyy", "numpy", "scipy", "IPython", "burlab."))] == [
        "burlab._version"
    ]


def test_import_is_quick():
    """Beside NumPy, which a session has loaded before, it is not felt."""
    measure = (
        "import time; start = time.process_time(); import numpy; middle = time.process_time(); import burlab\n"
        "print((time.process_time() - middle) / (middle - start))"
    )
    assert min(float(python(measure)) for _ in range(3)) < 0.3


@pytest.mark.parametrize("name", burlab.__all__)
def test_public_name_exists_and_is_documented(name: str):
    assert getattr(burlab, name).__doc__


def test_star_import_gives_the_public_names():
    assert set(burlab.__all__) <= set(python("from burlab import *; print(*dir())").split())


def test_type_checkers_see_the_same_names():
    tree = ast.parse(Path(burlab.__file__).read_text())
    block = next(node for node in tree.body if isinstance(node, ast.If))
    imports = [node for node in block.body if isinstance(node, ast.ImportFrom)]
    seen = {alias.asname: node.module for node in imports for alias in node.names}
    modules = {name: f"{home}.{name}" for name, home in seen.items() if burlab._HOME[name].endswith(f".{name}")}
    assert seen | modules == burlab._HOME


@pytest.mark.parametrize("first", ["", "bl.scipy.stats; bl.linalg; bl.compressors; "])
def test_public_modules_are_imported_by_their_public_names(first: str):
    uses = "from burlab.scipy.stats import norm; import burlab.linalg; from burlab.compressors import TopK"
    same = "norm is bl.scipy.stats.norm, burlab.linalg is bl.linalg, TopK is bl.compressors.TopK"
    assert python(f"import burlab as bl; {first}{uses}; print({same})") == "True True True\n"


def test_modules_of_scipy_are_imported_by_its_names():
    names = ["linalg", "signal", "special", "stats"]
    uses = "; ".join(f"import burlab.scipy.{name} as {name}" for name in names)
    same = ", ".join(f"{name} is bl.scipy.{name}" for name in names)
    assert python(f"{uses}; import burlab as bl; print({same})") == "True True True True\n"


def test_modules_of_others_are_not_found_by_public_names():
    find = "import burlab; from importlib.util import find_spec; print(find_spec('robust'), find_spec('linalg'))"
    assert python(find) == "None None\n"


def test_unknown_name_points_to_the_public_names():
    with pytest.raises(AttributeError, match=r"no attribute 'gradd'.*burlab\.__all__"):
        burlab.gradd  # noqa: B018 - the look-up is what is tested
