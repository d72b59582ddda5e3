"""The pipeline: builds run the passes that ARCHITECTURE.md lists, each on what the one before it gave."""

from collections.abc import Mapping
from dataclasses import fields, replace
from itertools import pairwise
from typing import Any, get_args

import numpy as np
import pytest

import burlab as bl
from burlab.compiler import build, passes
from burlab.compiler.ir.options import Gear, PlanOptions
from burlab.compiler.pass_printing import recorded_passes
from burlab.errors import ConfigurationError
from burlab.graph import Graph, linear_nodes
from burlab.graph.node import Node
from tests.compiler.trace import traced
from tests.project.test_architecture import rows

X = np.linspace(0.0, 1.0, 6)
TABLE = [[cell.strip("`") for cell in row] for row in rows("The passes of a build")]
OPTIONS: dict[str, Mapping[str, Any]] = {
    "": {},
    "strict": {"strict": True},
    "check_finite": {"check_finite": True},
    "remat": {"remat": "sqrt"},
    "in_place": {"in_place": frozenset({(0, 0)})},
}


def graph_of(options: str) -> Graph:
    """A small graph; one that can update its input in place."""
    if options != "in_place":
        return traced(lambda x: np.sum(np.sin(x) ** 2), X)
    x, index = Node("input", (), "x", (4,), np.dtype(float)), Node("input", (), "index", (2,), np.dtype(np.int64))
    values = Node("input", (), "values", (2,), np.dtype(float))
    return Graph((x, index, values), (linear_nodes.put(x, values, index),))


def page_lists(gear: str, options: str) -> list[list[str]]:
    """The rows of the page that a build has."""

    def runs(when: str) -> bool:
        word, _, names = when.partition(" ")
        return word == "always" or (options in names.split(", ")) == (word == "with")

    return [row for row in TABLE if gear in row[3].split(", ") and runs(row[4])]


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("gear", get_args(Gear))
def test_builds_run_the_passes_of_the_page_in_its_order(gear: Gear, options: str) -> None:
    graph = graph_of(options)
    with recorded_passes() as records:
        build(graph, gear=gear, **OPTIONS[options])
    if options == "remat":  # it plans again inside
        records = [r for k, r in enumerate(records) if r.name not in [later.name for later in records[k + 1 :]]]
        records.sort(key=lambda record: [row[0] for row in TABLE].index(record.name))
    expected = page_lists(gear, options)
    assert [record.name for record in records] == [row[0] for row in expected]
    for record, (*_, types, _, _) in zip(records, expected, strict=True):
        assert type(record.value).__name__ in (types.partition(" -> ")[2], "ReplayPlan"), record.name


@pytest.mark.parametrize("gear", [*get_args(Gear), "kernels"])
@pytest.mark.parametrize("changes", OPTIONS.values(), ids=OPTIONS)
def test_each_pass_takes_what_the_one_before_it_gives(gear: Any, changes: Mapping[str, Any]) -> None:
    options = replace(PlanOptions(gear), **changes)
    row = [step for step in passes.PASSES if step.serves(options)]
    for before, after in pairwise(row):
        assert issubclass(before.gives, after.takes), (before.name, after.name)


def test_conditions_are_options() -> None:
    known = {field.name for field in fields(PlanOptions)}
    assert known.issuperset(name for step in passes.PASSES for name in (*step.needs, *step.bars))


def test_passes_over_sub_graphs_are_recorded_inside_of_lower_and_link() -> None:
    graph = traced(lambda x: bl.scan(lambda c, y: (np.sin(c + y), c), 0.0, x)[0], X)
    with recorded_passes() as records:
        build(graph, gear="replay")
    names = [record.name for record in records]
    assert [names.count(name) for name in ("simplify", "schedule", "place", "tabulate")] == [1, 2, 2, 2]
    times = {record.name: record.nanoseconds for record in records}  # of the whole, which ends last
    assert times["lower"] >= sum(r.nanoseconds for r in records[: names.index("place")] if r.name == "schedule")


def printed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], wish: str) -> str:
    monkeypatch.setenv("BURLAB_PRINT", wish)
    build(graph_of(""), gear="replay")
    return capsys.readouterr().err


def test_burlab_print_shows_what_passes_give(monkeypatch, capsys) -> None:
    text = printed(monkeypatch, capsys, "after:simplify,after:schedule")
    assert text.startswith("--- after simplify (replay) ---\n%0  input")
    assert text.count("---\n") == 2
    assert "--- after schedule (replay) ---\nkernel: %1 sin\n" in text
    everything = printed(monkeypatch, capsys, "after:all")
    names = [row[0] for row in page_lists("replay", "")]
    assert [line.split()[2] for line in everything.splitlines() if line.startswith("---")] == names
    assert "object at 0x" not in everything


def test_burlab_print_shows_times(monkeypatch, capsys) -> None:
    lines = printed(monkeypatch, capsys, "times").splitlines()
    assert [line.split()[2] for line in lines] == [row[0] for row in page_lists("replay", "")]
    assert all(float(line.split()[0]) >= 0 for line in lines)


def test_an_unknown_pass_is_refused_with_the_list(monkeypatch, capsys) -> None:
    with pytest.raises(
        ConfigurationError,
        match=r"'after:fuse' is unknown. Use 'times', .* schedule, end_loops, repeat_cheap, lower, late_sums, place",
    ):
        printed(monkeypatch, capsys, "after:place,after:fuse")


def test_without_a_wish_nothing_is_printed(monkeypatch, capsys) -> None:
    assert printed(monkeypatch, capsys, "") == ""
