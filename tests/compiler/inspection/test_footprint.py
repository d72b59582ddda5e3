"""Bytes by kind, and what the backward pass computes again instead of keeping it."""

from itertools import product
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import burlab as bl
from burlab.compiler.ir.plan import Invoke
from burlab.errors import ArgumentError, NonFiniteError
from burlab.graph import tree
from tests.engines import GEARS

RNG = np.random.default_rng(0)
DEPTH = 25
W, X = [RNG.normal(size=(32, 32)) / 6 for _ in range(DEPTH)], RNG.normal(size=(64, 32))


def deep(w: Any, x: Any) -> Any:
    for layer in w:
        x = np.tanh(x @ layer)
    return np.mean(x**2)


def executable(k: Any) -> Any:
    return k._program("value_and_grad", k._examples).executable


ALL_KERNELS = pytest.mark.parametrize(("gear", "remat"), list(product(GEARS, [None, "sqrt"])))


def products(k: Any) -> int:
    steps = executable(k).plan.steps
    return sum(isinstance(step, Invoke) and step.node.op == "contract" for step in steps)


def room(k: Any) -> int:
    return k.memory["activations"] + k.memory["scratch"]


@ALL_KERNELS
def test_kinds_add_up_to_what_a_call_touches(gear: Any, remat: Any) -> None:
    k = bl.compile(deep, W, X, gear=gear, remat=remat)
    exe = executable(k)
    memory = k.memory
    arrays = sum(exe.memory[kind] for kind in ("inputs", "outputs", "constants"))
    assert sum(memory.values()) == arrays + exe.workspace_bytes
    assert memory["parameters"] == memory["gradients"] == sum(w.nbytes for w in W)
    assert memory["inputs"] == X.nbytes
    assert memory["outputs"] == 8
    assert room(k) == exe.workspace_bytes


@ALL_KERNELS
def test_the_workspace_is_what_is_written_and_no_byte_more(gear: Any, remat: Any) -> None:
    k = bl.compile(deep, W, X, gear=gear, remat=remat)
    exe = executable(k)
    size = exe.workspace_bytes
    memory = RNG.integers(1, 255, size + 64 + 4096, np.uint8)
    memory = memory[-memory.ctypes.data % 64 :]
    before = memory.copy()
    outputs = [np.empty(spec.shape, spec.dtype) for spec in exe.outputs]

    workspace: Any = SimpleNamespace(address=memory.ctypes.data)
    assert exe.function([*W, X], outputs, workspace) == 0
    touched = (memory != before)[:size].reshape(-1, 64).any(1)
    assert touched.mean() > 0.99
    np.testing.assert_array_equal(memory[size:], before[size:])


def test_activations_are_what_the_forward_pass_leaves() -> None:
    layer = X.nbytes  # a multiple of 64
    k = bl.compile(deep, W, X, gear="replay")
    assert 0 <= k.memory["activations"] - DEPTH * layer <= 128  # tanh of each layer, and perhaps a single number
    k = bl.compile(deep, W, X)
    assert (DEPTH - 1) * layer <= k.memory["activations"] <= 2 * DEPTH * layer  # partials may be kept beside them


def test_parameters_are_the_arguments_of_argnums() -> None:
    def f(a: Any, kind: str, b: Any, c: Any) -> Any:
        return np.sum(a * b["u"]) * b["v"] + c if kind == "x" else c

    args = np.ones(3), "x", {"u": np.ones(3), "v": 2.0}, 1.0
    assert bl.compile(f, *args).memory["parameters"] == 24
    k = bl.compile(f, *args, argnums=(2, 3))
    assert (k.memory["parameters"], k.memory["inputs"], k.memory["gradients"]) == (40, 24, 40)
    k = bl.compile(np.tanh, X)  # no number, so no gradient
    assert k.memory["parameters"] == k.memory["gradients"] == k.memory["activations"] == 0
    assert (k.memory["inputs"], k.memory["outputs"]) == (X.nbytes, X.nbytes)


