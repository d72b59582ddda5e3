"""Fixtures of the tests of 64-bit ARM, which are skipped by name where a tool is missing."""

import pytest

from tests.arm.cross import require_tools


@pytest.fixture(scope="session", autouse=True)
def tools() -> None:
    """A cross compiler and an emulator."""
    require_tools()
