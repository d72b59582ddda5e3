"""Second derivatives of functions of matrices by singular values that are equal, nearly equal, 0, small or distinct."""

from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest
from mpmath import mp

import burlab as bl

from .singular_cases import FORMS, NEAR, SHAPES, SPECTRA, checked, exactly, matrix

RNG = np.random.default_rng(10)
Quarters = list[tuple[int, Any]]


def changes(shape: tuple[int, ...], dtype: Any = np.float64) -> Any:
    """Two changes of a matrix, and weights for the entries of each form."""
    e, h = RNG.normal(size=(2, *shape)).astype(dtype)
    sizes = {"between": shape, "within_left": (shape[0],) * 2, "within_right": (shape[1],) * 2}
    return e, h, {form: RNG.normal(size=size).astype(dtype) for form, size in sizes.items()}


def quarters(a: Any, e: Any, h: Any) -> Quarters:
    """Signs and factors of the matrix displaced by both changes, up to a divisor, for a mixed difference."""
    with mp.workdps(60):
        step, center = mp.mpf(10) ** -15, mp.matrix(a.tolist())
        one, other = (step * mp.matrix(x.tolist()) for x in (e, h))
        return [(s * t, mp.svd_r(center + s * one + t * other, full_matrices=False)) for s in (1, -1) for t in (1, -1)]


def second(form: str, f: Callable[[Any], Any], displaced: Quarters) -> Any:
    """The second derivative along both changes."""
    with mp.workdps(60):
        parts = [sign * exactly(form, f, factors) for sign, factors in displaced]
        return np.array((sum(parts[1:], parts[0]) * mp.mpf(10) ** 30 / 4).tolist(), float)


def products(form: str, f: Any, weights: Any, e: Any, h: Any) -> Callable[[Any], Any]:
    """Forward over forward, forward over reverse, reverse over reverse."""
    value = lambda x: FORMS[form](np, f, x)  # noqa: E731
    loss = lambda x: np.sum(weights * value(x))  # noqa: E731
    return lambda a: (
        bl.jvp(lambda x: bl.jvp(value, (x,), (e,))[1], (a,), (h,))[1],
        bl.hvp(loss)(a, h),
        bl.grad(lambda x: np.sum(h * bl.grad(loss)(x)))(a),
    )


def compare(got: Any, wanted: Any, weights: Any, e: Any, tolerance: float, where: str) -> None:
    """Both products by what they do along the first change."""
    twice, hvp, across = got
    size = max(1.0, np.abs(wanted).max())
    np.testing.assert_allclose(twice, wanted, rtol=0, atol=tolerance * size, err_msg=where)
    np.testing.assert_allclose(hvp, across, rtol=0, atol=tolerance * size * e.size, err_msg=where)
    along = np.sum(weights * wanted)
    np.testing.assert_allclose(np.sum(hvp * e), along, rtol=0, atol=tolerance * size * weights.size, err_msg=where)


@pytest.mark.parametrize(("shape", "options"), [
    *((shape, {"gear": "replay"}) for shape in SHAPES),
    ((3, 3), {"gear": "compiled"}), ((5, 3), {"gear": "replay", "strict": True}),
])  # fmt: skip
def test_second_derivatives_by_singular_values_match_differences(shape: tuple[int, int], options: Any) -> None:
    e, h, weights = changes(shape)
    table = checked([*SPECTRA, *NEAR])
    functions = {(form, name): f for _, form, name, (f, _) in table}
    if options["gear"] == "compiled":
        functions = {key: functions[key] for key in [("between", "tanh"), ("within_left", "square")]}
    rows = {key: products(key[0], f, weights[key[0]], e, h) for key, f in functions.items()}
    kernel: Any = bl.compile(lambda a: {key: row(a) for key, row in rows.items()}, np.ones(shape), **options)
    for spectrum in (*SPECTRA, *NEAR):
        a = matrix(spectrum, shape)
        found, displaced = kernel(a), quarters(a, e, h)
        flat = kernel(matrix(spectrum, shape, False))
        for at, form, name, (_, exact) in table:
            if at == spectrum and (form, name) in functions:
                where = f"{form} {name}, {spectrum}"
                compare(found[form, name], second(form, exact, displaced), weights[form], e, 1e-9, where)
                assert np.isfinite(flat[form, name][0]).all(), where


