"""Products that are too large to be stored: the same numbers in blocks of rows, and the memory of a block."""

import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np
import pytest

import burlab as bl
from burlab.compiler.planning.block_rows import block_rows
from burlab.graph import Graph
from burlab.graph.tracing.trace_cache import forget_traces
from tests.compiler.pipeline import replace_pass

ROWS, WIDTH, CLASSES = 197, 5, 48
r = np.random.default_rng(3)
H, W, BIAS = (r.normal(size=shape) for shape in ((ROWS, WIDTH), (CLASSES, WIDTH), (CLASSES,)))
TARGET = r.integers(0, CLASSES, ROWS)
WEIGHT = r.uniform(size=ROWS)
MASK = r.uniform(size=(ROWS, CLASSES)) < 0.7


@contextmanager
def small(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Graph]]:
    """Products of 16 KB count as too large. Gives the graphs that were made of others."""
    made: list[Graph] = []

    def by_small_blocks(graph: Graph) -> Graph:
        new = block_rows(graph, wide=1 << 14, block=1 << 12)
        made.extend([new] * (new is not graph))
        return new

    with monkeypatch.context() as m:
        replace_pass(m, "block_rows", by_small_blocks)
        forget_traces()  # equal problems share what was built of them
        yield made
    forget_traces()


def picked(logits: Any, np: Any) -> Any:
    return np.take_along_axis(logits, TARGET[:, None], axis=1)[:, 0]


def logsumexp(x: Any, np: Any) -> Any:
    top = np.max(x, axis=1, keepdims=True)
    return np.log(np.sum(np.exp(x - top), axis=1)) + top[:, 0]


def tokens(h: Any, w: Any, b: Any, np: Any) -> Any:
    return logsumexp(h @ w.T + b, np) - picked(h @ w.T + b, np)


def indexed(h: Any, w: Any, b: Any, np: Any) -> Any:
    """The entries of the targets as most people write them."""
    logits = h @ w.T + b
    return np.mean(logsumexp(logits, np) - logits[np.arange(ROWS), TARGET])


def squared(h: Any, w: Any, b: Any, np: Any) -> Any:
    """The backward pass waits for the value."""
    return np.mean(tokens(h, w, b, np)) ** 2


def smoothed(h: Any, w: Any, b: Any, np: Any) -> Any:
    logits = h @ w.T + b
    return np.mean(logsumexp(logits, np) - 0.9 * picked(logits, np) - 0.1 * np.mean(logits, axis=1))


def classes_first(h: Any, w: Any, b: Any, np: Any) -> Any:
    logits = w @ h.T + b[:, None]
    return np.mean(logsumexp(logits.T, np) - picked(logits.T, np))


def sequences(h: Any, w: Any, b: Any, np: Any) -> Any:
    """Tokens of three sequences that share an axis with nothing."""
    logits = np.stack([h, 2 * h, h - 1]) @ w.T
    top = np.max(logits, axis=2, keepdims=True)
    return np.sum(np.log(np.sum(np.exp(logits - top), axis=2)) * np.stack([b[:1] * WEIGHT.astype(h.dtype)] * 3))


def network(h: Any, w: Any, b: Any, np: Any) -> Any:
    """A wide layer, and another behind it."""
    wide = np.tanh(h @ w.T + b)
    return np.sum(np.tanh(wide @ (w @ w.T)) * np.where(MASK, wide, 0.5))


def pairs(h: Any, w: Any, b: Any, np: Any) -> Any:
    """All distances of points, of which each is a row and a column."""
    squares = np.sum(h * h, axis=1)
    return np.sum(np.exp(-(squares[:, None] + squares - 2 * h @ h.T) / 9)) + np.sum(b) * np.sum(w)


def log_softmax(x: Any, axis: int, np: Any) -> Any:
    top = np.max(x, axis=axis, keepdims=True)
    return x - top - np.log(np.sum(np.exp(x - top), axis=axis, keepdims=True))


def contrastive(diagonal: Callable[..., Any], axes: Sequence[int], h: Any, w: Any, b: Any, np: Any) -> Any:
    """InfoNCE over rows or columns, CLIP over both: each point of one kind finds its partner of the other kind."""
    pairs = h @ np.tanh(h - b[:WIDTH]).T * (1 + np.sum(w) / 99)
    return -sum(np.sum(diagonal(log_softmax(pairs, axis, np), np)) for axis in axes)


def transposed(h: Any, w: Any, b: Any, np: Any) -> Any:
    """CLIP as it is mostly written: the second loss is the first one of the transposed pairs."""
    pairs = h @ np.tanh(h - b[:WIDTH]).T * (1 + np.sum(w) / 99)
    return -sum(np.sum(np.diagonal(log_softmax(x, 1, np))) for x in (pairs, pairs.T))


