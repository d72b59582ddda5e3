"""What the tests of 64-bit ARM need, or they are skipped by name."""

import pytest

from tests.arm.cross import require_tools


@pytest.fixture(scope="session", autouse=True)
def tools() -> None:
    """A cross compiler and an emulator."""
    require_tools()
