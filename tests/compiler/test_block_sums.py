"""Gradients of coefficients that many entries share: the same numbers in blocks of rows, and nothing as large as x."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np
import pytest

import burlab as bl
from burlab.compiler.planning.block_sums import block_sums
from burlab.graph import Graph
from tests.compiler.pipeline import replace_pass

ROWS, GROUPS, WIDTH = 101, 3, 8
r = np.random.default_rng(5)
X, WEIGHT = r.normal(size=(2, ROWS, GROUPS, WIDTH))
P, Q = r.normal(size=(GROUPS, 6)), r.normal(size=(GROUPS, 4))


@contextmanager
def small(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Graph]]:
    """Terms of 4 KB count as too large. Gives the graphs that were made of others."""
    made: list[Graph] = []

    def by_small_blocks(graph: Graph) -> Graph:
        new = block_sums(graph, least=1 << 12, cache=1 << 13)
        made.extend([new] * (new is not graph))
        return new

    with monkeypatch.context() as m:
        replace_pass(m, "block_sums", by_small_blocks)
        yield made


def of_groups(c: Any, k: int) -> Any:
    return c[:, k][None, :, None]


def polynomial(x: Any, c: Any) -> Any:
    y = of_groups(c, c.shape[1] - 1)
    for k in range(c.shape[1] - 2, -1, -1):
        y = y * x + of_groups(c, k)
    return y


def rational(x: Any, p: Any, q: Any, np: Any) -> Any:
    u = x * polynomial(x, q)
    return np.sum(polynomial(x, p) / (1 + u * u) * WEIGHT.astype(x.dtype))


def prelu(x: Any, p: Any, q: Any, np: Any) -> Any:
    """One coefficient alone, of each number of a row, and one of each group."""
    return np.sum(np.where(x > 0, x, p.reshape(-1)[:WIDTH] * x) * np.tanh(x)) + np.sum(np.exp(of_groups(q, 1) * x / 9))


def batch_norm(x: Any, p: Any, q: Any, np: Any) -> Any:
    """With the statistics of the batch: sums that wait for sums."""
    z = x - np.mean(x, axis=(0, 2), keepdims=True)
    z = z / np.sqrt(np.mean(z * z, axis=(0, 2), keepdims=True) + 0.1)
    return np.sum(np.tanh(z * of_groups(p, 0) + of_groups(q, 0)) ** 2)


def leading(x: Any, p: Any, q: Any, np: Any) -> Any:
    """Over the first axis, and over the first two; of rows that are another shape."""
    flat = np.sin(x).reshape(ROWS, GROUPS * WIDTH)
    return np.sum(np.exp(flat * np.concatenate([p.reshape(-1), q.reshape(-1)])[: GROUPS * WIDTH] / 9)) + np.sum(
        np.cos(x * q.reshape(-1)[:WIDTH])
    )


def rows_too(x: Any, p: Any, q: Any, np: Any) -> Any:
    """A softmax of each row, whose sums do not add up rows."""
    y = np.exp(np.tanh(x) * of_groups(p, 0) + x * of_groups(q, 0))
    return np.sum(np.sin(x * of_groups(p, 1)) * y / np.sum(y, axis=2, keepdims=True))


def network(x: Any, p: Any, q: Any, np: Any) -> Any:
    """Two layers: what the second one sends back is a product, for which the first one waits."""
    for k in range(2):
        u = np.tanh(x * of_groups(p, k)) * of_groups(q, k) + x * x * of_groups(p, k + 2)
        x = (u.reshape(-1, WIDTH) @ WEIGHT[:WIDTH, 0].astype(x.dtype)).reshape(x.shape)
    return np.sum(x * x)


LOSSES: dict[str, Callable[..., Any]] = {
    "rational": rational, "prelu": prelu, "batch norm": batch_norm, "leading": leading, "rows too": rows_too,
    "network": network,
}  # fmt: skip


def close(mine: Any, other: Any, dtype: str) -> None:
    """A value and its gradients are equal to rounding."""
    tolerance = 1e-12 if dtype == "float64" else 5e-5
    for a, b in zip((mine[0], *mine[1]), (other[0], *other[1]), strict=True):
        assert np.asarray(a).dtype == dtype
        np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance * float(np.max(np.abs(b))))


def run(f: Any, *arguments: Any, gear: Any = "replay") -> Any:
    kernel: Any = bl.compile(f, *arguments, gear=gear)
    return kernel(*arguments)


@pytest.mark.parametrize(("name", "dtype"), [*((name, "float64") for name in LOSSES), ("rational", "float32")])
def test_blocks_give_the_numbers_of_the_whole(name: str, dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    arguments = [x.astype(dtype) for x in (X, P, Q)]
    gradients = bl.value_and_grad(partial(LOSSES[name], np=np), argnums=(0, 1, 2))
    whole = run(gradients, *arguments)
    with small(monkeypatch) as made:
        replayed, compiled = (run(gradients, *arguments, gear=gear) for gear in ("replay", "compiled"))
        assert len(made) == 2
    close(replayed, whole, dtype)
    close(compiled, replayed, dtype)
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)
    loss = partial(LOSSES[name], np=jax.numpy)
    close(compiled, jax.value_and_grad(loss, argnums=(0, 1, 2))(*map(jax.numpy.asarray, arguments)), dtype)


@pytest.mark.parametrize("degree", [0, 1, 4, 15])
def test_no_term_of_any_number_of_sums_is_stored(degree: int, monkeypatch: pytest.MonkeyPatch) -> None:
    c = r.normal(size=(GROUPS, degree + 1))
    gradient = bl.grad(lambda c, x: np.sum(np.tanh(polynomial(np.tanh(x), c) + x) * WEIGHT))
    with small(monkeypatch) as made:
        blocked = run(gradient, c, X)
    np.testing.assert_allclose(blocked, run(gradient, c, X), rtol=1e-12, atol=1e-12)
    assert not [n for n in made[0].nodes if n.size >= X.size and not (n.row.leaf or n.row.view)]


def test_nothing_is_computed_for_blocks_that_the_whole_needs_before(monkeypatch: pytest.MonkeyPatch) -> None:
    """The product between two layers reads what the sums of the first one are made of."""
    gradient = bl.grad(lambda p, q: network(X, p, q, np), argnums=(0, 1))
    with small(monkeypatch) as made:
        run(gradient, P, Q)
    regions = {n.params.region for n in made[0].nodes if n.op == "blocks"}
    graphs = [made[0], *(region.graphs[0] for region in regions)]
    assert len(regions) == 2
    assert sum(n.op == "tanh" for graph in graphs for n in graph.nodes) == 2
