"""Reductions, control flow and stacks of matrices that several threads share: the bits of one thread."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import Phase, given, settings, strategies as st

import burlab as bl
from burlab.compiler import build
from burlab.compiler.codegen import sections
from burlab.compiler.ir.plan import KernelPlan
from burlab.compiler.planning import share_sums
from burlab.graph import Graph
from tests.compiler.random_graphs import graphs, inputs_for
from tests.exploring import examples

pytestmark = pytest.mark.usefixtures("everything_is_shared")
THREADS = (2, 3, 5, 8)
rng = np.random.default_rng(1)
Case = tuple[Callable[..., Any], tuple[Any, ...]]


def normal(*shape: int) -> np.ndarray[Any, Any]:
    return rng.normal(size=shape)


LONG = normal(70_001)
TALL = normal(20_011, 5)
REDUCTIONS: dict[str, Case] = {
    "sum": (np.sum, (LONG,)),
    "mean of a matrix": (np.mean, (LONG[:69_999].reshape(3, -1),)),
    "variance": (np.var, (LONG,)),
    "norm": (np.linalg.norm, (LONG,)),
    "dot": (np.dot, (LONG, LONG[::-1].copy())),
    "inner product of matrices": (lambda a, b: np.einsum("ij,ij->", a, b), (TALL, TALL[::-1].copy())),
    "maximum": (np.max, (LONG,)),
    "minimum of a function": (lambda x: np.min(np.exp(x)), (LONG,)),
    "columns": (lambda x: np.sum(x, 0), (TALL,)),
    "columns of several axes": (lambda x: np.mean(x, (0, 1)), (TALL[:20_006].reshape(-1, 7, 5),)),
    "wide columns": (lambda x: np.sum(x, 0), (normal(999, 67),)),
    "largest of columns": (lambda x: np.max(x, 0), (normal(99, 700),)),
}


def recurrent(w: Any, x: Any) -> Any:
    def step(h: Any, row: Any) -> tuple[Any, Any]:
        h = np.tanh(h @ w + row)
        return h, np.sum(h)

    last, sums = bl.scan(step, np.zeros_like(x[0]), x)
    return np.sum(last**2) + np.sum(sums)


def chosen(w: Any, x: Any) -> Any:
    return np.sum(bl.cond(x[0, 0] > 0, lambda y: np.tanh(y @ w) @ w, lambda y: np.sin(y @ y.T @ y), x) ** 2)


def repeated(w: Any, x: Any) -> Any:
    return np.sum(bl.while_loop(lambda s: s[1] < 4, lambda s: (np.tanh(s[0] @ w), s[1] + 1), (x, 0))[0])


CONTROL: dict[str, Case] = {
    "scan": (recurrent, (normal(40, 40) / 6, normal(7, 64, 40))),
    "cond": (chosen, (normal(40, 40) / 6, np.abs(normal(64, 40)))),
    "the other branch": (chosen, (normal(40, 40) / 6, -np.abs(normal(64, 40)))),
}
BASE = normal(12, 20, 20)
POSITIVE = BASE @ np.swapaxes(BASE, 1, 2) + 20 * np.eye(20)
TRIANGLES = np.linalg.cholesky(POSITIVE)
STACKS: dict[str, Case] = {
    "cholesky": (lambda a: np.sum(np.linalg.cholesky(a) ** 3), (POSITIVE,)),
    "solve": (lambda a, b: np.sum(np.linalg.solve(a, b) ** 2), (POSITIVE, normal(12, 20, 3))),
    "triangular": (
        lambda a, b: np.sum(bl.scipy.linalg.solve_triangular(a, b, lower=True) ** 2),
        (TRIANGLES, normal(12, 20, 3)),
    ),
    "eigh": (lambda a: np.sum(np.linalg.eigh(a).eigenvalues ** 2), (POSITIVE,)),
    "svd": (lambda a: np.sum(np.linalg.svd(a, full_matrices=False).S ** 3), (POSITIVE[:, :, :15],)),
    "qr": (lambda a: np.sum(np.linalg.qr(a).R ** 3), (POSITIVE,)),
    "determinant": (lambda a: np.sum(np.linalg.slogdet(a)[1] ** 2), (POSITIVE,)),
}


def convolution(x: Any, w: Any) -> Any:
    windows = np.stack([x[..., i : i + x.shape[-1] - 4] for i in range(5)], -1)
    return np.sum(np.einsum("bcik,ock->boi", windows, w) ** 2)


PRODUCTS: dict[str, Case] = {"sums over two axes": (convolution, (normal(5, 6, 70), normal(9, 6, 5)))}
CASES = REDUCTIONS | CONTROL | STACKS | PRODUCTS


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name", CASES)
def test_threads_change_no_bit(name: str, dtype: Any):
    f, arguments = CASES[name]
    exact, arguments = f(*arguments), tuple(a.astype(dtype) for a in arguments)
    alone = bl.jit(f)(*arguments)
    np.testing.assert_allclose(alone, exact, rtol=2e-4 if dtype is np.float32 else 1e-9, atol=1e-5)
    every = tuple(range(len(arguments)))
    gradients = bl.grad(lambda *xs: np.sum(f(*xs)), argnums=every)(*arguments)
    for threads in THREADS:
        np.testing.assert_array_equal(bl.jit(f, threads=threads)(*arguments), alone)
        again = bl.grad(lambda *xs: np.sum(f(*xs)), argnums=every, threads=threads)(*arguments)
        for g, h in zip(gradients, again, strict=True):
            np.testing.assert_array_equal(g, h)


def shared_steps(plan: KernelPlan) -> int:
    """How many steps of a plan and of its sub-graphs several threads share."""
    cuts = [cut for section in sections.sections(plan) for cut in section.cuts]
    return sum(cut is not None and cut.units > 1 for cut in cuts) + sum(map(shared_steps, plan.parts))


@pytest.mark.parametrize("name", CASES)
def test_it_is_shared(name: str):
    f, arguments = CASES[name]
    kernel = bl.compile(f, *arguments, threads=2)
    kernel(*arguments)
    plan = kernel._program("value", kernel._examples).executable.plan
    assert shared_steps(plan) > 0, str(plan)
    if name in PRODUCTS:
        products = [k for k, step in enumerate(plan.steps) if "gemm_axes" in str(getattr(step, "kernel", ""))]
        cuts = {s.first + k: cut for s in sections.sections(plan) for k, cut in enumerate(s.cuts)}
        assert products
        assert all(cuts[k] is not None and cuts[k].units > 1 for k in products)
    if name in REDUCTIONS:
        assert sum(cut is None or cut.units == 1 for s in sections.sections(plan) for cut in s.cuts) <= 3


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("special", [np.nan, np.inf, -np.inf, -0.0])
@pytest.mark.parametrize("at", [0, 16_384, 40_000, 70_000])
def test_numbers_that_are_none(dtype: Any, special: float, at: int):
    x = np.zeros(70_001, dtype)
    x[at] = special
    x[1::2] = -0.0
    for f in (np.sum, np.max, np.min, lambda x: x @ x):
        alone = np.asarray(bl.jit(f)(x))
        for threads in THREADS:
            assert np.asarray(bl.jit(f, threads=threads)(x)).tobytes() == alone.tobytes()


@pytest.mark.parametrize("size", [1, 63, 64, 255, 256, 257, 511, 512, 513, 5_000, 16_383, 16_384, 16_385, 40_000])
def test_every_size(monkeypatch: pytest.MonkeyPatch, size: int):
    """Blocks that are whole, blocks that are not, and no block."""
    monkeypatch.setattr(share_sums, "MIN_SIZE", 1)
    x = normal(size)
    columns = np.stack([x] * 4, 1)
    for f, a in ((np.sum, x), (np.max, x), (lambda x: x @ x, x), (lambda x: np.sum(x, 0), columns)):
        alone = bl.jit(f)(a)
        np.testing.assert_array_equal(bl.jit(f, threads=3)(a), alone)
        np.testing.assert_allclose(alone, f(a), rtol=1e-12)


@settings(max_examples=examples(40), phases=(Phase.explicit, Phase.reuse, Phase.generate))
@given(graphs(), st.integers(0, 1000), st.sampled_from(THREADS))
def test_random_programs(graph: Graph, seed: int, threads: int):
    """Every reduction that may go by blocks does, however short it is."""
    arrays = inputs_for(graph, seed)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(share_sums, "MIN_SIZE", 1)
        shared = build(graph, threads=threads)(*arrays)
    for x, y in zip(build(graph)(*arrays), shared, strict=True):
        np.testing.assert_array_equal(x, y)


@pytest.mark.parametrize("name", ["scan", "cond", "cholesky", "solve", "eigh"])
def test_gradients_of_another_engine(name: str):
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)
    jnp, (f, arguments) = jax.numpy, CASES[name]
    others: dict[str, Callable[..., Any]] = {
        "cond": lambda w, x: jnp.sum((jnp.tanh(x @ w) @ w) ** 2),
        "cholesky": lambda a: jnp.sum(jnp.linalg.cholesky((a + jnp.swapaxes(a, 1, 2)) / 2) ** 3),
        "solve": lambda a, b: jnp.sum(jnp.linalg.solve(a, b) ** 2),
        "eigh": lambda a: jnp.sum(jnp.linalg.eigvalsh(a) ** 2),
    }

    def scanned(w: Any, x: Any) -> Any:
        def step(h: Any, row: Any) -> tuple[Any, Any]:
            h = jnp.tanh(h @ w + row)
            return h, jnp.sum(h)

        last, sums = jax.lax.scan(step, jnp.zeros_like(x[0]), x)
        return jnp.sum(last**2) + jnp.sum(sums)

    every = tuple(range(len(arguments)))
    ours = bl.grad(f, argnums=every, threads=3)(*arguments)
    theirs = jax.grad(others.get(name, scanned), argnums=every)(*arguments)
    for g, h in zip(ours, theirs, strict=True):
        if name in ("cholesky", "eigh"):
            g, h = (x + np.swapaxes(x, 1, 2) for x in (np.asarray(g), np.asarray(h)))  # noqa: PLW2901 - of symmetric ones
        np.testing.assert_allclose(g, h, rtol=1e-7, atol=1e-9)
