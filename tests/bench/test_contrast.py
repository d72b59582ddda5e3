"""`burlab bench contrast`: gradients of InfoNCE by chunks and at once, in all engines; and memory of processes."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from burlab.bench import session
from burlab.bench.cases.contrastive_loss import CASE, conclusions, problem
from burlab.bench.clock import Effort
from burlab.bench.measure import Entrant, VariantResult, measure
from burlab.bench.peers import numpy_loops
from burlab.bench.peers.optional_import import load
from burlab.bench.problem import BatchObjective, Unavailable
from burlab.bench.table import text
from burlab.bench.variants import open_task

SIZE = {"batch": 24, "hidden": 6, "chunks": 7}
WAYS = ("by chunks", "whole batch")


def lines(found: BatchObjective, **others: Any) -> list[VariantResult]:
    """Judged and timed for a moment."""
    makers = {"burlab": open_task, "numpy": numpy_loops.open_task, **others}
    entrants = [
        Entrant(n, way, lambda make=make, way=way: make(found, way)) for n, make in makers.items() for way in WAYS
    ]
    return measure("contrast", SIZE, found, "float32", entrants, Effort(shortest=0.0, rounds=1))


def test_chunks_and_whole_batches_have_the_gradients_of_numpy() -> None:
    found = lines(problem(SIZE))
    for line in found:
        assert line.verdict, line.gap
        assert line.verdict.complaints == ()
        assert line.seconds
    assert "burlab by chunks takes" in text(CASE, found)
    assert [sentence.partition("burlab by chunks")[0] for sentence in conclusions(found)] == ["Batch 24: "] * 3


@pytest.mark.parametrize("name", ["torch", "jax"])
def test_peers_have_the_same_gradients(name: str) -> None:
    try:
        load(name)
    except Unavailable:
        pytest.skip(f"{name}, a second engine, is not installed: make peers")
    if name == "jax":
        from burlab.bench.peers.jax import open_task as opened
    else:
        from burlab.bench.peers.torch import open_task as opened
    found = lines(problem(SIZE), **{name: opened})
    assert [line.verdict.complaints for line in found if line.verdict] == [()] * 6


def test_another_temperature_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    other = problem(SIZE)
    wrong = replace(other, meet=lambda np_, u, v: other.meet(np_, u, v) + 1e-6 * np_.sum(u))
    monkeypatch.setattr(numpy_loops, "open_task", lambda _, way: open_task(wrong, way))
    assert not any(line.verdict and line.verdict.passed for line in lines(other, numpy=numpy_loops.open_task))


def test_memory_is_that_of_a_process_of_one_variant(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = list[tuple[str, int]]()

    def peak(_case: Any, size: Any, engine: str, variant: str) -> dict[str, float]:
        seen.append((f"{engine}, {variant}", size["batch"]))
        return {"peak_rss": 1e6 * size["batch"]}

    monkeypatch.setattr(session, "_peak", peak)
    case = replace(CASE, variants={"numpy": WAYS, "burlab": ("whole batch",)})
    found = session.row(case, {"batch": 32, "hidden": 6, "chunks": 8}, (), Effort(shortest=0.0, rounds=1))
    assert seen == [
        (name, batch)
        for name in ("burlab, whole batch", "numpy, by chunks", "numpy, whole batch")
        for batch in (32, 256)
    ]
    assert [line.facts["added"] for line in found] == [-224e6] * 3
    assert all(np.isclose(line.facts["peak_rss"], 32e6) for line in found)


def test_a_process_of_one_variant_reports_its_peak() -> None:
    small = session._peak(CASE, {"batch": 32, "hidden": 6, "chunks": 8}, "numpy", "whole batch")
    large = session._peak(CASE, {"batch": 2048, "hidden": 6, "chunks": 8}, "numpy", "whole batch")
    assert large["peak_rss"] - small["peak_rss"] > 2048 * 2048 * 4  # the scores
