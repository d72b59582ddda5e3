"""Both gears on random graphs: against NumPy node by node, and against each other bit for bit."""

import numpy as np
from hypothesis import Phase, given, settings, strategies as st

from burlab.compiler import build
from burlab.compiler.faults.values import Replay
from burlab.graph.rewrite.simplify import simplify
from tests.compiler import reference
from tests.compiler.random_graphs import graphs, inputs_for, short_graphs
from tests.exploring import examples

PHASES = (
    Phase.explicit,
    Phase.reuse,
    Phase.generate,
)  # no shrinking: it takes minutes here, and the message names the node
seeds = st.integers(0, 1000)


def same_bits(a, b):
    return all(
        x.dtype == y.dtype and x.shape == y.shape and np.array_equal(x, y, equal_nan=x.dtype.kind == "f")
        for x, y in zip(a, b, strict=True)
    )


@settings(max_examples=examples(100), phases=PHASES)
@given(graphs(), seeds)
def test_every_node_agrees_with_numpy(graph, seed):
    for g in (graph, simplify(graph)):
        reference.check(g, Replay(g).values(inputs_for(g, seed)))


@settings(max_examples=examples(100), phases=PHASES)
@given(graphs(), seeds)
def test_simplifying_changes_no_bit_and_replay_reuses_memory_safely(graph, seed):
    arrays = inputs_for(graph, seed)
    values = dict(zip(graph.nodes, Replay(graph, strict=True).values(arrays), strict=True))
    assert same_bits(build(graph, gear="replay", strict=True)(*arrays), [values[y] for y in graph.outputs])


@settings(max_examples=examples(50), phases=PHASES)
@given(graphs(), seeds)
def test_gears_agree_bit_for_bit(graph, seed):
    arrays = inputs_for(graph, seed)
    compiled, replay = build(graph, strict=True), build(graph, gear="replay", strict=True)
    assert compiled.gear == "compiled"
    assert same_bits(compiled(*arrays), replay(*arrays))


@settings(max_examples=examples(100), phases=PHASES)
@given(short_graphs(), seeds)
def test_segments_of_numbers_have_the_bits_of_kernels_one_by_one(graph, seed):
    arrays = inputs_for(graph, seed)
    values = dict(zip(graph.nodes, Replay(graph, strict=True).values(arrays), strict=True))
    assert same_bits(build(graph, gear="replay", strict=True)(*arrays), [values[y] for y in graph.outputs])


@settings(max_examples=examples(30), phases=PHASES)
@given(short_graphs(), seeds)
def test_segments_of_numbers_have_the_bits_of_compiled_code(graph, seed):
    arrays = inputs_for(graph, seed)
    assert same_bits(build(graph)(*arrays), build(graph, gear="replay")(*arrays))
