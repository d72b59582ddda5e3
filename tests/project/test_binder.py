"""The image that repo2docker would build holds a compiler, Python headers and this checkout, and names no CPU."""

import re
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.fixture(scope="module")
def dockerfile(root: Path) -> str:
    command = [sys.executable, "-m", "repo2docker", "--no-build", "--debug", str(root)]
    return subprocess.run(command, text=True, capture_output=True, check=True).stdout


def test_image_has_a_compiler(dockerfile: str):
    install = next(line for line in dockerfile.splitlines() if line.startswith("apt-get install --yes"))
    assert {"g++", "make"} <= set(install.split())


def test_image_has_python_with_headers(dockerfile: str):
    assert "environment-2epy-2d3-2e11" in dockerfile  # conda's Python 3.11, which carries its headers


def test_image_installs_this_checkout(dockerfile: str, root: Path):
    lines = dockerfile.splitlines()
    copied = lines.index("COPY --chown=0:0 src/ ${REPO_DIR}/")
    installed = lines.index('RUN ${KERNEL_PYTHON_PREFIX}/bin/pip install --no-cache-dir -r "binder/requirements.txt"')
    built = lines.index("RUN ./binder/postBuild")
    assert copied < installed < built
    assert (root / "binder" / "requirements.txt").read_text().split() == ["-e", ".[lab,layout,data,frames,bundle]"]
    assert "python burlab/widgets/hatch_build.py" in commands(root / "binder" / "postBuild")


def commands(file: Path) -> list[str]:
    return [line for line in file.read_text().splitlines() if line and not line.startswith("#")]


def test_instruction_set_is_chosen_at_run_time(dockerfile: str, root: Path):
    start, script = commands(root / "binder" / "start"), commands(root / "binder" / "postBuild")
    assert "-march" not in dockerfile + "\n".join(start + script)
    assert "BURLAB_ISA" not in dockerfile
    assert start[-2:] == ["export EXTRA_CLING_ARGS=-O2", 'exec "$@"'], "cppyy's own default is -O2 -march=native"
    assert "start" in next(line for line in dockerfile.splitlines() if line.startswith("ENV R2D_ENTRYPOINT"))
    rebuild = script.index('CLING_REBUILD_PCH=1 binder/start python -c "import cppyy"')
    assert rebuild < script.index("binder/start burlab doctor")


def test_every_tutorial_has_a_badge_that_opens_it(root: Path):
    page = (root / "README.md").read_text()
    names = sorted(path.stem for path in (root / "notebooks").glob("*.ipynb"))
    rows = re.findall(r"^\| \[(\w+)\]\(.*\[!\[.+?\]\[binder\]\]\[(\d\d)\] \|$", page, re.MULTILINE)
    assert [name for name, _ in rows] == names
    places = dict(re.findall(r"^\[(\d\d)\]: (\S+)$", page, re.MULTILINE))
    for name, number in rows:
        assert places[number] == f"https://mybinder.org/v2/gh/burlab/burlab/HEAD?labpath=notebooks/{name}.ipynb"
    assert "[binder]: https://mybinder.org/badge_logo.svg" in page
