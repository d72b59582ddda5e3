"""Simplifying changes no bit: values, signs of zero, infinities and nans stay, whatever was folded or shared."""

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from hypothesis.extra.numpy import arrays

import burlab as bl
from burlab.compiler.faults.values import Replay
from burlab.graph import Graph, Node
from burlab.graph.file.verify import verify
from burlab.graph.numpy_api.composites import stop_gradient
from burlab.graph.rewrite.simplify import simplify, without_calls
from burlab.graph.substitute import keep, rebuild
from burlab.graph.tracing.trace import trace
from tests.engines import on
from tests.graph.programs import Program, programs

ODD = (0.0, -0.0, 1.0, -1.0, 2.0, np.inf, -np.inf, np.nan, 5e-324, 1.7e308)
EDGES = np.array(ODD)


def plain(graph: Graph) -> Graph:
    """The graph as it was traced, but for the nodes that no kernel computes."""

    def rule(n: Node, inputs: tuple[Node, ...]) -> Node:
        return inputs[0] if n.op in ("surrogate", "stop_gradient") else keep(n, inputs)

    return Graph(graph.inputs, tuple(rebuild(without_calls(graph.outputs), {}, rule)))


def values(graph: Graph, args: Any) -> list[Any]:
    replay = Replay(graph, strict=True)
    computed = dict(zip(graph.nodes, replay.values(args), strict=True))
    return [computed[y] for y in graph.outputs]


def assert_same_bits(a: Any, b: Any) -> None:
    """Equal to the bit; a nan is a nan."""
    assert (a.shape, a.dtype) == (b.shape, b.dtype)
    np.testing.assert_array_equal(a, b)
    if a.dtype.kind == "f":
        number = ~np.isnan(a)
        np.testing.assert_array_equal(np.signbit(a)[number], np.signbit(b)[number])


def computing(graph: Graph) -> int:
    """How many nodes compute something."""
    return sum(n.op not in ("input", "constant", "broadcast") for n in graph.nodes)


def check(f: Callable[..., Any], *args: Any) -> Graph:
    """The simplified graph, after its values have been compared with those of the plain one."""
    graph = plain(trace(f, args).graph)
    small = simplify(graph)
    verify(small)
    assert computing(small) <= computing(graph)
    assert small.inputs == graph.inputs
    for a, b in zip(values(small, args), values(graph, args), strict=True):
        assert_same_bits(a, b)
    return small


