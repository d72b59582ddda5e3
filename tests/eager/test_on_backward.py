"""Functions that a sweep calls at a Value."""

import gc
import weakref
from typing import Any

import numpy as np
import pytest

from burlab.eager import Tape, Value
from burlab.errors import DTypeError, TapeError

DTYPES = ["float64", "float32"]


@pytest.fixture(params=[*DTYPES, "default"])
def leaf(request: pytest.FixtureRequest) -> Any:
    """A function that makes leaves on one tape of each kind."""
    if request.param == "default":
        return Value
    tape = Tape(dtype=request.param)

    def make(x: float) -> Any:
        with tape:
            return Value(x)

    return make


def test_a_gradient_is_complete_before_it_is_passed_on_newest_first(leaf: Any):
    x, y = leaf(3.0), leaf(5.0)
    product = x * y
    root = product * product + x
    seen: list[Any] = []

    def see(what: str) -> Any:
        return lambda v: seen.append((what, v is product, v.grad, x.grad, y.grad))

    product.on_backward(see("before"), see("after"))
    x.on_backward(before=see("leaf"))
    root.backward()
    # Before product passes its gradient on, x has the part of the sum only; after, both have theirs.
    assert seen == [
        ("before", True, 30.0, 1.0, 0.0),
        ("after", True, 30.0, 151.0, 90.0),
        ("leaf", False, 151.0, 151.0, 90.0),
    ]


def test_a_function_changes_the_gradient_that_is_passed_on(leaf: Any):
    x = leaf(3.0)
    y = x * x
    y.on_backward(before=lambda v: setattr(v, "grad", float(np.clip(v.grad, -1, 1))))
    (100 * y).backward()
    assert (y.grad, x.grad) == (1.0, 6.0)
    y.on_backward(after=lambda v: setattr(v, "grad", 0.0))  # in place of the other
    (100 * y).backward()
    assert (y.grad, x.grad) == (0.0, 600.0)
    y.on_backward()
    (100 * y).backward()
    assert (y.grad, x.grad) == (100.0, 600.0)


def test_gradients_accumulate_around_functions(leaf: Any):
    x = leaf(3.0)
    y = x * x
    seen: list[float] = []
    y.on_backward(before=lambda v: seen.append(v.grad))
    x.on_backward(before=lambda v: seen.append(v.grad))
    root = y * 2
    root.backward()
    root.backward(accumulate=True)
    assert seen == [2.0, 12.0, 2.0, 12.0]  # of one sweep each
    assert (y.grad, x.grad) == (4.0, 24.0)


def test_only_sweeps_that_reach_the_value_call(leaf: Any):
    x, y = leaf(3.0), leaf(4.0)
    calls: list[Any] = []
    y.on_backward(before=calls.append)
    (x * 2).backward()
    assert not calls
    (y * 2).backward()
    assert calls == [y]


def test_what_a_function_raises_ends_the_sweep_and_the_tape_goes_on(leaf: Any):
    x = leaf(3.0)
    y = x * x

    def fail(v: Any) -> None:
        raise ZeroDivisionError("mine")

    y.on_backward(before=fail)
    for _ in range(3):
        with pytest.raises(ZeroDivisionError, match="mine"):
            (y + 1).backward()
    y.on_backward()
    (y + 1).backward()
    assert x.grad == 6.0


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_sweep_a_rewind_and_new_functions_inside_of_a_sweep_are_refused(dtype: str):
    with Tape(dtype=dtype) as tape:
        x = Value(3.0)
        mark = tape.mark()
        y = x * x
    for act in (lambda v: v.backward(), lambda v: tape.rewind(mark), lambda v: v.on_backward()):
        y.on_backward(before=act)
        with pytest.raises(TapeError, match="in the middle of backward"):
            y.backward()
    y.on_backward()
    y.backward()
    assert x.grad == 6.0


def test_a_sweep_on_another_tape_may_run_inside():
    with Tape():
        other = Value(2.0)
    x = Value(3.0)
    y = x * x
    y.on_backward(before=lambda v: (other * other * v.grad).backward())
    y.backward()
    assert (other.grad, x.grad) == (4.0, 6.0)


def test_a_function_may_record_as_much_as_it_likes(leaf: Any):
    x = leaf(3.0)
    y = x * x
    kept: list[Any] = []

    def record(v: Any) -> None:
        z = v
        for k in range(20_000):  # the tape grows, and moves in memory; a default tape reclaims nothing meanwhile
            z = v * k
        kept.append(z)
        gc.collect()

    y.on_backward(before=record, after=record)
    (y * 2).backward()
    assert (x.grad, y.grad) == (12.0, 2.0)
    assert [z.data for z in kept] == [9.0 * 19_999] * 2


def test_functions_are_released_with_their_values():
    class Function:
        def __call__(self, v: Any) -> None: ...

    for dtype in DTYPES:
        with Tape(dtype=dtype) as tape:
            x = Value(3.0)
            mark = tape.mark()
            function = Function()
            (x * x).on_backward(function)
            gone = weakref.ref(function)
            del function
            assert gone() is not None
            tape.rewind(mark)
            assert gone() is None
            function = Function()
            x.on_backward(after=function)
            gone = weakref.ref(function)
            del function
            x.on_backward()
            assert gone() is None


@pytest.mark.parametrize("dtype", DTYPES)
def test_functions_are_released_with_their_tape(dtype: str):
    class Function:
        def __call__(self, v: Any) -> None: ...

    function = Function()
    gone = weakref.ref(function)
    with Tape(dtype=dtype):
        x = Value(3.0)
        y = x * x
        y.on_backward(function)
    del function, x
    assert gone() is not None
    del y
    assert gone() is None


def test_functions_of_dead_values_are_released_by_the_next_sweep():
    class Function:
        def __call__(self, v: Any) -> None: ...

    function = Function()
    gone = weakref.ref(function)
    x = Value(3.0)
    (x * x).on_backward(function)  # on a default tape, which drops the node at once
    del function
    (x * 2).backward()
    assert gone() is None


def test_functions_follow_their_values_when_a_tape_reclaims():
    x = Value(3.0)
    y = x * x
    seen: list[float] = []
    y.on_backward(before=lambda v: seen.append(v.data))
    z = x
    for k in range(50_000):
        z = x * float(k)
    (y * 2 + z).backward()
    assert seen == [9.0]


@pytest.mark.parametrize("name", ["before", "after"])
def test_what_is_no_function_is_refused(name: str):
    arguments: Any = {name: 3}
    with pytest.raises(DTypeError, match=f"{name} is 3, expected a function of a Value, or None"):
        Value(1.0).on_backward(**arguments)
