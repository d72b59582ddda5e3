"""Programs that write into arrays: traced, they compute what plain NumPy computes, and leave nothing behind."""

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from burlab.transforms import jvp
from tests.engines import assert_close
from tests.graph.buffers import programs
from tests.graph.buffers.programs import PROGRAMS, X, traced


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_a_traced_program_gives_the_numbers_of_numpy(f: Callable[..., Any]) -> None:
    got, wanted = traced(f, X), f(X)
    assert_close(got, wanted, 1e-14)
    pairs = list(zip(got, wanted, strict=True)) if isinstance(wanted, (tuple, list)) else [(got, wanted)]
    assert [a.dtype for a, _ in pairs] == [np.asarray(b).dtype for _, b in pairs]


@pytest.mark.parametrize(
    "f", [programs.chosen_by_traced_masks, programs.flat_entries, programs.results_put_into_arrays]
)
def test_buffer_derivatives_equal_differences(f: Callable[..., Any]) -> None:
    step = 1e-6
    slopes = traced(lambda x: jvp(f, (x,), (np.cos(X),))[1], X)
    ends = [f(X + sign * step * np.cos(X)) for sign in (1, -1)]
    for slope, after, before in zip(slopes, *ends, strict=True):
        if np.asarray(after).dtype.kind == "f":
            assert_close(slope, (after - before) / (2 * step), 1e-8)


def test_numpy_is_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    before = {name: getattr(np, name) for name in ("zeros", "array", "asarray", "ones_like")}, programs.plain_zeros

    def fails(x: Any) -> Any:
        assert np.zeros is not before[0]["zeros"]
        programs.helper(2)[0] = x
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        traced(fails, 1.0)
    assert before == ({name: getattr(np, name) for name in before[0]}, programs.plain_zeros)
    assert type(programs.helper(2)) is type(np.zeros(2)) is np.ndarray


def test_other_threads_and_libraries_get_plain_arrays() -> None:
    seen: list[type] = []

    def f(x: Any) -> Any:
        thread = threading.Thread(target=lambda: seen.extend([type(np.zeros(2)), type(programs.helper(2))]))
        thread.start()
        thread.join()
        seen.append(type(np.linalg.inv(np.array([[2.0]]).tolist())))
        out = np.zeros(1)
        out[0] = x
        return out

    traced(f, 1.0)
    assert seen == [np.ndarray, np.ndarray, np.ndarray]
