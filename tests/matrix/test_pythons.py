"""Every other Python that this machine has passes the smoke suite, in a fresh environment of its own."""

import os
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

pytestmark = [pytest.mark.matrix, pytest.mark.timeout(1800)]
ROOT = Path(__file__).parents[2]
VERSIONS = ("3.11", "3.12", "3.13", "3.14")


def pythons(version: str) -> Iterator[str]:
    """Where a Python of this version may be: in the list BURLAB_PYTHONS, on the PATH, or in a folder of pyenv's."""
    yield from os.environ.get("BURLAB_PYTHONS", "").split()
    yield f"python{version}"
    root = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    yield from map(str, sorted(root.glob(f"versions/{version}.*/bin/python{version}")))


def find(version: str) -> str | None:
    """A Python of this version that runs here."""
    for python in pythons(version):
        ask = [python, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"]
        try:
            said = subprocess.run(ask, text=True, capture_output=True, check=False).stdout
        except OSError:
            continue
        if said.strip() == version:
            return python
    return None


@pytest.mark.parametrize("version", [v for v in VERSIONS if v != "{}.{}".format(*sys.version_info)])
def test_smoke(version: str):
    python = find(version)
    if python is None:
        pytest.skip(f"no Python {version} on this machine: put it on the PATH, or name it in BURLAB_PYTHONS")
    bare = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    command = ["make", "--no-print-directory", "smoke", f"PYTHON={python}"]
    done = subprocess.run(command, cwd=ROOT, env=bare, text=True, capture_output=True, check=False)
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-5000:]


def test_the_metadata_names_these_versions():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    named = [
        c.rpartition(" ")[2] for c in project["classifiers"] if c.startswith("Programming Language :: Python :: 3.")
    ]
    assert named == list(VERSIONS)
    first, last = ((3, int(v.partition(".")[2])) for v in (VERSIONS[0], VERSIONS[-1]))
    assert project["requires-python"] == f">={first[0]}.{first[1]},<{last[0]}.{last[1] + 1}"
