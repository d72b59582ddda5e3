"""Captured values are part of a program: change one, and the derivative changes."""

import array
import collections
import types
from importlib import import_module
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pytest

import burlab as bl
from burlab.graph.tracing.closure import fingerprint, surroundings
from tests.engines import torch_or_skip

RATE = 1.0
WEIGHTS = np.array([1.0, 2.0])
TABLE = {"scale": 1.0}


def helper(x):
    return 2.0 * x


def uses_everything(x):
    return np.sum(WEIGHTS * helper(x)) * RATE * TABLE["scale"]


class Model:
    """Reads an attribute of its own."""

    def __init__(self):
        self.slope = 2.0

    def __call__(self, x):
        return self.slope * x


@pytest.mark.parametrize("of", [bl.grad, lambda f: bl.jit(bl.grad(f)), lambda f: bl.vmap(bl.grad(f))])
def test_a_changed_global_array_table_or_helper_counts(monkeypatch, of):
    x = np.ones((1, 2)) if of(uses_everything).__name__.startswith("vmap") else np.ones(2)
    gradient = of(uses_everything)
    here = uses_everything.__globals__
    expected = 2.0 * WEIGHTS
    np.testing.assert_array_equal(np.ravel(gradient(x)), expected)
    monkeypatch.setitem(here, "RATE", 3.0)
    np.testing.assert_array_equal(np.ravel(gradient(x)), 3 * expected)
    monkeypatch.setitem(here, "WEIGHTS", np.array([5.0, 7.0]))
    np.testing.assert_array_equal(np.ravel(gradient(x)), 3 * 2 * here["WEIGHTS"])
    monkeypatch.setitem(TABLE, "scale", 0.5)
    np.testing.assert_array_equal(np.ravel(gradient(x)), 3 * here["WEIGHTS"])
    monkeypatch.setitem(here, "helper", lambda x: 10.0 * x)
    np.testing.assert_array_equal(np.ravel(gradient(x)), 15 * here["WEIGHTS"])


class Settings:
    """A class that is never instantiated."""

    rate = 1.0


class Slotted:
    """Attributes without a dictionary."""

    __slots__ = ("rate",)


class Held:
    """An object in an object, a property, and a method that reads a global."""

    def __init__(self) -> None:
        self.inner = Slotted()
        self.inner.rate = 1.0

    @property
    def rate(self):
        return self.inner.rate

    def scaled(self, x):
        return x * (RATES["held"] if self.inner else 0.0)


class Named(NamedTuple):
    """A tuple with names."""

    weights: Any


RATES = {"held": 1.0}
MODULE = types.ModuleType("settings")
MODULE.rate = 1.0  # type: ignore[attr-defined]
LARGE, TWO = np.ones(3000), np.ones((60, 60))
NAMESPACE = types.SimpleNamespace(rate=1.0, other=types.SimpleNamespace(rate=1.0))
SLOTTED, HELD = Slotted(), Held()
SLOTTED.rate = 1.0
LONG_LIST, SET, FOUND = [1.0] * 500, {1.0}, collections.defaultdict(float, a=1.0)
LAYER = bl.nn.Linear(60, 60, key=bl.random.key(0), dtype=np.float64)
LAYER.weight[0, 0] = 1.0
TUPLE = Named(np.ones(2000))
TENSOR = import_module("torch").ones(2000) if find_spec("torch") else None
FRAME = pd.DataFrame({"a": np.ones(2000)})
ZERO = [0.0]
LAST, OBJECTS = collections.deque([1.0], 9), np.array([np.ones(3), None], object)
USER_DICT, USER_LIST, CHAIN = collections.UserDict(a=1.0), collections.UserList([1.0]), collections.ChainMap({"a": 1.0})
BYTES, PACKED = bytearray(2), array.array("d", [1.0] * 2000)
MEMORY = memoryview(PACKED)


def default(x, weights=LARGE):
    return x * weights[7]


