"""`checkpoint` and `scan(remat=)`: the same numbers in every transform, from less memory."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

import burlab as bl
from burlab.errors import ArgumentError
from burlab.graph.rewrite.simplify import simplify
from burlab.graph.tracing.trace import trace
from tests.engines import assert_close, jax_or_skip, on
from tests.transforms.scans import PROGRAMS, arguments
from tests.transforms.test_nesting import NESTED, scalar, vector
from tests.transforms.test_scan import total

RNG = np.random.default_rng(0)
X, WEIGHTS = RNG.normal(size=(48, 16)), RNG.normal(size=(6, 16, 16)) / 4
Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


def nothing(f: Callable[..., Any]) -> Callable[..., Any]:
    return f


def contractions(f: Callable[..., Any]) -> Callable[..., Any]:
    return bl.checkpoint(f, policy="contractions")


def nested(f: Callable[..., Any]) -> Callable[..., Any]:
    """Half of the function in a checkpoint of its own."""
    inner = bl.checkpoint(lambda *args: f(*args) * 2.0)
    return bl.checkpoint(lambda *args: inner(*args) / 2.0)


CHECKPOINTS = {"inputs": bl.checkpoint, "contractions": contractions, "nested": nested}


def layer(x: Any, w: Any) -> Any:
    return np.tanh(np.exp(-((x @ w) ** 2)) + np.sin(x)) * np.where(x > 0.2, x, 0.5)


def network(kept: Decorator) -> Callable[..., Any]:
    """Six layers."""
    part = kept(layer)

    def f(x: Any, weights: Any) -> Any:
        for k in range(len(weights)):
            x = part(x, weights[k])
        return np.sum(x * x)

    return f


@pytest.mark.parametrize("kept", CHECKPOINTS)
@pytest.mark.parametrize("name", NESTED)
def test_every_transform_is_that_of_the_function(name: str, kept: str) -> None:
    """Each derivative of each order; JAX's own agree with these, see `test_nesting.py`."""
    make, args = NESTED[name]
    f, g = on(np, scalar), on(np, vector)
    ours = make(bl, CHECKPOINTS[kept](f), CHECKPOINTS[kept](g))(*args)
    assert_close(ours, make(bl, f, g)(*args), 1e-12)


@pytest.mark.parametrize("gear", ["compiled", "replay"])
def test_bits_are_the_same_and_memory_is_less(gear: Any) -> None:
    """The bytes between the passes: of 6 layers with 5 values each 6 layers' inputs, or their products too."""
    kernels = {name: bl.compile(network(kept), X, WEIGHTS, argnums=(0, 1), gear=gear)
               for name, kept in {"plain": nothing, **CHECKPOINTS}.items()}  # fmt: skip
    results = {name: kernel.value_and_grad(X, WEIGHTS) for name, kernel in kernels.items()}
    for value, gradients in results.values():
        assert value == results["plain"][0]
        for a, b in zip(gradients, results["plain"][1], strict=True):
            np.testing.assert_array_equal(a, b)
    kept = {name: kernel.memory["activations"] for name, kernel in kernels.items()}
    assert kept["inputs"] <= 8 * X.nbytes < kept["contractions"] <= 14 * X.nbytes < 16 * X.nbytes < kept["plain"]
    total = {name: kernel.memory["activations"] + kernel.memory["scratch"] for name, kernel in kernels.items()}
    assert total["inputs"] < 0.6 * total["plain"]


def test_it_equals_jaxs() -> None:
    jax = jax_or_skip()
    cell = on(np, lambda np, x, w: np.tanh(x @ w) * np.sin(x))
    theirs = jax.checkpoint(on(jax.numpy, lambda np, x, w: np.tanh(x @ w) * np.sin(x)))
    ours = bl.checkpoint(cell)
    loss = lambda f, x, w: (f(f(x, w), w) ** 2).sum()  # noqa: E731
    assert_close(
        bl.grad(lambda x, w: loss(ours, x, w), (0, 1))(X, WEIGHTS[0]),
        jax.grad(lambda x, w: loss(theirs, x, w), (0, 1))(X, WEIGHTS[0]),
        1e-9,
    )


@pytest.mark.parametrize("kept", CHECKPOINTS)
def test_losses_of_samples(kept: str) -> None:
    """In tiles the same sums, gradients of samples and curvature; parameters are read from the loss's arguments."""
    rows = RNG.normal(size=(70, 3, 16))
    plain, ours = (
        bl.FiniteSum(partial(lambda f, weights, x: f(x, weights), network(k)), (rows,))
        for k in (nothing, CHECKPOINTS[kept])
    )
    np.testing.assert_array_equal(ours.grad(WEIGHTS), plain.grad(WEIGHTS))
    indices = [3, 1, 69]
    assert_close(ours.per_sample_grads(WEIGHTS, indices), plain.per_sample_grads(WEIGHTS, indices), 1e-12)
    assert_close(ours.hvp(WEIGHTS, WEIGHTS), plain.hvp(WEIGHTS, WEIGHTS), 1e-12)


