"""What a function reads from around itself is part of its program: change it, and the derivative changes."""

import numpy as np
import pytest

import burlab as bl
from burlab.graph.surroundings import surroundings

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
    for f, message in ((lambda x: np.add(x, 1, where=x > 0), "where"), (lambda x: divmod(x, 2), "unsupported operand")):
        with pytest.raises(TypeError, match=message):
            bl.jit(f)(x)
