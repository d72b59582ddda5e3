"""The process that caches the kernels of sessions: `python -m burlab.runtime.cache.kernels`, after `fill`.

It compiles their texts again, those that are cached and those that sessions left since, into one library.
"""

import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from burlab import runtime
from burlab.compiler.ir import library
from burlab.errors import BurlabError
from burlab.runtime.cache.machine_code import compiled
from burlab.runtime.cache.recipes import Recipe, fewer, read_recipes, wanted, write_recipes
from burlab.runtime.cache.store import cache_file, cache_file_name, code_cache, kernels_file, sealed, text_hash
from burlab.runtime.files import write_whole

from .fill import alone


def cache_kernels() -> None:
    """Compile the kernels that sessions left and delete their texts, also after a failure: no session waits twice."""
    file = cache_file(write=True)
    if file is None or not code_cache().names:  # kernels call functions of the cache
        return
    with suppress(OSError), alone(file.parent, wait=True):
        left = wanted(file)
        try:
            _make(file, [recipe for place in left for recipe in read_recipes(place)])
        finally:
            for place in left:
                place.unlink(missing_ok=True)


def _make(file: Path, new: list[Recipe]) -> None:
    recipes = file.with_suffix(".recipes")
    chosen = fewer([*new, *read_recipes(recipes)])
    if not any(recipe in chosen for recipe in new):
        return
    code_cache().own = {}
    units: set[str] = set()
    made = compiled(lambda: units.update(_units(chosen)))
    names = {unit: text_hash(text) for unit, text in runtime.declared().items() if unit in units}
    if cache_file_name() == file.name:  # the headers and the compiler are the same
        write_recipes(recipes, chosen)
        write_whole(kernels_file(file), sealed(made, names))


def _units(recipes: Iterable[Recipe]) -> Iterator[str]:
    """Compile kernels; the names of their units."""
    for recipe in recipes:
        with suppress(BurlabError):
            unit = library.unit(recipe.text, [library.LibraryKernel(*call) for call in recipe.calls])
            runtime.address(f"{unit}_run")  # the compiler makes what is asked for
            yield unit


if __name__ == "__main__":
    os.umask(0o077)  # others must not write what this user runs
    with suppress(BurlabError):
        cache_kernels()
