"""The machine code that the interpreter made in this process, as a shared library.

The linker makes one library of the object files that it hands out. So the cache holds the code of the interpreter
itself, with its bits, and not that of another compiler.
"""

import ctypes
import os
import tempfile
from collections.abc import Callable
from pathlib import Path

from burlab.errors import ConfigurationError
from burlab.runtime.host import host_compiler, output_of
from burlab.runtime.interpreter import interpreter, interpreter_name

# Our functions are exported; copies of the standard library's stay local.
_EXPORTS = "{ global: burlab*; _Z*6burlab*; local: *; };\n"


def compiled(work: Callable[[], None]) -> bytes:
    """Return a shared library of what Cling compiles during work(), in a process that uses and fills no cache."""
    os.environ.update(CLING_DEBUG="1", BURLAB_CACHE="off")
    before = len(_object_files())  # with which Cling starts
    work()
    with tempfile.TemporaryDirectory() as folder:
        return link(_object_files()[before:], Path(folder)).read_bytes()


def _object_files() -> list[bytes]:
    found = interpreter().object_files()
    if found is None:
        raise ConfigurationError(f"{interpreter_name()} hands out no object files. burlab works, and starts slower.")
    return found


def link(objects: list[bytes], folder: Path) -> Path:
    """One shared library of the objects, in a folder for temporary files, after loading it once to see that it loads.

    Raises ConfigurationError with the linker's message.
    """
    library, exports = folder / "cache.so", folder / "exports"
    exports.write_text(_EXPORTS)
    files = [folder / f"{k}.o" for k in range(len(objects))]
    for file, content in zip(files, objects, strict=True):
        file.write_bytes(content)
    # notext: Cling's code holds addresses, which the loader fills in. -S: without what debuggers read.
    options = f"-Wl,-z,notext,-z,now,-S,--version-script={exports}"
    compiler = host_compiler()
    output_of(*(compiler.command if compiler else ("c++",)), "-shared", "-o", str(library), *map(str, files), options)
    try:
        ctypes.CDLL(str(library))
    except OSError as error:
        raise ConfigurationError(f"What Cling compiled cannot be linked: {error}. burlab works without it.") from error
    return library
