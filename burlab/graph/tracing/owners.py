"""The owner of code: the user, whose surroundings count, or the language, burlab, an installed library."""

import os
import sys
import sysconfig
from functools import lru_cache
from pathlib import Path
from types import FunctionType
from typing import Any

_ARRAY_LIBRARIES = frozenset(("numpy", "scipy", "burlab"))
_LIBRARIES = _ARRAY_LIBRARIES | {"builtins", "math"}
_FOLDERS = tuple({sysconfig.get_path(name) + os.sep for name in ("stdlib", "platstdlib", "purelib", "platlib")})
_INSTALLED = frozenset(("site-packages", "dist-packages"))


def first_part(module: str) -> str:
    """The package that a module belongs to: `numpy` of numpy.linalg, but `numpy_helpers` of numpy_helpers."""
    return module.partition(".")[0]


def is_of_burlab(value: object) -> bool:
    """Return True if a class of burlab made a value."""
    return first_part(str(type(value).__module__)) == "burlab"


@lru_cache(maxsize=4096)
def is_own(module: str) -> bool:
    """Return True for the name of a module of the user's: neither burlab's nor of an installed library.

    A program is the user's wherever it lies: one that an installed library runs in its place has the same name.

    >>> is_own("numpy.linalg"), is_own("numpy_helpers"), is_own("__main__")
    (False, True, True)
    """
    if module == "__main__":
        return True
    if first_part(module) in _LIBRARIES or module in sys.builtin_module_names:
        return False
    file: Any = getattr(sys.modules.get(module), "__dict__", {}).get("__file__")  # a module may answer to any name
    return not isinstance(file, str) or not (file.startswith(_FOLDERS) or _INSTALLED.intersection(Path(file).parts))


def is_own_function(f: FunctionType) -> bool:
    """Return True for a function of the user's: its globals decide, for `__module__` may be copied from another."""
    return is_own(str(f.__globals__.get("__name__", "")))


def is_of_arrays(f: FunctionType) -> bool:
    """Return True for a function of NumPy's, SciPy's or burlab's own."""
    return first_part(str(f.__globals__.get("__name__", ""))) in _ARRAY_LIBRARIES


def is_of_burlab_function(f: FunctionType) -> bool:
    """Return True for a function of burlab's own."""
    return first_part(str(f.__globals__.get("__name__", ""))) == "burlab"
