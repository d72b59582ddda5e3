"""Pages that need nothing else: what they hold, what they escape, and how they are written."""

import base64
import hashlib
import json
import math
import re

import numpy as np
import pytest

import burlab as bl
from burlab.charts import Axis, Chart, Curve, Plot
from burlab.errors import ArgumentError, FileError

EVIL = "</script><script>window.hacked = 1</script><img src=x onerror=window.hacked=1>"


@pytest.fixture(scope="module")
def run():
    f = bl.problems.rosenbrock()
    return bl.minimize(f, f.start, bl.optim.Momentum(3e-4), steps=500)


def exported(thing, tmp_path):
    target = tmp_path / "page.html"
    bl.export_html(thing, target)
    return target.read_text(encoding="utf-8")


def data_of(text):
    (found,) = re.findall(r'<script type="application/json" id="burlab-data">(.*?)</script>', text, re.DOTALL)
    return json.loads(found)


def floats(packed):
    return np.frombuffer(base64.b64decode(packed))


def test_a_run_has_its_record_and_its_path(run, tmp_path):
    text = exported(run, tmp_path)
    (section,) = data_of(text)
    data = section["data"]
    assert section["kind"] == "record"
    np.testing.assert_array_equal(floats(data["steps"]), np.arange(501))
    value = next(column for column in data["columns"] if column["title"] == "value")
    np.testing.assert_array_equal(floats(value["values"]), [*run.history["value"], run.value])
    start = [floats(data["places"][axis])[0] for axis in "xy"]
    np.testing.assert_array_equal(start, run.path[1][0])
    plane = next(part for part in data["chart"]["parts"] if part["kind"] == "map")
    assert floats(plane["heights"]["values"]).size == plane["heights"]["rows"] * plane["heights"]["columns"]
    assert "Momentum on rosenbrock" in text
    assert text.count("<svg") >= 1, "what is seen without scripts"
    assert len(text) < 1_500_000


def test_a_long_record_is_thinned_from_its_first_to_its_last_step(tmp_path):
    run = bl.minimize(lambda x: np.sum(x**2), np.ones(3), bl.optim.GD(1e-6), steps=300_000)
    run.seek(70_000)
    text = exported(run, tmp_path)
    data = data_of(text)[0]["data"]
    assert data["step"] == 70_000, "the page opens where the run stands"
    steps = floats(data["steps"])
    assert steps.size <= 2000
    assert steps[0] == 0
    assert steps[-1] == 299_999
    assert (np.diff(steps) > 0).all()
    assert np.count_nonzero(steps < 1000) > 100, "the beginning is finer"
    assert data["places"] is None
    assert len(text) < 2_000_000


def test_a_page_waits_for_a_value_for_which_a_panel_has_no_time(tmp_path, monkeypatch):
    value, waited = bl.Run.row_value, []

    def slow(run, seconds=math.inf):
        waited.append(math.isinf(seconds))
        return value(run) if any(waited) else math.nan

    monkeypatch.setattr(bl.Run, "row_value", slow)
    run = bl.minimize(lambda x: np.sum(x**2), np.ones(3), bl.optim.GD(0.1), steps=2)
    record = data_of(exported(run, tmp_path))[0]["data"]
    (column,) = (column for column in record["columns"] if column["title"] == "value")
    assert (floats(record["steps"])[-1], floats(column["values"])[-1]) == (2, run.value)


def test_a_fork_has_the_branches_of_its_family(run, tmp_path):
    fork = run.fork(mu=0.5)
    fork.step(50)
    text = exported(fork, tmp_path)
    sections = data_of(text)
    assert [section["kind"] for section in sections] == ["record", "tabs"]
    labels = [curve["label"] for curve in sections[1]["data"]["charts"][0]["parts"][0]["curves"]]
    assert {"A", "B"} <= set(labels)
    assert "mu = 0.5" in text
    assert "before it branched" in json.dumps(sections[0]["data"]["chart"])


def test_a_race_has_a_chart_for_each_axis_and_its_standings(tmp_path):
    f = bl.problems.rosenbrock()
    race = bl.race(f, f.start, {EVIL: bl.optim.GD(1e-3), "Adam": bl.optim.Adam(1e-2)}, steps=200)
    text = exported(race, tmp_path)
    (section,) = data_of(text)
    axes = ("step", "gradients", "flops", "seconds", "bytes")
    assert section["data"]["names"] == [f"against {name}" for name in axes]
    assert EVIL not in text
    assert text.count("<img") == 0
    assert any(curve["label"] == EVIL for curve in section["data"]["charts"][0]["parts"][0]["curves"])


