"""What tests of threads inside of a kernel share: every step that can be cut is cut."""

from collections.abc import Iterator

import pytest

import burlab as bl
from burlab.compiler.codegen import sections


@pytest.fixture
def everything_is_shared(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """However few cores there are, and however short a step is."""
    monkeypatch.setattr(sections, "MIN_NANOSECONDS", 0.0)
    monkeypatch.setattr(sections, "MAX_SECTION_SHARE", float("inf"))
    monkeypatch.setattr(sections, "MAX_SHARE", float("inf"))
    bl.set_threads(16)
    yield
    bl.set_threads("auto")
