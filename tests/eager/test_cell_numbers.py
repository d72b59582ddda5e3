"""Number types in `%%cpp` cells: the cells of the recipes, and tapes of float32."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from mpmath import mp

import burlab as bl
from burlab.eager import Tape, Value
from burlab.errors import DTypeError
from tests.eager.conftest import Notebook


def test_a_cell_has_float32_tapes_of_its_own_and_refuses_values_of_one(notebook: Notebook):
    notebook.cpp("""
        float slope(float x) {
          burlab::Tape32 tape;
          burlab::Value32 a(tape, x);
          (exp(a) * a + reduce_sum(std::vector<burlab::Value32>{a, 2.0})).backward();
          return a.grad();
        }
        Value twice(Value x) { return x + x; }
    """)
    assert notebook["slope"](0.5) == pytest.approx(1.5 * np.exp(0.5) + 1, rel=1e-6)
    with Tape(dtype="float32"):
        x = Value(1.0)
        with pytest.raises(DTypeError, match=r"came from a tape of float32\. Pass x\.data"):
            notebook["twice"](x)
        assert notebook["twice"](2.0).data == 4.0


def cell_of(page: str) -> str:
    text = (Path(__file__).parents[2] / "notebooks" / "recipes" / f"{page}.md").read_text()
    return text.split("```cpp\n%%cpp\n")[1].split("```")[0]


def test_the_cell_of_the_page_on_bounds_encloses_values_and_slopes(notebook: Notebook) -> None:
    notebook.cpp(cell_of("bounds"))
    x = np.linspace(0.4, 0.5, 50)
    value, slope = np.exp(-x * x) * np.sin(3 * x), np.exp(-x * x) * (3 * np.cos(3 * x) - 2 * x * np.sin(3 * x))
    assert value.max() <= notebook["upper"](0.4, 0.5) <= value.max() + 0.2
    assert slope.max() <= notebook["steepest"](0.4, 0.5) <= slope.max() + 1


def test_the_cell_of_the_page_on_precision_rounds_each_operation(notebook: Notebook) -> None:
    notebook.cpp(cell_of("precision"))
    assert notebook["added"](1000) == 256.0

    def energy(w: Any) -> Any:
        return np.tanh(3.0 * w) * np.tanh(3.0 * w)

    w = np.linspace(-2, 2, 101)
    got = np.array([(notebook["rounded_energy"](v), notebook["rounded_slope"](v)) for v in w])
    np.testing.assert_array_equal(got[:, 0], bl.precision(energy, "bfloat16")(w))
    np.testing.assert_array_equal(got[:, 1], bl.round_to("bfloat16", got[:, 1]))
    np.testing.assert_allclose(got[:, 1], 6 * np.tanh(3 * w) * (1 - np.tanh(3 * w) ** 2), atol=0.06)


def test_the_cell_of_the_page_on_digits_has_twice_as_many(notebook: Notebook) -> None:
    notebook.cpp(cell_of("digits"))
    with mp.workdps(60):
        for x in (1e-7, 3e-5, 0.1, 2.0):
            exact = float((1 - mp.cos(mp.mpf(x))) / mp.mpf(x) ** 2)
            assert notebook["with_32_digits"](x) == exact
    assert f"{notebook['with_16_digits'](1e-7):.4f}" == "0.4996"


def test_the_cell_of_the_page_on_flops_counts_what_a_loop_takes(notebook: Notebook) -> None:
    notebook.cpp(cell_of("flops"))
    for a in (2.0, 1e6):
        x, steps = a, 1
        y = 0.5 * (x + a / x)
        while abs(y - x) > 1e-9 * y:
            x, steps = y, steps + 1
            y = 0.5 * (x + a / x)
        assert notebook["newton_flops"](a) == 3 * steps + 2 * steps
    assert notebook["newton_flops"](2.0) == 25


def test_numbers_of_cells_count_as_counts_do(notebook: Notebook) -> None:
    notebook.cpp("""
        #include "burlab/numbers/counted.hpp"
        template <class T> T f(T x) { return exp(-x * x) * sin(x) / (x + T(2)) - sqrt(x); }
        std::vector<std::int64_t> tally(double x) {
          burlab::Tally t;
          f(burlab::Counted<double>(x, t));
          return {t.multiplications, t.additions, t.transcendental};
        }
    """)
    counts = bl.counts(lambda x: np.exp(-x * x) * np.sin(x) / (x + 2.0) - np.sqrt(x), 0.5)
    assert list(notebook["tally"](0.5)) == [counts.multiplications, counts.additions, counts.transcendental]
