"""Graphs built by hand in a cell survive when the cell runs again, in this process and in the next one."""

import pytest

from burlab.widgets import views
from burlab.widgets.builder import GraphBuilder, notebook_cells
from burlab.widgets.builder.notebook_cells import NotebookCell


@pytest.fixture
def notebook(monkeypatch, tmp_path):
    """Runs a cell that shows builders: gives their views."""
    monkeypatch.setenv("BURLAB_CACHE", str(tmp_path))
    monkeypatch.setattr("burlab.widgets.builder.builder_view.BuilderView.show", lambda _view: None)
    notebook_cells.forget()
    at = {}

    def running():
        at["k"] = at.get("k", -1) + 1
        return NotebookCell(at["name"], at["k"], at["code"], "a notebook.ipynb")

    monkeypatch.setattr(notebook_cells, "running_cell", running)

    def run(code, name="one", make=GraphBuilder, count=1):
        at.clear()
        at.update(name=name, code=code)
        builders = [make() for _ in range(count)]
        for builder in builders:
            views.of_builder(builder).show()
        return [views._builder_views[builder] for builder in builders]

    yield run
    notebook_cells.forget()


def by_hand(view, *kinds):
    for kind in kinds:
        view._on_message(None, {"type": "add", "kind": kind}, [])


def kinds(view):
    return [block.kind for block in view._builder.document.blocks.values()]


def one(notebook, *args, **options):
    (view,) = notebook(*args, **options)
    return view


def restart():
    notebook_cells.forget()  # all that is left is in the folder


def test_the_same_code_goes_on_from_what_was_built(notebook):
    by_hand(one(notebook, "b"), "input", "exp")
    again = one(notebook, "b")
    assert kinds(again) == ["input", "exp"]
    again._builder.undo()
    assert kinds(again) == [], "as the code makes it"
    again._builder.undo()
    assert kinds(again) == ["input", "exp"], "and what was there before"
    by_hand(one(notebook, "b"), "sin")
    assert kinds(one(notebook, "b")) == ["input", "exp", "sin"]


def test_changed_code_starts_anew_and_undo_restores_the_built_graph(notebook):
    by_hand(one(notebook, "b"), "input", "exp")
    other = one(notebook, "another", make=lambda: GraphBuilder(lambda x: x * x, 2.0))
    assert "exp" not in kinds(other)
    other._builder.undo()
    assert kinds(other) == ["input", "exp"]


def test_blocks_added_by_code_are_not_added_twice(notebook):
    view = one(notebook, "b")
    view._builder.add("input")  # of a later cell, which runs again, too
    assert kinds(one(notebook, "b")) == []


def test_a_cell_keeps_each_of_its_builders_and_cells_their_own(notebook):
    first, second = notebook("two", count=2)
    by_hand(first, "input")
    by_hand(second, "input", "input")
    assert kinds(one(notebook, "two", name="elsewhere")) == []
    assert [kinds(view) for view in notebook("two", count=2)] == [["input"], ["input", "input"]]


def test_built_graph_outlives_the_kernel(notebook):
    by_hand(one(notebook, "b"), "input", "exp")
    restart()
    again = one(notebook, "b")
    assert kinds(again) == ["input", "exp"]
    again._builder.undo()
    assert kinds(again) == []
    restart()
    other = one(notebook, "c")
    assert kinds(other) == []
    other._builder.undo()
    assert kinds(other) == ["input", "exp"]


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"code": "b"}', '{"code": "b", "graph": "{}"}', '{"code": 1, "graph": 1}']
)
def test_a_damaged_file_is_passed_over(notebook, tmp_path, text):
    by_hand(one(notebook, "b"), "input")
    (file,) = (tmp_path / "builders").iterdir()
    file.write_text(text)
    restart()
    assert kinds(one(notebook, "b")) == []


def test_a_folder_that_cannot_be_written_holds_nobody_up(notebook, tmp_path):
    (tmp_path / "builders").write_text("a file where the folder would be")
    by_hand(one(notebook, "b"), "input")
    assert kinds(one(notebook, "b")) == ["input"]


def test_builder_with_its_own_file_is_stored_there(notebook, tmp_path):
    make = lambda: GraphBuilder(file=tmp_path / "mine.json")  # noqa: E731 - called for each run of the cell
    by_hand(one(notebook, "b", make=make), "input")
    assert kinds(one(notebook, "b", make=make)) == ["input"]
    assert not (tmp_path / "builders").exists()


def test_programs_have_no_running_cell():
    assert notebook_cells.running_cell() is None
