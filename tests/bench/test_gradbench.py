"""GradBench's kinds: engines and kernels written by hand give the same gradients."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from burlab.bench.cases.objectives import KINDS, objective
from burlab.bench.peers.optional_import import load
from burlab.bench.problem import ArrayObjective, Task, Unavailable
from burlab.bench.variants import open_task
from burlab.bench.variants.golden import open_task as by_hand
from burlab.bench.verdict import compare

SAMPLED = [kind if kind in ("gmm", "hand") else pytest.param(kind, marks=pytest.mark.full) for kind in KINDS]


def answers(task: Task) -> list[Any]:
    return [task.answer(point, "float64") for point in (0, 1, 0)]


def peer(name: str, problem: ArrayObjective) -> Task:
    try:
        load(name)
    except Unavailable:
        pytest.skip(f"{name}, a second engine, is not installed: make peers")
    if name == "jax":
        from burlab.bench.peers.jax import open_task as opened
    elif name == "torch":
        from burlab.bench.peers.torch import open_task as opened
    else:
        from burlab.bench.peers.autograd import open_task as opened
    return opened(problem, "")


@pytest.mark.parametrize("kind", SAMPLED)
def test_gears_and_engines_agree(kind: str) -> None:
    problem = objective(kind)
    wanted = answers(peer("jax", problem))
    for variant in ("compiled, C++ calls", "compiled, Python calls", "replay, Python calls"):
        task = open_task(problem, variant)
        assert compare(answers(task), wanted, "float64")[1] == []
        assert task.repeat(3) > 0
    for name in ("torch", "autograd"):
        assert compare(answers(peer(name, problem)), wanted, "float64")[1] == []


@pytest.mark.parametrize("kind", KINDS)
def test_kernels_by_hand_agree(kind: str) -> None:
    problem = objective(kind)
    assert (
        compare(answers(by_hand(problem, "")), answers(open_task(problem, "replay, Python calls")), "float64")[1] == []
    )


def test_another_function_is_noticed() -> None:
    problem = objective("kmeans")
    wrong = replace(
        problem, function=lambda np_, p, data: problem.function(np_, p, data) + 1e-6 * np_.sum(p["centres"])
    )
    got, wanted = (answers(open_task(p, "replay, Python calls")) for p in (wrong, problem))
    assert any("d/dcentres" in text for text in compare(got, wanted, "float64")[1])


def test_points_differ() -> None:
    for kind in KINDS:
        first, second = objective(kind).points
        assert all(not np.array_equal(first[name], second[name]) for name in first)
