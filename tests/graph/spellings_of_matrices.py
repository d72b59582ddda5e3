"""Rows as in `spellings.py`: diagonals, products with vectors, tensor equations, polynomials and counts in two axes."""

import numpy  # noqa: ICN001 - in the rows `np` is whichever module runs them

from tests.graph.spellings import B, M, R, S, V, rows

Q = numpy.array([1.5, -0.7, 0.2, 2.1, -1.3])
P = numpy.array([0.4, 1.1, -0.6, 0.9, 2.2])
WEIGHTS = numpy.array([1.0, 0.5, 2.0, 1.5, 0.7])
EDGES = numpy.array([-2.0, 0.0, 1.0, 3.0])
TENSOR = numpy.random.default_rng(3).normal(size=(2, 3, 6))
TURNED = numpy.moveaxis(TENSOR, 2, 0)
INVERSE = numpy.random.default_rng(4).normal(size=(4, 2, 8)).reshape(4, 2, 4, 2)

MATRICES = (
    *rows(
        (V, M, R, B),
        *((f"diagonal {k}", lambda np, v, m, r, b, k=k: np.diagonal(m, k)) for k in (-3, -2, -1, 1, 2, 3)),
        ("diagonal of a method", lambda np, v, m, r, b: m.diagonal(1) * r.diagonal(offset=-1).sum()),
        ("diagonal of two axes", lambda np, v, m, r, b: np.diagonal(b, 1, 2, 0)),
        ("trace 1", lambda np, v, m, r, b: np.trace(m, 1) * np.trace(r, -1)),
        ("trace of two axes", lambda np, v, m, r, b: np.trace(b, -1, 1, 2)),
        ("linalg.diagonal", lambda np, v, m, r, b: np.linalg.diagonal(b, offset=1)),
        ("linalg.trace", lambda np, v, m, r, b: np.linalg.trace(b, offset=-1)),
        ("linalg.cross", lambda np, v, m, r, b: np.linalg.cross(m, r[:, :1] * m**2, axis=0)),
        ("linalg.vecdot", lambda np, v, m, r, b: np.linalg.vecdot(m, r, axis=0)),
        ("apply_over_axes", lambda np, v, m, r, b: np.apply_over_axes(np.sum, b, [0, -1])),
        ("array_equiv", lambda np, v, m, r, b: np.array_equiv(m, m[:1]) * m + np.array_equiv(m * 0, 0.0)),
        ("isin", lambda np, v, m, r, b: np.isin(v, v[:2]) * v),
        ("isin not", lambda np, v, m, r, b: np.isin(m, m[1], invert=True) * m),
        ("isin none", lambda np, v, m, r, b: np.isin(v, numpy.zeros(0)) * v),
    ),
    *rows(
        (V, M, R, B),
        ("matvec", lambda np, v, m, r, b: np.matvec(m, r)),
        ("vecmat", lambda np, v, m, r, b: np.vecmat(r[:, :3], m)),
        ("add.reduceat", lambda np, v, m, r, b: np.add.reduceat(v, [0, 2, 1, 4])),
        ("maximum.reduceat", lambda np, v, m, r, b: np.maximum.reduceat(m, [0, 2], axis=1)),
        ("multiply.reduceat", lambda np, v, m, r, b: np.multiply.reduceat(m, [1])),
        jax=False,
    ),
    *rows(
        (Q, P, S),
        ("tensorsolve", lambda np, q, p, s: np.linalg.tensorsolve(TENSOR * s, numpy.ones((2, 3)) + q[0])),
        ("tensorsolve axes", lambda np, q, p, s: np.linalg.tensorsolve(TURNED * s, numpy.ones((2, 3)) + q[0], (0,))),
        ("tensorinv", lambda np, q, p, s: np.linalg.tensorinv(INVERSE + s)),
        ("poly", lambda np, q, p, s: np.poly(q)),
        ("polyfit", lambda np, q, p, s: np.polyfit(q, p, 2)),
        ("polyfit weights", lambda np, q, p, s: np.polyfit(q, np.stack([p, q * p], 1), 1, w=WEIGHTS)),
        ("histogram2d", lambda np, q, p, s: np.histogram2d(q, p, [EDGES, EDGES[1:]])[0] * s),
        ("histogram2d weights", lambda np, q, p, s: np.histogram2d(q, p, 3, weights=p * q)[0]),
        (
            "histogram2d density",
            lambda np, q, p, s: np.histogram2d(q, p, [2, EDGES], [[-2, 2], None], density=True)[0] * s,
        ),
    ),
)