def masked_pairs(h: Any, w: Any, b: Any, np: Any) -> Any:
    pairs = h @ np.tanh(h - b[:WIDTH]).T * (1 + np.sum(w) / 99)
    return np.sum(log_softmax(pairs, 1, np) * np.eye(ROWS))


EACH = np.arange(ROWS)
DIAGONALS: dict[str, Callable[..., Any]] = {
    "diagonal": lambda s, np: np.diagonal(s),
    "along": lambda s, np: np.take_along_axis(s, EACH[:, None], axis=1),
    "index": lambda s, np: s[EACH, EACH],
    "trace": lambda s, np: np.trace(s),
}
CONTRASTIVE: dict[str, Callable[..., Any]] = {
    **{f"infonce {name}": partial(contrastive, f, (1,)) for name, f in DIAGONALS.items()},
    "infonce columns": partial(contrastive, DIAGONALS["diagonal"], (0,)),
    "clip": partial(contrastive, DIAGONALS["diagonal"], (0, 1)),
    "clip transposed": transposed,
    "masked pairs": masked_pairs,
}

LOSSES: dict[str, Callable[..., Any]] = {
    "mean": lambda h, w, b, np: np.mean(tokens(h, w, b, np)),
    "masked": lambda h, w, b, np: np.sum(WEIGHT.astype(h.dtype) * tokens(h, w, b, np)) / 7,
    "indexed": indexed,
    "squared": squared,
    "smoothed": smoothed,
    "classes first": classes_first,
    "sequences": sequences,
    "network": network,
    "pairs": pairs,
    **CONTRASTIVE,
}


def kernel_of(name: str, arguments: list[Any], gear: Any) -> Any:
    """A kernel whose gradient is compiled."""
    kernel = bl.compile(partial(LOSSES[name], np=np), *arguments, argnums=(0, 1, 2), gear=gear)
    kernel.value_and_grad(*arguments)
    return kernel


def workspace(kernel: Any) -> int:
    return kernel.memory["scratch"] + kernel.memory["activations"]


def close(mine: Any, other: Any, dtype: str) -> None:
    """A value and its gradients are equal to rounding."""
    tolerance = 1e-12 if dtype == "float64" else 3e-5
    for a, b in zip((mine[0], *mine[1]), (other[0], *other[1]), strict=True):
        assert np.asarray(a).dtype == dtype
        np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance * float(np.max(np.abs(b))))


