"""C++ functions of our own headers as Python callables: addresses from one small declared table, called by ctypes.

For calls that are not counted in nanoseconds. ctypes lets go of the GIL, so a call may wait or compute for long.
"""

import ctypes
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .cling import address, declare

Signature = tuple[Any, ...]  # ctypes types: the result (None for void), then the arguments


def exports(header: str, namespace: str, signatures: Mapping[str, Signature]) -> dict[str, Callable[..., Any]]:
    """The functions of a header by name, compiled now.

    namespace: where they live in C++. Their C++ signatures must be those of `signatures`: nothing checks it.
    """
    entries = ", ".join(f"reinterpret_cast<const void*>(&{namespace}::{name})" for name in signatures)
    body = (
        'extern "C" const void* @unit_function(std::int64_t index) noexcept {\n'
        f"  static const void* const exports[] = {{{entries}}};\n"
        "  return exports[index];\n}"
    )
    unit = declare(body, (header,), name="exports")
    lookup = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_int64)(address(f"{unit}_function"))
    return {name: _function(lookup(k), signature) for k, (name, signature) in enumerate(signatures.items())}


def _function(place: int, signature: Sequence[Any]) -> Callable[..., Any]:
    return ctypes.CFUNCTYPE(*signature)(place)
