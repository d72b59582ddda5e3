"""Tapes of float32 numbers: NumPy's float32 arithmetic, half the bytes, and everything that other tapes do."""

import gc
import operator
from typing import Any

import numpy as np
import pytest

import burlab as bl
from burlab.eager import Tape, Value
from burlab.eager.native import types
from burlab.errors import DTypeError, TapeError

f32 = np.float32
POINTS = [(0.3, 0.7), (1.1, 2.9), (0.123456789, 0.987654321)]


@pytest.mark.parametrize("op", [operator.add, operator.sub, operator.mul, operator.truediv], ids=lambda op: op.__name__)
@pytest.mark.parametrize(("x", "y"), POINTS)
def test_arithmetic_is_that_of_numpy_in_float32_bit_for_bit(op: Any, x: float, y: float):
    with Tape(dtype="float32"):
        a, b = Value(x), Value(y)
    assert (a.data, op(a, b).data) == (float(f32(x)), float(op(f32(x), f32(y))))
    assert op(a, 0.1).data == float(op(f32(x), f32(0.1)))  # a constant is rounded first, as NumPy's weak numbers are
    assert op(0.1, a).data == float(op(f32(0.1), f32(x)))


def test_a_sweep_rounds_each_product_and_each_sum_to_float32():
    with Tape(dtype=np.float32):
        a, b = Value(0.1), Value(0.7)
    product = a * b
    (product * 0.3 + a).backward()
    g = f32(0.3)
    assert product.grad == float(g)
    assert b.grad == float(g * f32(0.1))
    assert a.grad == float(f32(1) + g * f32(0.7))


@pytest.mark.parametrize("name", sorted(types().operations))
def test_every_operation_is_that_of_a_float64_tape_to_rounding(name: str):
    results: list[list[float]] = []
    for dtype in ("float32", "float64"):
        with Tape(dtype=dtype):
            x, y = Value(0.4375), Value(0.8125)
        operation = types().operations[name]
        try:
            z = operation(x)
        except DTypeError:
            z = operation(x, y)
        z.backward()
        results.append([z.data, x.grad, y.grad])
    single, double = results
    assert np.allclose(single, double, rtol=2e-6, atol=1e-6)


def test_reductions_add_in_float64_and_round_once():
    numbers = np.random.default_rng(0).normal(size=1001).astype(f32)
    with Tape(dtype="float32"):
        xs = [Value(x) for x in numbers]
    assert bl.reduce_sum(xs).data == float(f32(np.sum(numbers, dtype=np.float64)))
    assert bl.dot(xs, xs, 1.0).data == pytest.approx(1 + np.sum(numbers.astype(float) ** 2), rel=1e-7)
    root = bl.logsumexp(xs)
    root.backward()
    assert np.allclose([x.grad for x in xs], np.exp(numbers) / np.sum(np.exp(numbers)), rtol=1e-5)


def test_a_node_has_half_the_bytes():
    with Tape(dtype="float32") as single, Tape() as double:
        for tape in (single, double):
            with tape:
                x: Any = Value(0.5)
                for _ in range(10_000):
                    x = bl.reduce_sum([x * 1.0001, x])
    assert single.nbytes["nodes"] * 2 == double.nbytes["nodes"]
    assert single.nbytes["edges"] * 2 == double.nbytes["edges"]
    assert len(single) == len(double)
    assert "of float32" in repr(single)
    assert (single.dtype, double.dtype) == (np.float32, np.float64)


def test_the_chain_of_a_million_nodes_is_swept():
    with Tape(dtype="float32"):
        x = y = Value(1.0)
        for _ in range(1_000_000):
            y = y * 1.0
        y.backward()
    assert x.grad == 1.0


def test_marks_rewinding_and_replay():
    with Tape(dtype="float32") as tape:
        a, b = Value(1.0, label="a"), Value(2.0)
        mark = tape.mark()
        old: Any = None
        sizes = set[int]()
        for k in range(3000):
            tape.rewind(mark)
            old = a * b + k  # the Value of the round before is dropped while its node is gone
            old.label = f"round {k}"
            old.backward()
            sizes.add(tape.nbytes["values"]) if k > 10 else None
        assert len(sizes) == 1
        assert (len(tape), a.grad) == (4, 2.0)
        assert tape.replay({a: 3.0, b: 10.0}, root=old) == 30.0 + 2999
        assert (a.grad, b.grad, a.label) == (10.0, 3.0, "a")
        tape.rewind(mark)
        for use in (lambda: old.data, lambda: old + 1, old.backward, lambda: bl.reduce_sum([old])):
            with pytest.raises(TapeError, match=r"cut off by Tape\.rewind"):
                use()
        assert repr(old) == "Value(cut off)"


def test_values_are_found_again_and_live_as_long_as_they_are_used():
    with Tape(dtype="float32"):
        a = Value(1.0)
    twice = a * 2
    b = twice + a
    assert (b._prev, twice._prev, b._op) == ({twice, a}, {a}, "+")
    sums = [a * k + a for k in range(100)]  # the products have no Value any more
    others = [a - k for k in range(200)]
    assert [sorted(v.data for v in y._prev) for y in sums] == [
        sorted({1.0, float(k)}) if k != 1 else [1.0, 1.0] for k in range(100)
    ]
    assert not set(others) & {v for y in sums for v in y._prev}
    kept = [a + k for k in range(100)]
    del kept[::2]
    gc.collect()
    more = [a * k for k in range(100)]
    assert [v.data for v in kept] == [1.0 + k for k in range(1, 100, 2)]
    assert [v.data for v in more] == list(range(100))


def test_accumulation_and_setting_numbers():
    with Tape(dtype="float32"):
        x = Value(3.0)
    y = x * x
    y.backward()
    y.backward(accumulate=True)
    assert x.grad == 12.0
    x.data, x.grad = 0.1, 0.2
    assert (x.data, x.grad) == (float(f32(0.1)), float(f32(0.2)))
    x.data = 1e300
    assert x.data == np.inf


def test_numbers_of_two_kinds_do_not_mix():
    add: Any = np.add
    x = Value(1.0)
    with Tape(dtype="float32"):
        y = Value(2.0)
    for mix in (lambda: x + y, lambda: y * x, lambda: y**x, lambda: bl.dot([x], [y]), lambda: add(y, x)):
        with pytest.raises(TapeError, match="two tapes"):
            mix()


def test_numpy_and_subclasses():
    class Weight(Value):
        pass

    with Tape(dtype="float32") as tape:
        w: Any = np.array([Weight(0.1), Weight(0.2)])
        y: Any = np.tanh(w @ np.array([1.0, 2.0]))
        y.backward()
    assert y.tape is tape
    assert w[1].grad == pytest.approx(2 * (1 - np.tanh(0.5) ** 2), rel=1e-6)
    assert isinstance(w[0], Weight)


def test_the_graph_has_the_dtype_of_the_tape():
    with Tape(dtype="float32") as tape:
        x = Value(0.5, label="x")
        y = (x * 3).exp()
    graph = tape.graph(y)
    assert {node.dtype for node in graph.nodes} == {np.dtype(f32)}


@pytest.mark.parametrize("dtype", ["float16", "int32", "nonsense", object()])
def test_other_numbers_are_refused(dtype: Any):
    with pytest.raises(DTypeError, match=r"dtype of a tape is .*, expected float64 or float32"):
        Tape(dtype=dtype)
