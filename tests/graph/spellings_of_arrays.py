"""Rows as in `spellings.py`: moving, building, order, choices, totals and signals."""

import numpy  # noqa: ICN001 - in the rows `np` is whichever module runs them

from tests.graph.spellings import SPELLINGS, B, M, N, R, S, V, W, rows
from tests.graph.spellings_of_matrices import MATRICES

U = numpy.array([0.3, -1.2, 2.5, 0.7, -0.1, 1.9])
X = numpy.array([1.0, 1.4, 2.2, 3.1, 3.3])  # rising
L = numpy.array([0.2, numpy.nan, -1.5, 0.9, numpy.nan])
T = numpy.array([2.0, 1.0, 2.0, -1.0, 1.0])  # with ties
EDGES, COUNTS, WEIGHTS = (numpy.array(a) for a in ([-2.0, 0.0, 1.5, 2.0], [1, 2, 1, 3], [0.5, 1.0, 2.0, 0.1]))
MASK = numpy.array([True, False, True, True, False])


MOVING = (
    *rows(
        (V, M, R, B),
        ("append", lambda np, v, m, r, b: np.append(v, m)),
        ("append axis", lambda np, v, m, r, b: np.append(m, r, axis=0)),
        ("insert", lambda np, v, m, r, b: np.insert(v, 1, m[0, 0])),
        ("insert many", lambda np, v, m, r, b: np.insert(m, numpy.array([0, 2]), 7.0, axis=1)),
        ("delete", lambda np, v, m, r, b: np.delete(v, 2)),
        ("delete rows", lambda np, v, m, r, b: np.delete(m, numpy.array([0, 2]), axis=0)),
        ("diag of a vector", lambda np, v, m, r, b: np.diag(v)),
        ("diag -1", lambda np, v, m, r, b: np.diag(v, -1)),
        ("diag of a matrix", lambda np, v, m, r, b: np.diag(m)),
        ("diag 2 of a matrix", lambda np, v, m, r, b: np.diag(m, 2)),
        ("diagflat", lambda np, v, m, r, b: np.diagflat(m[:2, :2])),
        ("flipud", lambda np, v, m, r, b: np.flipud(m)),
        ("fliplr", lambda np, v, m, r, b: np.fliplr(m)),
        ("rot90", lambda np, v, m, r, b: np.rot90(m)),
        ("rot90 -1", lambda np, v, m, r, b: np.rot90(b, -1, (1, 2))),
        ("roll two axes", lambda np, v, m, r, b: np.roll(m, (1, -2), axis=(0, 1))),
        ("resize", lambda np, v, m, r, b: np.resize(m, (5, 3))),
        ("rollaxis", lambda np, v, m, r, b: np.rollaxis(b, 2)),
        ("block", lambda np, v, m, r, b: np.block([[m, r], [r, m]])),
        ("dstack", lambda np, v, m, r, b: np.dstack([m, r])),
        ("hsplit", lambda np, v, m, r, b: np.hsplit(m, 2)[1]),
        ("vsplit", lambda np, v, m, r, b: np.vsplit(m, 3)[1]),
        ("dsplit", lambda np, v, m, r, b: np.dsplit(b, 2)[0]),
        ("atleast_3d", lambda np, v, m, r, b: np.atleast_3d(v) * np.atleast_3d(m[0, 0])),
        ("atleast_3d of a matrix", lambda np, v, m, r, b: np.atleast_3d(m)),
        ("matrix_transpose", lambda np, v, m, r, b: np.matrix_transpose(b)),
        ("array_split many", lambda np, v, m, r, b: np.array_split(v, 7)[4]),
        *(
            (f"pad {mode}", lambda np, v, m, r, b, mode=mode: np.pad(m, ((2, 1), (0, 3)), mode=mode))
            for mode in "edge reflect symmetric wrap linear_ramp mean maximum minimum".split()
        ),
        ("pad edge of one", lambda np, v, m, r, b: np.pad(v[:1], 2, mode="edge")),
        ("reshape F", lambda np, v, m, r, b: np.reshape(b, (4, -1), order="F")),
        ("ravel F", lambda np, v, m, r, b: np.ravel(m, order="F") * b.flatten("F")[:12]),
        ("concatenate dtype", lambda np, v, m, r, b: np.concatenate([m, r], axis=None, dtype=numpy.float64)),
        ("take wrap", lambda np, v, m, r, b: np.take(v, numpy.array([7, -9, 1]), mode="wrap")),
        ("take clip", lambda np, v, m, r, b: np.take(m, numpy.array([7, -2]), axis=1, mode="clip")),
        ("lexsort with known ties", lambda np, v, m, r, b: v[:4][np.lexsort((v[:4], numpy.array([1, 0, 1, 0])))]),
        ("pad two constants", lambda np, v, m, r, b: np.pad(m, 1, constant_values=((1.0, 2.0), (3.0, 4.0)))),
        ("pad ramp to", lambda np, v, m, r, b: np.pad(v, (2, 3), "linear_ramp", end_values=(1.0, -2.0))),
        ("pad odd reflect", lambda np, v, m, r, b: np.pad(m, ((1, 2), (3, 2)), "reflect", reflect_type="odd")),
        ("pad odd symmetric", lambda np, v, m, r, b: np.pad(v, (2, 4), "symmetric", reflect_type="odd")),
        ("pad mean of two", lambda np, v, m, r, b: np.pad(m, 1, "mean", stat_length=((1, 2), (2, 9)))),
        ("pad maximum of three", lambda np, v, m, r, b: np.pad(v, (2, 1), "maximum", stat_length=3)),
        ("pad reflect far", lambda np, v, m, r, b: np.pad(v, (7, 9), "reflect")),
    ),
    *rows(
        (V, M, R, B),
        ("average returned", lambda np, v, m, r, b: sum(np.average(m, axis=1, weights=r * r, returned=True))),
        ("average returned plain", lambda np, v, m, r, b: sum(np.average(m, axis=0, returned=True))),
        ("bincount", lambda np, v, m, r, b: np.bincount(numpy.array([0, 2, 2, 0]), weights=v[:4], minlength=4)),
        ("piecewise sin", lambda np, v, m, r, b: np.piecewise(v, [v < 0, v > 1], [lambda t: t * t, 2.0, np.sin])),
        ("var mean", lambda np, v, m, r, b: np.var(m, axis=0, mean=np.mean(r, axis=0, keepdims=True))),
        ("compress", lambda np, v, m, r, b: np.compress(numpy.array([True, False, True]), m, axis=0)),
        ("extract", lambda np, v, m, r, b: np.extract(MASK, v)),
        ("choose", lambda np, v, m, r, b: np.choose(numpy.array([0, 1, 1, 0]), [m[0], r[0]])),
        ("unstack", lambda np, v, m, r, b: sum(k * row for k, row in enumerate(np.unstack(m)))),
        jax=False,
    ),
)
BUILDING = (
    *rows(
        (V, W, M, N),
        ("linspace", lambda np, v, w, m, n: np.linspace(v[0], w[1], 7)),
        ("linspace of vectors", lambda np, v, w, m, n: np.linspace(v, w, 4)),
        ("linspace axis", lambda np, v, w, m, n: np.linspace(v, w, 4, axis=1)),
        ("linspace open", lambda np, v, w, m, n: np.linspace(v[0], w[0], 5, endpoint=False)),
        ("linspace 1", lambda np, v, w, m, n: np.linspace(v[0], w[0], 1)),
        ("linspace 0", lambda np, v, w, m, n: np.linspace(v[0], w[0], 0)),
        ("linspace step", lambda np, v, w, m, n: np.linspace(v[0], w[0], 5, retstep=True)[1]),
        ("logspace", lambda np, v, w, m, n: np.logspace(v[0], w[0], 5)),
        ("logspace base", lambda np, v, w, m, n: np.logspace(v[0], w[0], 5, base=2.0)),
        ("geomspace", lambda np, v, w, m, n: np.geomspace(np.abs(v[0]) + 1, np.abs(w[0]) + 3, 5)),
        ("vander", lambda np, v, w, m, n: np.vander(v)),
        ("vander 3", lambda np, v, w, m, n: np.vander(v, 3, increasing=True)),
        ("vander 7", lambda np, v, w, m, n: np.vander(v, 7)),
        ("meshgrid", lambda np, v, w, m, n: np.meshgrid(v, w[:3])[0] * np.meshgrid(v, w[:3])[1]),
        ("meshgrid ij", lambda np, v, w, m, n: np.meshgrid(v, w[:3], w[:2], indexing="ij")[1]),
        ("meshgrid sparse", lambda np, v, w, m, n: np.meshgrid(v, w[:3], sparse=True)[1]),
        ("kron", lambda np, v, w, m, n: np.kron(m, n)),
        ("kron of vectors", lambda np, v, w, m, n: np.kron(v, w)),
        ("kron of both", lambda np, v, w, m, n: np.kron(m, v)),
        ("cross", lambda np, v, w, m, n: np.cross(v[:3], w[:3])),
        ("cross of rows", lambda np, v, w, m, n: np.cross(m[:, :3], v[:3])),
        ("cross axis", lambda np, v, w, m, n: np.cross(m, m[::-1] ** 2, axis=0)),
        ("diff prepend", lambda np, v, w, m, n: np.diff(v, prepend=w[0])),
        ("diff append", lambda np, v, w, m, n: np.diff(m, 2, axis=0, prepend=1.0, append=m[:2])),
        ("ediff1d", lambda np, v, w, m, n: np.ediff1d(m, to_end=w[0], to_begin=numpy.array([1.0, 2.0]))),
        ("gradient", lambda np, v, w, m, n: np.gradient(v)),
        ("gradient of rows", lambda np, v, w, m, n: np.gradient(m)[0] * np.gradient(m)[1]),
        ("gradient step", lambda np, v, w, m, n: np.gradient(m, 0.5, axis=1)),
        ("select", lambda np, v, w, m, n: np.select([v > 0.5, v > w], [v * w, w], 2.0)),
        ("piecewise", lambda np, v, w, m, n: np.piecewise(v, [v < 0, v >= 1], [lambda x: -x, lambda x: x**2, 3.0])),
        ("apply_along_axis", lambda np, v, w, m, n: np.apply_along_axis(lambda r: r[0] * np.sort(r), 1, m)),
        ("apply_along_axis 0", lambda np, v, w, m, n: np.apply_along_axis(lambda r: np.outer(r, r), 0, m)),
        ("apply_along_axis sum", lambda np, v, w, m, n: np.apply_along_axis(lambda r: r @ r, 0, m)),
        ("vectorize", lambda np, v, w, m, n: np.vectorize(lambda x, y: x * y + 1.0)(v, w)),
        ("vectorize matrix", lambda np, v, w, m, n: np.vectorize(lambda x: x**2)(m) * 2.0),
        ("add.outer", lambda np, v, w, m, n: np.add.outer(v, w) * np.multiply.outer(v, w)),
        ("subtract.outer", lambda np, v, w, m, n: np.subtract.outer(m, v)),
        ("angle", lambda np, v, w, m, n: np.angle(v) * w),
        ("real", lambda np, v, w, m, n: np.real(v) + np.imag(v) + np.conj(w) + v.conj()),
        ("isreal", lambda np, v, w, m, n: np.isreal(v) * v + np.iscomplex(v)),
        ("isrealobj", lambda np, v, w, m, n: np.isrealobj(v) * v + np.iscomplexobj(w) * w),
        ("tril_indices_from", lambda np, v, w, m, n: m[np.tril_indices_from(m)] * m[np.triu_indices_from(m, 1)][0]),
        ("diag_indices_from", lambda np, v, w, m, n: m[np.diag_indices_from(m[:2, :2])]),
        ("array_equal", lambda np, v, w, m, n: np.array_equal(v, w) * 1.0 + np.array_equal(v, v) * v),
    ),
    *rows(
        (V, X),
        ("gradient at places", lambda np, v, x: np.gradient(v, X)),
        ("gradient edges", lambda np, v, x: np.gradient(v, edge_order=2)),
        ("gradient edges at places", lambda np, v, x: np.gradient(v, x, edge_order=2)),
        ("gradient places", lambda np, v, x: np.gradient(v, x)),
        ("real_if_close", lambda np, v, x: np.real_if_close(v) * x),
        jax=False,
    ),
)
ORDER = (
    *rows(
        (U, M, B, T),
        ("argsort", lambda np, u, m, b, t: np.argsort(u) * u),
        ("argsort axis", lambda np, u, m, b, t: np.argsort(m, axis=0) * 1.0),
        (".argsort", lambda np, u, m, b, t: u[u.argsort()]),
        ("argsort ties", lambda np, u, m, b, t: np.argsort(t, stable=True) * t),
        ("sort ties", lambda np, u, m, b, t: np.sort(t)),
        ("lexsort", lambda np, u, m, b, t: t[np.lexsort((u[:5], t))]),
        ("median odd", lambda np, u, m, b, t: np.median(t)),
        ("median even", lambda np, u, m, b, t: np.median(u)),
        ("median axis", lambda np, u, m, b, t: np.median(m, axis=1)),
        ("median keepdims", lambda np, u, m, b, t: np.median(m, axis=0, keepdims=True) * m),
        ("median axes", lambda np, u, m, b, t: np.median(b, axis=(0, 2))),
        ("quantile", lambda np, u, m, b, t: np.quantile(u, 0.3)),
        ("quantiles", lambda np, u, m, b, t: np.quantile(m, numpy.array([0.0, 0.21, 1.0]), axis=0)),
        ("percentile", lambda np, u, m, b, t: np.percentile(u, 71.0)),
        ("percentiles", lambda np, u, m, b, t: np.percentile(m, numpy.array([10.0, 90.0]), axis=1, keepdims=True)),
        *(
            (f"quantile {method}", lambda np, u, m, b, t, method=method: np.quantile(u, 0.37, method=method))
            for method in ("lower", "higher", "nearest", "midpoint")
        ),
        ("nanmedian", lambda np, u, m, b, t: np.nanmedian(np.where(u > 2, numpy.nan, u))),
        ("nanquantile", lambda np, u, m, b, t: np.nanquantile(np.where(m > 1, numpy.nan, m), 0.4, axis=1)),
        ("searchsorted", lambda np, u, m, b, t: np.searchsorted(np.sort(u), m) * 1.0),
        ("searchsorted right", lambda np, u, m, b, t: np.searchsorted(np.sort(t), t, side="right") * t),
        ("searchsorted sorter", lambda np, u, m, b, t: np.searchsorted(t, u, sorter=np.argsort(t)) * u),
        ("digitize", lambda np, u, m, b, t: np.digitize(u, numpy.array([0.0, 0.7, 2.0])) * u),
        ("digitize falling", lambda np, u, m, b, t: np.digitize(u, numpy.array([2.0, 0.7, 0.0]), right=True) * u),
        ("histogram", lambda np, u, m, b, t: np.histogram(u, 4)[0] * 1.0),
        ("histogram edges", lambda np, u, m, b, t: np.histogram(u, 4)[1]),
        (
            "histogram weights",
            lambda np, u, m, b, t: np.histogram(t, numpy.array([-2.0, 0.0, 1.5, 2.0]), weights=u[:5])[0],
        ),
        ("histogram range", lambda np, u, m, b, t: np.histogram(u, 3, range=(-1.0, 2.0))[0] * 1.0),
        ("histogram density", lambda np, u, m, b, t: np.histogram(u, 3, density=True)[0]),
        ("unravel_index", lambda np, u, m, b, t: m[np.unravel_index(np.argmax(m), (3, 4))] * 2),
    ),
    *rows(
        (U, M, T),
        *(
            (f"quantile {method}", lambda np, u, m, t, method=method: np.quantile(m, 0.37, axis=1, method=method))
            for method in "hazen weibull median_unbiased normal_unbiased interpolated_inverted_cdf".split()
        ),
        ("partition", lambda np, u, m, t: np.partition(u, 2)[2] * np.partition(u, (1, 3))[3]),
        ("argpartition", lambda np, u, m, t: u[np.argpartition(u, 2)[2]]),
        jax=False,
    ),
)
TOTALS = (
    *rows(
        (U, M, R, L),
        ("cumprod", lambda np, u, m, r, x: np.cumprod(u)),
        ("cumprod axis", lambda np, u, m, r, x: np.cumprod(m, axis=0)),
        ("cumprod flat", lambda np, u, m, r, x: np.cumprod(m)),
        (".cumprod", lambda np, u, m, r, x: m.cumprod(1)),
        ("cumprod zero", lambda np, u, m, r, x: np.cumprod(u * (numpy.arange(6) != 2))),
        ("nansum", lambda np, u, m, r, x: np.nansum(x * u[:5]) * u),
        ("nancumsum", lambda np, u, m, r, x: np.nancumsum(np.where(u > 2, numpy.nan, u))),
        ("nancumprod", lambda np, u, m, r, x: np.nancumprod(np.where(u > 2, numpy.nan, u))),
        *(
            (
                f"{name} of some",
                lambda np, u, m, r, x, name=name: getattr(np, name)(np.where(m > 0.9, numpy.nan, m), axis=0),
            )
            for name in "nansum nanmean nanmax nanmin nanvar nanprod".split()
        ),
        ("nanstd of some", lambda np, u, m, r, x: np.nanstd(np.where(m > 0.9, numpy.nan, m), axis=1)),
        ("nanargmax", lambda np, u, m, r, x: np.nanargmax(np.where(u > 2, numpy.nan, u)) * u),
        ("nanargmin", lambda np, u, m, r, x: np.nanargmin(np.where(m > 1, numpy.nan, m), axis=1) * 1.0),
        ("trapezoid", lambda np, u, m, r, x: np.trapezoid(u)),
        ("trapezoid dx", lambda np, u, m, r, x: np.trapezoid(m, dx=0.3, axis=0)),
        ("trapezoid x", lambda np, u, m, r, x: np.trapezoid(m, u[:4])),
        ("trapezoid x matrix", lambda np, u, m, r, x: np.trapezoid(m, r, axis=1)),
        ("cov", lambda np, u, m, r, x: np.cov(m)),
        ("cov pair", lambda np, u, m, r, x: np.cov(m[0], r[0])),
        ("cov columns", lambda np, u, m, r, x: np.cov(m, rowvar=False, ddof=0)),
        ("cov vector", lambda np, u, m, r, x: np.cov(u)),
        ("cov weights", lambda np, u, m, r, x: np.cov(m, aweights=WEIGHTS)),
        ("corrcoef", lambda np, u, m, r, x: np.corrcoef(m)),
        ("cumulative_sum", lambda np, u, m, r, x: np.cumulative_sum(u, include_initial=True)),
        ("cumulative_prod", lambda np, u, m, r, x: np.cumulative_prod(m, axis=1)),
        ("sum where", lambda np, u, m, r, x: np.sum(m, axis=0, where=r > 0)),
        ("sum where row", lambda np, u, m, r, x: np.sum(m, where=numpy.array([True, False, True, True]))),
        ("sum initial", lambda np, u, m, r, x: np.sum(m, axis=1, initial=2.5)),
        ("prod where", lambda np, u, m, r, x: np.prod(m, axis=0, where=m > 0, initial=2.0)),
        ("mean where", lambda np, u, m, r, x: np.mean(m, where=m > 0)),
        ("var where", lambda np, u, m, r, x: np.var(m, where=m > -1)),
        ("std where", lambda np, u, m, r, x: np.std(m, axis=1, where=m > -5, keepdims=True)),
        ("max initial", lambda np, u, m, r, x: np.max(m, axis=0, initial=0.4)),
        ("min where", lambda np, u, m, r, x: np.min(m, axis=1, where=m > 0, initial=9.0)),
        ("any where", lambda np, u, m, r, x: np.any(m > 0.5, axis=0, where=r > 0) * m),
        ("all where", lambda np, u, m, r, x: np.all(m > 0.0, axis=0, where=r > 0) * m),
        ("add.accumulate", lambda np, u, m, r, x: np.add.accumulate(m) * np.multiply.accumulate(r, 1)),
    ),
    *rows(
        (U, M),
        ("maximum.accumulate", lambda np, u, m: np.maximum.accumulate(u)),
        ("minimum.accumulate", lambda np, u, m: np.minimum.accumulate(m, axis=1)),
        ("maximum.accumulate int", lambda np, u, m: np.maximum.accumulate(np.argsort(u))),
        ("cov fweights", lambda np, u, m: np.cov(m, fweights=COUNTS)),
        (
            "cov both weights",
            lambda np, u, m: np.cov(m, fweights=COUNTS, aweights=WEIGHTS),
        ),
        jax=False,
    ),
)
SIGNALS = (
    *rows(
        (U, V, X, S),
        *(
            (f"{name} {mode}", lambda np, u, v, x, s, name=name, mode=mode: getattr(np, name)(u, v[:3], mode))
            for name in ("convolve", "correlate")
            for mode in ("full", "same", "valid")
        ),
        ("convolve even", lambda np, u, v, x, s: np.convolve(u, v[:4], "same")),
        ("convolve long", lambda np, u, v, x, s: np.convolve(np.tile(u, 6), np.tile(v, 4), "same")),
        ("convolve short first", lambda np, u, v, x, s: np.convolve(v[:2], u, "same")),
        ("correlate short first", lambda np, u, v, x, s: np.correlate(v[:2], u, "full")),
        ("interp", lambda np, u, v, x, s: np.interp(u + 2, x, v)),
        ("interp ends", lambda np, u, v, x, s: np.interp(u, X, v, left=-1.0, right=2.0)),
        ("interp scalar", lambda np, u, v, x, s: np.interp(s * 3, x, v)),
        ("interp period", lambda np, u, v, x, s: np.interp(u * 3, X, v, period=2.9)),
        ("unwrap", lambda np, u, v, x, s: np.unwrap(u * 4) * np.unwrap(x * 3, period=2.0)[0]),
        ("polyval", lambda np, u, v, x, s: np.polyval(v, u)),
        ("polyval scalar", lambda np, u, v, x, s: np.polyval(v, s)),
        ("polyadd", lambda np, u, v, x, s: np.polyadd(u, v) * np.polysub(v, u)),
        ("polymul", lambda np, u, v, x, s: np.polymul(u, v)),
        ("polyder", lambda np, u, v, x, s: np.polyder(u)),
        ("polyder 2", lambda np, u, v, x, s: np.polyder(u, 2)),
        ("polyint", lambda np, u, v, x, s: np.polyint(u)),
        ("polyint 2", lambda np, u, v, x, s: np.polyint(u, 2, numpy.array([1.0, 2.0]))),
    ),
)
BEYOND = (  # of JAX
    *rows(
        (V, M, L, B),
        ("pad odd far", lambda np, v, m, h, b: np.pad(v, (13, 9), "reflect", reflect_type="odd")),
        ("pad odd symmetric far", lambda np, v, m, h, b: np.pad(v[:2], (13, 9), "symmetric", reflect_type="odd")),
        ("pad odd of one", lambda np, v, m, h, b: np.pad(v[:1], 2, "reflect", reflect_type="odd")),
        ("pad median", lambda np, v, m, h, b: np.pad(m, ((2, 1), (1, 0)), "median", stat_length=3)),
        ("x.flat", lambda np, v, m, h, b: m.T.flatten()[5] * m.flat[numpy.array([7, 0])]),
        ("pad by axis", lambda np, v, m, h, b: np.pad(m, {-1: (1, 2)}, "edge")),
        (
            "average of a square",
            lambda np, v, m, h, b: np.average(m[:, :3] @ m[:, :3].T, axis=0, weights=m[:, 0] + 3.0),
        ),
        (
            "average over a middle axis",
            lambda np, v, m, h, b: sum(
                np.sum(y) for y in np.average(b, axis=-2, weights=b[0, :, 0] + 3.0, returned=True)
            ),
        ),
        ("average over two axes", lambda np, v, m, h, b: np.average(b, axis=(2, 0), weights=m[:2].T + 3.0)),
        *(
            (f"nan{name} where", lambda np, v, m, h, b, name=name: getattr(np, f"nan{name}")(m, axis=0, where=m > -1.5))
            for name in "sum prod mean var std".split()
        ),
        ("nanstd of one", lambda np, v, m, h, b: np.nanstd(np.where(m > 0.9, numpy.nan, m), axis=0)),
        ("nanmax where", lambda np, v, m, h, b: np.nanmax(h, initial=-1.0, where=h < 0.5)),
        ("nanmin initial", lambda np, v, m, h, b: np.nanmin(h, initial=-5.0) + np.nanmin(m, axis=1, initial=0.1)),
        *(
            (f"{name}.reduce", lambda np, v, m, h, b, name=name: getattr(np, name).reduce(b, axis=(0, 2), initial=0.3))
            for name in "fmax fmin logaddexp logaddexp2 hypot".split()
        ),
        ("fmax.reduce past nans", lambda np, v, m, h, b: np.fmax.reduce(h) + np.fmin.reduce(m, axis=1)),
        ("logaddexp.reduce of none", lambda np, v, m, h, b: np.logaddexp.reduce(v[:0])),
        ("angle of reals", lambda np, v, m, h, b: np.angle(np.append(h, [-0.0, numpy.inf, -numpy.inf]))),
        ("add dtype", lambda np, v, m, h, b: np.add(v, 1, dtype=numpy.float64, casting="unsafe")),
        ("poly1d", lambda np, v, m, h, b: (np.poly1d(v) * np.poly1d([1.0, -2.0]) - 3)(m[0])),
        ("poly1d.deriv", lambda np, v, m, h, b: np.poly1d(v).deriv()(m[1]) + np.poly1d(v).integ(2)(0.5)),
        *(
            (
                f"quantile {name}",
                lambda np, v, m, h, b, name=name: np.quantile(m, [0.0, 0.125, 0.3, 0.75], 0, method=name),
            )
            for name in "inverted_cdf averaged_inverted_cdf closest_observation".split()
        ),
        *(
            (f"percentile {name}", lambda np, v, m, h, b, name=name: np.nanpercentile(h, [10, 50], method=name))
            for name in "inverted_cdf averaged_inverted_cdf closest_observation".split()
        ),
        jax=False,
    ),
)
SCALARS = (
    *rows(
        (S,),
        ("scalar", lambda np, s: s * s + np.sin(s)),
        ("scalar to array", lambda np, s: s * np.arange(3.0)),
        ("np.array([s, s])", lambda np, s: np.array([s, 2 * s])),
        ("s[None]", lambda np, s: s[None] * np.ones(2)),
        ("np.atleast_1d", lambda np, s: np.atleast_1d(s) * 2),
        ("reshape()", lambda np, s: np.reshape(s, (1, 1))),
        ("stack scalars", lambda np, s: np.stack([s, s * s])),
        ("max of scalar", lambda np, s: np.max(s) + np.sum(s) + np.mean(s)),
        ("power tower", lambda np, s: s**s**s),
        ("float32 scalar", lambda np, s: s * numpy.float32(2)),
    ),
)
ALL = (*SPELLINGS, *SCALARS, *MOVING, *BUILDING, *ORDER, *TOTALS, *SIGNALS, *BEYOND, *MATRICES)
