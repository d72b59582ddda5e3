"""Every way that Python can hold a number: a change is followed, or the first trace says that it will not be."""

import functools
import os
import sys
import threading
import warnings

import pytest

import burlab as bl
from tests.graph.tracing.reach import containers, functions, modules, names, objects, outside
from tests.graph.tracing.reach.table import BUILT, ROWS

_TABLES = (names, functions, objects, containers, modules, outside)  # whose import fills ROWS


@pytest.fixture(autouse=True)
def as_before():
    """Modules and the environment are left as they were."""
    environment = dict(os.environ)
    yield
    for name in BUILT:
        sys.modules.pop(name, None)
    BUILT.clear()
    os.environ.clear()
    os.environ.update(environment)


@pytest.mark.parametrize("name", ROWS)
def test_change_is_followed_or_the_first_trace_warns(name, tmp_path):
    make = ROWS[name]
    f, change = make(tmp_path) if make.__code__.co_argcount else make()
    change(1.0)
    compiled = bl.jit(f)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        compiled(1.0)
    if any("while it is traced" in str(one.message) for one in said):
        return
    for value in (1.0, 5.0, 2.0, 1.0):
        change(value)
        expected = float(f(1.0))  # Python's own
        change(value)
        for _ in range(4):  # the first calls are Python's, the later ones the gate's
            assert float(compiled(1.0)) == pytest.approx(expected, rel=1e-6), name


@pytest.mark.parametrize("name", ["a file", "a generator", "an iterator", "a cycle", "a schedule in the function"])
def test_untracked_capture_warns_once_with_advice(name, tmp_path):
    make = ROWS[name]
    f, change = make(tmp_path) if make.__code__.co_argcount else make()
    change(1.0)
    gradient = bl.grad(f)
    with pytest.warns(UserWarning, match="while it is traced: the numbers read now are frozen") as said:
        gradient(1.0)
    assert len(said) == 1


def test_another_thread_reads_its_own_number():
    own = threading.local()
    own.rate = 1.0
    compiled, found = bl.jit(lambda x: x * own.rate), []
    for _ in range(4):
        assert compiled(1.0) == 1.0

    def run():
        own.rate = 5.0
        found.extend(float(compiled(1.0)) for _ in range(4))

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert found == [5.0] * 4
    assert compiled(1.0) == 1.0


def test_a_counter_of_the_function_needs_no_other_trace():
    count = [0]

    def f(x):
        count[0] += 1
        return x * 2.0

    value, gradient = bl.jit(f), bl.grad(f)
    for _ in range(6):
        value(1.0)
        gradient(1.0)
    before = count[0]
    value(1.0), gradient(1.0)
    assert count[0] == before <= 6


def test_results_that_join_a_cache_need_no_other_trace():
    traces = []

    @functools.lru_cache
    def rate(k):
        return 1.0 * k

    def f(x):
        traces.append(1)
        return x * rate(2)

    compiled = bl.jit(f)
    for k in range(5):
        rate(k)
        compiled(1.0)
    assert len(traces) <= 3
