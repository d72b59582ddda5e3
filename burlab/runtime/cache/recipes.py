"""Texts from which the kernels of a session are compiled again, for the process that fills the cache.

A session notes the kernels that it had to compile, and leaves their texts in the cache folder when it ends.
`kernels.py` compiles them there, as a session would, into a second library, which later sessions read like the first.
"""

import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from burlab.errors import FileError
from burlab.runtime.files import write_whole

from .store import cache_file, read_index, sealed

MAX_KERNELS = 100  # that one session leaves, and that are cached
MAX_CHARACTERS = 400_000  # of their texts together: some seconds of compiling


class Recipe(NamedTuple):
    """A kernel's text, and symbol, text and header of each library function that it calls."""

    text: str
    calls: Sequence[Sequence[str]]

    @property
    def length(self) -> int:
        """Length in characters."""
        return len(self.text) + sum(len(word) for call in self.calls for word in call)


_recorded: dict[str, Recipe] = {}


def note(recipe: Recipe) -> None:
    """Note a kernel that had to be compiled, as the cache does not hold it."""
    if len(_recorded) < MAX_KERNELS:
        _recorded.setdefault(recipe.text, recipe)


def leave() -> None:
    """Write the noted kernels next to the file of the cache."""
    file = cache_file(write=True)
    if file is None or not _recorded:
        return
    with suppress(OSError, FileError):  # a folder that cannot be written: the next session compiles again
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_recipes(file.with_suffix(f".{os.urandom(8).hex()}.wanted"), _recorded.values())


def wanted(file: Path) -> list[Path]:
    """Return the files of recipes that sessions left and that are not compiled yet, the newest first."""
    left = [(place.stat().st_mtime_ns, place) for place in file.parent.glob(f"{file.stem}.*.wanted")]
    return [place for _, place in sorted(left, reverse=True)]


def write_recipes(file: Path, recipes: Iterable[Recipe]) -> None:
    """Write recipes to a file that this user alone may read or write. Raises FileError."""
    before = os.umask(0o077)  # others must not write what this user compiles
    try:
        write_whole(file, sealed(b"", {"recipes": list(recipes)}))
    finally:
        os.umask(before)


def read_recipes(file: Path) -> list[Recipe]:
    """Return the recipes of a file; none if it is missing, damaged, or writable by other users."""
    found: Mapping[str, Any] = read_index(file) or {}
    with suppress(TypeError):
        return [Recipe(*row) for row in found.get("recipes", ())]
    return []


def fewer(recipes: Iterable[Recipe]) -> list[Recipe]:
    """Return the first recipes, without repetitions, up to the limits."""
    room, chosen = MAX_CHARACTERS, dict[str, Recipe]()
    for recipe in recipes:
        if recipe.text not in chosen and recipe.length <= room and len(chosen) < MAX_KERNELS:
            chosen[recipe.text] = recipe
            room -= recipe.length
    return list(chosen.values())
