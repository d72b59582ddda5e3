"""tape.graph(): the same numbers and the same derivatives from the other gears."""

import numpy as np
import pytest

import burlab as bl
from burlab.eager import Tape, Value
from burlab.errors import TapeError
from burlab.graph import Graph, vjp
from tests.engines import GEARS, ones, run
from tests.op_cases import SCALAR

RECORDED = [case for case in SCALAR if case.order and case.name != "where"]


def everything(values: list[Value]) -> Value:
    """Every operation that a tape records, over sequences too, on arguments where all are smooth."""
    total = Value(0.0)
    for k, x in enumerate(values):
        small = x / 4 + 0.5  # between 0 and 1
        total = total + small.sqrt() + small.log() - (small * small.log1p()).expm1() / (2 + small**2) + small**3
        total = total + x.sin() * x.cos() + small.tan() - x.sinh() / x.cosh() + x.arctan() - (x / 2).arctanh()
        total = total - small**x + 2**x
        total = total + x.erf() * x.erfc() + x.relu() + x.sigmoid() - x.softplus() * x.gelu() + x.silu() + abs(x)
        total = total + x.tanh().exp() + x.sign() + (-x).maximum(small).minimum(x * x) + x.arctan2(small) + k
        total = total + x.square() - x.cube() * np.arctan2(1.5, small)
    total = total + bl.dot(values, values[::-1], bias=values[0]) + bl.variance(values) - bl.logsumexp(values)
    total = total + bl.reduce_sum(values) * bl.reduce_mean(values) - bl.negative_mean([*values, 2.0])
    return total + bl.sum_of_squares(values) - bl.mean_of_squares(values) + bl.reduce_prod(values)


@pytest.fixture(scope="module")
def recorded() -> tuple[Tape, list[Value], Value]:
    with Tape() as tape:
        values = [Value(x, label=f"v{k}") for k, x in enumerate([0.75, -1.25, 0.3])]
        root = everything(values)
        root.backward()
    return tape, values, root


def test_recorded_tape_covers_every_operation(recorded: tuple[Tape, list[Value], Value]):
    tape, _, root = recorded
    assert {case.name for case in RECORDED} <= {node.op for node in tape.graph(root).nodes}


@pytest.mark.parametrize("gear", GEARS)
def test_values_and_gradients_agree(recorded: tuple[Tape, list[Value], Value], gear: str):
    tape, values, root = recorded
    graph = tape.graph(root)
    assert [node.params for node in graph.inputs] == ["v0", "v1", "v2", "x3"]
    gradients = vjp(graph.outputs, graph.inputs[:3], [ones(graph.outputs[0])])
    arrays = [np.float64(v.data) for v in values] + [np.float64(0.0)]
    got, *slopes = run([*graph.outputs, *gradients], graph.inputs, arrays, gear)
    assert got == pytest.approx(root.data, rel=1e-14)
    assert [float(g) for g in slopes] == pytest.approx([v.grad for v in values], rel=1e-12)


def test_without_roots_every_last_value_is_an_output():
    with Tape() as tape:
        x = Value(2.0)
        y, z = x * x, x + 1
    graph = tape.graph()
    assert [node.op for node in graph.outputs] == ["mul", "add"]
    assert [node.op for node in tape.graph(z).nodes] == ["input", "constant", "add"]
    assert len(tape.graph(z, y).outputs) == 2
    assert len(Tape().graph().nodes) == 0
    with pytest.raises(TapeError):
        Tape().graph(x)


def test_the_graph_is_saved_and_read(recorded: tuple[Tape, list[Value], Value]):
    tape, _, root = recorded
    graph = tape.graph(root)
    again = Graph.from_json(graph.to_json())
    assert str(again) == str(graph)
    assert "digraph" in graph.to_dot()


def test_a_deep_tape():
    with Tape() as tape:
        x = Value(1.0)
        y = x
        for _ in range(20_000):
            y = y * 1.0
    assert len(tape.graph(y).nodes) > 20_000
