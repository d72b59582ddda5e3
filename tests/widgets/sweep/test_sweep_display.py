"""A sweep in a notebook, without one: a table that is replaced in place, then the table and the race."""

from types import SimpleNamespace

import pytest

import burlab as bl
from burlab.experiments import sweep_progress
from burlab.widgets import sweep_display, views
from burlab.widgets.race.race_view import RaceView

F = bl.problems.booth()


@pytest.fixture
def shown(monkeypatch):
    texts = []

    class Shown:
        def update(self, html):
            texts.append(html.data)

    def show(html, display_id=False):
        texts.append(html.data)
        return Shown()

    monkeypatch.setattr("IPython.display.display", show)
    return texts


def test_the_table_is_live(shown, monkeypatch):
    monkeypatch.setattr(sweep_progress, "_screens", [sweep_display.LiveTable])
    monkeypatch.setattr(sweep_display, "_PERIOD_SECONDS", 0.0)
    bl.sweep(F, F.start, bl.optim.GD(), {"lr": [0.05, 0.1, 1.0]}, steps=40)
    titles = ["0 of 3 runs done", "1 of 3 runs done", "2 of 3 runs done", "3 of 3 runs done", "3 of 3 runs done"]
    assert len(shown) == 5
    for text, title in zip(shown, titles, strict=True):
        assert title in text
    assert shown[-1].count("<tr>") == 4


def test_sweep_without_progress_shows_nothing(shown, monkeypatch):
    monkeypatch.setattr(sweep_progress, "_screens", [sweep_display.LiveTable])
    bl.sweep(F, F.start, bl.optim.GD(0.1), steps=4, progress=False)
    assert shown == []


def test_a_terminal_gets_a_bar_of_runs(capsys):
    bl.sweep(F, F.start, bl.optim.GD(), {"lr": [0.05, 0.1]}, steps=40, progress=True)
    lines = capsys.readouterr().err.splitlines()
    assert "] 2/2  " in lines[-1]
    assert "runs/s  value " in lines[-1]


def test_a_sweep_is_its_table_and_the_race_of_its_best(shown, monkeypatch):
    sweep = bl.sweep(F, F.start, bl.optim.GD(), {"lr": [0.05, 0.1]}, seeds=2, steps=40)
    races = []
    monkeypatch.setattr(RaceView, "show", lambda view: races.append(view))  # noqa: PLW0108 - a method
    views.of_sweep(sweep).show()
    assert "4 of 4 runs done" in shown[0]
    (view,) = races
    assert [row["name"] for row in view.state["rows"]] == ["GD lr=0.1", "GD lr=0.05"]
    assert view.state["title"] == "2 racers on booth, 2 seeds"
    view.close()


def test_the_table_does_not_stand_twice_in_a_cell(shown, monkeypatch):
    shell = SimpleNamespace(execution_count=7)
    monkeypatch.setattr("IPython.core.getipython.get_ipython", lambda: shell)
    monkeypatch.setattr(sweep_progress, "_screens", [sweep_display.LiveTable])
    monkeypatch.setattr(RaceView, "show", lambda view: view.close())
    sweep = bl.sweep(F, F.start, bl.optim.GD(), {"lr": [0.05, 0.1]}, steps=40)
    drawn = len(shown)
    views.of_sweep(sweep).show()
    assert len(shown) == drawn
    shell.execution_count = 8
    views.of_sweep(sweep).show()
    assert "2 of 2 runs done" in shown[drawn]


def test_reasons_of_failed_runs_are_shown_where_their_rows_are_not(shown):
    sweep = bl.sweep(F, F.start, bl.optim.GD(), {"lr": [*[k / 1000 for k in range(1, 40)], 1e3, 1e4]}, steps=200)
    table = sweep.table
    assert table.losses == ("2 of GD failed: the value is not finite",)
    assert not any("non_finite" in cells for cells in table.cells)
    assert table.losses[0] in sweep_display.table_html(table)
    assert str(table).endswith(table.losses[0])
