"""Profiles of kernels: where the time goes, honestly."""

import json
import time
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import burlab as bl
from burlab.compiler.inspection.account import forward_of
from burlab.errors import ArgumentError, IndexRangeError, ShapeError
from burlab.widgets.profile.profile_html import profile_html, profile_markdown
from tests.engines import GEARS

RNG = np.random.default_rng(0)
W, X = [RNG.normal(size=(48, 48)) for _ in range(3)], RNG.normal(size=(16, 48))


def model(w, x):
    for k, layer in enumerate(w):
        with bl.scope(f"layer{k}"):
            x = np.tanh(x @ layer)
    return np.mean(x**2)


@pytest.fixture(params=GEARS)
def kernel(request):
    return bl.compile(model, W, X, gear=request.param)


def test_rows_add_up_to_the_total_and_no_time_is_negative(kernel):
    p = kernel.profile(W, X)
    assert sum(row.nanoseconds for row in p.rows) == p.total > 0
    assert [row.phase for row in p.rows].count("residual") == 1
    assert all(row.nanoseconds >= 0 for row in p.rows)
    phases = ("forward", "backward", "residual")
    assert sum(map(p.nanoseconds, phases)) == p.total
    assert p.nanoseconds("forward") > 0 < p.nanoseconds("backward")


def test_a_row_per_step_of_the_plan_in_its_order(kernel):
    p = kernel.profile(W, X)
    plan = kernel._program("value_and_grad", kernel._examples).executable.plan
    steps = [row for row in p.rows if row.phase != "residual"]
    assert len(steps) == len(plan.steps)
    starts = [row.start for row in steps]
    assert starts == sorted(starts)
    assert all(a.start + a.nanoseconds <= b.start for a, b in pairwise(steps))


def test_the_time_is_that_of_a_call(kernel):
    """In turns, and of all the fastest: what else the machine does meets each of them."""
    profiles, best = [], 1 << 62
    for _ in range(4):
        profiles.append(kernel.profile(W, X))
        best = min(best, *(_timed(lambda: kernel.value_and_grad(W, X)) for _ in range(100)))
    alone, total = (min(getattr(p, name) for p in profiles) for name in ("alone", "total"))
    assert 0.5 * alone < best < 5 * alone + 50_000
    assert 0.5 * alone < total < 2 * alone + 200 * len(profiles[0].rows)


def _timed(call):
    start = time.perf_counter_ns()
    call()
    return time.perf_counter_ns() - start


def test_the_slow_step_is_the_one_that_is_slow(kernel):
    large, small = RNG.normal(size=(200, 200)), RNG.normal(size=200)
    k = bl.compile(lambda a, x: np.sum(np.tanh(x)) + np.sum(a @ a @ a), large, small, gear=kernel._options["gear"])
    p = k.profile(large, small)
    assert max(p.rows, key=lambda row: row.nanoseconds).name.startswith("contract")
    products = sum(row.nanoseconds for row in p.rows if row.name.startswith("contract"))
    assert products > 0.8 * p.total


def test_rows_name_operations_shapes_lines_and_scopes(kernel):
    p = kernel.profile(W, X)
    products = [row for row in p.rows if row.name.startswith("contract") and row.phase == "forward"]
    line = model.__code__.co_firstlineno + 3
    assert [row.scope for row in products] == ["layer0", "layer1", "layer2"]
    assert {row.lines for row in products} == {(f"test_profile.py:{line}",)}
    assert {row.shape for row in products} == {(16, 48)}
    assert any("tanh" in row.name for row in p.rows)


def test_bytes_are_those_that_a_step_reads_and_writes():
    product, square = 8 * (16 * 48 + 48 * 48 + 16 * 48), 16 * 48 * 8
    p = bl.compile(model, W, X, gear="replay").profile(W, X)
    assert {row.nbytes for row in p.rows if row.name.startswith("contract")} == {product}
    assert {row.nbytes for row in p.rows if row.name == "tanh"} == {2 * square}
    row = RNG.normal(size=1000)  # a row that all rows of a sum share counts once
    p = bl.compile(lambda x, y: x + y, np.ones((50, 1000)), row).profile(np.ones((50, 1000)), row)
    assert p.rows[0].nbytes == 8 * (50_000 + 1000 + 50_000)
    table, index = np.ones((100, 3)), np.array([1, 1, 2])
    p = bl.compile(lambda t, i: t[i], table, index).profile(table, index)
    assert [r.nbytes for r in p.rows if r.name == "gather"] == [2 * 9 * 8 + 3 * 8]