# What is read, and how it is changed.
CHANGES = {
    "a large array": (lambda x: x * LARGE[7], lambda v: LARGE.__setitem__(7, v)),
    "a sum of a large array": (lambda x: x * (np.sum(TWO) - 3599.0), lambda v: TWO.__setitem__((59, 59), v)),
    "an attribute": (lambda x: x * NAMESPACE.rate, lambda v: setattr(NAMESPACE, "rate", v)),
    "an attribute of an attribute": (lambda x: x * NAMESPACE.other.rate, lambda v: setattr(NAMESPACE.other, "rate", v)),
    "an attribute by its name": (lambda x: x * NAMESPACE.rate, lambda v: setattr(NAMESPACE, "rate", v)),
    "an attribute of a class": (lambda x: x * Settings.rate, lambda v: setattr(Settings, "rate", v)),
    "an attribute of a module": (lambda x: x * MODULE.rate, lambda v: setattr(MODULE, "rate", v)),
    "a slot": (lambda x: x * SLOTTED.rate, lambda v: setattr(SLOTTED, "rate", v)),
    "a property": (lambda x: x * HELD.rate, lambda v: setattr(HELD.inner, "rate", v)),
    "what a method reads": (lambda x: 1.0 * HELD.scaled(x), lambda v: RATES.__setitem__("held", v)),
    "a long list": (lambda x: x * LONG_LIST[400], lambda v: LONG_LIST.__setitem__(400, v)),
    "a set": (lambda x: x * max(SET), lambda v: (SET.clear(), SET.add(v))),
    "a dictionary with a default": (lambda x: x * FOUND["a"], lambda v: FOUND.__setitem__("a", v)),
    "a weight of a layer": (lambda x: x * LAYER.weight[0, 0], lambda v: LAYER.weight.__setitem__((0, 0), v)),
    "an array in a named tuple": (lambda x: x * TUPLE.weights[3], lambda v: TUPLE.weights.__setitem__(3, v)),
    "a default of an argument": (default, lambda v: LARGE.__setitem__(7, v)),
    "a tensor": (lambda x: x * TENSOR[9].item(), lambda v: TENSOR.__setitem__(9, v)),
    "a frame": (lambda x: x * FRAME["a"].iloc[4], lambda v: FRAME.__setitem__("a", np.full(2000, v))),
    "a deque": (lambda x: x * LAST[0], lambda v: LAST.__setitem__(0, v)),
    "the length of a deque": (lambda x: x * len(LAST), lambda v: (LAST.clear(), LAST.extend([v] * int(v)))),
    "an array in an array of objects": (lambda x: x * OBJECTS[0][2], lambda v: OBJECTS[0].__setitem__(2, v)),
    "a number in an array of objects": (lambda x: x * OBJECTS[1], lambda v: OBJECTS.__setitem__(1, v)),
    "a dictionary in an object": (lambda x: x * USER_DICT["a"], lambda v: USER_DICT.__setitem__("a", v)),
    "a list in an object": (lambda x: x * USER_LIST[0], lambda v: USER_LIST.__setitem__(0, v)),
    "a chain of dictionaries": (lambda x: x * CHAIN["a"], lambda v: CHAIN.__setitem__("a", v)),
    "bytes": (lambda x: x * float(BYTES[1]), lambda v: BYTES.__setitem__(1, int(v))),
    "an array of Python": (lambda x: x * PACKED[7], lambda v: PACKED.__setitem__(7, v)),
    "a memory": (lambda x: x * MEMORY[8], lambda v: PACKED.__setitem__(8, v)),
}  # fmt: skip


@pytest.mark.parametrize("name", CHANGES)
@pytest.mark.parametrize("of", [bl.grad, lambda f: bl.grad(lambda x: f(x["x"]))], ids=["number", "tree"])
def test_a_change_is_seen_whatever_holds_it(name, of):
    if name == "a tensor":
        torch_or_skip()
    f, change = CHANGES[name]
    gradient = of(f)
    x = 1.0 if of is bl.grad else {"x": 1.0}
    for value in (1.0, 5.0, 1.0):
        change(value)
        for _ in range(4):  # the first calls are Python's, the later ones the gate's
            result = gradient(x)
            assert float(result if of is bl.grad else result["x"]) == value


