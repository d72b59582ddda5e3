"""`burlab bench` end to end: processes, tables, the page, the command."""

import json
import re
from pathlib import Path

import pytest

from burlab import bench, cli
from burlab.bench import session
from burlab.bench.machine import describe
from burlab.bench.pool import ProcessPool
from burlab.bench.problem import Unavailable
from burlab.bench.report import Report


@pytest.fixture(scope="module")
def report() -> Report:
    """The tiny graph, with the one peer that the tests always have."""
    return bench.run("tiny", peers=["micrograd"], quick=True)


def test_every_way_passes_and_is_timed(report: Report):
    for line in report.lines:
        assert not line.gap, line
        assert line.verdict
        assert line.verdict.passed, line
        assert line.seconds
        assert line.timing
        assert line.facts["peak_rss"] > 0
    variants = {(line.engine, line.variant) for line in report.lines}
    assert {("burlab", "eager, Python"), ("burlab", "compiled, loop in C++"), ("micrograd", "eager")} <= variants


def test_tapes_and_replay_count_the_nodes_that_they_visit(report: Report):
    counts = {line.variant: line.verdict.visited for line in report.lines if line.verdict and line.verdict.visited}
    assert counts["eager, loop in C++"] == counts["eager, Python"] == (9, 9)
    seen, all_ = counts["replay, C++ calls"]
    assert seen == all_ > 9


def test_nobody_judges_itself(report: Report):
    assert all(line.verdict and line.verdict.against not in ("", line.engine) for line in report.lines)


def test_the_table_names_every_way_and_the_page_is_complete_offline(report: Report, tmp_path: Path):
    shown = str(report)
    page = tmp_path / "report.html"
    report.write(page)
    text = page.read_text()
    for line in report.lines:
        assert line.variant in shown
        assert line.variant in text
    for fact in ("machine", "burlab", "flags", "versions", "minimum over"):
        assert fact in shown
        assert fact in text
    assert "Plotly.newPlot" in text
    markup = re.sub(r"(<script[^>]*>).*?</script>", r"\1", text, flags=re.DOTALL)
    assert not re.findall(r"""(?:src|href)\s*=|https?:""", markup)
    raw = re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL)
    data = json.loads(raw[1].replace("<\\/", "</"))
    assert len(data["lines"]) == len(report.lines)
    assert all(len(line["timing"]["measurements"]) >= 3 for line in data["lines"] if line["passed"])


def test_a_page_of_text_has_tables_of_markdown(report: Report):
    text = report._repr_markdown_()
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert [line.variant in text for line in report.lines] == [True] * len(report.lines)
    assert len(rows) == 2 + len(report.lines)
    assert len({row.count("|") for row in rows}) == 1
    assert "function problem" not in repr(report) + text


def test_the_command_prints_a_table_and_writes_the_page(tmp_path: Path, capfd: pytest.CaptureFixture[str]):
    page = tmp_path / "out.html"
    assert cli.main(["bench", "micrograd", "--peers", "none", "--quick", "--report", str(page)]) == 0
    out = capfd.readouterr().out
    assert "exp2" in out
    assert "complex step" in out
    assert "NOT TIMED" not in out
    assert page.stat().st_size > 1_000_000, "plotly's script is inside"


@pytest.mark.parametrize("arguments", [["nothing"], ["tiny", "--peers", "abacus"]])
def test_unknown_name_lists_the_known_ones(arguments: list[str], capsys: pytest.CaptureFixture[str]):
    assert cli.main(["bench", *arguments]) == 2
    assert "must be one of t" in capsys.readouterr().err


def test_an_absent_peer_is_a_gap_with_its_name(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("burlab.bench.peers.optional_import.find_spec", lambda name: None)
    from burlab.bench.worker import open_task

    for peer in ("torch", "jax", "autograd", "micrograd"):
        variant = "jit" if peer == "jax" else "eager"
        with pytest.raises(Unavailable, match=r"is not installed: pip install 'burlab\[bench\]"):
            open_task(peer, "tiny", {}, variant)


def test_a_worker_that_dies_is_a_row_and_not_the_end():
    with ProcessPool() as pool:
        task = pool.open("complex step", "tiny", {}, "")
        assert task.answer(0, "float64").value == 612.5
        for process, _ in pool._workers.values():
            process.kill()
        with pytest.raises(RuntimeError, match="ended with code -9"):
            task.answer(0, "float64")


def test_a_worker_passes_on_what_is_unavailable():
    with ProcessPool() as pool, pytest.raises(Unavailable):
        pool.open("micrograd", "save", {}, "eager")


def test_the_machine_is_described():
    assert set(describe(quick=False)) >= {"machine", "burlab", "flags", "versions", "method", "time"}


def test_a_peer_that_is_named_twice_takes_part_once(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[list[str]] = []
    monkeypatch.setattr(session, "row", lambda _case, _size, peers, _effort: seen.append(list(peers)) or [])
    bench.run("tiny", peers=["torch", "jax", "torch"], quick=True)
    assert seen == [["torch", "jax"]]
