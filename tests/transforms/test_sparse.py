"""sparse_jacobian and sparse_hessian: against dense ones, with patterns that miss nothing and few products."""

from typing import Any

import numpy as np
import pytest
from scipy import sparse

import burlab as bl
from burlab.errors import ArgumentError, DTypeError, ShapeError
from burlab.transforms.sparse.coloring import distinct, star

RNG = np.random.default_rng(11)
X = RNG.normal(size=24)
FIRST, SECOND = RNG.integers(0, 24, 40), RNG.integers(0, 24, 40)
A = np.where(RNG.random((9, 24)) < 0.15, RNG.normal(size=(9, 24)), 0.0)


def residuals(cameras: Any, points: Any, c: Any, p: Any) -> Any:
    """Bundle adjustment: each observation sees one camera, 6 numbers, and one point, 3."""
    camera, point = cameras[c], points[p]
    moved = point + np.cross(camera[:, :3], point) + camera[:, 3:6]
    return moved[:, :2] / (2 + moved[:, 2:] ** 2)


def adjustment(v: Any) -> Any:
    return residuals(v[:24].reshape(4, 6), v[24:].reshape(10, 3), FIRST[:30] % 4, SECOND[:30] % 10)


V = RNG.normal(size=54)


def rows_of(x: Any) -> Any:
    return x.reshape(6, 4)