def test_the_sign_of_zero_counts():
    inverse = bl.jit(lambda x: x / np.float64(ZERO[0]))
    with np.errstate(divide="ignore"):
        assert inverse(1.0) == np.inf
        ZERO[0] = -0.0
        assert inverse(1.0) == -np.inf


def test_read_only_array_is_not_compared():
    frozen = np.arange(5000.0)
    frozen.flags.writeable = False
    (reading,) = surroundings([lambda x: x * frozen[3]])
    assert any(getattr(part, "value", None) is frozen for part in reading)
    view = np.arange(5000.0)[:]
    view.flags.writeable = False  # but not what it is a view of
    (reading,) = surroundings([lambda x: x * view[3]])
    assert not any(hasattr(part, "value") for part in reading)


def test_self_referencing_capture_is_traced():
    loop: list[Any] = [1.0]
    loop.append(loop)
    assert float(bl.grad(lambda x: x * loop[0])(1.0)) == 1.0


@pytest.mark.parametrize("size", [1, 7, 8, 63, 64, 65, 1000, 4097])
def test_a_fingerprint_differs_where_one_byte_does(size):
    array = np.random.default_rng(size).integers(0, 256, size, np.uint8)
    before = fingerprint(array)
    for place in {0, size // 2, size - 1}:
        for bit in (1, 128):
            array[place] ^= bit
            assert fingerprint(array) != before
            array[place] ^= bit
    assert fingerprint(array) == before
    assert fingerprint(array[::-1]) != before or size == 1
    assert fingerprint(np.append(array, np.uint8(0))) != before


def test_a_small_array_changed_in_place_counts():
    weights = np.array([1.0, 2.0])
    gradient = bl.grad(lambda x: np.sum(weights * x))
    assert gradient(np.ones(2)).tolist() == [1.0, 2.0]
    weights[0] = 9.0
    assert gradient(np.ones(2)).tolist() == [9.0, 2.0]


def test_cells_and_attributes_count():
    factor = 2.0

    def cubic(x):
        return factor * x**3

    second = bl.grad(bl.grad(cubic))
    assert float(second(1.0)) == 12.0
    factor = 3.0
    assert float(second(1.0)) == 18.0
    model = Model()
    assert float(bl.grad(model)(1.0)) == 2.0
    model.slope = 10.0
    assert float(bl.grad(model)(1.0)) == 10.0
    assert float(bl.jvp(model, (1.0,), (1.0,))[1]) == 10.0


def test_a_function_of_libraries_alone_reads_nothing_and_compiles_once():
    def plain(x):
        return np.sum(np.tanh(x)) + np.sum(bl.relu(x))

    assert surroundings([plain]) == ()
    gradient = bl.grad(plain)
    for _ in range(3):
        gradient(np.ones(3))
    assert "1 kernels" in repr(gradient)


def test_going_back_to_an_old_value_finds_the_old_kernel():
    scale = 1.0
    gradient = bl.grad(lambda x: scale * x)
    for scale in (1.0, 2.0, 1.0, 2.0):  # noqa: B007 - read by the function above
        gradient(1.0)
    assert "2 kernels" in repr(gradient)


def test_a_kernel_keeps_what_it_was_compiled_with():
    scale = 2.0
    kernel = bl.compile(lambda x: scale * x, 1.0)
    assert kernel(1.0) == 2.0
    scale = 3.0
    assert kernel(1.0) == 2.0


def test_a_fault_of_an_earlier_trace_is_forgotten():
    x = np.ones(3)
    for f, message in ((lambda x: np.add(x, 1, where=x > 0), "where"), (lambda x: x(2), "not callable")):
        with pytest.raises(TypeError, match=message):
            bl.jit(f)(x)
