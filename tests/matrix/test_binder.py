"""The steps of binder/ in a fresh environment, and the tutorials there with each instruction set of this CPU.

The image is built on one machine and run on others: its precompiled header names no CPU, and what runs may have more.
"""

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from burlab.runtime import cpu

pytestmark = [pytest.mark.matrix, pytest.mark.timeout(1800)]
SETS = [known.name for known in cpu._KNOWN if cpu.cpu_flags().issuperset(known.flags)]
FLAGSHIPS = ("03_names", "06_time_travel", "07_gpt")
OURS = "BURLAB_CACHE BURLAB_ISA CLING_STANDARD_PCH EXTRA_CLING_ARGS PYTHONPATH STDCXX".split()  # not the image's
BASE = """
from burlab.runtime.interpreter import interpreter
for feature in ("SSE3", "AVX", "AVX2", "FMA", "AVX512F"):
    print(interpreter().declare(f"#ifdef __{feature}__\\n#error\\n#endif\\n")[0])
"""
# Whether a session on another CPU finds code that postBuild compiled.
CACHED_PROGRAM = """
from burlab.runtime.cache import store
store.cpu_identity = lambda: ("another",)
print(bool(store.code_cache().names))
"""


@dataclass(frozen=True, slots=True)
class Image:
    """A copy of the checkout, and the virtual environment that was made of its binder/."""

    checkout: Path
    environment: dict[str, str]

    def run(self, *command: str, **variables: str) -> str:
        """Return the output of a command, which must succeed."""
        done = subprocess.run(
            command,
            cwd=self.checkout,
            env=self.environment | variables,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
        )
        assert done.returncode == 0, done.stdout[-5000:]
        return done.stdout

    def session(self, *command: str, **variables: str) -> str:
        """Return the output of a command inside of the image."""
        return self.run("binder/start", *command, **variables)


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory, root: Path) -> Image:
    folder = tmp_path_factory.mktemp("binder")
    listed = ["git", "ls-files", "-co", "--exclude-standard", "-z"]
    for name in subprocess.run(listed, cwd=root, text=True, capture_output=True, check=True).stdout.split("\0")[:-1]:
        if (root / name).is_file():
            (folder / "checkout" / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(root / name, folder / "checkout" / name)
    subprocess.run([sys.executable, "-m", "venv", folder / "venv"], check=True)
    inherited = {name: value for name, value in os.environ.items() if name not in OURS}
    path = f"{folder / 'venv' / 'bin'}{os.pathsep}{os.environ['PATH']}"
    cache = subprocess.run([sys.executable, "-m", "pip", "cache", "dir"], text=True, capture_output=True, check=True)
    own = {"PATH": path, "XDG_CACHE_HOME": str(folder / "cache"), "PIP_CACHE_DIR": cache.stdout.strip()}
    made = Image(folder / "checkout", inherited | own)
    made.run("pip", "install", "--quiet", "-r", "binder/requirements.txt")
    made.run("./binder/postBuild")
    for file in folder.rglob("*"):
        if not file.is_symlink():
            os.utime(file, (seconds := int(file.stat().st_mtime), seconds))  # layers of images keep no parts of seconds
    made.run("pip", "install", "--quiet", "nbval", "pytest-timeout")  # run the tutorials; no part of the image
    return made


def test_base_names_no_cpu(image: Image) -> None:
    assert image.session("python", "-c", BASE).split() == ["True"] * 5


@pytest.mark.parametrize("isa", [isa for isa in SETS if isa.startswith("avx")])
def test_precompiled_code_serves_any_cpu(image: Image, isa: str) -> None:
    assert image.session("python", "-c", CACHED_PROGRAM, BURLAB_ISA=isa) == "True\n"


@pytest.mark.parametrize("isa", SETS)
def test_tutorials_run(image: Image, isa: str) -> None:
    """All of them with the widest set, which is what a reader gets; with the others those that compute most kinds."""
    chosen = ["notebooks"] if isa == SETS[0] else [f"notebooks/{name}.ipynb" for name in FLAGSHIPS]
    command = ["python", "-m", "pytest", "-q", "--nbval-lax", "-p", "no:cacheprovider", *chosen]
    assert " passed" in image.session(*command, BURLAB_ISA=isa)