def test_a_watch_is_a_record_without_a_map(tmp_path):
    with bl.watch(EVIL, show=False, lr=0.25) as w:
        for step in range(20):
            w.log(step, value=0.5**step)
    text = exported(w, tmp_path)
    data = data_of(text)[0]["data"]
    assert floats(data["steps"]).size == 20
    assert EVIL not in text
    assert "&lt;/script&gt;" in text


def test_results_of_analysis_are_charts(tmp_path):
    for thing in (
        bl.analysis.landscape(lambda x: np.sum(x**4), np.ones(2), resolution=11),
        bl.analysis.spectrum(lambda x: np.sum(x**4), np.ones(3)),
    ):
        (section,) = data_of(exported(thing, tmp_path))
        assert section["data"]["charts"][0]["parts"]


def test_nonfinite_numbers_are_exported_as_text(tmp_path):
    curve = Curve(np.arange(4.0), np.array([1.0, np.nan, np.inf, -np.inf]), "odd")
    text = exported(Chart((Plot("p", "p", Axis("x"), Axis(), (curve,)),)), tmp_path)
    found = data_of(text)[0]["data"]["charts"][0]["parts"][0]
    np.testing.assert_array_equal(floats(found["curves"][0]["y"]), curve.y)


def test_only_the_script_of_the_page_may_run(run, tmp_path):
    text = exported(run, tmp_path)
    (script,) = re.findall(r'<script type="module">(.*?)</script>', text, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in text
    assert "default-src 'none'" in text
    assert not re.findall(r'(?:src|href)="(?!data:)[^#"]', text), "nothing comes from elsewhere"


def test_unsupported_export_raises(tmp_path):
    with pytest.raises(ArgumentError, match="a list cannot be exported"):
        bl.export_html([1, 2], tmp_path / "page.html")
    with pytest.raises(ArgumentError, match="not a path"):
        bl.export_html(Chart(()), 3)


def test_a_file_is_replaced_whole_or_not_at_all(run, tmp_path, monkeypatch):
    target = tmp_path / "page.html"
    target.write_text("before")
    with pytest.raises(ArgumentError):
        bl.export_html(object(), target)
    with monkeypatch.context() as patched:
        patched.setattr("burlab.widgets.export.export_file._MAX_BYTES", 1000)
        with pytest.raises(FileError, match="expected 1,000 at most"):
            bl.export_html(run, target)
    assert target.read_text() == "before"
    bl.export_html(run, target)
    assert target.read_text().startswith("<!doctype html>")
    assert list(tmp_path.iterdir()) == [target]


def test_unwritable_path_raises(run, tmp_path):
    with pytest.raises(FileError, match="cannot be written"):
        bl.export_html(run, tmp_path / "no" / "page.html")
    with pytest.raises(FileError, match="is a folder"):
        bl.export_html(run, tmp_path)


def test_a_run_without_a_step_is_a_page_too(tmp_path):
    f = bl.problems.rosenbrock()
    text = exported(bl.minimize(f, f.start, bl.optim.GD(1e-3)), tmp_path)
    assert floats(data_of(text)[0]["data"]["steps"]).tolist() == [0.0], "it shows the start"
    assert "Ready at step 0" in text


def test_a_graph_has_a_picture_for_each_of_its_groups(tmp_path):
    def scoped(x):
        with bl.scope(EVIL):
            return np.sum(np.tanh(x) * 2)

    kernel = bl.compile(lambda x: scoped(x) + np.exp(x[0]), np.ones(3), gear="replay")
    for thing in (kernel, kernel.graph, bl.GraphView(kernel)):
        text = exported(thing, tmp_path)
        (section,) = data_of(text)
        states = section["data"]["states"]
        assert set(states) == {"", "all", *section["data"]["parents"]}
        assert len(states["all"]["picture"]["boxes"]) > len(states[""]["picture"]["boxes"])
        assert EVIL not in text
    assert data_of(exported(bl.Value(3.0) * 2, tmp_path))[0]["kind"] == "graph"
