"""spill= puts residuals into a file: the same bits, less memory in use, no file left, and clear errors."""

import errno
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import burlab as bl
from burlab.compiler.ir.options import PlanOptions
from burlab.compiler.ir.plan import Invoke
from burlab.compiler.ir.spill_hints import RECALL, RETIRE, is_spill_hint
from burlab.compiler.passes import make_plan
from burlab.errors import ArgumentError, FileError
from burlab.graph.rewrite.simplify import simplify
from burlab.graph.tracing.trace import trace
from burlab.runtime import mapped

RNG = np.random.default_rng(0)
X, W = RNG.normal(size=(256, 256)), RNG.normal(size=(256, 256)) / 16


def network(x: Any, w: Any) -> Any:
    for _ in range(5):
        x = np.tanh((np.sin(x) * np.exp(-x * x)) @ w)
    return np.sum(x * x)


@pytest.mark.parametrize("gear", ["compiled", "replay"])
@pytest.mark.parametrize("options", [{}, {"remat": "sqrt"}, {"threads": 2}], ids=str)
def test_spilled_residuals_keep_their_bits(gear: Any, options: dict[str, Any], tmp_path: Path) -> None:
    plain = bl.compile(network, X, W, argnums=(0, 1), gear=gear, **options)
    spilled = bl.compile(network, X, W, argnums=(0, 1), gear=gear, spill=tmp_path, **options)
    for _ in range(3):  # the first call goes another way than the later ones
        a, b = plain.value_and_grad(X, W), spilled.value_and_grad(X, W)
        assert a[0] == b[0]
        np.testing.assert_array_equal(a[1][0], b[1][0])
        np.testing.assert_array_equal(a[1][1], b[1][1])
        assert list(tmp_path.iterdir()) == []
    assert spilled(X, W) == plain(X, W)
    assert spilled.profile(X, W).rows


def test_every_residual_is_retired_behind_its_last_use_and_recalled_before_the_next(tmp_path: Path) -> None:
    graph = simplify(trace(bl.value_and_grad(network), (X, W)).graph)
    steps = make_plan(graph, PlanOptions(spill=str(tmp_path))).steps
    hints = [(id(step.node), step.kernel) for step in steps if isinstance(step, Invoke) and is_spill_hint(step)]
    retired = [n for n, k in hints if k is RETIRE]
    recalled = [n for n, k in hints if k is RECALL]
    assert len(set(retired)) >= 8
    assert all(retired.count(n) == 2 for n in retired)
    assert len(recalled) >= len(set(retired)) - 2
    assert all(hints.index((n, RETIRE)) < hints.index((n, RECALL)) for n in recalled)


_MEASURED = """
import sys
import numpy as np, burlab as bl
rng = np.random.default_rng(0)
x, w, v = rng.normal(size=(1024, 1024)), rng.normal(size=(1024, 16)), rng.normal(size=(16, 1024)) / 4
def f(x, w, v):
    for _ in range(12):
        x = np.tanh((np.sin(x) * np.exp(-x * x)) @ w @ v)
    return np.sum(x * x)
def peak():
    return int(open("/proc/self/status").read().split("VmHWM:")[1].split()[0]) // 1024
small = x[:64, :64].copy(), w[:64], v[:, :64].copy()
bl.compile(f, *small).value_and_grad(*small)  # what the compiler takes
k = bl.compile(f, x, w, v, spill=sys.argv[1] or None)
before = peak()
value, gradient = k.value_and_grad(x, w, v)
print(peak() - before, value.hex(), float(gradient.sum()).hex())
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc/self/status")
def test_the_process_takes_less_memory(tmp_path: Path) -> None:
    """The peak that the operating system counts, in fresh processes: 12 layers, each with four arrays of 8 MB."""
    environment = {**os.environ, "BURLAB_POISON": "0"}
    runs = [
        subprocess.run(
            [sys.executable, "-c", _MEASURED, folder], check=True, capture_output=True, text=True, env=environment
        )
        for folder in ("", str(tmp_path))
    ]
    (more, *bits), (less, *others) = (run.stdout.split() for run in runs)
    assert bits == others, [run.stderr for run in runs]
    assert int(less) < 0.7 * int(more), (less, more)


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT])
def test_a_full_disk_is_an_error_that_says_so(number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any) -> None:
        raise OSError(number, os.strerror(number))

    kernel = bl.compile(network, X, W, spill=tmp_path)
    monkeypatch.setattr(mapped, "_reserve", full)
    with pytest.raises(FileError, match=r"takes [\d.]+ MiB, and the folder '.*' has no room for it\. Free some space"):
        kernel.value_and_grad(X, W)
    monkeypatch.undo()
    assert kernel.value_and_grad(X, W)[0] == bl.compile(network, X, W).value_and_grad(X, W)[0]
    assert list(tmp_path.iterdir()) == []


def test_wrong_folders(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for wrong in (tmp_path / "missing", tmp_path / "file"):
        with pytest.raises(ArgumentError, match="is not a folder that can be written to"):
            bl.compile(network, X, W, spill=wrong)
    with pytest.raises(ArgumentError, match="spill must be a folder, or None, got 3"):
        bl.compile(network, X, W, spill=3)  # pyright: ignore[reportArgumentType] - the test