def test_trees_static_arguments_and_what_is_read_from_around() -> None:
    def f(p: Any, x: Any, power: int, *, sign: Any) -> Any:
        y = np.tanh(p["w"] * x) ** power * sign
        return {"y": y, "n": np.sum(x > 0), "z": (x, y[:2] + 1j * y[1:3])}

    def loss(kept: Decorator) -> Callable[..., Any]:
        def g(p: Any, x: Any) -> Any:
            def inner(p: Any, x: Any) -> Any:
                return f(p, x, 3, sign=outside)

            outside = np.cos(x)
            result = kept(inner)(p, x)
            return np.sum(result["y"]) + np.abs(np.sum(result["z"][1] ** 2)) * result["n"] + np.sum(result["z"][0])

        return g

    p = {"w": 0.7}
    assert_close(bl.grad(loss(bl.checkpoint), (0, 1))(p, X[0]), bl.grad(loss(nothing), (0, 1))(p, X[0]), 1e-12)
    plain = bl.checkpoint(f)(p, X[0], 2, sign=-1.0)
    assert_close(plain["y"], f(p, X[0], 2, sign=-1.0)["y"], 1e-14)
    assert plain["n"] == np.sum(X[0] > 0)


def test_what_follows_at_once_is_not_computed_again() -> None:
    """The last region, whose cotangent is a known number, is as if it were none."""
    region = bl.checkpoint(lambda x: np.sum(np.exp(np.sin(x))))
    graphs = [simplify(trace(bl.value_and_grad(f), (X,)).graph) for f in (region, lambda x: np.sum(np.exp(np.sin(x))))]
    assert [n.op for n in graphs[0].nodes] == [n.op for n in graphs[1].nodes]
    twice = simplify(trace(bl.grad(lambda x: region(x) ** 2), (X,)).graph)
    assert [n.op for n in twice.nodes].count("sin") == 2


def test_wrong_arguments() -> None:
    with pytest.raises(ArgumentError, match=r'policy must be "contractions" or None, got .dots.'):
        bl.checkpoint(np.sin, policy="dots")  # pyright: ignore[reportArgumentType] - the test
    with pytest.raises(ArgumentError, match="expected a function of arrays, got int"):
        bl.checkpoint(3)  # pyright: ignore[reportArgumentType] - the test
    for wrong in (0, -2, 1.5, "half"):
        with pytest.raises(ArgumentError, match=r"remat of scan must be True, False, .sqrt. or a positive number"):
            bl.scan(lambda c, x: (c, x), 0.0, X, remat=wrong)  # pyright: ignore[reportArgumentType] - the test


def test_a_graph_with_checkpoints_is_written_and_read() -> None:
    graph = trace(bl.grad(network(contractions)), (X, WEIGHTS)).graph
    assert {"checkpoint_contractions", "after"} <= {n.op for n in graph.nodes}
    again = bl.Graph.from_json(graph.to_json())
    assert again.key == graph.key
    assert [n.op for n in simplify(again).nodes] == [n.op for n in simplify(graph).nodes]


REMATS = (True, 1, 2, 3, 7, 9, "sqrt")


@pytest.mark.parametrize("remat", REMATS)
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_scans_that_keep_carries_have_the_same_derivatives(program: Any, remat: Any) -> None:
    """Values, gradients and second derivatives, also with a number of iterations that leaves a tail."""
    some = partial(bl.scan, remat=remat)
    args = arguments(7)
    plain, ours = (lambda *args, scan=scan: program(np, scan, *args) for scan in (bl.scan, some))
    assert_close(bl.jit(ours)(*args), bl.jit(plain)(*args), 1e-14)
    assert_close(ours(*args), plain(*args), 0)
    f, g = total(ours, np), total(plain, np)
    assert_close(bl.grad(f, (0, 1, 2))(*args), bl.grad(g, (0, 1, 2))(*args), 1e-12)
    assert_close(bl.hvp(f)(*args, args[0]), bl.hvp(g)(*args, args[0]), 1e-11)
    rows = tuple(np.stack([x, x / 2]) for x in args)
    assert_close(bl.vmap(bl.grad(f))(*rows), bl.vmap(bl.grad(g))(*rows), 1e-12)


def test_a_scan_keeps_as_many_carries_as_it_is_told() -> None:
    """Of 64 iterations with a state of 4 KB: all inputs of products, all carries, and those of 8 iterations and one."""
    state, steps = RNG.normal(size=(8, 64)), RNG.normal(size=(64, 64, 64)) / 8

    def f(state: Any, steps: Any, remat: Any) -> Any:
        def body(x: Any, w: Any) -> Any:
            return np.tanh(np.tanh(np.exp(np.sin(x)) @ w) @ w.T), None

        return np.sum(bl.scan(body, state, steps, remat=remat)[0] ** 2)

    used: dict[Any, int] = {}
    for remat in (False, True, "sqrt"):
        kernel = bl.compile(partial(f, remat=remat), state, steps)
        used[remat] = kernel.memory["activations"] + kernel.memory["scratch"]
        gradient = kernel.value_and_grad(state, steps)[1]
        assert_close(gradient, bl.grad(partial(f, remat=False))(state, steps), 1e-13)
    carries = 64 * state.nbytes
    assert used[False] > 2.5 * carries > 1.5 * carries > used[True] > carries > used["sqrt"]
