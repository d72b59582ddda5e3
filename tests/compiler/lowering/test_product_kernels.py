"""The kernels of products and of stacks of products: they stay inside their arrays, and run in narrower registers."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from burlab.compiler import build
from burlab.runtime.cpu import instruction_set
from tests.compiler.lowering.test_stacks import DTYPES, SIZES, arrays, choose
from tests.compiler.pages import at_the_end_of_a_page
from tests.compiler.trace import traced

# rows, sum, columns
PRODUCTS = [
    (1, 3, 2),
    (3, 5, 4),
    (8, 70, 17),
    (9, 7, 24),
    (9, 6, 33),
    (10, 81, 50),
    (17, 3, 81),
    (8, 8, 4),
    (16, 4, 8),
    (11, 12, 4),
]
STACKS = ["tik,tkj->ijt", "ikt,kjt->ijt", "ikt,jkt->tij", "tki,kjt->jit", "itk,jtk->itj", "tk,kjt->jt", "tk,tkj->jt"]
SINGLE = ["ik,kj->ij", "ik,jk->ij", "ki,kj->ij", "tik,tkj->tij", "tki,tkj->tij", "tik,tjk->tij", "ik,k->i", "k,k->"]
SPECS = {"chosen": SINGLE, "stacked": STACKS, "interleaved": STACKS}


@pytest.mark.skipif(sys.platform != "linux", reason="protects pages as Linux does")
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("choice", "spec"), [(choice, spec) for choice, specs in SPECS.items() for spec in specs])
def test_products_stay_inside_their_arrays(choice, spec, dtype, monkeypatch):
    choose(monkeypatch, choice)
    for sizes in [(3, *sizes) for sizes in PRODUCTS] if choice == "chosen" else [*SIZES, (19, 1, 70, 9)]:
        a, b = map(at_the_end_of_a_page, arrays(spec, dtype, dict(zip("tikj", sizes, strict=True))))
        exe = build(traced(lambda a, b: np.einsum(spec, a, b), a, b), gear="replay")
        out = at_the_end_of_a_page(np.empty(exe.outputs[0].shape, dtype))
        exe(a, b, out=(out,))
        np.testing.assert_allclose(out, np.einsum(spec, a.astype(float), b), atol=1e3 * np.finfo(dtype).eps)


@pytest.mark.full
@pytest.mark.skipif("BURLAB_ISA" in os.environ, reason="runs in a process of its own")
@pytest.mark.parametrize("isa", [x for x in ("avx2", "plain") if x != instruction_set().name])
def test_the_same_with_narrower_registers(isa):
    if isa == "avx2" and instruction_set().name != "avx512":
        pytest.skip("this CPU has no AVX2")
    chosen = "test_stacks or awkward or small or lanes or inside or share or repeated"
    files = (str(Path(__file__).with_name(f"test_{name}.py")) for name in ("contraction", "stacks", "product_kernels"))
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", chosen, *files]
    done = subprocess.run(command, env=os.environ | {"BURLAB_ISA": isa}, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
