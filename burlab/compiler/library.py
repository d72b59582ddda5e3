"""The library of compiled kernels: instances of the templates in `cpp/burlab/kernels`, made when first needed.

Both gears call them by the same symbols. All instances that a graph needs are declared together: fifty functions in one
declaration cost 1.5 ms each, one at a time 4.5 ms.
"""

import threading
from collections.abc import Iterable
from typing import NamedTuple

from burlab import runtime
from burlab.runtime.cpu import instruction_set
from burlab.runtime.wait import shielded


class Instance(NamedTuple):
    """One function of the library: its symbol, its C++ text, and the header that the text needs."""

    symbol: str
    text: str
    header: str


_lock = threading.RLock()
_made: set[str] = set()
_addresses: dict[str, int] = {}


def kernel(name: str, template: str, header: str) -> Instance:
    """A kernel of the common signature (`kernels/kernel.hpp`): `template` names a struct with a static `run`."""
    symbol = f"burlab_{name}"
    return Instance(symbol, f"BURLAB_KERNEL({symbol}, {template}::run)\n", f"burlab/kernels/{header}.hpp")


def register() -> int:
    """Bytes of the widest registers of the instruction set."""
    return instruction_set().register


EACH = Instance(
    "burlab_each",
    'extern "C" burlab::Status burlab_each(burlab::kernels::Kernel kernel, const std::int64_t* box,'
    " const std::int64_t* d, void* out, const void* a, const void* b = nullptr) noexcept {"
    " return burlab::kernels::each(kernel, box, d, out, a, b); }\n",
    "burlab/kernels/kernel.hpp",
)


def require(instances: Iterable[Instance]) -> None:
    """Compile those instances that do not exist yet."""
    with _lock:
        missing = {i.symbol: i for i in instances if i.symbol not in _made}
        if missing:
            shielded(lambda: _make(missing))


def _make(missing: dict[str, Instance]) -> None:
    """Compile and remember: an interrupt must not come in between, since nothing can be declared twice."""
    headers = dict.fromkeys(i.header for i in missing.values())
    runtime.compile_text("".join(i.text for i in missing.values()), tuple(headers))
    _made.update(missing)


def address(symbol: str) -> int:
    """Where a required instance starts."""
    with _lock:
        if symbol not in _addresses:
            _addresses[symbol] = runtime.address(symbol)
        return _addresses[symbol]
