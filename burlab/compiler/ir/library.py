"""The library of compiled kernels: instances of the templates in `cpp/burlab/kernels`, made when first needed.

Both gears call them by the same symbols. All kernels that a graph needs are declared together: fifty functions in one
declaration cost 1.5 ms each, one at a time 4.5 ms.
"""

import re
import threading
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from burlab import runtime
from burlab.runtime.cache.background import remember
from burlab.runtime.cache.recipes import Recipe
from burlab.runtime.cpu import instruction_set
from burlab.runtime.wait import shielded


class LibraryKernel(NamedTuple):
    """One function of the library: its symbol, its C++ text, and the header that the text needs."""

    symbol: str
    text: str
    header: str


_lock = threading.RLock()
_compiled: dict[str, str] = {}  # symbol -> text
_named: set[str] = set()  # those that the compiler knows by name
_addresses: dict[str, int] = {}


def kernel(name: str, template: str, header: str) -> LibraryKernel:
    """A kernel of the common signature (`kernels/kernel.hpp`): `template` names a struct with a static `run`.

    header: see `path_of`.
    """
    symbol = f"burlab_{name}"
    return LibraryKernel(symbol, f"BURLAB_KERNEL({symbol}, {template}::run)\n", path_of(header))


def path_of(header: str) -> str:
    """A header of `kernels/` by its name, or any other, which has a path."""
    return header if header.endswith(".hpp") else f"burlab/kernels/{header}.hpp"


BY_SCIPY = frozenset(map(path_of, ("linalg/eig", "special")))
"""Headers of kernels that call SciPy, so that no program without Python can have them."""


def register() -> int:
    """Bytes of the widest registers of the instruction set."""
    return instruction_set().register


EACH = LibraryKernel(
    "burlab_each",
    'extern "C" burlab::Status burlab_each(burlab::kernels::Kernel kernel, const std::int64_t* box,'
    " const std::int64_t* d, void* out, const void* a, const void* b = nullptr) noexcept {"
    " return burlab::kernels::each(kernel, box, d, out, a, b); }\n",
    "burlab/kernels/kernel.hpp",
)


def require(kernels: Iterable[LibraryKernel], *, by_name: bool = True) -> None:
    """Make kernels callable: compile those that are not in the cache.

    by_name: whether text will be compiled that calls them by name; else they are called by address alone.
    """
    with _lock:
        missing = {k.symbol: k for k in kernels if k.symbol not in (_named if by_name else _compiled)}
        if missing:
            shielded(lambda: _make(missing, by_name))


def _make(missing: Mapping[str, LibraryKernel], by_name: bool) -> None:
    """Compile and remember: an interrupt must not come in between, since nothing can be declared twice."""
    shelved = {i.symbol for i in missing.values() if runtime.taken(i.symbol, i.text)}
    wanted = [i for i in missing.values() if by_name or i.symbol not in shelved]
    texts = {i: _prototype(i.text) if i.symbol in shelved else i.text for i in wanted}
    if texts:
        runtime.compile_text("".join(texts.values()), tuple(dict.fromkeys(i.header for i in texts)))
    _compiled.update({i.symbol: i.text for i in missing.values()})
    _named.update(i.symbol for i in texts)


def _prototype(text: str) -> str:
    """The declarations of functions that are compiled elsewhere, for their callers."""
    text = re.sub(r"^BURLAB_KERNEL\((\w+),.*$", r"BURLAB_KERNEL_DECLARED(\1)", text, flags=re.MULTILINE)
    return re.sub(r'^(extern "C".*?) \{.*\}$', r"\1;", text, flags=re.MULTILINE)


def unit(text: str, calls: Sequence[LibraryKernel]) -> str:
    """The namespace of a kernel's text, compiled with the kernels that it calls unless a session has done so."""
    needs = [call.text for call in calls]
    if not runtime.is_compiled(text, name="kernel", needs=needs):
        require(calls)
        remember(Recipe(text, calls))
    return runtime.declare(text, name="kernel", needs=needs)


def compiled_texts() -> Mapping[str, str]:
    """The kernels so far that later sessions can use, and their texts; inline functions are left out."""
    return {symbol: text for symbol, text in _compiled.items() if text and not text.startswith("BURLAB_INLINE")}


def address(symbol: str) -> int:
    """The address of a kernel that was required."""
    with _lock:
        if symbol not in _addresses:
            _addresses[symbol] = runtime.address(symbol)
        return _addresses[symbol]
