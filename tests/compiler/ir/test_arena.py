"""The arena: values that live at the same time never share a byte."""

import pytest
from hypothesis import given, settings, strategies as st

from burlab.compiler.ir.arena import Life, arrange
from burlab.compiler.ir.options import PlanOptions
from burlab.compiler.ir.plan import Invoke, LoopStep, MemoryKind
from burlab.compiler.passes import make_plan
from burlab.compiler.planning.fusion import is_local
from burlab.graph.rewrite.simplify import simplify
from tests.compiler.random_graphs import graphs


@st.composite
def lifetimes(draw):
    lives = []
    scale = draw(st.sampled_from([1, 1 << 14]))  # of large ones the arrangement is another if that takes less
    for born in range(draw(st.integers(1, 25))):
        for _ in range(draw(st.integers(0, 2))):
            size = scale * draw(st.sampled_from([0, 1, 8, 64, 100, 128, 1000]))
            dying = [k for k, old in enumerate(lives) if old.dies == born and old.born < born]
            replaced = tuple(draw(st.sets(st.sampled_from(dying)))) if dying else ()
            lives.append(Life(size, born, born + draw(st.integers(0, 6)), replaced))
    return lives


def overlap(lives, offsets):
    """Pairs of arrays that share bytes while both live; taking over the bytes of one that dies is no fault."""
    bad = []
    for k, a in enumerate(lives):
        for j, b in enumerate(lives[:k]):
            together = a.born <= b.dies and b.born <= a.dies
            shared = offsets[k] < offsets[j] + b.nbytes and offsets[j] < offsets[k] + a.nbytes
            inherits = (j in a.replaces and b.dies == a.born) or (k in b.replaces and a.dies == b.born)
            if together and shared and not inherits:
                bad.append((j, k))
    return bad


@settings(max_examples=300)
@given(lifetimes())
def test_live_arrays_do_not_overlap(lives):
    arena = arrange(lives)
    assert overlap(lives, arena.offsets) == []
    assert all(offset % 64 == 0 for offset in arena.offsets)
    assert all(offset + life.nbytes <= arena.nbytes for offset, life in zip(arena.offsets, lives, strict=True))


@settings(max_examples=100)
@given(lifetimes())
def test_an_heir_is_the_only_one(lives):
    offsets = arrange(lives).offsets
    for k, dead in enumerate(lives):
        heirs = [
            j
            for j, new in enumerate(lives)
            if k in new.replaces and dead.nbytes and offsets[j] == offsets[k] and new.born == dead.dies and new.nbytes
        ]
        assert len(heirs) <= 1


@given(lifetimes())
def test_without_reuse_everything_has_its_own_bytes(lives):
    arena = arrange(lives, reuse=False)
    always = [Life(life.nbytes, 0, 99) for life in lives]
    assert overlap(always, arena.offsets) == []


def test_an_overlap_would_be_noticed():
    lives = [Life(64, 0, 2), Life(64, 1, 3)]
    assert overlap(lives, (0, 32)) == [(0, 1)]
    assert overlap(lives, (0, 64)) == []


def test_a_chain_needs_two_arrays_and_in_place_one():
    chain = [Life(800, k, k + 1) for k in range(50)]
    assert arrange(chain).nbytes == 2 * 832
    in_place = [Life(800, k, k + 1, (k - 1,) if k else ()) for k in range(50)]
    assert arrange(in_place).nbytes == 832


def test_neighbours_join_for_a_larger_array():
    lives = [Life(64, 0, 1), Life(64, 0, 1), Life(128, 2, 3)]
    assert arrange(lives).nbytes == 128


def test_a_small_array_does_not_keep_a_large_one_from_the_bytes_of_another():
    """In the order of writing, the second array would lie in the bytes of the first one, and the third behind it."""
    large, small = 32 << 20, 1 << 20
    lives = [Life(large, 0, 1), Life(small, 2, 9), Life(large, 3, 4), Life(small, 5, 6), Life(large, 7, 8)]
    arena = arrange(lives)
    assert arena.nbytes == large + small
    assert overlap(lives, arena.offsets) == []


@pytest.mark.parametrize("gear", ["compiled", "kernels"])
@settings(max_examples=100)
@given(graph=graphs())
def test_plans_write_over_nothing_that_is_still_read(graph, gear):
    """Step by step: who wrote the bytes that are read now? The root that was asked for, and nobody since."""
    plan = make_plan(simplify(graph), PlanOptions(gear))
    owner = {}  # byte -> root that last wrote it
    index = plan.graph.index

    def span(root, place):
        return range(place.offset, place.offset + root.nbytes)

    for step in plan.steps:
        stacks = [n for n in step.nodes if n.op == "concatenate"] if isinstance(step, LoopStep) else []
        written = (*step.stores, *stacks) if isinstance(step, LoopStep) else (step.node,)
        if isinstance(step, LoopStep):
            members = set(step.nodes)
            values = [*(x for n in step.nodes for x in n.inputs), *(put.node for put in step.extra_stores)]
            read = {plan.views[x].base for x in values} - members
            read = {root for root in read if not is_local(root)}  # which have names, whatever became of their bytes
        else:
            read = (
                {plan.views[x].base for x in step.node.inputs}
                if step.operands and step.node.op != "concatenate"
                else set()
            )
            if step.result.kind is MemoryKind.OUTPUT and plan.allocations.get(step.node) != step.result:
                read, written = {plan.views[step.node].base}, ()  # a copy of what is another output, or lies elsewhere
        for root in read:
            place = plan.allocations.get(root)
            if place is not None and place.kind is MemoryKind.WORKSPACE and root.nbytes:
                assert {owner.get(b) for b in span(root, place)} == {index[root]}, (str(plan), index[root])
        for root in written:
            place = plan.allocations.get(root)
            if place is not None and place.kind is MemoryKind.WORKSPACE:
                owner.update(dict.fromkeys(span(root, place), index[root]))
    assert all(isinstance(step, Invoke) for step in plan.steps) or gear == "compiled"