@pytest.mark.parametrize(("name", "dtype"), [*((name, "float64") for name in LOSSES), ("mean", "float32")])
def test_blocks_give_the_numbers_of_the_whole(name: str, dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    arguments = [x.astype(dtype) for x in (H, W, BIAS)]
    whole = kernel_of(name, arguments, "replay")
    with small(monkeypatch) as made:
        replayed, compiled = (kernel_of(name, arguments, gear) for gear in ("replay", "compiled"))
        assert len(made) == 2
        assert not [
            n for graph in made for n in graph.nodes if n.op == "contract" and ROWS in n.shape and n.nbytes >= 1 << 14
        ]
        assert (6 if name in CONTRASTIVE else 2) * workspace(compiled) < workspace(whole)
        if name in CONTRASTIVE:
            assert all(n.size < ROWS * ROWS or n.is_constant for graph in made for n in graph.nodes)
    mine = replayed.value_and_grad(*arguments)
    close(mine, whole.value_and_grad(*arguments), dtype)
    other = compiled.value_and_grad(*arguments)
    assert all(map(np.array_equal, (mine[0], *mine[1]), (other[0], *other[1])))
    if name in ("mean", "indexed", "squared", "network", "clip", "clip transposed", "infonce columns"):
        jax = pytest.importorskip("jax")
        jax.config.update("jax_enable_x64", True)
        loss = partial(LOSSES[name], np=jax.numpy)
        close(mine, jax.value_and_grad(loss, argnums=(0, 1, 2))(*map(jax.numpy.asarray, arguments)), dtype)


def test_value_needed_as_a_whole_is_computed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    def f(h: Any, w: Any) -> Any:
        logits = h @ w.T
        return np.sum(np.exp(logits)), np.sort(logits.ravel())[3], logits

    with small(monkeypatch) as made:
        assert bl.jit(f)(H, W)[0] == pytest.approx(np.sum(np.exp(H @ W.T)), rel=1e-12)
        total = bl.jit(lambda h, w: np.sum(np.exp(h @ w.T)) + np.sort((h @ w.T).ravel())[3])
        assert total(H, W) == pytest.approx(np.sum(np.exp(H @ W.T)) + np.sort((H @ W.T).ravel())[3], rel=1e-12)
        assert not made


PIXELS = r.integers(0, 100, (ROWS, 64))


def one_layer(x: Any, w: Any, v: Any, np: Any) -> Any:
    return np.mean(np.tanh(x / 100.0 @ w) @ v[: w.shape[1]])


def waits(x: Any, w: Any, v: Any, np: Any) -> Any:
    """The backward pass reads the data again, when the value is known."""
    return np.sum((x @ w) ** 2) ** 0.5


def gram(x: Any, w: Any, v: Any, np: Any) -> Any:
    y = x * 0.5
    return np.sum((y.T @ y @ v) ** 2) * 1e-6 + np.sum(w**2)


def columns(x: Any, w: Any, v: Any, np: Any) -> Any:
    """The rows of products are columns of the data, or rows of a view."""
    return np.sum((w.T @ x.T) ** 2) + np.sum((x.T * 0.5)[:, :64] @ v)


@pytest.mark.parametrize("dtype", [np.uint8, np.int16, np.float16])
@pytest.mark.parametrize("f", [one_layer, waits, gram, columns])
def test_narrow_data_are_converted_in_blocks(monkeypatch: pytest.MonkeyPatch, f: Any, dtype: Any) -> None:
    floats = np.float32 if dtype is np.float16 else np.float64
    x, w, v = PIXELS.astype(dtype), r.normal(size=(64, 7)).astype(floats), r.normal(size=64).astype(floats)
    wide = x.astype(floats)
    loss = partial(f, np=np)
    wanted = bl.value_and_grad(loss, (1, 2))(wide, w, v)
    with small(monkeypatch) as made:
        for gear in ("compiled", "replay"):
            got = bl.compile(loss, x, w, v, argnums=(1, 2), gear=gear).value_and_grad(x, w, v)
            np.testing.assert_allclose(got[0], wanted[0], rtol=1e-6)
            for mine, other in zip(got[1], wanted[1], strict=True):
                np.testing.assert_allclose(mine, other, rtol=1e-5, atol=1e-6 * np.abs(other).max())
        assert made


def test_converted_data_that_are_a_result_are_stored(monkeypatch: pytest.MonkeyPatch) -> None:
    with small(monkeypatch) as made:
        y, z = bl.jit(lambda x, w: (x.astype(float), x @ w))(PIXELS.astype(np.int8), W[:, :1].repeat(64, 1).T)
        assert not made
    np.testing.assert_array_equal(y, PIXELS)
    np.testing.assert_allclose(z, PIXELS @ W[:, :1].repeat(64, 1).T)


def test_a_sample_of_many_tokens_goes_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """The sum over samples has the same bits, also with tiles of several samples, which do not."""
    tokens, targets = r.normal(size=(6, 128, WIDTH)), r.integers(0, CLASSES, (6, 128))
    x = W[:, :WIDTH].copy()

    def loss(w: Any, h: Any, y: Any) -> Any:
        return bl.nn.cross_entropy(np.tanh(h) @ w.T, y)

    whole = bl.FiniteSum(loss, (tokens, targets), tile=1).grad(x)
    with small(monkeypatch) as made:
        problem = bl.FiniteSum(loss, (tokens, targets), tile=1)
        np.testing.assert_array_equal(problem.grad(x), whole)
        assert len(made) == 1
        np.testing.assert_array_equal(bl.FiniteSum(loss, (tokens, targets), tile=2).grad(x), whole)
        np.testing.assert_array_equal(problem.grad(x, [3]), bl.grad(loss)(x, tokens[3], targets[3]))
        run = bl.minimize(problem, x, bl.optim.GD(0.1), batch=1)
        run.step(5)
    again = bl.minimize(bl.FiniteSum(loss, (tokens, targets)), x, bl.optim.GD(0.1), batch=1)
    again.step(5)
    np.testing.assert_array_equal(run.x, again.x)


_PEAK = """
import resource, sys
import numpy as np
import burlab as bl

h, w = np.full((512, 4), 0.1), np.full((32_000, 4), 0.1)
target = np.arange(512)
f = bl.value_and_grad(lambda h, w, n: bl.nn.cross_entropy((h @ w.T)[:n], target[:n]), argnums=(0, 1))
f(h[:2], w[:2], 2)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
value, _ = f(h, w, 512)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before, value)
"""


def test_the_logits_of_a_vocabulary_are_never_in_memory() -> None:
    """By the operating system: 512 tokens by 32,000 words are 131 MB; compiling takes some 20."""
    out = subprocess.run([sys.executable, "-c", _PEAK], capture_output=True, text=True, check=True).stdout
    peak, value = map(float, out.split())
    assert value == pytest.approx(np.log(32_000), rel=1e-12)
    assert peak * 1024 < 0.75 * 512 * 32_000 * 8