OPERATORS: dict[str, Callable[..., Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
}
IDENTITIES: dict[str, Callable[..., Any]] = {
    **{f"x {op} {c}": lambda x, y, op=op, c=c: OPERATORS[op](x, c) for op in "+-*/" for c in ODD},
    **{f"{c} {op} x": lambda x, y, op=op, c=c: OPERATORS[op](c, x) for op in "+-*/" for c in ODD},
    "-(-x)": lambda x, y: -np.negative(x),
    "x + (-y)": lambda x, y: x + (-y),
    "(-x) + y": lambda x, y: (-x) + y,
    "(-x) + (-y)": lambda x, y: (-x) + (-y),
    "x - (-y)": lambda x, y: x - (-y),
    "(-x) - y": lambda x, y: (-x) - y,
    "(-x) * (-y)": lambda x, y: (-x) * (-y),
    "(-x) / y": lambda x, y: (-x) / y,
    "-(x - y)": lambda x, y: -(x - y),
    "x - x": lambda x, y: x - x,
    "x / x": lambda x, y: x / x,
    "x * 1 * -1 / 1": lambda x, y: x * 1 * -1 / 1,
    "where(True)": lambda x, y: np.where(np.ones(10, bool), x, y),
    "where(False)": lambda x, y: np.where(False, x, y),
    "where(mixed)": lambda x, y: np.where(np.arange(10) > 4, x, y),
    "where(c, x, x)": lambda x, y: np.where(x > y, x, x),
    "known arithmetic": lambda x, y: x + np.sum(bl.stop_gradient(np.zeros(10)) + 1.0) * stop_gradient(2.0) / 3.0,
    "known nan": lambda x, y: x * (stop_gradient(np.inf) - np.inf),
    "known -0": lambda x, y: x + stop_gradient(0.0) * -1.0,
    "zeros of both signs": lambda x, y: x + np.where(np.arange(10) % 3, 0.0, -0.0),
    "known comparison": lambda x, y: np.where(stop_gradient(np.nan) < 1.0, x, y),
    "abs(abs)": lambda x, y: abs(abs(x)),
    "max(x, x)": lambda x, y: np.maximum(x, x),
    "x ** 1": lambda x, y: x**1,
    "shared": lambda x, y: (np.sin(x) + y) * (np.sin(x) + y),
    "commuted": lambda x, y: (x + y) - (y + x),
    "x[::-1][::-1]": lambda x, y: x[::-1][::-1],
    "x[2:][1::3]": lambda x, y: x[2:][1::3] * y[:3],
    "T.T": lambda x, y: np.outer(x, y).T.T,
    "reshape twice": lambda x, y: x.reshape(5, 2).reshape(2, 5).reshape(10),
    "known reshape": lambda x, y: x.reshape(2, 5) + np.arange(10.0).reshape(2, 5).T.T,
    "broadcast twice": lambda x, y: np.broadcast_to(np.broadcast_to(x[:1], (3, 1)), (2, 3, 4)) * y[0],
    "slice of broadcast": lambda x, y: np.broadcast_to(2.5, (4, 4))[1:, 0] * x[:3],
    "float32 and back": lambda x, y: x.astype(np.float32).astype(np.float64),
    "float64 of a mask": lambda x, y: (x > y).astype(float).astype(int),
    "gradient of x * 0": lambda x, y: bl.grad(lambda x: np.sum(x * 0 + y * 1))(x),
    "gradient of a slice of a pad": lambda x, y: bl.grad(lambda x: np.sum(x[2:5] * y[2:5]))(x)[2:5],
}


@pytest.mark.parametrize("name", IDENTITIES)
def test_identities_change_no_bit(name: str) -> None:
    for shift in range(len(EDGES)):
        check(IDENTITIES[name], EDGES, np.roll(EDGES, shift))


@settings(max_examples=60)
@given(programs(), st.data())
def test_random_programs_change_no_bit(program: Program, data: Any) -> None:
    """Values and gradients, also at infinities, nans and zeros."""
    edges = st.sampled_from([*ODD, 0.5, -3.0])
    args = [data.draw(arrays(np.float64, shape, elements=edges)) for shape in program.shapes]
    check(bl.value_and_grad(on(np, program), (0, 1)), *args)


def nodes(f: Callable[..., Any], *args: Any) -> list[str]:
    return [n.op for n in simplify(trace(f, args).graph).nodes if n.op not in ("input", "constant")]


X = np.ones(4)


def test_identity_operations_are_removed() -> None:
    nothing: tuple[Callable[..., Any], ...] = (
        lambda x: x * 1,
        lambda x: 1.0 * x,
        lambda x: np.ones(4) * x,
        lambda x: x / 1,
        lambda x: -np.negative(x),
        lambda x: x[:][...],
        lambda x: x.T,
        lambda x: x.reshape(2, 2).reshape(4),
        lambda x: np.where(True, x, 0.0),
        bl.stop_gradient,
    )
    for f in nothing:
        assert nodes(f, X) == []
    assert nodes(lambda x: x * -1, X) == ["neg"]
    assert nodes(lambda x: x + (-np.sin(x)), X) == ["sin", "sub"]


def test_equal_nodes_are_one() -> None:
    assert sorted(nodes(lambda x: np.sin(x) * np.cos(x) + np.sin(x) * np.cos(x), X)) == ["add", "cos", "mul", "sin"]
    assert nodes(lambda x: x * np.array([0.0, 1, 2, 3]) - x * np.array([-0.0, 1, 2, 3]), X) == ["mul", "mul", "sub"]


def test_a_product_that_is_only_transposed_is_written_so() -> None:
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 5, 3)), rng.normal(size=(2, 3, 4))

    def once(a: Any, b: Any) -> Any:
        return np.exp((a @ b).transpose(2, 0, 1).transpose(0, 2, 1))

    def twice(a: Any, b: Any) -> Any:
        return (y := a @ b).transpose(1, 0, 2), np.exp(y)

    for function, expected in ((once, []), (twice, ["transpose"])):
        graph = trace(function, (a, b)).graph
        small = simplify(graph)
        assert [n.op for n in small.nodes if n.op == "transpose"] == expected
        for x, y in zip(values(plain(graph), (a, b)), values(small, (a, b)), strict=True):
            assert_same_bits(x, y)


def test_unused_nodes_are_removed() -> None:
    def f(x: Any) -> Any:
        np.exp(x)
        return np.sin(x)

    assert nodes(f, X) == ["sin"]
    assert nodes(lambda x, y: x * 2, X, X) == nodes(lambda x: x * 2, X)


def test_unused_inputs_stay() -> None:
    assert len(simplify(trace(lambda x, y: x, (X, X)).graph).inputs) == 2
    assert bl.jit(lambda x, y: 3.0)(X, X) == 3.0


def test_x_times_zero_and_x_plus_zero_stay() -> None:
    """inf * 0 is nan, and -0 + 0 is 0."""
    assert nodes(lambda x: x * 0, X) == ["broadcast", "mul"]
    assert "add" in nodes(lambda x: x + 0, X)
    assert nodes(lambda x: x - x, X) == ["sub"]


def test_simplifying_is_idempotent() -> None:
    graph = simplify(trace(bl.grad(lambda x: np.sum(np.tanh(x * 1 + (-x)) ** 2 * np.max(x))), (X,)).graph)
    assert simplify(graph).key == graph.key


def test_large_known_arrays_are_not_written_out() -> None:
    """ones((1000, 1000)) * 2 is a number repeated."""
    graph = simplify(trace(lambda x: x + np.zeros_like(x) * 2 + 1, (np.ones((1000, 1000)),)).graph)
    assert sum(n.nbytes for n in graph.nodes if n.op == "constant") < 100


@pytest.mark.parametrize("order", [1, 2, 3, 5])
@pytest.mark.parametrize("pair", [(np.sin, np.cos), (np.sinh, np.cosh)], ids=["circular", "hyperbolic"])
def test_sines_and_cosines_of_an_angle_are_computed_once(pair, order):
    """And derivatives have the bits of the partials that C++ states."""

    def both(x):
        return pair[0](x) * 2.0 + pair[1](x) * 3.0

    def slope(f):
        return bl.grad(lambda x: np.sum(f(x)))

    functions = [both]
    for _ in range(order):
        functions.append(slope(functions[-1]))
    x = np.array([0.3, -2.0, 1e-9, 40.0, -0.0])
    small = check(lambda x: tuple(f(x) for f in functions), x)
    assert sorted(n.op for n in small.nodes if n.op.startswith(("sin", "cos"))) == sorted(p.__name__ for p in pair)
