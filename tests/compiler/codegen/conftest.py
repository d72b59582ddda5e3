"""What tests of threads inside of a kernel share."""

from collections.abc import Iterator

import pytest

from tests.compiler.everything_shared import everything_shared


@pytest.fixture
def everything_is_shared() -> Iterator[None]:
    """Every step that can be cut is cut."""
    with everything_shared():
        yield
