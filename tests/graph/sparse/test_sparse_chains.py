"""Random chains of words on sparse matrices, against the same words on dense ones: values, and gradients by both."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import sparse

import burlab as bl

Word = Callable[[Any, Any, Any], Any]
# (matrix, a number for each row, one for each column) -> a matrix
LINEAR: list[Word] = [
    lambda a, row, column: a * 2.5,
    lambda a, row, column: a / column[0],
    lambda a, row, column: a * column,
    lambda a, row, column: column * a,
    lambda a, row, column: row[:, None] * a,
    lambda a, row, column: a / np.exp(column),
    lambda a, row, column: -a,
    lambda a, row, column: abs(a),
]
FUNCTIONS: list[Word] = [
    lambda a, row, column: np.log1p(a),
    lambda a, row, column: np.sinh(a),
    lambda a, row, column: a**2,
    lambda a, row, column: np.arctan(a) ** 3,
    lambda a, row, column: np.abs(a),
]
ENDS: list[Word] = [
    lambda a, row, column: a @ column,
    lambda a, row, column: a @ np.stack([column, column**2, column + 1], 1),
    lambda a, row, column: row @ a,
    lambda a, row, column: np.stack([row, row**2]) @ a,
    lambda a, row, column: np.sum(a) * np.mean(a),
    lambda a, row, column: a.sum(axis=0) * np.mean(a, axis=0),
    lambda a, row, column: np.sum(a, axis=1) * a.mean(axis=1),
    lambda a, row, column: np.linalg.norm(a),
    lambda a, row, column: np.inner(a, column) * np.inner(column, a),
    lambda a, row, column: np.inner(np.stack([column, column**2]), a) + np.inner(a, np.stack([column, column**2])).T,
    lambda a, row, column: np.dot(np.stack([row, row**2]), a),
    lambda a, row, column: np.cos(a.toarray() if hasattr(a, "toarray") else a) @ column,
]


def drawn(rng: np.random.Generator) -> tuple[Callable[..., Any], Any, Any, Any]:
    """A chain of words, a matrix, and numbers for rows and columns."""
    n, d = (int(size) for size in rng.integers(1, 8, 2))
    density = float(rng.choice([0.1, 0.4, 1.0]))
    matrix = sparse.random_array((n, d), density=density, rng=rng, format=str(rng.choice(["csr", "csc", "coo"])))
    steps = [FUNCTIONS[k] for k in rng.integers(0, len(FUNCTIONS), rng.integers(0, 2))]
    steps += [LINEAR[k] for k in rng.integers(0, len(LINEAR), rng.integers(0, 4))]
    turns = rng.random(len(steps) + 1) < 0.3
    end = ENDS[rng.integers(0, len(ENDS))]

    def chain(a: Any, row: Any, column: Any) -> Any:
        for turn, word in zip(turns, [*steps, end], strict=True):
            if turn:
                a, row, column = a.T, column, row
            a = word(a, row, column)
        return a

    return chain, matrix, rng.normal(size=n), 1.0 + rng.random(d)


@pytest.mark.parametrize("seed", range(12))
def test_chains_of_words(seed: int) -> None:
    rng = np.random.default_rng(seed)
    for _ in range(10):
        chain, matrix, row, column = drawn(rng)
        dense, stored = matrix.toarray(), matrix.toarray() != 0
        found, value = (bl.compile(chain, a, row, column, gear="replay")(a, row, column) for a in (matrix, dense))
        np.testing.assert_allclose(found, value, 1e-11, 1e-11)
        if not stored.any():
            continue  # the norm of nothing has no derivative

        def loss(*args: Any, chain: Any = chain) -> Any:
            return np.sum(np.sin(chain(*args)))

        by = bl.value_and_grad(loss, argnums=(0, 1, 2))
        (_, ours), (_, wanted) = (
            bl.compile(by, a, row, column, gear="replay")(a, row, column) for a in (matrix, dense)
        )
        np.testing.assert_allclose(ours[0].toarray(), wanted[0] * stored, 1e-9, 1e-9)
        for one, other in zip(ours[1:], wanted[1:], strict=True):
            np.testing.assert_allclose(one, other, 1e-9, 1e-9)
