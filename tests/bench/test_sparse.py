"""`burlab bench sparse`: steps of sparse networks, compared with dense ones that have masks."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from burlab.bench.cases.sparse_training import CASE, VARIANTS, conclusions, problem
from burlab.bench.clock import Effort
from burlab.bench.measure import Entrant, VariantResult, measure
from burlab.bench.peers import numpy_loops
from burlab.bench.problem import SparseTraining
from burlab.bench.variants import open_task
from burlab.bench.variants.sparse_steps import SparseSteps

SIZE = {"inputs": 12, "hidden": 10, "density": 0.2, "batch": 8}


def small() -> SparseTraining:
    """The problem with fewer samples, and fewer steps in what is timed."""
    whole = problem(SIZE)
    return replace(whole, inputs=whole.inputs[:32], targets=whole.targets[:32], every=4, steps=4)


def lines(found: SparseTraining, variant: str, **others: Any) -> list[VariantResult]:
    """Judged and timed for a moment."""
    makers = {"burlab": open_task, "numpy": numpy_loops.open_task, **others}
    entrants = [Entrant(name, variant, lambda make=make: make(found, variant)) for name, make in makers.items()]
    return measure("sparse", SIZE, found, "float32", entrants, Effort(shortest=0.0, rounds=1))


@pytest.mark.parametrize("variant", VARIANTS)
def test_links_and_weights_are_those_of_masks(variant: str) -> None:
    for line in lines(small(), variant):
        assert line.verdict, line.gap
        assert line.verdict.complaints == ()
        assert line.seconds


@pytest.mark.parametrize(
    ("variant", "other"), [("SET", "links that stay"), ("RigL", "SET"), ("links that stay", "RigL")]
)
def test_other_links_are_noticed(variant: str, other: str) -> None:
    found = lines(small(), variant, numpy=lambda one, _variant: numpy_loops.open_task(one, other))
    assert [bool(line.verdict and line.verdict.passed) for line in found] == [False, False]
    assert all(
        "moves" in line.verdict.complaints[0] or "move" in line.verdict.complaints[0] for line in found if line.verdict
    )


def test_a_variant_is_compared_with_the_same_one() -> None:
    entrants = [
        Entrant(name, variant, lambda make=make, variant=variant: make(small(), variant))
        for name, make in (("burlab", open_task), ("numpy", numpy_loops.open_task))
        for variant in VARIANTS
    ]
    found = measure("sparse", SIZE, small(), "float32", entrants, Effort(shortest=0.0, rounds=1))
    assert [line.verdict.complaints for line in found if line.verdict] == [()] * 8
    assert sum("of its own dense step" in sentence for sentence in conclusions(found)) == 6


def test_a_repetition_is_as_many_steps_as_the_unit_says() -> None:
    whole = problem(CASE.quick[0])
    assert CASE.unit == f"{whole.steps} steps"
    task = SparseSteps(small(), "RigL")
    before = task._run.t
    assert task.repeat(3) > 0
    assert task._run.t - before == 3 * small().steps


def test_links_are_as_many_as_the_density_says() -> None:
    whole = problem(CASE.sizes[0])
    assert [None if links is None else len(links) for links in whole.links] == [7840, 10_000, None]
    for w, links in zip(whole.weights[:2], whole.links[:2], strict=True):
        np.testing.assert_array_equal(np.flatnonzero(w), links)
