"""Programs as users of HIPS autograd write them, unchanged: the same numbers on burlab as on autograd."""

import pytest

from tests.engines import assert_close
from tests.programs.shims import TEXTS, load

NAMES = sorted(path.stem for path in TEXTS.glob("*.py"))


@pytest.mark.parametrize("name", NAMES)
def test_programs_give_what_autograd_gives(name: str) -> None:
    pytest.importorskip("autograd", reason="autograd, the second engine, is not installed: make peers")
    assert_close(load(name, "burlab").main(), load(name, "autograd").main(), rtol=1e-10)
