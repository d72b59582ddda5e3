"""The cache of compiled code: a library of machine code in the user's cache folder.

Most of what a session compiles is the same in every session: the loop of runs, the gate, the table of operations,
kernels. `machine_code.py` links what Cling made of them into one shared library, and what a session finds there it
need not compile, nor start Cling for. The file is named by everything that the code depends on and is believed only if
its own hash says that it is whole. Nothing needs it: without it everything is compiled, to the same bits.
"""

import ctypes
import hashlib
import json
import os
import platform
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path

from burlab._version import __version__
from burlab.runtime.compiler_calls import clang_flags
from burlab.runtime.cppyy_interpreter import precompiled_header
from burlab.runtime.cpu import cpu_identity, instruction_set
from burlab.runtime.files import opened
from burlab.runtime.host import commands
from burlab.runtime.interpreter import header_folder, keeps_code

# What else in the environment changes what the compiler reads or makes.
_VARIABLES = "STDCXX CPATH CPLUS_INCLUDE_PATH ROOT_INCLUDE_PATH CLING_ENABLE_CUDA CPPYY_BACKEND_LIBRARY".split()
_OFF = {"off", "none", "no", "0"}
_READ_ONLY = ":ro"
_MARK = b"burlab shelf 1\n\n"  # 16 bytes
_FOOTER = 8 + 32 + len(_MARK)  # after the index: its length, the hash of all before, the mark

Index = Mapping[str, str]  # the name of a unit or a library function -> the hash of its text


class CodeCache:
    """Code of the files. names: units that every session needs; own: kernels that earlier sessions compiled."""

    def __init__(self, names: Index, own: Index, libraries: Sequence[ctypes.CDLL]) -> None:
        self.names = names
        self.own = own
        self._libraries = libraries

    def holds(self, name: str, text: str) -> bool:
        """Return True if the cache has the code that this very text compiles to."""
        return text_hash(text) in (self.names.get(name), self.own.get(name))

    def find(self, symbol: str) -> int:
        """Return the address of a function; 0 if the cache does not have it."""
        for library in self._libraries:
            with suppress(ValueError):
                return ctypes.addressof(ctypes.c_char.in_dll(library, symbol))
        return 0


@cache
def code_cache() -> CodeCache:
    """Return the code that this process need not compile; the first call loads it (3 ms)."""
    file = cache_file()
    if file is None:
        return CodeCache({}, {}, ())
    names, library = _loaded(file, ctypes.RTLD_GLOBAL)
    if library is None:
        return CodeCache({}, {}, ())
    own, kernels = _loaded(
        kernels_file(file), ctypes.RTLD_LOCAL
    )  # they call the others, and nothing calls them by name
    return CodeCache(names, own, (library, kernels) if kernels else (library,))


def _loaded(file: Path, mode: int) -> tuple[Index, ctypes.CDLL | None]:
    """Return the index of a file and its library; empty and None if it cannot be loaded."""
    names = read_index(file)
    if names:
        with suppress(OSError):  # a folder whose files may not be run
            return names, ctypes.CDLL(str(file), mode=mode)
    return {}, None


def kernels_file(file: Path) -> Path:
    """Return the path of the library with the kernels that sessions compiled."""
    return file.with_suffix(".own")


def cache_folder(write: bool = False) -> Path | None:
    """Return the folder of burlab's cache; None if the environment variable BURLAB_CACHE is `off`.

    write: the caller writes files, so the result is None also for `/a/folder:ro`, a read-only folder.
    """
    chosen = os.environ.get("BURLAB_CACHE", "")
    folder = chosen.removesuffix(_READ_ONLY)
    if chosen.lower() in _OFF or (write and folder != chosen):
        return None
    if folder:
        return Path(folder).expanduser().absolute()
    base = os.environ.get("XDG_CACHE_HOME", "")
    with suppress(RuntimeError):  # a user without a home
        return (Path(base) if base.startswith("/") else Path.home() / ".cache") / "burlab"
    return None


def cache_file(write: bool = False) -> Path | None:
    """Return the file for this machine, compiler and version of burlab, present or not; None if the cache is off."""
    folder = cache_folder(write)
    if folder is None or sys.platform != "linux" or platform.machine() != "x86_64" or not keeps_code():
        return None
    return folder / cache_file_name()


def cache_file_name() -> str:
    """Return the name of that file, with a hash of everything that its content depends on."""
    digest = hashlib.sha256()
    for part in _ingredients():
        digest.update(len(part).to_bytes(8, "little") + part)
    return f"{instruction_set().name}-{digest.hexdigest()[:24]}.so"


def text_hash(text: str) -> str:
    """Return a hash of a text, 16 hexadecimal digits."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _ingredients() -> Iterator[bytes]:
    """Yield everything that the compiled code depends on."""
    chosen = instruction_set()
    machine = cpu_identity() if "native" in clang_flags() else ()  # other flags make the same code on any machine
    yield repr((__version__, sys.hexversion, sys.abiflags, chosen, machine, clang_flags())).encode()
    yield repr([os.environ.get(name) for name in _VARIABLES]).encode()
    for command in commands():
        yield repr((command, _stamp(shutil.which(command[0])))).encode()
    yield repr(_stamp(precompiled_header())).encode()
    root = header_folder() / "burlab"
    for text in sorted(root.glob("**/*.hpp")):
        yield str(text.relative_to(root)).encode()
        yield text.read_bytes()


def _stamp(name: str | None) -> tuple[str, int, int] | None:
    with suppress(OSError):
        file = Path(name or "").resolve()
        found = file.stat()
        return str(file), found.st_size, int(found.st_mtime)  # layers of images keep seconds
    return None


def sealed(library: bytes, names: Mapping[str, object]) -> list[bytes]:
    """Return the parts of a file: a shared library, behind it, where loaders do not read, its index and its hash."""
    index = json.dumps(names).encode()
    parts = [library, index, len(index).to_bytes(8, "little")]
    return [*parts, hashlib.sha256(b"".join(parts)).digest(), _MARK]


def read_index(file: Path) -> Index | None:
    """Return the index of a file; None if it is missing, damaged, or writable by other users."""
    try:
        with opened(file) as stream:
            for place in (os.fstat(stream.fileno()), file.parent.stat()):
                if place.st_uid not in (os.getuid(), 0) or place.st_mode & 0o022:
                    return None
            content = stream.read()
    except OSError:
        return None
    end = len(content) - _FOOTER
    if end < 0 or not content.endswith(_MARK):
        return None
    length, digest = content[end : end + 8], content[end + 8 : end + 40]
    if hashlib.sha256(memoryview(content)[: end + 8]).digest() != digest:
        return None
    return json.loads(content[end - int.from_bytes(length, "little") : end])
