"""`bl.counts` against numbers that count, closed formulas, and what the kernels compute."""

from typing import Any

import numpy as np
import pytest
from scipy import sparse

import burlab as bl
from burlab.graph.tally import NOTHING
from burlab.widgets.html_table import counts_html
from tests.counted_numbers import run

rng = np.random.default_rng(0)


def normal(*shape: int) -> Any:
    return rng.normal(size=shape)


class Arrays:
    """The words of the programs for burlab."""

    dot, sum, cumsum = staticmethod(np.matmul), staticmethod(np.sum), staticmethod(np.cumsum)

    def scan(self, f: Any, start: Any, xs: Any) -> Any:
        return bl.scan(lambda carry, x: (f(carry, x), None), start, xs)[0]

    def add_at(self, size: int, rows: Any, numbers: Any) -> Any:
        out = bl.zeros(size)
        np.add.at(out, rows, numbers)
        return out


def horner(m: Any, x: Any, coefficients: Any) -> Any:
    return m.scan(lambda total, c: total * x + c, 0.0 * x, coefficients)


def mlp(m: Any, x: Any, w1: Any, b1: Any, w2: Any) -> Any:
    return m.sum(m.dot(np.tanh(m.dot(x, w1) + b1), w2))


def mlp_gradient(m: Any, x: Any, w1: Any, b1: Any, w2: Any) -> Any:
    """By w1, b1 and w2 of the sum of squares of the outputs, written out."""
    h = np.tanh(m.dot(x, w1) + b1)
    y = m.dot(h, w2)
    back = 2.0 * y
    before = m.dot(back, w2.T) * (1.0 - h * h)
    return np.concatenate(
        [m.dot(x.T, before).reshape(-1), m.sum(before, axis=0).reshape(-1), m.dot(h.T, back).reshape(-1)]
    )


def mlp_loss(x: Any, w1: Any, b1: Any, w2: Any) -> Any:
    return np.sum((np.tanh(x @ w1 + b1) @ w2) ** 2)


def attention(m: Any, q: Any, k: Any, v: Any) -> Any:
    weights = np.exp(m.dot(q, k.T) / 2.0)
    return m.dot(weights / m.sum(weights, axis=1)[:, None], v)


def convolution(m: Any, x: Any, kernel: Any) -> Any:
    windows = np.stack([x[i : i + 6] for i in range(3)])
    return m.dot(kernel, windows)


def recurrent(m: Any, h: Any, w: Any, xs: Any) -> Any:
    return m.scan(lambda h, x: np.tanh(m.dot(w, h) + x), h, xs)


def weighted_order(m: Any, x: Any, w: Any) -> Any:
    return m.dot(np.sort(x), w)


def sparse_row(m: Any, values: Any, x: Any, columns: Any) -> Any:
    return m.sum(values * x[columns])


def sparse_matrix(m: Any, values: Any, x: Any, columns: Any, rows: Any) -> Any:
    return m.add_at(4, rows, values * x[columns])


def distances(m: Any, x: Any, y: Any) -> Any:
    difference = x[:, None, :] - y[None, :, :]
    return np.exp(-m.sum(difference * difference, axis=2))


def normalized(m: Any, x: Any, gain: Any) -> Any:
    centred = x - (m.sum(x, axis=1) / 5.0)[:, None]
    return centred / np.sqrt(m.sum(centred * centred, axis=1) / 5.0 + 1e-5)[:, None] * gain


def leapfrog(m: Any, q: Any, p: Any, times: Any) -> Any:
    def step(state: Any, h: Any) -> Any:
        q, p = state
        p = p - h * np.sin(q)
        return q + h * p, p

    return m.scan(step, (q, p), times)[0]


def running_sums(m: Any, x: Any) -> Any:
    return np.log(m.cumsum(x * x))