def attention(p: Any, x: Any) -> Any:
    for w, v in p:
        a = bl.softmax(x @ w @ x.T / 3.0)
        x = x + np.tanh(a @ x @ v)
        x = (x - np.mean(x, -1, keepdims=True)) / np.sqrt(np.var(x, -1, keepdims=True) + 1e-3)
    return bl.logsumexp(x)


def tricky(p: Any, x: Any) -> Any:
    """Gathers, branches, views, concatenations, random numbers and integers between layers."""
    key = bl.random.key(3)
    for k, (w, v) in enumerate(p):
        x = x[np.argsort(np.arange(12))[::-1]] @ w
        x = np.where(bl.random.uniform(bl.random.fold_in(key, k), x.shape) < 0.8, x, 0.0)
        x = np.concatenate([np.sin(x[:5]), x[5:].T.T * x[7:8]], 0)
        x = x * bl.cond(np.sum(x) > 0, lambda y: y, lambda y: 2.0 * y, np.cos(np.sum(v)))
        x = np.cumsum(x, 0) / np.max(np.abs(x))
    return np.sum(x**2)


P = [(RNG.normal(size=(6, 6)) / 2, RNG.normal(size=(6, 6)) / 2) for _ in range(7)]
S = RNG.normal(size=(12, 6))
CASES = {"deep": (deep, W, X), "attention": (attention, P, S), "tricky": (tricky, P, S)}


@pytest.mark.parametrize("gear", GEARS)
@pytest.mark.parametrize("name", CASES)
def test_computing_again_changes_no_bit(name: str, gear: Any) -> None:
    f, *args = CASES[name]
    plain = bl.compile(f, *args, gear=gear)
    value, gradient = plain.value_and_grad(*args)
    budgets = [] if name == "tricky" else [int(room(plain) * 0.8), int(room(plain) * 0.75)]
    for remat in ("sqrt", *budgets):
        k = bl.compile(f, *args, gear=gear, remat=remat)
        again = k.value_and_grad(*args)
        assert again[0] == value
        pairs = zip(tree.flatten(gradient)[0], tree.flatten(again[1])[0], strict=True)
        assert all(np.array_equal(one, other) for one, other in pairs)
        assert room(k) < room(plain)
        assert remat == "sqrt" or room(k) <= remat
        assert k(*args) == plain(*args)


@pytest.mark.parametrize("gear", GEARS)
def test_sqrt_remat_stores_the_root_of_the_depth(gear: Any) -> None:
    plain, k = (bl.compile(deep, W, X, gear=gear, remat=remat) for remat in (None, "sqrt"))
    layer = X.nbytes
    assert plain.memory["activations"] >= (DEPTH - 1) * layer
    assert k.memory["activations"] <= 2 * np.sqrt(DEPTH) * layer
    assert room(k) <= (2 * np.sqrt(DEPTH) + 4) * layer < 0.6 * room(plain)  # what is computed again needs room too
    assert products(plain) == 3 * DEPTH - 1
    assert products(plain) < products(k) <= 4 * DEPTH  # each forward product at most twice


