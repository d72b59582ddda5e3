"""What would make a session's own kernels again: texts, handed to the process that keeps code for later sessions.

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

from .store import read_index, sealed, shelf_file

_MOST = 100  # kernels that one session leaves, and that are kept
_LONGEST = 400_000  # characters of their texts together: some seconds of compiling


class Recipe(NamedTuple):
    """A kernel's text, and symbol, text and header of each library function that it calls."""

    text: str
    calls: Sequence[Sequence[str]]

    @property
    def length(self) -> int:
        """In characters."""
        return len(self.text) + sum(len(word) for call in self.calls for word in call)


_recorded: dict[str, Recipe] = {}


def note(recipe: Recipe) -> None:
    """A kernel was compiled that is on no shelf."""
    if len(_recorded) < _MOST:
        _recorded.setdefault(recipe.text, recipe)


def leave() -> None:
    """Write what was recorded beside the shelf's file."""
    file = shelf_file(write=True)
    if file is None or not _recorded:
        return
    with suppress(OSError, FileError):  # a folder that cannot be written: the next session compiles again
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_recipes(file.with_suffix(f".{os.urandom(8).hex()}.wanted"), _recorded.values())


def wanted(file: Path) -> list[Path]:
    """The recipes that sessions left beside a shelf's file, not compiled yet, the newest first."""
    left = [(place.stat().st_mtime_ns, place) for place in file.parent.glob(f"{file.stem}.*.wanted")]
    return [place for _, place in sorted(left, reverse=True)]


def write_recipes(file: Path, recipes: Iterable[Recipe]) -> None:
    """Write them, for this user alone. Raises FileError."""
    before = os.umask(0o077)  # others must not write what this user compiles
    try:
        write_whole(file, sealed(b"", {"recipes": list(recipes)}))
    finally:
        os.umask(before)


def read_recipes(file: Path) -> list[Recipe]:
    """Those of a file; none where it is not there, not whole, or others than this user may have written it."""
    found: Mapping[str, Any] = read_index(file) or {}
    with suppress(TypeError):
        return [Recipe(*row) for row in found.get("recipes", ())]
    return []


def fewer(recipes: Iterable[Recipe]) -> list[Recipe]:
    """The first of them, each once, up to the limits."""
    room, chosen = _LONGEST, dict[str, Recipe]()
    for recipe in recipes:
        if recipe.text not in chosen and recipe.length <= room and len(chosen) < _MOST:
            chosen[recipe.text] = recipe
            room -= recipe.length
    return list(chosen.values())
