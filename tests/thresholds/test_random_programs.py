"""Random programs at threshold sizes: the first of those that `python -m tests.thresholds` runs by the thousand."""

import re

import numpy as np
import pytest

from burlab.compiler.lowering import contraction
from burlab.runtime import memory
from tests.exploring import examples
from tests.thresholds import checks
from tests.thresholds.drawing import BLOCK, LARGE, LONG_SIZES, MIDDLE, SMALL, draw
from tests.thresholds.programs import split
from tests.thresholds.words import ALONG, ELEMENTWISE, PAIRS, Complex, Real

RNG = np.random.default_rng(0)


@pytest.fixture(autouse=True)
def poison(monkeypatch):
    monkeypatch.setattr(memory, "_poison", True)


def wrong(first, count, compiled):
    found = {
        number: (program, checks.check(program, compiled))
        for number in range(first, first + count)
        if (program := draw(number))
    }
    return "\n".join(f"{program}\n{fault}" for program, fault in found.values() if fault)


def test_programs_in_replay():
    assert not wrong(1, examples(30), compiled=False)


def test_compiled_programs():
    assert not wrong(1_000_000, examples(4), compiled=True)


def other_bits_with_threads(first, count):
    rng = np.random.default_rng(first)
    found = {(program := draw(k)): checks.threaded(program, "compiled", rng) for k in range(first, first + count)}
    return "\n".join(f"{program}\n{fault}" for program, fault in found.items() if fault)


def test_threads_change_no_bit_of_a_program():
    assert not other_bits_with_threads(2_000_000, examples(12))


@pytest.mark.full
def test_many_programs():
    assert not wrong(100_000, 1000, compiled=False)
    assert not wrong(1_100_000, 60, compiled=True)
    assert not other_bits_with_threads(2_100_000, 300)


def test_programs_are_the_same_each_time():
    one, other = draw(7), draw(7)
    assert str(one) == str(other)
    assert all(np.array_equal(x, y) for x, y in zip(one.values, other.values, strict=True))


def test_programs_reach_thresholds():
    """Of two hundred programs, some have each kind of size, view, dtype and contraction."""
    programs = [draw(number) for number in range(200)]
    sizes = {size for p in programs for a in p.arguments for size in a.shape}
    assert not [
        kind for kind in (SMALL, MIDDLE, LONG_SIZES, BLOCK, LARGE) if len(sizes.intersection(kind)) < len(kind) // 2
    ]
    used = {step.word for p in programs for step in p.steps}
    assert {"einsum", "matmul", "broadcast", "transpose", "flip", "cut", "reshape", "sum over"} <= used
    assert {"by groups", "convolved", "contrasted", "recurrence", "solved", "determinants", "branches"} <= used
    assert {a.dtype.name for p in programs for a in p.arguments} == {"float16", "float32", "float64"}
    specs = [re.split(",|->", str(s.more[0])) for p in programs for s in p.steps if s.word == "einsum"]
    counted = [(set(left).intersection(right, out), (left, right, out)) for left, right, out in specs]
    stacks = [
        tuple(term[-1] in shared for term in terms) for shared, terms in counted if len(shared) == 1 and all(terms)
    ]
    assert len(set(stacks)) == 8  # the axis that counts products is the last one of each array, or not


@pytest.mark.parametrize("name", [*ELEMENTWISE, *ALONG, *PAIRS])
def test_words_of_complex_numbers_are_those_of_numpy_with_their_derivatives(name):
    """By central differences of what burlab traces."""
    table = next(t for t in (ELEMENTWISE, ALONG, PAIRS) if name in t)
    arrays = [RNG.normal(size=(6, 6)) for _ in range(1 + (table is PAIRS))]
    moves = [RNG.normal(size=(6, 6)) for _ in arrays]
    more = (1,) if table is ALONG else ()
    word, step = table[name], 1e-5
    value, slope = split(word(Complex, *(a + 1e-30j * v for a, v in zip(arrays, moves, strict=True)), *more))
    up, down = (
        word(Real, *(a + sign * step * v for a, v in zip(arrays, moves, strict=True)), *more) for sign in (1, -1)
    )
    np.testing.assert_allclose(word(Real, *arrays, *more), value, rtol=1e-13, atol=1e-13)
    np.testing.assert_allclose((up - down) / (2 * step), slope, rtol=1e-6, atol=1e-8)


def test_a_kernel_that_leaves_out_rows_is_found(monkeypatch):
    tuned = contraction._tuned

    def once(*args):
        found = tuned(*args)
        return found and found._replace(all_rows=True)

    monkeypatch.setattr(contraction, "_tuned", once)
    assert any(checks.check(draw(number), compiled=False) for number in range(200))
