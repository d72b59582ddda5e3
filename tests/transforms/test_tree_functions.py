"""bl.tree against optree and JAX on drawn trees; what does not fit is refused by name."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import optree
import pytest

import burlab as bl
from burlab.errors import ArgumentError
from tests.engines import jax_or_skip

tree = bl.tree


@bl.pytree
@dataclass(frozen=True)
class Line:
    slope: Any
    offset: Any


def drawn(rng: np.random.Generator, depth: int) -> Any:
    """A tree of numbers, None and containers."""
    kind = rng.integers(5) if depth else 4
    parts = [drawn(rng, depth - 1) for _ in range(rng.integers(4) if depth else 0)]
    match kind:
        case 0:
            return parts
        case 1:
            return tuple(parts)
        case 2:
            return dict(zip(rng.permutation(list("abcd")).tolist(), parts, strict=False))
        case 3:
            return None
        case _:
            return float(rng.normal())


@pytest.mark.parametrize("seed", range(30))
def test_leaves_paths_and_maps_are_jaxs_and_optrees(seed: int) -> None:
    jax = jax_or_skip()
    given = drawn(np.random.default_rng(seed), 4)
    leaves, form = tree.flatten(given)
    pairs, same = tree.flatten_with_path(given)
    assert leaves == jax.tree.leaves(given) == [leaf for _, leaf in pairs]
    assert form == same == tree.structure(given)
    assert tree.unflatten(form, leaves) == given
    assert [path for path, _ in pairs] == optree.tree_paths(given)
    theirs = [tuple(getattr(part, "key", getattr(part, "idx", None)) for part in path)
              for path, _ in jax.tree_util.tree_flatten_with_path(given)[0]]  # fmt: skip
    assert [path for path, _ in pairs] == theirs
    got = tree.map_with_path(lambda path, x, y: (len(path), x - y), given, tree.map(lambda x: 2 * x, given))
    assert got == jax.tree.map_with_path(lambda path, x: (len(path), -x), given)


@pytest.mark.parametrize("seed", range(20))
def test_transposes_are_jaxs(seed: int) -> None:
    jax, rng = jax_or_skip(), np.random.default_rng(seed)
    outer, inner = [drawn(rng, 3), 0.0], drawn(rng, 3)  # JAX's fails on an outer tree without leaves
    whole = tree.map(lambda _: tree.map(lambda _: float(rng.normal()), inner), outer)
    got = tree.transpose(tree.structure(outer), tree.structure(inner), whole)
    assert got == jax.tree.transpose(jax.tree.structure(outer), jax.tree.structure(inner), whole)


def test_a_tree_without_leaves_is_transposed() -> None:
    assert tree.transpose(tree.structure([None]), tree.structure({"a": 0}), [None]) == {"a": [None]}
    assert tree.transpose(tree.structure([0, 0]), tree.structure(()), [(), ()]) == ()


def test_fields_and_complex_arrays() -> None:
    line = Line(np.ones(2), [1.0 + 2.0j])
    assert [path for path, _ in tree.flatten_with_path(line)[0]] == [("slope",), ("offset", 0)]
    assert tree.map_with_path(lambda path, x: path, line) == Line(("slope",), [("offset", 0)])
    pairs = [Line(1.0, 2.0j), Line(3.0, 4.0)]
    turned = tree.transpose(tree.structure([0, 0]), tree.structure(Line(0, 0)), pairs)
    assert turned == Line([1.0, 3.0], [2.0j, 4.0])


def test_traced_values_are_leaves() -> None:
    def f(x: Any) -> Any:
        leaves, form = tree.flatten({"a": x, "b": (x * 2, x)})
        return tree.unflatten(form, [leaf * k for k, leaf in enumerate(leaves)])["b"]

    np.testing.assert_array_equal(bl.grad(lambda x: sum(f(x)))(3.0), 4.0)


def test_what_does_not_fit_is_refused() -> None:
    form = tree.structure({"a": 0, "b": [0]})
    wrong = [
        (lambda: tree.unflatten(form, [1]), r"got 1 leaves, but the tree .* has 2"),
        (lambda: tree.unflatten({"a": 0}, [1]), "structure of tree.unflatten must be what bl.tree.structure returns"),
        (lambda: tree.unflatten(form, 3), "expects a list of leaves"),
        (lambda: tree.transpose([0], form, 1), "outer of tree.transpose must be"),
        (lambda: tree.transpose(form, None, 1), "inner of tree.transpose must be"),
        (lambda: tree.transpose(form, form, {"a": 1, "b": [2]}), "tree.transpose expects the tree"),
        (lambda: tree.map_with_path(lambda *_: 0, [1], [1, 2]), "tree.map_with_path got the tree"),
        (lambda: tree.map_with_path(3, [1]), "function"),
    ]
    for call, says in wrong:
        with pytest.raises(ArgumentError if "function" not in says else bl.BurlabError, match=says):
            call()  # pyright: ignore[reportUnknownVariableType] - misuse
