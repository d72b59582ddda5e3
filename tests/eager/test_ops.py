"""Every operation that a tape records: its value, its partials, its edges and kinks, with constants on either side."""

from typing import Any

import mpmath
import numpy as np
import pytest
from mpmath import mp

from burlab.eager import Tape, Value
from burlab.eager.native import types
from tests.op_cases import SCALAR, OpCase

RECORDED = [case for case in SCALAR if case.order and case.name != "where"]
UFUNCS = {"sub": "subtract", "mul": "multiply", "div": "divide", "neg": "negative", "abs": "absolute"}


def rows(points: Any) -> list[tuple[float, ...]]:
    return [p if isinstance(p, tuple) else (p,) for p in points]


def apply(name: str, *operands: Any) -> Any:
    """The operation, by its method or, where a number comes first, by NumPy's function."""
    if isinstance(operands[0], Value):
        return types().operations[name](*operands)
    return getattr(np, UFUNCS.get(name, name))(*operands)


def test_the_tape_records_every_differentiable_operation_of_two_operands_at_most():
    assert set(types().operations) == {case.name for case in RECORDED}


@pytest.mark.parametrize("case", RECORDED, ids=lambda case: case.name)
def test_value_and_partials_are_exact(case: OpCase):
    for row in rows(case.points):
        values = [Value(x) for x in row]
        result = apply(case.name, *values)
        result.backward()
        with mp.workdps(60):
            exact = case.exact(*map(mp.mpf, row))
            spacing = mp.mpf(float(np.spacing(abs(float(exact)))))
            assert abs(mp.mpf(result.data) - exact) <= case.ulp * spacing, row
            for k, value in enumerate(values):
                orders = tuple(int(j == k) for j in range(len(row)))
                slope = mpmath.diff(case.exact, tuple(map(mp.mpf, row)), orders)
                assert value.grad == pytest.approx(float(slope), rel=1e-14, abs=1e-15), row


@pytest.mark.parametrize("case", RECORDED, ids=lambda case: case.name)
def test_eager_edges_equal_numpy(case: OpCase):
    for row in rows(case.edges):
        with np.errstate(all="ignore"):
            wanted = float(case.numpy(*map(np.float64, row)))
        got = apply(case.name, *map(Value, row)).data
        if not np.isfinite(wanted):
            assert repr(got) == repr(wanted), row
        else:
            np.testing.assert_array_max_ulp(got, wanted, 8)


@pytest.mark.parametrize("case", [case for case in RECORDED if case.kinks], ids=lambda case: case.name)
def test_eager_kinks_follow_the_conventions(case: OpCase):
    for row, slopes in case.kinks:
        values = [Value(x) for x in (row if isinstance(row, tuple) else (row,))]
        apply(case.name, *values).backward()
        assert tuple(value.grad for value in values) == (slopes if isinstance(slopes, tuple) else (slopes,))


@pytest.mark.parametrize("case", [case for case in RECORDED if len(rows(case.points)[0]) == 2], ids=lambda c: c.name)
def test_a_constant_on_either_side_is_no_operand(case: OpCase):
    for x, y in rows(case.points):
        both = [Value(x), Value(y)]
        wanted = apply(case.name, *both)
        wanted.backward()
        for operands, slope in (((Value(x), y), both[0].grad), ((x, Value(y)), both[1].grad)):
            got = apply(case.name, *operands)
            got.backward()
            (value,) = [operand for operand in operands if isinstance(operand, Value)]
            assert (got.data, value.grad) == (wanted.data, slope)
            assert got._prev == {value}


@pytest.mark.parametrize("case", RECORDED, ids=lambda case: case.name)
def test_replay_computes_the_same_as_recording(case: OpCase):
    with Tape() as tape:
        for start, other in zip(rows(case.points), reversed(rows(case.points)), strict=True):
            values = [Value(x) for x in start]
            result = apply(case.name, *values)
            fresh = [Value(x) for x in other]
            wanted = apply(case.name, *fresh)
            wanted.backward()
            tape.replay(dict(zip(values, other, strict=True)), root=result)
            assert result.data == wanted.data
            assert [value.grad for value in values] == [value.grad for value in fresh]


def test_powers_of_two_and_three_are_products():
    x = Value(-1.7)
    square, cube, half = x**2, x**3, x**2.5
    assert (square._op, cube._op, half._op) == ("**2", "**3", "**2.5")
    assert (square.data, cube.data) == (-1.7 * -1.7, -1.7 * -1.7 * -1.7)
    assert np.isnan(half.data)
    (x**-1).backward()
    assert x.grad == pytest.approx(-1 / 1.7**2, rel=1e-15)


def test_relu_keeps_nan():
    assert np.isnan(Value(np.nan).relu().data)