FUNCTIONS = {
    "tridiagonal": (lambda x: x[1:-1] ** 2 - x[:-2] * x[2:] + np.sin(x[1:-1]), X, 3),
    "gathered": (lambda x: x[FIRST] * np.exp(x[SECOND]), X, None),
    "scattered": (lambda x: bl.at_add(x * 0.5, FIRST, np.sin(x[SECOND])), X, None),
    "set": (lambda x: bl.at_set(x, slice(0, 20, 3), x[:7] ** 2), X, 1),
    "set twice": (lambda x: bl.at_set(x, np.array([3, 5, 3]), x[:3] ** 2), X, None),
    "known sparse matrix": (lambda x: np.tanh(A @ x), X, int((A != 0).sum(0).max())),
    "rows": (lambda x: np.sum(rows_of(x) ** 2, axis=1), X, 1),
    "normalised rows": (lambda x: rows_of(x) / np.sqrt(np.sum(rows_of(x) ** 2, axis=1, keepdims=True)), X, 4),
    "running": (lambda x: np.cumsum(rows_of(x) ** 3, axis=1), X, 4),
    "maxima": (lambda x: np.max(rows_of(x), axis=1), X, 1),
    "batched products": (lambda x: np.einsum("bij,bj->bi", x[:18].reshape(2, 3, 3), x[18:].reshape(2, 3)), X, 3),
    "joined": (lambda x: np.concatenate([x[::2] ** 2, x[5:2:-1] * x[:3], np.pad(x[:4], 3)]), X, 2),
    "transposed": (lambda x: np.roll(rows_of(x), 1, axis=0).T * np.repeat(x[:4, None], 6, axis=1), X, None),
    "choices": (lambda x: np.where(x > 0, x**2, x[::-1]), X, 2),
    "flat parts": (lambda x: np.floor(x) * x[::-1] + np.sign(x) + bl.stop_gradient(x[0]), X, None),
    "wide": (lambda x: np.outer(x[:3], x[3:]), X, 2),
    "many to one": (lambda x: np.stack([np.sum(x**2), x[0] * x[1]]), X, 2),
    "sorted, dense": (lambda x: np.sort(x) ** 2, X, 24),
    "scan, dense": (lambda x: bl.scan(lambda c, a: (c * a, c + a), 1.0, x)[1], X, 24),
    "constant": (lambda x: np.ones(3) + 0 * np.floor(x[:3]), X, 0),
    "adjustment": (adjustment, V, 8),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_jacobians_equal_dense_ones(name: str) -> None:
    f, x, products = FUNCTIONS[name]
    sparse_function = bl.sparse_jacobian(f)
    got, dense = sparse_function(x), bl.jacobian(f)(x)
    dense = dense.reshape(-1, x.size)
    assert got.shape == dense.shape
    np.testing.assert_allclose(got.toarray(), dense, rtol=1e-13, atol=1e-15)
    found = sparse_function.pattern(x).toarray()
    assert not np.any((dense != 0) & ~found)
    if products is not None:
        assert sparse_function.products(x) == products
    else:
        assert sparse_function.products(x) < min(dense.shape)


EXACT = [name for name in FUNCTIONS if "dense" not in name]


@pytest.mark.parametrize("name", EXACT)
def test_patterns_have_no_entry_that_is_always_zero(name: str) -> None:
    f, x, _ = FUNCTIONS[name]
    points = [x, -x, *RNG.normal(size=(12, x.size))]
    seen = np.any([bl.jacobian(f)(p).reshape(-1, x.size) != 0 for p in points], axis=0)
    found = bl.sparse_jacobian(f).pattern(x).toarray()
    if name == "flat parts":  # a product with a whole number, which may be zero
        seen |= np.eye(len(found), dtype=bool)[::-1] & found
    np.testing.assert_array_equal(found, seen)


def chain(x: Any) -> Any:
    return np.sum(np.exp(x[1:] * x[:-1])) + np.sum(x**4)


def arrow(x: Any) -> Any:
    return np.sum(x[0] * np.sin(x[1:])) + np.sum(x**2)


def grid(x: Any) -> Any:
    z = x.reshape(4, 6)
    return np.sum((z[1:] - z[:-1]) ** 4) + np.sum(np.cos(z[:, 1:] - z[:, :-1]))


def squared_adjustment(v: Any) -> Any:
    return np.sum(adjustment(v) ** 2)


HESSIANS = {
    "diagonal": (lambda x: np.sum(np.sin(x)), X, 1),
    "chain": (chain, X, 3),
    "arrow": (arrow, X, 2),
    "arrow, last": (lambda x: arrow(x[::-1]), X, 2),
    "grid": (grid, X, None),
    "pairs": (lambda x: np.sum(np.sin(x[FIRST] * x[SECOND])), X, None),
    "linear": (lambda x: np.sum(3 * x), X, 0),
    "dense": (lambda x: np.prod(x[:8]) + np.sum(x**2), X, 9),
    "adjustment": (squared_adjustment, V, 27),  # 24 of the cameras, 3 of the points
}


@pytest.mark.parametrize("name", HESSIANS)
def test_hessians_equal_dense_ones(name: str) -> None:
    f, x, products = HESSIANS[name]
    sparse_function = bl.sparse_hessian(f)
    got, dense = sparse_function(x), bl.hessian(f)(x)
    np.testing.assert_allclose(got.toarray(), dense, rtol=1e-12, atol=1e-13)
    if products is not None:
        assert sparse_function.products(x) <= products
    else:
        assert sparse_function.products(x) < x.size


@pytest.mark.parametrize("seed", range(20))
def test_colours_keep_their_promises(seed: int) -> None:
    rng = np.random.default_rng(seed)
    found = rng.random((30, 25)) < rng.choice([0.02, 0.1, 0.4])
    colors = distinct(sparse.csr_array(found))
    for color in range(colors.max() + 1):
        assert found[:, colors == color].sum(1).max() <= 1
    edges = np.triu(rng.random((25, 25)) < rng.choice([0.02, 0.1, 0.4]), 1)
    edges = edges | edges.T
    colors = star(sparse.csr_array(edges | (np.eye(25) > rng.random(25))))
    pairs = np.argwhere(edges)
    assert np.all(colors[pairs[:, 0]] != colors[pairs[:, 1]])
    for b, c in pairs:  # a, b, c, d: a path of four vertices
        for a in np.flatnonzero(edges[b] & (np.arange(25) != c)):
            for d in np.flatnonzero(edges[c] & (np.arange(25) != b) & (np.arange(25) != a)):
                assert len({*colors[[a, b, c, d]]}) > 2


def test_large_problems_need_few_products() -> None:
    """A dense matrix would take 7 GB."""
    n = 30_000
    x = np.linspace(0, 1, n)
    hessian = bl.sparse_hessian(chain)
    assert hessian.products(x) == 3
    h = hessian(x)
    v = np.cos(x)
    np.testing.assert_allclose(h @ v, bl.hvp(chain)(x, v), rtol=1e-10)
    f = lambda x: x[1:-1] ** 2 - x[:-2] * x[2:]  # noqa: E731
    assert bl.sparse_jacobian(f).products(x) == 3
    np.testing.assert_allclose(bl.sparse_jacobian(f)(x) @ v, bl.jvp(f, (x,), (v,))[1], atol=1e-14)


def test_indices_may_be_arguments() -> None:
    """Another array of them is another pattern; the graph is traced once."""

    def f(v: Any, c: Any, p: Any) -> Any:
        return residuals(v[:24].reshape(4, 6), v[24:].reshape(10, 3), c, p)

    jacobian = bl.sparse_jacobian(f)
    for turn in (0, 3, 0):
        c, p = np.roll(FIRST, turn) % 4, np.roll(SECOND, turn) % 10
        dense = bl.jacobian(lambda v, c=c, p=p: residuals(v[:24].reshape(4, 6), v[24:].reshape(10, 3), c, p))(V)
        np.testing.assert_allclose(jacobian(V, c, p).toarray(), dense.reshape(80, 54), rtol=1e-12, atol=1e-14)
        assert jacobian.pattern(V, c, p).nnz < 80 * 10
    assert len(jacobian._graphs) == 1  # pyright: ignore[reportPrivateUsage] - what would be made again


@pytest.mark.parametrize("update", [bl.at_set, bl.at_add])
def test_rows_that_are_put_somewhere(update: Any) -> None:
    f = lambda x, i: update(rows_of(x) * 2, i, rows_of(x)[:3] ** 2)  # noqa: E731
    jacobian = bl.sparse_jacobian(f)
    for i in (np.array([3, 5, 3]), np.array([0, 1, 2])):
        dense = bl.jacobian(f)(X, i).reshape(24, 24)
        np.testing.assert_allclose(jacobian(X, i).toarray(), dense, rtol=1e-13)
        assert jacobian.pattern(X, i).nnz <= 24 + 3 * 4


def test_sparsity_includes_captured_indices() -> None:
    places = np.array([0, 1, 2])
    f = lambda x: x[places] * 2.0  # noqa: E731
    assert bl.sparse_jacobian(f)(X).indices.tolist() == [0, 1, 2]
    places = np.array([5, 5, 7])
    assert bl.sparse_jacobian(f)(X).indices.tolist() == [5, 5, 7]


def test_trees_and_other_arguments() -> None:
    p = {"w": RNG.normal(size=(3, 2)), "b": RNG.normal(size=2)}
    f = lambda c, p: {"z": p["w"] ** 2 * c, "s": p["b"] * p["w"][0]}  # noqa: E731
    got = bl.sparse_jacobian(f, 1)(2.0, p)
    flat = lambda v: bl.tree.ravel(f(2.0, bl.tree.unravel(v, p)))  # noqa: E731
    np.testing.assert_allclose(got.toarray(), bl.jacobian(flat)(bl.tree.ravel(p)))
    single = bl.sparse_jacobian(np.sin)(X.astype(np.float32))
    assert single.dtype == np.float32
    assert single.format == "csr"
    assert bl.sparse_jacobian(np.sin) is bl.sparse_jacobian(np.sin)


def test_sparse_jacobian_with_wrong_arguments_raises() -> None:
    with pytest.raises(DTypeError, match="sparse_jacobian by argument 0 needs floats"):
        bl.sparse_jacobian(np.sin)(np.arange(3))
    with pytest.raises(ArgumentError, match="sparse_jacobian needs floating results"):
        bl.sparse_jacobian(lambda x: x > 0)(X)
    with pytest.raises(ShapeError, match="returned shape"):
        bl.sparse_hessian(np.sin)(X)
