"""Memo of transforms by function: the same object each time, for no longer than the function lives."""

import functools
import gc
import pickle
import weakref
from typing import Any

import numpy as np

import burlab as bl
from burlab.transforms.memo import remembered


class Model:
    def __init__(self, scale: float) -> None:
        self.scale = scale

    def loss(self, x: Any) -> Any:
        return self.scale * np.sum(x**2)


def square(x: Any) -> Any:
    return np.sum(x**2)


def test_a_transform_of_a_function_is_one_object() -> None:
    model = Model(2.0)
    assert bl.grad(square) is bl.grad(square)
    assert bl.grad(bl.grad(square)) is bl.grad(bl.grad(square))
    assert bl.grad(model.loss) is bl.grad(model.loss)
    assert bl.grad(model.loss) is not bl.grad(Model(3.0).loss)


def test_memo_ends_with_its_function() -> None:
    data = np.ones(3)

    def f(x: Any) -> Any:
        return np.sum(x * data)

    bl.grad(f)(np.ones(3))
    bl.hvp(f)(np.ones(3), np.ones(3))
    bl.grad(bl.grad(f))
    gone = weakref.ref(f)
    del f
    gc.collect()
    assert gone() is None


def test_of_methods_the_last_ones_are_remembered() -> None:
    model = Model(1.0)
    first = bl.grad(model.loss)
    gone = weakref.ref(model)
    del model
    for k in range(40):
        bl.grad(Model(float(k)).loss)
    del first
    gc.collect()
    assert gone() is None


def test_a_function_that_wraps_another_has_a_transform_of_its_own() -> None:
    bl.grad(square)

    @functools.wraps(square)
    def twice(x: Any) -> Any:
        return 2 * square(x)

    np.testing.assert_array_equal(bl.grad(twice)(np.ones(2)), [4.0, 4.0])
    np.testing.assert_array_equal(bl.grad(square)(np.ones(2)), [2.0, 2.0])


def test_memo_is_not_pickled() -> None:
    bl.grad(square)
    assert [pickle.loads(pickle.dumps(value)) for value in vars(square).values()] == [{}]


def test_unhashable_function_is_not_memoized() -> None:
    class Unhashable:
        __hash__: Any = None

        def __call__(self, x: Any) -> Any:
            return x

    f = Unhashable()
    assert remembered(f, "a", object) is not remembered(f, "a", object)
