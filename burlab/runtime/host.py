"""The C++ compiler of this machine: Cling asks it for the folders of the standard library's headers.

Cling is clang 16: it reads the headers of g++ 11 to 15, and those of g++ 16 stop it at start with pages of errors. So
the compiler is chosen before Cling starts, by what it says of itself, in a millisecond.
"""

import os
import re
import shlex
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from shutil import which

from burlab.errors import ConfigurationError

# Releases of g++ whose headers Cling reads, the best first: the whole range was run.
FIT = range(15, 10, -1)


@dataclass(frozen=True, slots=True)
class HostCompiler:
    """A C++ compiler: what runs it, and the release of g++ whose headers it uses, None where it does not say."""

    command: tuple[str, ...]
    release: int | None

    def __str__(self) -> str:
        """Name in `burlab doctor` and in errors."""
        return f"{shlex.join(self.command)} ({'unknown headers' if self.release is None else f'g++ {self.release}'})"


def host_compiler() -> HostCompiler | None:
    """The first of $CXX, `c++` and `g++-15` to `g++-11` whose headers Cling can read, None where there is no compiler.

    Raises ConfigurationError where all that there are have other headers.
    """
    unfit: list[HostCompiler] = []
    for command in commands():
        compiler = _introduce(command)
        if compiler.release is None or compiler.release in FIT:
            return compiler
        unfit.append(compiler)
    if not unfit:
        return None
    raise ConfigurationError(
        f"cppyy's C++ interpreter reads the headers of g++ {FIT[-1]} to {FIT[0]}, but here is "
        f"{', '.join(map(str, unfit))}. Install one of these beside it, where it is found by name: apt-get install "
        f"g++-{FIT[0]}, or your system's counterpart. Or name one that is elsewhere: export CXX=/path/to/g++, or "
        f'CXX="clang++ --gcc-toolchain=/path".'
    )


def commands() -> Iterator[tuple[str, ...]]:
    """The C++ compilers that are there, in the order in which they are tried."""
    for words in (os.environ.get("CXX", ""), "c++", *(f"g++-{release}" for release in FIT)):
        command = tuple(shlex.split(words))
        if command and which(command[0]):
            yield command


def _introduce(command: tuple[str, ...]) -> HostCompiler:
    """Return the release that a compiler reports: g++ its own, clang that of the g++ whose library it has selected."""
    import subprocess  # and all that comes with it, for sessions that compile

    try:
        said = subprocess.run([*command, "-v"], text=True, capture_output=True, check=False, errors="replace").stderr
    except OSError:
        return HostCompiler(command, None)
    clang = re.search(r"^.*clang version", said, re.MULTILINE)
    found = re.search(r"^Selected GCC installation: .*/(\d+)" if clang else r"^gcc version (\d+)", said, re.MULTILINE)
    if found is None:
        return HostCompiler(command, None)
    # A clang's own headers are for itself: Cling brings those of its version.
    return HostCompiler((*command, "-nobuiltininc") if clang else command, int(found[1]))


@contextmanager
def preferred(compiler: HostCompiler | None) -> Generator[None]:
    """Meanwhile `c++` is the given compiler, for Cling and for the build of its precompiled header."""
    if compiler is None or compiler.command == ("c++",):
        yield
        return
    import tempfile  # and all that comes with it, for few

    path = os.environ.get("PATH", os.defpath)
    program = which(compiler.command[0]) or compiler.command[0]
    with tempfile.TemporaryDirectory(prefix="burlab-") as folder:
        script = Path(folder, "c++")
        script.write_text(
            f'#!/bin/sh\nexec {shlex.join((str(Path(program).absolute()), *compiler.command[1:]))} "$@"\n'
        )
        script.chmod(0o700)
        os.environ["PATH"] = folder + os.pathsep + path
        try:
            yield
        finally:
            os.environ["PATH"] = path


def output_of(*command: str) -> str:
    """Return what a command prints. Raises ConfigurationError where it fails or is not there."""
    import subprocess

    try:
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout
    except (OSError, subprocess.CalledProcessError) as error:
        message = error.stderr if isinstance(error, subprocess.CalledProcessError) else error
        raise ConfigurationError(
            f"{command[0]} fails: {message} burlab works without it, and starts slower."
        ) from error
