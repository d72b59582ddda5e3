"""Reductions over sequences: one node, right values and derivatives, against the same formula of single operations."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import burlab as bl
from burlab.eager import Tape, Value
from burlab.errors import ArgumentError, DTypeError, TapeError

DATA = [0.5, -1.25, 3.0, 0.0, 2.0]


def logsumexp(xs: Any) -> Any:
    return sum(x.exp() if isinstance(x, Value) else math.exp(x) for x in xs).log()


def variance(xs: Any, ddof: int = 0) -> Any:
    mean = sum(xs) / len(xs)
    return sum((x - mean) ** 2 for x in xs) / (len(xs) - ddof)


CASES: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "reduce_sum": (bl.reduce_sum, sum),
    "reduce_mean": (bl.reduce_mean, lambda xs: sum(xs) / len(xs)),
    "negative_mean": (bl.negative_mean, lambda xs: -sum(xs) / len(xs)),
    "sum_of_squares": (bl.sum_of_squares, lambda xs: sum(x * x for x in xs)),
    "mean_of_squares": (bl.mean_of_squares, lambda xs: sum(x * x for x in xs) / len(xs)),
    "reduce_prod": (bl.reduce_prod, math.prod),
    "variance": (bl.variance, variance),
    "sample variance": (lambda xs: bl.variance(xs, ddof=1), lambda xs: variance(xs, 1)),
    "logsumexp": (bl.logsumexp, logsumexp),
    "dot": (lambda xs: bl.dot(xs, xs[::-1]), lambda xs: sum(x * y for x, y in zip(xs, xs[::-1], strict=True))),
    "dot with bias": (lambda xs: bl.dot(xs[1:], DATA[1:], bias=xs[0]),
                      lambda xs: sum(x * y for x, y in zip(xs[1:], DATA[1:], strict=True)) + xs[0]),
    "both means": (lambda xs: sum(bl.mean_and_mean_of_squares(xs)),
                   lambda xs: sum(xs) / len(xs) + sum(x * x for x in xs) / len(xs)),
}  # fmt: skip


def derivatives(function: Callable[..., Any], sequence: list[Any]) -> tuple[float, list[float]]:
    root = function(sequence) * 1.5  # so that the gradient that comes in is not 1
    root.backward()
    return root.data, [x.grad for x in sequence if isinstance(x, Value)]


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("constants", [(), (1,), (0, 2, 4)], ids=["values", "a constant", "constants"])
def test_one_node_equals_the_chain_of_single_operations(name: str, constants: tuple[int, ...]):
    wide, single = CASES[name]

    def sequence() -> list[Any]:
        return [x if k in constants else Value(x) for k, x in enumerate(DATA)]

    got, wanted = derivatives(wide, sequence()), derivatives(single, sequence())
    assert got[0] == pytest.approx(wanted[0], rel=1e-14)
    assert got[1] == pytest.approx(wanted[1], rel=1e-13, abs=1e-15)


@pytest.mark.parametrize("name", [name for name in CASES if name != "both means"])
def test_function_is_one_node_for_any_length(name: str):
    with Tape() as tape:
        xs = [Value(0.1 * k) for k in range(500)]
        CASES[name][0](xs) if name != "dot with bias" else bl.dot(xs, xs, bias=xs[0])
        assert len(tape) == 501


@pytest.mark.parametrize("name", [name for name in CASES if "dot" not in name])
def test_plain_numbers_give_a_plain_number(name: str):
    wide, _ = CASES[name]
    got = wide(DATA)
    assert isinstance(got, float)
    assert got == pytest.approx(wide([Value(x) for x in DATA]).data, rel=1e-14)


def test_any_iterable_and_arrays_are_sequences():
    x = Value(2.0)
    for xs in ((x, 1.0), [x, np.float32(1)], iter([x, True]), np.array([[x], [1]], object), {x: 0, 1.0: 0}):
        assert bl.reduce_sum(xs).data == 3.0
    assert bl.reduce_sum(np.arange(4.0).reshape(2, 2)) == 6.0
    assert bl.dot(np.array([1.0, 2.0]), [x, x]).data == 6.0


def test_the_same_value_many_times():
    x = Value(3.0)
    bl.reduce_prod([x, x, x]).backward()
    assert x.grad == pytest.approx(27.0)
    bl.dot([x, x], [x, 2.0], bias=x).backward()
    assert x.grad == 2 * 3.0 + 2.0 + 1.0


def test_products_with_factors_of_zero():
    for zeros in (1, 2, 3):
        xs = [Value(0.0 if k < zeros else k + 2.0) for k in range(4)]
        bl.reduce_prod(xs).backward()
        for k, x in enumerate(xs):
            assert x.grad == math.prod(y.data for j, y in enumerate(xs) if j != k)


def test_logsumexp_of_infinities_and_large_numbers():
    big = bl.logsumexp([Value(1e308), Value(1e308)])
    assert big.data == pytest.approx(1e308)
    low = [Value(-math.inf), Value(0.0)]
    root = bl.logsumexp(low)
    root.backward()
    assert (root.data, [x.grad for x in low]) == (0.0, [0.0, 1.0])
    assert bl.logsumexp([Value(-math.inf), Value(-math.inf)]).data == -math.inf
    assert bl.logsumexp([Value(math.inf), Value(0.0)]).data == math.inf
    assert math.isnan(bl.logsumexp([Value(math.nan), Value(0.0)]).data)


def test_empty_sequences():
    assert (bl.reduce_sum([]), bl.sum_of_squares([]), bl.reduce_prod([]), bl.dot([], [])) == (0.0, 0.0, 1.0, 0.0)
    bias = Value(2.0)
    bl.dot([], [], bias).backward()
    assert bias.grad == 1.0
    for mean in (bl.reduce_mean, bl.negative_mean, bl.mean_of_squares, bl.variance, bl.mean_and_mean_of_squares):
        with pytest.raises(ArgumentError, match=r"needs at least one item"):
            mean([])
    with pytest.raises(ArgumentError, match="needs more than 1 items, but got 1"):
        bl.variance([Value(1.0)], ddof=1)


def test_bad_sequences():
    x = Value(1.0)
    with pytest.raises(ArgumentError, match="have 2 and 1 items"):
        bl.dot([x, x], [x])
    with pytest.raises(DTypeError, match=r"item 1 is str"):
        bl.reduce_sum([x, "2"])
    with pytest.raises(TypeError):
        bl.reduce_sum(x)  # pyright: ignore[reportArgumentType]
    with pytest.raises(DTypeError, match="largest float64, but a larger int came"):
        bl.reduce_sum([x, 10**400])

    def broken() -> Any:
        yield x
        raise KeyError("from the sequence")

    with pytest.raises(KeyError, match="from the sequence"):
        bl.reduce_sum(broken())
    with Tape():
        other = Value(1.0)
    with pytest.raises(TapeError):
        bl.dot([x], [other])
    assert (x + 1).data == 2.0


def test_a_sequence_whose_items_run_python_that_records():
    with Tape.reclaiming():
        held = [Value(float(k)) for k in range(100)]

        class Number:
            """A number whose conversion records so much that the tape is compacted meanwhile."""

            def __float__(self) -> float:
                for _ in range(5000):
                    _ = held[0] * held[1]
                garbage = [held[2] + k for k in range(3000)]
                return float(len(garbage))

        from numbers import Real

        Real.register(Number)
        for k in range(5):
            _ = [held[k] * 2 for k in range(100)]
            xs = [held[k], Number(), held[k + 1], Number()]
            root = bl.sum_of_squares(xs)
            root.backward()
            assert root.data == k**2 + (k + 1) ** 2 + 2 * 3000.0**2
            assert (held[k].grad, held[k + 1].grad) == (2.0 * k, 2.0 * k + 2)
            assert (held[k] + Number()).data == k + 3000.0


@pytest.mark.parametrize("offset", [0, 1, 2])
def test_a_reduction_that_makes_the_tape_compact_finds_its_operands(offset: int):
    with Tape.reclaiming() as tape:
        xs = [Value(float(k)) for k in range(3 + offset)]
        held = [xs[0] * 1.0]
        moved = 0
        for k in range(400):
            garbage = held[-1] + k
            held.append(xs[0] * float(k))
            if k % 2:
                del held[len(held) // 2]
            before = len(tape)
            root = bl.sum_of_squares([held[-1], xs[1], xs[2]])
            moved += len(tape) < before
            root.backward()
            assert (held[-1].grad, xs[1].grad, xs[2].grad) == (2 * held[-1].data, 2.0, 4.0)
            assert garbage.data == held[-2].data + k or k % 2
        assert moved or offset
