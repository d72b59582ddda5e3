"""The compiler whose headers Cling reads is chosen before Cling starts; where none fits, an error names the remedy."""

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from burlab.errors import ConfigurationError
from burlab.runtime import host_compiler

GCC = "Using built-in specs.\nCOLLECT_GCC=c++\nTarget: x86_64-linux-gnu\ngcc version {0}.2.0 (Debian {0}.2.0-4)"
CLANG = (
    "Debian clang version 21.1.8\nTarget: x86_64-pc-linux-gnu\n"
    "Found candidate GCC installation: /usr/lib/gcc/x86_64-linux-gnu/12\n"
    "Selected GCC installation: /usr/lib/gcc/x86_64-linux-gnu/{0}"
)
DERIVE = "import numpy as np, burlab as bl; print(bl.grad(lambda x: np.sum(x**3))(np.array([1.0, 2.0])))"


class Machine:
    """A PATH with compilers that say of themselves what a test wants; each call of one leaves a line in `log`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.log = folder / "log"
        fit = host_compiler()
        assert fit
        self.real = shlex.join([str(shutil.which(fit.command[0])), *fit.command[1:]])
        for tool in ("sh", "sed", "cat"):
            (folder / tool).symlink_to(str(shutil.which(tool)))

    def add(self, name: str, says: str, works: bool = True) -> Path:
        """A compiler of this name, which is the real one but for what it says; or else one that fails."""
        script = self.folder / name
        compile = f'exec {self.real} "$@"' if works else "exit 1"
        log = f'echo "{name} $*" >> {self.log}'
        script.write_text(f'#!/bin/sh\n{log}\nif [ "$*" = -v ]; then cat >&2 <<E\n{says}\nE\nelse {compile}; fi\n')
        script.chmod(0o755)
        return script

    def run(self, code: str = DERIVE, **environment: str) -> subprocess.CompletedProcess[str]:
        """A fresh Python on this machine."""
        variables = {k: v for k, v in os.environ.items() if k != "CXX"} | {"PATH": str(self.folder)} | environment
        return subprocess.run(
            [sys.executable, "-c", code], env=variables, text=True, capture_output=True, check=False, errors="replace"
        )


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    made = Machine(tmp_path)  # while the real compiler is to be found
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CXX", raising=False)
    return made


@pytest.mark.parametrize("page", [GCC, CLANG], ids=["g++", "clang"])
@pytest.mark.parametrize("release", [11, 12, 13, 14, 15])
def test_headers_that_were_tried_are_taken(machine: Machine, page: str, release: int):
    machine.add("c++", page.format(release))
    compiler = host_compiler()
    assert compiler
    assert (compiler.command[0], compiler.release) == ("c++", release)
    assert ("-nobuiltininc" in compiler.command) == (page is CLANG), "a clang's own headers are not for Cling"


@pytest.mark.parametrize("page", [GCC, CLANG], ids=["g++", "clang"])
@pytest.mark.parametrize("release", [10, 16, 17])
def test_other_headers_are_refused_with_a_remedy(machine: Machine, page: str, release: int):
    machine.add("c++", page.format(release))
    with pytest.raises(ConfigurationError, match=rf"(?s)g\+\+ 11 to 15.*g\+\+ {release}.*g\+\+-15.*CXX="):
        host_compiler()


def test_older_compiler_next_to_it_is_found(machine: Machine):
    for release in (16, 14, 13):
        machine.add(f"g++-{release}", GCC.format(release))
    machine.add("c++", GCC.format(16))
    assert str(host_compiler()) == "g++-14 (g++ 14)"


def test_cxx_comes_first_if_it_is_there_and_fit(machine: Machine, monkeypatch: pytest.MonkeyPatch):
    machine.add("c++", GCC.format(12))
    machine.add("other", GCC.format(13))
    for words, chosen in {"other -O1": ("other", "-O1"), "/nowhere/g++": ("c++",), "": ("c++",)}.items():
        monkeypatch.setenv("CXX", words)
        compiler = host_compiler()
        assert compiler
        assert compiler.command == chosen
    machine.add("other", GCC.format(16))
    monkeypatch.setenv("CXX", "other")
    assert str(host_compiler()) == "c++ (g++ 12)"


def test_compiler_without_a_version_is_accepted_and_none_is_none(machine: Machine):
    assert host_compiler() is None
    machine.add("c++", "Apple clang version 17.0.0")
    assert str(host_compiler()) == "c++ (unknown headers)"


def test_headers_that_cling_cannot_read_are_an_error_and_no_crash(machine: Machine, tmp_path: Path):
    machine.add("c++", GCC.format(16))
    done = machine.run(CLING_STANDARD_PCH=str(tmp_path / "new.pch"))
    assert done.returncode == 1
    last = done.stderr.splitlines()[-1]
    assert last.startswith("burlab.errors.ConfigurationError: ")
    assert "c++ (g++ 16)" in last
    assert machine.log.read_text().splitlines() == ["c++ -v"], "nothing was started that could fail"
    page = machine.run("from burlab.cli import doctor; doctor.main()").stdout.splitlines()
    assert "ConfigurationError" in page[-3]
    assert "apt-get install g++-15" in page[-2]


def test_cling_calls_the_compiler_that_fits(machine: Machine):
    machine.add("c++", GCC.format(16), works=False)
    machine.add("g++-15", GCC.format(15))
    done = machine.run()
    assert done.stdout.endswith("[ 3. 12.]\n"), done.stderr  # a precompiled header may be made before
    asked = machine.log.read_text().splitlines()
    assert asked[:2] == ["c++ -v", "g++-15 -v"]
    assert len(asked) > 2
    assert all(line.startswith("g++-15 ") for line in asked[2:])
    left = machine.run("import os, burlab.runtime as r; r.interpreter(); print(os.environ['PATH'])").stdout
    assert left.strip() == str(machine.folder)


def test_precompiled_header_that_cannot_be_built_is_an_error():
    environment = os.environ | {"CLING_STANDARD_PCH": "/nowhere/cling.pch"}
    done = subprocess.run([sys.executable, "-c", DERIVE], env=environment, text=True, capture_output=True, check=False)
    assert done.returncode == 1
    assert "ConfigurationError" in done.stderr
    assert "export CLING_STANDARD_PCH=" in done.stderr


def test_a_python_without_its_lock_is_refused():
    code = "import sys, burlab.runtime as runtime; sys.abiflags = 't'; runtime.interpreter()"
    done = subprocess.run([sys.executable, "-c", code], text=True, capture_output=True, check=False)
    assert "ConfigurationError: This Python is built without its lock" in done.stderr
