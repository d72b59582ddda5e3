"""A fixture of tests that compare fused steps with separate kernels."""

from typing import Any

import pytest

from burlab.graph.tracing.trace_cache import forget_traces
from burlab.run.loop import update


@pytest.fixture
def apart(monkeypatch: pytest.MonkeyPatch):
    """Runs the function with gradients and updates in kernels of their own."""

    def call(make: Any) -> Any:
        forget_traces()
        with monkeypatch.context() as patch:
            patch.setattr(update.FusedStep, "of", staticmethod(lambda *_: None))
            made = make()
        forget_traces()
        return made

    return call