def test_single_elements_are_computed_again_before_products() -> None:
    def f(w: Any, x: Any) -> Any:
        for layer in w:
            x = np.exp(-(np.sin(x @ layer) ** 2))
        return np.sum(x)

    plain = bl.compile(f, W, X)
    k = bl.compile(f, W, X, remat=room(plain) - 1)
    assert room(k) < room(plain)
    assert products(k) == products(plain)
    k = bl.compile(f, W, X, remat=room(plain) // 4)
    assert room(k) <= room(plain) // 4
    assert products(k) > products(plain)


def test_sufficient_budget_changes_nothing_and_a_small_one_names_the_need() -> None:
    plain = bl.compile(deep, W, X)
    assert bl.compile(deep, W, X, remat=room(plain)).source == plain.source
    with pytest.raises(ArgumentError, match=r"needs less than (\d+) bytes") as caught:
        bl.compile(deep, W, X, remat=100).value_and_grad(W, X)
    least = int(str(caught.value).split("less than ")[1].split()[0])
    k = bl.compile(deep, W, X, remat=least)
    assert room(k) == least
    assert k.value_and_grad(W, X)[0] == plain.value_and_grad(W, X)[0]


@pytest.mark.parametrize("remat", ["log", -1, True, 2.5])
def test_invalid_remat_raises(remat: Any) -> None:
    with pytest.raises(ArgumentError, match='remat must be "sqrt"'):
        bl.compile(deep, W, X, remat=remat)


def test_strict_gears_agree_and_faults_are_found_after_computing_again() -> None:
    one, other = (bl.compile(attention, P, S, gear=gear, strict=True, remat="sqrt") for gear in GEARS)
    for a, b in zip(one.value_and_grad(P, S)[1], other.value_and_grad(P, S)[1], strict=True):
        np.testing.assert_array_equal(a, b)
    k = bl.compile(attention, P, S, remat="sqrt", check_finite=True)
    assert len(k.profile(P, S).rows) > 100
    with pytest.raises(NonFiniteError, match=r"test_footprint\.py"):
        k.value_and_grad(P, S * 1e200)


@pytest.mark.parametrize("remat", ["sqrt", 10**6])
@pytest.mark.parametrize("gear", GEARS)
def test_products_that_sum_nothing_may_wait_for_the_backward_pass(gear: Any, remat: Any) -> None:
    def f(w: Any, v: Any) -> Any:
        return np.tanh(w @ v * v) @ v  # v times the cotangent is a product that sums nothing

    w, v = W[0], X[0]
    plain, again = (bl.compile(f, w, v, gear=gear, remat=r).value_and_grad(w, v) for r in (None, remat))
    assert again[0] == plain[0]
    np.testing.assert_array_equal(again[1], plain[1])


@pytest.mark.parametrize("gear", GEARS)
def test_remat_schedule_has_no_longer_delays_than_needed(gear: Any) -> None:
    def f(p: Any, x: Any) -> Any:
        """A layer norm, attention, a residual and the cross-entropy of a head."""
        mean = np.mean(x, -1, keepdims=True)
        h = (x - mean) / np.sqrt(np.mean((x - mean) ** 2, -1, keepdims=True) + 1e-5) * p["g"] + p["b"]
        q, k, v = (np.transpose(np.reshape(h @ p[name], (len(x), 4, 8)), (1, 0, 2)) for name in "qkv")
        h = np.transpose(bl.softmax(q @ np.transpose(k, (0, 2, 1))) @ v, (1, 0, 2))
        logits = (x + np.reshape(h, x.shape) @ p["out"]) @ p["head"]
        return np.mean(bl.logsumexp(logits, -1) - logits[:, 0])

    p = {"g": W[0][0], "b": W[0][1], **dict(zip(["q", "k", "v", "out", "head"], W, strict=False))}
    kernels = (bl.compile(f, p, X[:7], argnums=(0, 1), gear=gear, remat=r) for r in (None, "sqrt"))
    plain, again = (k.value_and_grad(p, X[:7]) for k in kernels)
    for one, other in zip(tree.flatten(plain)[0], tree.flatten(again)[0], strict=True):
        np.testing.assert_array_equal(one, other)


def test_the_root_is_not_taken_where_that_needs_more() -> None:
    def f(w: Any, v: Any, x: Any) -> Any:
        h = x
        for _ in range(4):
            h = np.tanh(w @ h + x @ v)
        return np.sum(h**2) + np.log1p(np.sum(np.exp(w[0])))

    w, v, x = RNG.normal(size=(64, 64)) / 5, RNG.normal(size=(64, 64)) / 5, RNG.normal(size=64)
    plain, k = (bl.compile(f, w, v, x, remat=r) for r in (None, "sqrt"))
    assert room(k) <= room(plain)
    assert k.value_and_grad(w, v, x)[0] == plain.value_and_grad(w, v, x)[0]
