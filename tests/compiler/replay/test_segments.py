"""Segments of replay: formulas as multiply-adds, groups in order, places that do not overlap, and long chains."""

from itertools import pairwise

import numpy as np
import pytest

import burlab as bl
from burlab.compiler.ir.library import LibraryKernel
from burlab.compiler.ir.spelling import FORMULAS
from burlab.compiler.replay.instructions import Instruction, InstructionGroup, SegmentValues, in_groups, placed
from burlab.compiler.replay.multiply_add import multiply_adds
from burlab.graph.scalar import arity

KERNELS = [LibraryKernel(name, "", "") for name in "abc"]
NUMBERS = [0.1, -3.7, 1e-310, -0.0, 0.0, 1e300, np.inf, -np.inf, 1 / 3]
ALGEBRAIC = [op for op in FORMULAS if multiply_adds(op, arity(op))]


def test_algebraic_operations_are_multiply_adds():
    assert {"add", "sub", "mul", "neg", "square", "square'0", "cube'0", "tanh'0", "sigmoid'0"} <= {*ALGEBRAIC}
    assert not {"div", "sin", "relu", "less", "sqrt'0", "logical_and"} & {*ALGEBRAIC}


@pytest.mark.parametrize("op", ALGEBRAIC)
def test_multiply_adds_give_the_bits_of_the_formula(op):
    rng = np.random.default_rng(0)
    for _ in range(200):
        arguments = [np.float64(x) for x in rng.choice([*NUMBERS, *rng.normal(size=9)], arity(op))]
        values = list(arguments)
        with np.errstate(all="ignore"):
            formula = FORMULAS[op].format(*(f"x[{k}]" for k in range(8)))
            expected = eval(formula, {"x": arguments})
            for step in multiply_adds(op, arity(op)):
                x, y, z = (v if isinstance(v, float) else values[v] for v in step)
                values.append(np.float64(x) * y + z)
        np.testing.assert_array_equal(values[-1], expected)
        assert np.isnan(expected) or np.signbit(values[-1]) == np.signbit(expected)


def random_instructions(rng, values, count):
    instructions = []
    for k in range(count):
        result = values.new(int(rng.choice([4, 8, 16, 64])))
        instructions.append(Instruction(KERNELS[rng.integers(3)], result, tuple(rng.integers(k, size=2)) if k else ()))
    return instructions


@pytest.mark.parametrize("seed", range(20))
def test_groups_hold_every_instruction_after_its_operands(seed):
    instructions = random_instructions(np.random.default_rng(seed), SegmentValues(), 60)
    groups = in_groups(instructions)
    order = [i for group in groups for i in group.instructions]
    assert sorted(i.result for i in order) == list(range(60))
    made = set()
    for group in groups:
        for i in group.instructions:
            assert i.operation is group.kernel
            assert made.issuperset(i.operands)
            made.add(i.result)
    assert all(a.kernel is not b.kernel for a, b in pairwise(groups))


@pytest.mark.parametrize("seed", range(20))
def test_a_value_keeps_its_bytes_until_its_last_use(seed):
    values = SegmentValues()
    instructions = random_instructions(np.random.default_rng(seed), values, 80)
    places, end = placed(
        values,
        [(InstructionGroup(KERNELS[0], instructions[:40]),), (InstructionGroup(KERNELS[0], instructions[40:]),)],
        100,
    )
    held = {}  # byte -> the value that it belongs to
    for i in instructions:
        for x in i.operands:
            assert all(held[byte] == x for byte in range(places[x], places[x] + values.sizes[x]))
        size = values.sizes[i.result]
        assert 100 < places[i.result] <= end - size
        assert places[i.result] % min(size, 64) == 0 or size == 16
        held.update(dict.fromkeys(range(places[i.result], places[i.result] + size), i.result))


def test_a_long_chain_is_replayed_with_a_right_gradient_in_little_memory():
    def chain(x, w):
        for k in range(5000):
            x = np.sin(x) * w if k % 3 == 0 else x + w * 0.01
        return x

    kernel = bl.compile(bl.value_and_grad(chain, argnums=(0, 1)), 0.5, 0.9)
    value, gradient = kernel(0.5, 0.9)
    assert ", replay" in repr(kernel._programs["value"].executable)

    def complex_step(dx, dw):
        x, w = 0.5 + 1e-30j * dx, 0.9 + 1e-30j * dw
        return chain(x, w).imag * 1e30

    np.testing.assert_allclose(value, chain(0.5, 0.9), rtol=1e-12)
    np.testing.assert_allclose(gradient, [complex_step(1, 0), complex_step(0, 1)], rtol=1e-9, atol=1e-300)
    assert kernel.memory["scratch"] + kernel.memory["activations"] < 8 * 5000 * 3
