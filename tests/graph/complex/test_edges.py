"""Complex functions at zeros with signs, infinities and numbers near the ends of the range: the values are NumPy's."""

from itertools import product
from typing import Any

import mpmath
import numpy as np
import pytest

import burlab as bl
from burlab.compiler.ir.options import Gear
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


ON_AXES = {
    "sqrt": mpmath.sqrt, "log": mpmath.log, "exp": mpmath.exp, "sin": mpmath.sin, "cos": mpmath.cos, "tan": mpmath.tan,
    "sinh": mpmath.sinh, "cosh": mpmath.cosh, "tanh": mpmath.tanh, "arcsin": mpmath.asin, "arctan": mpmath.atan,
    "arcsinh": mpmath.asinh, "log1p": lambda z: mpmath.log(1 + z), "square": lambda z: z * z,
    "reciprocal": lambda z: 1 / z, "arccos": mpmath.acos, "arctanh": mpmath.atanh,
}  # fmt: skip


@pytest.mark.parametrize("name", ON_AXES)
def test_derivatives_on_the_axes_are_mpmaths(name: str) -> None:
    """Where one part is 0, first and second derivatives of both parts: f' and i f' of a holomorphic function."""
    points = np.array([0.5j, -0.5j, 0.75, 0.25 + 0.5j, -0.3j])
    word = getattr(np, name)
    for part, of in ((np.real, lambda w: w.real), (np.imag, lambda w: w.imag)):
        value = lambda x, y: np.sum(part(word(x + 1j * y)))  # noqa: B023, E731
        by_x, by_y = bl.grad(value, (0, 1))(points.real, points.imag)
        twice = bl.grad(lambda x, y: np.sum(bl.grad(value)(x, y)))(points.real, points.imag)  # noqa: B023
        for k, z in enumerate(points):
            with mpmath.workdps(40):
                first, second = (complex(mpmath.diff(ON_AXES[name], mpmath.mpmathify(z), n)) for n in (1, 2))
            np.testing.assert_allclose(by_x[k], of(first), rtol=1e-12, atol=1e-13, err_msg=str(z))
            np.testing.assert_allclose(by_y[k], of(1j * first), rtol=1e-12, atol=1e-13, err_msg=str(z))
            np.testing.assert_allclose(twice[k], of(second), rtol=1e-11, atol=1e-12, err_msg=str(z))