def test_forward_is_what_the_value_depends_on(kernel):
    graph = kernel.gradient_graph
    forward = forward_of(graph)
    assert graph.outputs[0] in forward
    assert forward.isdisjoint(graph.outputs[1:])
    assert bl.compile(np.sin, X).profile(X).nanoseconds("backward") == 0  # no number, so no gradient


def test_straight_line_code_stays_between_two_clock_reads():
    """Scalar code in registers could move past the clock: a long straight line has to take its own time."""

    def f(a):
        b = a
        for _ in range(200):
            b = np.sin(b)
        return b * a

    k = bl.compile(f, 0.5)
    profiles = [k.profile(0.5) for _ in range(4)]
    line = min(row.nanoseconds for p in profiles for row in p.rows if "sin" in row.name)
    assert line > 0.8 * min(p.alone for p in profiles) > 500


def test_control_flow_and_checks_are_steps_too(kernel):
    gear = kernel._options["gear"]

    def f(x):
        return bl.while_loop(lambda y: np.sum(y) < 100.0, lambda y: y * 2.0, x)[0]

    rows = bl.compile(f, np.ones(3), gear=gear, check_finite=True).profile(np.ones(3)).rows
    assert any(row.name.startswith("while") for row in rows)
    assert any("note" in row.name for row in rows)


def test_arguments_are_checked_and_faults_are_raised(kernel):
    with pytest.raises(ShapeError):
        kernel.profile(W, X[:3])
    with pytest.raises(ArgumentError):
        kernel.profile(W)
    k = bl.compile(lambda t, i: np.sum(t[i]), np.ones(3), np.array([1]), gear=kernel._options["gear"])
    with pytest.raises(IndexRangeError):
        k.profile(np.ones(3), np.array([7]))


def test_a_chrome_trace_has_complete_events(kernel, tmp_path: Path):
    p = kernel.profile(W, X)
    p.to_chrome_trace(tmp_path / "trace.json")
    document = json.loads((tmp_path / "trace.json").read_text())
    assert set(document) == {"traceEvents", "displayTimeUnit"}
    call, *steps = document["traceEvents"]
    assert len(steps) == len(p.rows) - 1
    for event in (call, *steps):
        assert event["ph"] == "X"
        assert {type(event[key]) for key in ("pid", "tid")} == {int}
        assert {type(event[key]) for key in ("ts", "dur")} == {float}
        assert {type(event[key]) for key in ("name", "cat")} == {str}
        assert event["dur"] >= 0
        assert call["ts"] <= event["ts"] <= event["ts"] + event["dur"] <= call["ts"] + call["dur"] + 1e-6
    for event, row in zip(steps, p.rows, strict=False):
        assert event["cat"] == row.phase in ("forward", "backward")
        assert event["dur"] == row.nanoseconds / 1000
        assert event["args"]["bytes"] == row.nbytes
        assert event["args"]["line"].startswith("test_profile.py:")


def test_profile_is_printed_and_displayed(kernel):
    p = kernel.profile(W, X)
    text = str(p)
    assert text.splitlines()[0].startswith(f"model, {kernel._options['gear']}: ")
    assert text.count("\n") == len(p.rows) + 1 + len({row.phase for row in p.rows})
    assert "layer1" in text
    assert "test_profile.py" in text
    html = profile_html(p)
    assert html.count("<tr>") == len(p.rows) + 1
    assert "ab,bc-&gt;ac" in html
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in profile_markdown(p).splitlines()[4:]]
    longest = sorted(p.rows, key=lambda row: -row.nanoseconds)[: len(rows)]
    assert [row[0] for row in rows] == [f"{row.nanoseconds / 1e3:,.2f}" for row in longest]
    assert {len(row) for row in rows} == {7}
    assert any("layer1" in row[5] for row in rows)
