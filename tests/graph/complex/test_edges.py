"""Complex functions at zeros with signs, infinities and numbers near the ends of the range: the values are NumPy's."""

from itertools import product
from typing import Any

import numpy as np
import pytest

import burlab as bl
from burlab.compiler.planning.options import Gear
from tests.graph.buffers.programs import traced

PARTS = (0.0, -0.0, 1.0, -2.5, 1e-300, 1e200, -1e200, 3e307, np.inf, -np.inf)
Z = np.array([complex(a, b) for a, b in product(PARTS, PARTS)])
NAMES = (
    "abs sqrt exp log log2 log10 expm1 log1p sin cos tan sinh cosh tanh arcsin arccos arctan arcsinh arccosh arctanh "
    "sign angle"
)


def lost(got: Any, wanted: Any) -> list[Any]:
    """Where a part of NumPy's value is a number, and ours another."""
    wrong = np.zeros(got.shape, bool)
    for a, b in ((np.real(got), np.real(wanted)), (np.imag(got), np.imag(wanted))):
        wrong |= ~np.isnan(b) & ~np.isclose(a, b, rtol=1e-12, atol=1e-300)
    return np.argwhere(wrong).tolist()


@pytest.mark.parametrize("name", NAMES.split())
@pytest.mark.filterwarnings("ignore:(invalid|overflow|divide)")
def test_functions(name: str) -> None:
    f = getattr(np, name)
    unsigned = np.isinf(Z.real) & np.isinf(Z.imag)  # where C99 leaves a sign open
    points = Z[~unsigned]
    assert [points[k] for (k,) in lost(traced(f, points), f(points))] == []


@pytest.mark.parametrize("gear", ["replay", "compiled"])
@pytest.mark.filterwarnings("ignore:(invalid|overflow|divide)")
def test_quotients(gear: Gear) -> None:
    def quotients(z: Any, w: Any) -> Any:
        return z[:, None] / w, 1.0 / w, z**0.5

    for got, wanted in zip(traced(quotients, Z, Z, gear=gear), quotients(Z, Z), strict=True):
        assert lost(got, wanted) == []


def test_derivatives_of_large_numbers() -> None:
    z = np.array([1e150 + 2e150j, -3e200 + 1e200j, 2e-150 - 1e-150j])
    np.testing.assert_allclose(bl.vmap(bl.grad(np.log, holomorphic=True))(z) * z, np.ones(3), rtol=1e-13)
    roots = bl.vmap(bl.grad(np.sqrt, holomorphic=True))(z)
    np.testing.assert_allclose(roots * np.sqrt(z), 0.5 * np.ones(3), rtol=1e-13)
    np.testing.assert_allclose(bl.vmap(bl.grad(np.arcsinh, holomorphic=True))(z[:1]) * z[:1], [1.0], rtol=1e-13)
