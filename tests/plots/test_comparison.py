"""Runs side by side."""

import numpy as np
import pytest

from burlab.errors import ArgumentError
from burlab.plots import compare


def history(rows: int) -> dict[str, np.ndarray]:
    step = np.arange(rows)
    return {
        "step": step,
        "time": step * 1e6,
        "samples": step * 32,
        "value": 3.0 + 0.99**step,
        "gradient_norm": 1 / (1 + step),
    }


def test_a_line_per_run_above_the_minimum():
    a, b = compare({"a": history(10), "b": history(20)}, minimum=3.0).data
    assert (a.name, b.name, len(a.x), len(b.x)) == ("a", "b", 10, 20)
    np.testing.assert_allclose(a.y, 0.99 ** np.arange(10), rtol=1e-12)


@pytest.mark.parametrize(("against", "last"), [("step", 9), ("time", 9.0), ("samples", 288)])
def test_curves_are_drawn_against_steps_time_or_samples(against, last):
    assert compare({"a": history(10)}, against=against, column="gradient_norm").data[0].x[-1] == last


def test_a_long_run_is_thinned():
    (line,) = compare({"a": history(100_000)}).data
    assert len(line.x) == len(line.y) == 2000


def test_rows_without_a_number_are_passed_over():
    sparse = history(7) | {"validation_value": np.array([3.0, np.nan, np.nan, 2.0, np.nan, np.nan, 1.0])}
    (line,) = compare({"a": sparse}, column="validation_value").data
    np.testing.assert_array_equal(np.transpose([line.x, line.y]), [[0, 3], [3, 2], [6, 1]])


def test_nonpositive_values_leave_a_gap():
    (line,) = compare({"a": {"step": np.arange(3), "value": np.array([1.0, 0.0, -1.0])}}).data
    np.testing.assert_array_equal(np.isnan(line.y), [False, True, True])


def test_an_unknown_axis_is_refused():
    with pytest.raises(ArgumentError, match=r"against must be one of .*'samples'.*got 'epoch'"):
        compare({"a": history(2)}, against="epoch")
