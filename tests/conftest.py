"""What every test may use: the repository's root, and one hypothesis profile."""

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# A first example may wait for the C++ compiler, so no deadline; in CI the same examples every time.
settings.register_profile(
    "burlab", deadline=None, derandomize="CI" in os.environ, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("burlab")


@pytest.fixture(scope="session")
def root() -> Path:
    """The root of the checkout."""
    return Path(__file__).parents[1]
