"""Users' NumPy code: each row is run by NumPy itself, traced, and run by JAX. `np` is the module in use."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy  # noqa: ICN001 - in the rows `np` is whichever module runs them

_rng = numpy.random.default_rng(8)
S, V, W = numpy.float64(0.7), _rng.normal(size=5), _rng.normal(size=5)
M, N, R = _rng.normal(size=(3, 4)), _rng.normal(size=(4, 2)), _rng.normal(size=(3, 4))
B, C, Q = _rng.normal(size=(2, 3, 4)), _rng.normal(size=(2, 4, 2)), _rng.normal(size=(4, 4))
J, K = numpy.array([2, -1, 0]), numpy.array([[1, -3], [0, 1]])  # indices, some from the end
A = numpy.array([[0, -1], [3, 3], [1, 2]])  # along the axis of size 4 of M


@dataclass(frozen=True, slots=True)
class Spelling:
    """f(np, *args). jax: whether JAX knows it too (and differentiates it by the floating arguments)."""

    name: str
    f: Callable[..., Any]
    args: tuple[Any, ...]
    jax: bool = True


def rows(args: tuple[Any, ...], *lines: tuple[str, Callable[..., Any]], jax: bool = True) -> list[Spelling]:
    """Spellings with the same arguments."""
    return [Spelling(name, f, args, jax) for name, f in lines]


SPELLINGS = (
    *rows(
        (V, W),
        ("frexp, ldexp", lambda np, a, b: np.ldexp(*np.frexp(a)) + np.ldexp(b, 3) + np.frexp(b)[1]),
        ("spacing, nextafter", lambda np, a, b: np.spacing(a) + np.nextafter(a, b)),
        ("fix", lambda np, a, b: np.fix(3 * a)),
        jax=False,
    ),
    *rows(
        (V, W),
        ("a + b", lambda np, a, b: a + b),
        ("a - b", lambda np, a, b: a - b),
        ("a * b", lambda np, a, b: a * b),
        ("a / b", lambda np, a, b: a / b),
        ("2 - a", lambda np, a, b: 2 - a),
        ("2 / a", lambda np, a, b: 2 / a),
        ("3.5 * a + 1", lambda np, a, b: 3.5 * a + 1),
        ("-a", lambda np, a, b: -a),
        ("+a", lambda np, a, b: +a),
        ("abs(a)", lambda np, a, b: abs(a)),
        ("a ** 2", lambda np, a, b: a**2),
        ("a ** 3", lambda np, a, b: a**3),
        ("a ** 4", lambda np, a, b: a**4),
        ("a ** 5", lambda np, a, b: a**5),
        ("a ** 6", lambda np, a, b: a**6.0),
        ("a ** 1", lambda np, a, b: a**1),
        ("a ** 0", lambda np, a, b: a**0),
        ("a ** -1", lambda np, a, b: a**-1),
        ("a ** -2.0", lambda np, a, b: a**-2.0),
        ("abs(a) ** 0.5", lambda np, a, b: abs(a) ** 0.5),
        ("abs(a) ** b", lambda np, a, b: abs(a) ** b),
        ("2 ** a", lambda np, a, b: 2**a),
        ("1.5 ** a", lambda np, a, b: 1.5**a),
        ("a @ b", lambda np, a, b: a @ b),
        ("[1, 2, 3, 4, 5] * a", lambda np, a, b: np.array([1, 2, 3, 4, 5]) * a),
        ("list(a)", lambda np, a, b: sum(v * v for v in a)),
        ("a, b = unpacked", lambda np, a, b: [*a][1] * [*b][2]),
        ("len(a) * a", lambda np, a, b: len(a) * a / a.size / a.ndim),
    ),
    *rows(
        (V, W),
        *(
            (name, lambda np, a, b, name=name: getattr(np, name)(a))
            for name in "negative positive exp expm1 exp2 sin cos tan arctan sinh cosh tanh square reciprocal".split()
        ),
        ("deg2rad", lambda np, a, b: np.deg2rad(a) + np.rad2deg(b)),
        *(
            (name, lambda np, a, b, name=name: getattr(np, name)(np.abs(a) + 0.1))
            for name in "sqrt log log1p log2 log10 absolute fabs".split()
        ),
        *(
            (name, lambda np, a, b, name=name: getattr(np, name)(a, b))
            for name in "add subtract multiply divide true_divide maximum minimum arctan2 hypot logaddexp".split()
        ),
        *(
            (name, lambda np, a, b, name=name: getattr(np, name)(a, b) * 1.0)
            for name in "less less_equal greater greater_equal equal not_equal".split()
        ),
        *(
            (name, lambda np, a, b, name=name: getattr(np, name)(0.4 * a))
            for name in "arcsin arccos arcsinh sinc cbrt degrees radians floor ceil rint trunc round signbit".split()
        ),
        *(
            (name, lambda np, a, b, name=name: getattr(np, name)(a, b) * 1.0)
            for name in "fmax fmin copysign heaviside remainder fmod floor_divide logaddexp2 isclose".split()
        ),
        ("a % b, a // b", lambda np, a, b: (a % b) * (a // b) + divmod(a, 0.5)[1]),
        ("round to decimals", lambda np, a, b: np.round(a, 2) + round(b[0], 1) + np.around(a, -1) + a.round(3)),
        ("nan_to_num", lambda np, a, b: np.nan_to_num(a) + np.nan_to_num(1e300 * 1e300 * b, posinf=2.0, neginf=-3.0)),
        ("modf", lambda np, a, b: np.modf(a)[0] + 2 * np.modf(a)[1]),
        ("arccosh", lambda np, a, b: np.arccosh(1.5 + np.abs(a))),
        ("allclose", lambda np, a, b: np.allclose(a, a + 1e-12) * a),
        ("isposinf", lambda np, a, b: np.isposinf(a) + np.isneginf(a) + np.positive(b)),
        ("sign", lambda np, a, b: np.sign(a)),
        ("power", lambda np, a, b: np.power(np.abs(a), b)),
        ("float_power", lambda np, a, b: np.float_power(np.abs(a), 2)),
        ("where", lambda np, a, b: np.where(a > b, a * b, b)),
        ("where scalar", lambda np, a, b: np.where(a > 0, a, 0.0)),
        ("clip", lambda np, a, b: np.clip(a, -0.5, 0.75)),
        ("clip below", lambda np, a, b: np.clip(a, 0.0, None)),
        ("clip arrays", lambda np, a, b: np.clip(a, b - 1, b + 0.1)),
        ("clip method", lambda np, a, b: a.clip(-0.5, 0.5)),
        ("logic", lambda np, a, b: np.where((a > 0) & (b < 0.5) | ~(a < b), a, b)),
        (
            "logical",
            lambda np, a, b: np.where(np.logical_xor(np.logical_and(a > 0, b > 0), np.logical_not(a > b)), a, b),
        ),
        ("comparisons", lambda np, a, b: (a < b) + 2.0 * (a >= b) + (a == a + 0.0) + (a != b) * (b <= 0) * a),
        ("isfinite", lambda np, a, b: np.isfinite(a) * a + np.isnan(b) * b + np.isinf(a)),
        ("dot", lambda np, a, b: np.dot(a, b)),
        ("inner", lambda np, a, b: np.inner(a, b)),
        ("vdot", lambda np, a, b: np.vdot(a, b)),
        ("outer", lambda np, a, b: np.outer(a, b)),
        ("convolve by hand", lambda np, a, b: np.stack([a[:3] @ b[k : k + 3] for k in range(3)])),
        ("a.dot(b)", lambda np, a, b: a.dot(b)),
        ("maximum.reduce", lambda np, a, b: a.max() + b.min()),
        ("concatenate", lambda np, a, b: np.concatenate([a, b, a[:1]]) ** 2),
        ("hstack", lambda np, a, b: np.hstack([a, b]) ** 2),
        ("vstack", lambda np, a, b: np.vstack([a, b]) ** 2),
        ("stack", lambda np, a, b: np.stack([a, b], axis=1) ** 2),
        ("stack -1", lambda np, a, b: np.stack((a, b, a * b), -1)),
        ("column_stack", lambda np, a, b: np.column_stack([a, b]) @ np.ones(2)),
        ("atleast_2d", lambda np, a, b: np.atleast_2d(a) * b),
        ("broadcast_arrays", lambda np, a, b: np.stack(np.broadcast_arrays(a[:, None], b)) ** 2),
        ("np.array of scalars", lambda np, a, b: np.array([a[0] ** 2, b[1], 3.0])),
        ("np.array nested", lambda np, a, b: np.array([[a[0], b[0]], [1.0, a[1] * b[1]]]) @ np.array([1.0, 2.0])),
        ("linspace * a", lambda np, a, b: np.linspace(0, 1, 5) * a),
        ("arange", lambda np, a, b: np.arange(5) * a),
        ("average", lambda np, a, b: np.average(a, weights=np.abs(b))),
        ("prod with a zero", lambda np, a, b: np.prod(a * (np.arange(5) != 2))),
        ("prod with zeros", lambda np, a, b: np.prod(a * (np.arange(5) > 1))),
    ),
    *rows(
        (M, R),
        *(
            (
                f"{name} axis={axis} keepdims={keep}",
                lambda np, a, b, name=name, axis=axis, keep=keep: getattr(np, name)(a * 1.5, axis=axis, keepdims=keep),
            )
            for name in "sum mean max min prod var std".split()
            for axis, keep in ((None, False), (0, False), (1, True), (-1, False), ((0, 1), True), ((-1, -2), False))
        ),
        *(
            (f".{name}({axis})", lambda np, a, b, name=name, axis=axis: getattr(a * b, name)(axis))
            for name in "sum mean max min prod var std cumsum".split()
            for axis in (None, 0, -1)
        ),
        *(
            (f"norm {p} {axis}", lambda np, a, b, p=p, axis=axis: np.linalg.norm(a, p, axis))
            for p, axis in (
                (None, None),
                (None, 0),
                (None, (0, 1)),
                (2, 1),
                (1, -1),
                (numpy.inf, 0),
                (-numpy.inf, 1),
                (3, 0),
                ("fro", None),
            )
        ),
        ("norm keepdims", lambda np, a, b: a / np.linalg.norm(a, axis=1, keepdims=True)),
        ("var ddof", lambda np, a, b: np.var(a, axis=0, ddof=1)),
        ("ptp", lambda np, a, b: np.ptp(a, axis=0)),
        ("amax", lambda np, a, b: np.amax(a, 1) + np.amin(a, 1)),
        ("cumsum", lambda np, a, b: np.cumsum(a, axis=-2)),
        ("cumsum flat", lambda np, a, b: np.cumsum(a)),
        ("broadcast row", lambda np, a, b: a + b[0]),
        ("broadcast column", lambda np, a, b: a * b[:, :1]),
        ("broadcast_to", lambda np, a, b: np.broadcast_to(a[:, None], (3, 2, 4)) * 1.5),
        ("reshape", lambda np, a, b: np.reshape(a, (2, -1)) * 2),
        (".reshape", lambda np, a, b: a.reshape(4, 3) @ b),
        (".reshape -1", lambda np, a, b: a.reshape(-1)),
        ("ravel", lambda np, a, b: np.ravel(a) * b.ravel()),
        ("flatten", lambda np, a, b: a.flatten()),
        (".T", lambda np, a, b: a.T @ b),
        ("transpose", lambda np, a, b: np.transpose(a) * 2),
        (".transpose", lambda np, a, b: a.transpose(1, 0)),
        ("swapaxes", lambda np, a, b: np.swapaxes(a, 0, -1)),
        ("moveaxis", lambda np, a, b: np.moveaxis(a, 0, -1)),
        ("moveaxis of ranges", lambda np, a, b: np.moveaxis(a, range(2), range(1, -1, -1))),
        ("expand_dims", lambda np, a, b: np.expand_dims(a, (0, -1)) * b[None, ..., None]),
        ("squeeze", lambda np, a, b: np.squeeze(a[:, :1])),
        ("squeeze axis", lambda np, a, b: np.squeeze(a[:1], axis=0)),
        ("flip", lambda np, a, b: np.flip(a, 1) * b),
        ("flip all", lambda np, a, b: np.flip(a)),
        ("roll", lambda np, a, b: np.roll(a, 1, axis=1)),
        ("roll flat", lambda np, a, b: np.roll(a, -2)),
        ("sort", lambda np, a, b: np.sort(a, axis=0)),
        ("sort all", lambda np, a, b: np.sort(a, None)),
        ("repeat", lambda np, a, b: np.repeat(a, 2, axis=0)),
        ("repeat counts", lambda np, a, b: np.repeat(a, numpy.array([1, 0, 2]), axis=0)),
        ("tile", lambda np, a, b: np.tile(a, (2, 1))),
        ("tile 2", lambda np, a, b: np.tile(a[0], 2)),
        ("pad", lambda np, a, b: np.pad(a, ((1, 0), (0, 2))) * 3),
        ("pad value", lambda np, a, b: np.pad(a, 1, constant_values=2.0)),
        ("diff", lambda np, a, b: np.diff(a)),
        ("diff 2", lambda np, a, b: np.diff(a, 2, axis=0)),
        ("tril", lambda np, a, b: np.tril(a)),
        ("triu 1", lambda np, a, b: np.triu(a, 1)),
        ("tril -1", lambda np, a, b: np.tril(a, -1)),
        ("trace", lambda np, a, b: np.trace(a @ b.T)),
        ("diagonal", lambda np, a, b: np.diagonal(a @ b.T)),
        ("zeros_like", lambda np, a, b: np.zeros_like(a) + b),
        ("ones_like", lambda np, a, b: np.ones_like(a) * b),
        ("full_like", lambda np, a, b: np.full_like(a, 2.5) * b),
        ("full_like traced", lambda np, a, b: np.full_like(a, b[0, 0]) * a),
        ("split", lambda np, a, b: sum(k * p for k, p in enumerate(np.split(a, 2, axis=1)))),
        ("split at", lambda np, a, b: np.split(a, [1, 3], axis=1)[1]),
        ("split past", lambda np, a, b: np.split(a, [3, 4], axis=1)[2]),
        ("array_split", lambda np, a, b: np.array_split(a, 3, axis=1)[0] * 2),
        ("concatenate axis", lambda np, a, b: np.concatenate((a, b, a[:, :1]), axis=-1)),
        ("concatenate None", lambda np, a, b: np.concatenate((a, b), axis=None)),
        ("argmax", lambda np, a, b: np.argmax(a, axis=1) * 1.0 + np.argmin(a, 1)),
        ("argmax flat", lambda np, a, b: np.argmax(a) * b),
        ("any all", lambda np, a, b: np.any(a > 0, axis=0) * np.all(b < 2, axis=0) * a),
        ("count_nonzero", lambda np, a, b: np.count_nonzero(a > 0) * b),
        ("astype", lambda np, a, b: (a > 0).astype(float) * b),
        ("sum of mask", lambda np, a, b: np.sum(a > b, axis=0) * b[0]),
        ("sum of ints", lambda np, a, b: np.sum((a > b).astype(int)) * b),
        ("max of products", lambda np, a, b: np.max(a * b, axis=0) ** 2),
        ("iteration", lambda np, a, b: sum(row @ other for row, other in zip(a, b, strict=True))),
        ("0-d", lambda np, a, b: np.sum(a)[()] * np.sum(b)[...]),
        ("size", lambda np, a, b: np.sum(a) / np.size(a) * np.shape(b)[1] * np.ndim(a)),
        (
            "softmax",
            lambda np, a, b: (e := np.exp(a - np.max(a, axis=-1, keepdims=True))) / np.sum(e, axis=-1, keepdims=True),
        ),
        (
            "layer norm",
            lambda np, a, b: (a - np.mean(a, -1, keepdims=True)) / np.sqrt(np.var(a, -1, keepdims=True) + 1e-5) * b,
        ),
    ),
    *rows(
        (M, N, B, C, Q),
        ("matrix @ matrix", lambda np, m, n, b, c, q: m @ n),
        ("batch @ batch", lambda np, m, n, b, c, q: b @ c),
        ("matrix @ batch", lambda np, m, n, b, c, q: m @ c),
        ("batch @ matrix", lambda np, m, n, b, c, q: b @ n),
        ("vector @ batch", lambda np, m, n, b, c, q: m[0] @ c),
        ("batch @ vector", lambda np, m, n, b, c, q: b @ n[:, 0]),
        ("dot batch", lambda np, m, n, b, c, q: np.dot(b, c)),
        ("dot scalar", lambda np, m, n, b, c, q: np.dot(m, 2.0)),
        ("dot matrix vector", lambda np, m, n, b, c, q: np.dot(m, n[:, 1])),
        ("inner matrices", lambda np, m, n, b, c, q: np.inner(m, b[0])),
        ("tensordot", lambda np, m, n, b, c, q: np.tensordot(b, n, 1)),
        ("tensordot axes", lambda np, m, n, b, c, q: np.tensordot(b, c, axes=((0, 2), (0, 1)))),
        ("tensordot axis", lambda np, m, n, b, c, q: np.tensordot(m, q, axes=(1, -1))),
        ("matmul", lambda np, m, n, b, c, q: np.matmul(b, c)),
        ("matmul 1 and many", lambda np, m, n, b, c, q: b[:1] @ c),
        ("outer of matrices", lambda np, m, n, b, c, q: np.outer(m, n)),
        ("vecdot", lambda np, m, n, b, c, q: np.vecdot(b, m)),
        ("[[1, 2, 3]] @ m", lambda np, m, n, b, c, q: np.array([[1.0, 2.0, 3.0]]) @ m),
        ("m @ constant", lambda np, m, n, b, c, q: m @ np.ones((4, 2))),
        *(
            (
                f"einsum {spec}",
                lambda np, m, n, b, c, q, spec=spec, names=names: np.einsum(
                    spec, *({"m": m, "n": n, "b": b, "c": c, "q": q}[k] for k in names)
                ),
            )
            for spec, names in (
                ("ij,jk->ik", "mn"),
                ("ij,jk", "mn"),
                ("ij->ji", "m"),
                ("ij->", "m"),
                ("ij->j", "m"),
                ("ii->i", "q"),
                ("ii", "q"),
                ("bij,bjk->bik", "bc"),
                ("bij,bjk->ki", "bc"),
                ("...ij,...jk->...ik", "bc"),
                ("...ij,jk->...ik", "bn"),
                ("...i->...", "b"),
                ("ij,bij->b", "mb"),
                ("ij,ij->ij", "mm"),
                ("i...,j...->ij...", "nn"),
                ("ij,jk,kl->il", "mqn"),
                ("bij,ik,bkl->jl", "bmc"),
                ("ij,kl->ikjl", "mn"),
                ("iij->j", "qq"),
                ("ba,bij", "nb"),
                ("a b , b c -> a c", "mn"),
                ("bii->bi", "qq"),
            )
            if spec not in ("iij->j", "bii->bi", "ba,bij")
        ),
        (
            "einsum sizes of 1",
            lambda np, m, n, b, c, q: (
                np.einsum("ij,ij->i", m[:, :1] * np.ones((3, 1)), m)
                if np is not numpy
                else np.einsum("ij,ij->i", m[:, :1], m)
            ),
        ),
        ("einsum optimize", lambda np, m, n, b, c, q: np.einsum("ij,jk,kl->il", m, q, n, optimize=True)),
    ),
    *rows(
        (M, B),
        *(
            (f"m[{text}]", lambda np, m, b, key=key: m[key] * 2)
            for text, key in (
                ("0", 0),
                ("-1", -1),
                ("1, 2", (1, 2)),
                ("1:", slice(1, None)),
                ("::-1", slice(None, None, -1)),
                ("::2, 1", (slice(None, None, 2), 1)),
                ("-1:0:-2", slice(-1, 0, -2)),
                ("..., 0", (..., 0)),
                ("None", None),
                (":, None, 1:3", (slice(None), None, slice(1, 3))),
                ("5:", slice(5, None)),
                ("2:1", slice(2, 1)),
                ("...", ...),
                ("1, ...", (1, ...)),
                ("[2, 0]", numpy.array([2, 0])),
                ("array", J),
                ("array 2d", K),
                ("array, array", (J, J)),
                ("array[:, None], array", (J[:, None], J)),
                (":, array", (slice(None), J)),
                ("array, 1:", (J, slice(1, None))),
                ("1, array", (1, J)),
                ("array, 2", (J, 2)),
                ("array, ::-1", (J, slice(None, None, -1))),
                ("mask", M > 0),
                ("row mask", numpy.array([True, False, True])),
                (":, mask", (slice(None), numpy.array([True, False, True, True]))),
                ("empty array", numpy.array([], int)),
                ("np.int64", numpy.int64(1)),
                ("range array, range array", (numpy.arange(3), numpy.array([3, 1, 1]))),
            )
        ),
        *(
            (f"b[{text}]", lambda np, m, b, key=key: b[key] * 2)
            for text, key in (
                ("0, :, 1", (0, slice(None), 1)),
                ("array, :, array", (numpy.array([1, 0]), slice(None), numpy.array([2, -1]))),
                (":, array, array", (slice(None), J, J)),
                ("array, array", (K % 2, J[[0, 1]])),
                ("..., array", (..., K)),
                ("1, :, array", (1, slice(None), J)),
                (":, 1, array", (slice(None), 1, J)),
                ("array, ...", (K % 2, ...)),
                ("mask", B > 0.3),
                ("array, 0, 1:3", (numpy.array([1, 1, 0]), 0, slice(1, 3))),
                ("mask2, 1", (B[:, :, 0] > 0, 1)),
                (":, ::-1, ::2", (slice(None), slice(None, None, -1), slice(None, None, 2))),
                ("array2d, array2d, array2d", (K % 2, K, K)),
            )
        ),
        ("take", lambda np, m, b: np.take(m, J, axis=1)),
        ("take flat", lambda np, m, b: np.take(m, numpy.array([0, 11, 5]))),
        (".take", lambda np, m, b: b.take(K, axis=-1)),
        ("take_along_axis", lambda np, m, b: np.take_along_axis(m, A, axis=1)),
        ("take_along_axis 0", lambda np, m, b: np.take_along_axis(m, J[:, None], axis=0)),
        ("take_along_axis sorted", lambda np, m, b: np.take_along_axis(m, numpy.argsort(M, axis=1), axis=1)),
        ("argmax as index", lambda np, m, b: m[np.arange(3), np.argmax(m, axis=1)] * 3),
        ("take_along argmax", lambda np, m, b: np.take_along_axis(m, np.argmax(m, 1, keepdims=True), 1)),
        ("m[i][j]", lambda np, m, b: m[1][2] * b[0][1][3]),
        ("b[..., None] * m", lambda np, m, b: b[..., None, :] * m[:, None]),
    ),
    *rows(
        (M, J, K, A),
        ("m[i]", lambda np, m, i, k, a: m[i] * 2),
        ("m[k]", lambda np, m, i, k, a: m[k] * 2),
        ("m[:, i]", lambda np, m, i, k, a: m[:, i]),
        ("m[i, i]", lambda np, m, i, k, a: m[i, i] ** 2),
        ("m[i[0]]", lambda np, m, i, k, a: m[i[0]] * 2),
        ("m[i[0], i[1]]", lambda np, m, i, k, a: m[i[0], i[1]] * 2),
        ("m[0, i]", lambda np, m, i, k, a: m[0, i]),
        ("m[[i[0], 1]]", lambda np, m, i, k, a: m[np.stack([i[0], i[1] * 0])]),
        ("m[k, known]", lambda np, m, i, k, a: m[k, numpy.array([0, 3])]),
        ("m[i + 0 * i]", lambda np, m, i, k, a: m[i + 0 * i]),
        ("take traced", lambda np, m, i, k, a: np.take(m, i, axis=0)),
        ("take_along traced", lambda np, m, i, k, a: np.take_along_axis(m, a, axis=1) ** 2),
        ("one hot", lambda np, m, i, k, a: (i[:, None] == np.arange(-1, 3)) @ m.T),
        ("int arithmetic", lambda np, m, i, k, a: np.sum(i * 2 + 1) * m),
        ("-i", lambda np, m, i, k, a: m[:1] * (-i * i - abs(i) + i**2)[:, None]),
    ),
)
