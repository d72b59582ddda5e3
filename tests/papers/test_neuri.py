"""The page of NeuRI: its rules are those of the definition and those of NumPy, and its claim holds."""

from itertools import product
from typing import Any

import numpy as np
import pytest

from tests.papers.pages import method, whole

CALLS: dict[str, Any] = {
    "add": np.add,
    "matmul": np.matmul,
    "outer": np.multiply.outer,
    "diff": np.diff,
    "transpose": np.transpose,
    "ravel": np.ravel,
    "twice": lambda a: np.concatenate([a, a]),
    "pad": lambda a: np.pad(a, 1),
    "stack": lambda a, b: np.stack([a, b]),
    "concatenate": lambda a, b: np.concatenate([a, b]),
}
ONE = ("diff", "transpose", "ravel", "twice", "pad")


def records(f: Any, ranks: tuple[int, ...], rng: np.random.Generator, calls: int = 60):
    rows = []
    for _ in range(calls):
        shapes = [tuple(int(n) for n in rng.integers(2, 5, rank)) for rank in ranks]
        try:
            out = np.shape(f(*map(np.ones, shapes)))
        except ValueError:
            out = None
        rows.append((sum(shapes, ()), out))
    return rows


def by_the_definition(rows: list[Any]):
    """All equalities, and the first form of each axis in the order of the paper's list."""
    good = [(a, out) for a, out in rows if out is not None]
    n = len(good[0][0])
    equal = {(i, j) for i, j in product(range(n), repeat=2) if i < j and all(a[i] == a[j] for a, _ in good)}
    forms = []
    for k in range(len(good[0][1])):
        candidates = [((i,), 0) for i in range(n)]
        candidates += [((i,), c) for i in range(n) for c in range(-9, 10)]
        candidates += [((), c) for c in range(20)]
        candidates += [((i, j), 0) for i in range(n) for j in range(i, n)]
        fits = (f for f in candidates if all(sum(a[i] for i in f[0]) + f[1] == out[k] for a, out in good))
        forms.append(next(fits, None))
    return equal, forms


@pytest.mark.parametrize("name", CALLS)
def test_rules_are_those_of_the_definition(name: str):
    page, rng = method("neuri"), np.random.default_rng(0)
    for ranks in product((1, 2), repeat=1 if name in ONE else 2):
        rows = records(CALLS[name], ranks, rng)
        got = page.infer(rows)
        if sum(out is not None for _, out in rows) < 3:
            assert got is None
            continue
        equal, forms = by_the_definition(rows)
        if None in forms:
            assert got is None
        else:
            assert (set(got[0]), got[1]) == (equal, forms)


def test_rules_of_known_operations():
    page, rng = method("neuri"), np.random.default_rng(1)
    rows = records(CALLS["matmul"], (2, 2), rng)
    assert page.infer(rows) == ([(1, 2)], [((0,), 0), ((3,), 0)])
    assert page.infer(records(CALLS["concatenate"], (2, 2), rng)) == ([(1, 3)], [((0, 2), 0), ((1,), 0)])
    assert page.infer(records(CALLS["diff"], (2,), rng)) == ([], [((0,), 0), ((1,), -1)])
    assert page.infer(records(CALLS["ravel"], (2,), rng)) is None  # a product of axes is no form
    assert page.infer([*rows, ((2, 3, 3, 4), None)]) is None  # a failed call that its rule lets pass


def test_programs_have_the_shapes_that_the_rules_predict():
    page, rng = method("neuri"), np.random.default_rng(2)
    keys = [(name, ranks) for name in CALLS for ranks in product((1, 2), repeat=1 if name in ONE else 2)]
    found = {key: page.infer(records(CALLS[key[0]], key[1], rng)) for key in keys}
    rules = {key: rule for key, rule in found.items() if rule}
    for _ in range(20):
        steps, shapes = page.grow(rules, [(4,), (4, 3), (3, 5)], 8, rng)
        values = [np.ones(shape) for shape in shapes[:3]]
        for name, operands in steps:
            values.append(CALLS[name](*(values[k] for k in operands)))
        assert len(steps) == 8
        assert [np.shape(v) for v in values] == shapes


@pytest.mark.full
def test_rules_make_programs_valid_and_a_planted_fault_is_found():
    page = whole("neuri")
    trials = page.trials
    assert page.wrong == 0
    assert np.all(trials["rules"] == 1)
    for name in ("ranks", "none"):
        assert np.all(trials[name] < 1)
        assert np.all(trials[name][:, -1] < 0.5)
    assert not any(page.found)
    assert page.planted
    assert all(names == ["jvp and differences"] for names in page.planted)
