"""Threads inside of a kernel share every step that can be cut, however few cores there are, and however short it is."""

from collections.abc import Iterator
from contextlib import contextmanager
from unittest import mock

import burlab as bl
from burlab.compiler.codegen import sections

_NO_LIMITS = {"MIN_NANOSECONDS": 0.0, "MAX_SECTION_SHARE": float("inf"), "MAX_SHARE": float("inf")}


@contextmanager
def everything_shared() -> Iterator[None]:
    """Compile so, for up to 16 threads."""
    bl.set_threads(16)
    try:
        with mock.patch.multiple(sections, **_NO_LIMITS):
            yield
    finally:
        bl.set_threads("auto")