@pytest.mark.parametrize("shape", SHAPES)
def test_second_derivatives_in_single_precision_are_as_right(shape: tuple[int, int]) -> None:
    e, h, weights = changes(shape, np.float32)
    for form, name, (f, exact) in {(form, name): (form, name, f) for _, form, name, f in checked(["one 0"])}.values():
        kernel: Any = bl.compile(products(form, f, weights[form], e, h), np.ones(shape, np.float32), gear="replay")
        for spectrum in ("identity", "a pair", "one 0", "two 0", "gap 0.001", "small 0.001"):
            a = matrix(spectrum, shape).astype(np.float32)
            got = kernel(a)
            assert all(x.dtype == np.float32 for x in got)
            compare(got, second(form, exact, quarters(a, e, h)), weights[form], e, 2e-3, f"{form} {name}, {spectrum}")


def test_second_derivatives_of_batches_are_those_of_loops() -> None:
    """The batch of spectra is mapped, or one array of matrices."""
    many = np.stack([matrix(spectrum, (5, 3)) for spectrum in SPECTRA])
    e, h, weights = changes((5, 3))
    for form in FORMS:
        f = np.tanh if form == "between" else np.square
        one = products(form, f, weights[form], e, h)
        kernel: Any = bl.compile(one, many[0], gear="replay")
        rows = [kernel(a) for a in many]
        mapped: Any = bl.compile(bl.vmap(one), many, gear="replay")
        for k, got in enumerate(mapped(many)):
            np.testing.assert_allclose(got, np.stack([row[k] for row in rows]), rtol=1e-9, atol=1e-11)

    def stacked(x: Any) -> Any:
        u, s, vt = np.linalg.svd(x, full_matrices=False)
        return np.sum(weights["between"] * ((u * np.tanh(s)[..., None, :]) @ vt))

    hvp: Any = bl.compile(bl.hvp(stacked), many, many, gear="replay")
    alone: Any = bl.compile(
        lambda a: products("between", np.tanh, weights["between"], e, h)(a)[1], many[0], gear="replay"
    )
    got = hvp(many, np.broadcast_to(h, many.shape).copy())
    np.testing.assert_allclose(got, [alone(a) for a in many], rtol=1e-9, atol=1e-11)


def test_third_derivatives_of_functions_of_singular_values_alone_hold() -> None:
    """The second ones of the gradient, which is f' of the matrix."""
    functions: dict[str, Any] = {
        "log cosh": (lambda s: np.log(np.cosh(s)), mpmath.tanh), "sum": (lambda s: s, lambda _: mp.mpf(1)),
    }  # fmt: skip
    for shape in SHAPES:
        e, h, _ = changes(shape)
        for name, (f, slope) in functions.items():
            total = lambda x: np.sum(f(np.linalg.svdvals(x)))  # noqa: B023, E731
            third = lambda x: bl.jvp(lambda y: bl.hvp(total)(y, e), (x,), (h,))[1]  # noqa: B023, E731
            kernel: Any = bl.compile(third, np.ones(shape), gear="replay")
            for spectrum in ("identity", "a pair", "gap 1e-08", "apart", *(["two 0"] if name == "log cosh" else [])):
                a = matrix(spectrum, shape)
                wanted = second("between", slope, quarters(a, e, h))
                np.testing.assert_allclose(kernel(a), wanted, rtol=0, atol=1e-9 * max(1.0, np.abs(wanted).max()))


def test_second_derivatives_of_singular_projectors_match_those_of_separate_values() -> None:
    """On the space of the pair, also by windows: a rational function of the matrix has the same derivatives there."""
    a, (e, h, _) = matrix("a pair", (5, 3)), changes((5, 3))
    cases: list[tuple[Any, str, Any]] = [
        (lambda u, s, vt: u[:, 1:3] @ u[:, 1:3].T, "within_left", lambda s: mp.mpf(s < 1)),
        (lambda u, s, vt: vt[1:3].T @ vt[1:3], "within_right", lambda s: mp.mpf(s < 1)),
        (lambda u, s, vt: vt[:1].T @ vt[:1], "within_right", lambda s: mp.mpf(s > 1)),
        (lambda u, s, vt: u[:, 1:3] @ vt[1:3], "between", lambda s: mp.mpf(s < 1)),
        (lambda u, s, vt: (u[:, :3] * np.where(s < 1, s**2, 0.0)) @ vt[:3], "between", lambda s: s**2 * (s < 1)),
    ]
    displaced = quarters(a, e, h)
    for k, (f, form, exact) in enumerate(cases):
        first = lambda x: bl.jvp(lambda y: f(*np.linalg.svd(y)), (x,), (e,))[1]  # noqa: B023, E731
        got = bl.compile(lambda x: bl.jvp(first, (x,), (h,))[1], a, gear="replay")(a)  # noqa: B023
        np.testing.assert_allclose(got, second(form, exact, displaced), rtol=1e-9, atol=1e-10, err_msg=str(k))