PROGRAMS = {
    horner: (0.7, normal(6)),
    mlp: (normal(4, 3), normal(3, 5), normal(5), normal(5, 2)),
    mlp_gradient: (normal(4, 3), normal(3, 5), normal(5), normal(5, 2)),
    attention: (normal(4, 3), normal(5, 3), normal(5, 2)),
    convolution: (normal(8), normal(2, 3)),
    recurrent: (normal(3), normal(3, 3), normal(5, 3)),
    weighted_order: (normal(9), normal(9)),
    sparse_row: (normal(4), normal(7), np.array([0, 3, 3, 6])),
    sparse_matrix: (normal(5), normal(7), np.array([0, 3, 3, 6, 1]), np.array([0, 0, 2, 3, 3])),
    distances: (normal(4, 3), normal(5, 3)),
    normalized: (normal(4, 5), normal(5)),
    leapfrog: (0.3, 0.1, np.full(7, 0.1)),
    running_sums: (normal(6),),
}


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_counts_are_those_of_a_plain_run_that_counts(program: Any) -> None:
    arguments = PROGRAMS[program]
    value, done = run(program, *arguments)
    np.testing.assert_allclose(bl.jit(lambda *a: program(Arrays(), *a))(*arguments), value, rtol=1e-12)
    counts = bl.counts(lambda *a: program(Arrays(), *a), *arguments)
    assert {kind: getattr(counts, kind) for kind in done} == done
    assert counts.flops == sum(done.values())


def test_a_gradient_counts_as_the_formulas_of_backpropagation() -> None:
    arguments = PROGRAMS[mlp_gradient]
    gradient = bl.grad(mlp_loss, (1, 2, 3))
    value, done = run(mlp_gradient, *arguments)
    np.testing.assert_allclose(np.concatenate([g.reshape(-1) for g in gradient(*arguments)]), value, rtol=1e-12)
    counts = bl.counts(gradient, *arguments)
    assert {kind: getattr(counts, kind) for kind in done} == done


@pytest.mark.parametrize(("m", "k", "n"), [(3, 4, 5), (1, 7, 2), (6, 1, 1)])
def test_products_of_matrices(m: int, k: int, n: int) -> None:
    """Of two, and of the gradient by both of them."""
    a, b = normal(m, k), normal(k, n)
    assert bl.counts(np.matmul, a, b).flops == 2 * m * k * n
    both = bl.counts(bl.grad(lambda a, b: np.sum(np.tanh(a @ b)), (0, 1)), a, b)
    assert both.by_operation["contract"].flops == 3 * 2 * m * k * n


def test_convolutions_and_einsum() -> None:
    layer, x = bl.nn.Conv2d(3, 4, 2, key=bl.random.key(0)), np.ones((3, 6, 5), np.float32)
    assert bl.counts(layer, x).flops == 2 * layer(x).size * 2 * 2 * 3 + layer(x).size
    letters = bl.counts(lambda a, b: np.einsum("bij,bjk->bik", a, b), normal(2, 3, 4), normal(2, 4, 5))
    assert letters.flops == 2 * 2 * 3 * 4 * 5


def test_factors_and_systems() -> None:
    """Against sums over the loops of the textbook."""
    n = 6
    matrix = np.eye(n) + 0.1
    cholesky = bl.counts(np.linalg.cholesky, matrix)
    products = sum(j * (n - j) for j in range(n))
    assert (cholesky.additions, cholesky.transcendental) == (products, n)
    assert cholesky.multiplications == products + n * (n - 1) // 2
    eliminated = sum((n - k - 1) ** 2 for k in range(n))
    solve = bl.counts(np.linalg.solve, matrix, np.ones((n, 2)))
    assert solve.by_operation["lu"].additions == eliminated
    assert solve.by_operation["lu"].multiplications == eliminated + sum(n - k - 1 for k in range(n))
    assert solve.by_operation["lu_solve"].multiplications == 2 * n * n


def test_control_flow() -> None:
    x = normal(5)
    loop = bl.counts(lambda x: bl.while_loop(lambda s: s[0] < 1, lambda s: np.tanh(s) * 2, x), x)
    assert (loop.transcendental, loop.multiplications, len(loop.notes)) == (5, 5, 1)
    assert "one iteration" in loop.notes[0]
    choice = bl.counts(lambda x: bl.cond(x[0] > 0, lambda: x * x + 1, lambda: 3 * x), x)
    assert (choice.flops, choice.logic) == (10, 1)
    assert "choice" in choice.notes[0]
    nested = bl.counts(
        lambda x: bl.scan(lambda c, _: (bl.fori_loop(0, 3, lambda k, c: c * x, c), None), x, None, 4)[0], x
    )
    assert nested.multiplications == 4 * 3 * 5
    many = bl.counts(bl.vmap(lambda x: bl.while_loop(lambda s: s < 1, lambda s: 2 * s, x)), x)
    assert many.multiplications == 5


