"""Programs as users of HIPS autograd write them, unchanged: the same numbers on burlab as on autograd and on JAX."""

from functools import cache
from typing import Any

import pytest

from tests.engines import assert_close
from tests.programs.shims import TEXTS, load

pytestmark = pytest.mark.slow

NAMES = sorted(path.stem for path in TEXTS.glob("*.py"))


@cache
def _ours(name: str) -> Any:
    return load(name, "burlab").main()


@pytest.mark.parametrize("engine", ["autograd", "jax"])
@pytest.mark.parametrize("name", NAMES)
def test_programs_give_what_other_engines_give(name: str, engine: str) -> None:
    pytest.importorskip(engine, reason=f"{engine}, a second engine, is not installed: make peers")
    assert_close(_ours(name), load(name, engine).main(), rtol=1e-10)