def test_hessians_by_the_matrix_and_a_number_in_the_function_match_differences() -> None:
    """Where two singular values are equal: one number moves the matrix, one the function, and both move one of each."""
    for form, shape in (("between", (5, 3)), ("within_left", (5, 3)), ("within_right", (3, 5)), ("between", (3, 5))):
        a, (e, _, weights) = matrix("a pair", shape), changes(shape)

        def f(s: Any) -> Any:
            return np.sum(weights[form] * FORMS[form](np, lambda w: np.exp(s[1] * w) + s[0] * w, a + s[0] * e))  # noqa: B023

        def exact(x: Any, y: Any) -> Any:
            factors = mp.svd_r(mp.matrix(a.tolist()) + x * mp.matrix(e.tolist()), full_matrices=False)  # noqa: B023
            value = exactly(form, lambda w: mp.exp(y * w) + x * w, factors)  # noqa: B023
            return sum(w * v for w, v in zip(weights[form].ravel().tolist(), value, strict=True))  # noqa: B023

        with mp.workdps(60):
            at, step = (mp.mpf(0), mp.mpf("0.7")), mp.mpf(10) ** -14
            moves = [(step, 0), (0, step)]
            wanted = np.array([[float(sum(
                i * j * exact(*(c + i * x + j * y for c, x, y in zip(at, p, q, strict=True)))
                for i in (1, -1) for j in (1, -1)
            ) / (4 * step**2)) for p in moves] for q in moves])  # fmt: skip
        s = np.array([0.0, float(at[1])])
        for hessian in (bl.hessian(f), bl.jacobian(bl.grad(f))):
            compiled: Any = bl.compile(hessian, s, gear="replay")
            np.testing.assert_allclose(compiled(s), wanted, rtol=1e-10, err_msg=f"{form} {shape}")


def twice(form: str, f: Any, e: Any, h: Any) -> Callable[[Any], Any]:
    """The second derivative of a form along two changes."""
    return lambda a: bl.jvp(lambda x: bl.jvp(lambda y: FORMS[form](np, f, y), (x,), (e,))[1], (a,), (h,))[1]


@pytest.mark.parametrize(("form", "spectrum", "f"), [
    ("between", "identity", lambda s: np.abs(s - 1) ** 1.5),
    ("between", "identity", lambda s: (s - 1) ** 2 * np.arange(3.0)),
    ("between", "two 0", np.square), ("between", "two 0", lambda s: s**1.5),
    ("within_left", "two 0", lambda s: s**1.5),
])  # fmt: skip
def test_second_derivatives_of_what_is_smooth_once_are_not_finite(form: str, spectrum: str, f: Any) -> None:
    a, (e, h, weights) = matrix(spectrum, (5, 3), False), changes((5, 3))
    loss = lambda x: np.sum(weights[form] * FORMS[form](np, f, x))  # noqa: E731
    assert np.isfinite(bl.grad(loss)(a)).all()
    assert not np.isfinite(bl.hvp(loss)(a, h)).all()
    assert not np.isfinite(twice(form, f, e, h)(a)).all()


@pytest.mark.parametrize(("form", "spectrum", "f"), [
    ("between", "identity", np.tanh), ("between", "two 0", np.tanh), ("within_left", "a pair", np.square),
])  # fmt: skip
def test_third_derivatives_at_equal_singular_values_are_nan(form: str, spectrum: str, f: Any) -> None:
    a, (e, h, _) = matrix(spectrum, (5, 3), False), changes((5, 3))
    assert np.isnan(bl.jvp(twice(form, f, e, h), (a,), (h,))[1]).any()