def test_checkpoints_count_what_they_compute_again() -> None:
    def loss(f: Any) -> Any:
        return bl.grad(lambda x: np.sum(np.tanh(f(x))))

    def layer(x: Any) -> Any:
        return np.sin(np.exp(x))

    plain, again = (bl.counts(loss(f), normal(4)) for f in (layer, bl.checkpoint(layer)))
    assert again.by_operation["exp"].transcendental == 2 * plain.by_operation["exp"].transcendental


def test_whole_numbers_are_logic_and_moves_are_no_flops() -> None:
    whole = bl.counts(lambda k: np.sum(k * k) + 1, np.arange(5))
    assert (whole.flops, whole.logic) == (0, 11)
    moved = bl.counts(lambda x, i: np.concatenate([x[i], np.zeros(2)]), normal(6), np.array([1, 2, 2]))
    assert (moved.flops, moved.copies) == (0, 3 + 5)
    ordered = bl.counts(np.sort, normal(8))
    assert (ordered.flops, ordered.logic) == (0, 8 * 3)


def test_bytes_are_those_of_operands_and_results() -> None:
    a, b = normal(3, 4), normal(4, 5)
    counts = bl.counts(np.matmul, a, b)
    assert (counts.bytes_read, counts.bytes_written) == (8 * (12 + 20), 8 * 15)
    views = bl.counts(lambda a, b: a[:2].T * b[0, 0], a, b)
    assert (views.bytes_read, views.bytes_written) == (8 * (8 + 1), 8 * 8)
    rows = bl.counts(lambda a, i: a[i], a, np.array([0, 2])).by_operation["gather"]
    assert (rows.bytes_read, rows.bytes_written) == (8 * (8 + 2), 8 * 8)


def test_sparse_matrices_count_their_entries() -> None:
    matrix = sparse.csr_array(rng.normal(size=(20, 30)) * (rng.random((20, 30)) < 0.1))
    assert bl.counts(lambda x: matrix @ x, normal(30)).flops == 2 * matrix.nnz
    assert bl.counts(lambda x: matrix @ x, normal(30, 4)).flops == 2 * 4 * matrix.nnz
    assert bl.counts(lambda a, x: a @ x, matrix, normal(30)).flops == 2 * matrix.nnz
    assert bl.counts(lambda x: matrix[:7] @ x, normal(30)).flops == 2 * matrix[:7].nnz


def test_modules_are_scopes_and_everything_adds_up() -> None:
    model = bl.nn.MLP([3, 5, 2], key=bl.random.key(0))

    def f(model: Any, x: Any) -> Any:
        with bl.scope("net"):
            y = model(x)
        with bl.scope("loss"):
            return np.sum(y * y)

    kernel = bl.compile(f, model, np.ones((4, 3), np.float32))
    counts = kernel.counts
    assert {"net", "loss"} == {name.split("/")[0] for name in counts.by_module}
    for table in (counts.by_operation, counts.by_module):
        assert sum(table.values(), NOTHING) == counts.total
    assert "net" in str(counts)
    assert "loss" in counts_html(counts)
    assert bl.counts(bl.value_and_grad(f), model, np.ones((4, 3), np.float32)).total == counts.total


def test_nothing_is_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    from burlab.compiler import kernel

    def build(*_: Any, **__: Any) -> None:
        raise AssertionError("a kernel was built")

    monkeypatch.setattr(kernel, "build", build)
    compiled = bl.compile(lambda x: np.sum(np.tanh(x)), normal(3))
    assert compiled.counts.flops > bl.counts(compiled, normal(3)).flops > 0
    with pytest.raises(AssertionError, match="was built"):
        compiled(normal(3))


def test_a_kernel_without_a_gradient_counts_its_value() -> None:
    assert bl.compile(lambda k: k + 1, np.arange(4)).counts.logic == 4


def test_another_number_of_arguments_is_refused() -> None:
    with pytest.raises(bl.BurlabError, match="2 examples"):
        bl.counts(lambda x: x, 1.0, 2.0)
