"""Methods of `burlab bench research`: the loops in NumPy, optax and burlab take the same steps."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from burlab.bench.cases.research import ALL_CLIENTS, CASE, IN_OPTAX, IN_TORCH, ONE_SAMPLE, problem
from burlab.bench.clock import Effort
from burlab.bench.measure import Entrant, VariantResult, measure
from burlab.bench.peers import numpy_loops
from burlab.bench.peers.optional_import import load
from burlab.bench.problem import Method, Unavailable
from burlab.bench.table import text
from burlab.bench.variants import open_task


def small(name: str) -> Method:
    """The same problem with fewer samples."""
    whole = problem({"method": name})
    kept = np.s_[:3, :7] if whole.clients else np.s_[:40]
    options = {**whole.options, "every": 4} if "every" in whole.options else whole.options
    return replace(whole, features=whole.features[kept], labels=whole.labels[kept], options=options)


def lines(method: Method, **others: Any) -> list[VariantResult]:
    """Judged and timed for a moment."""
    makers = {"burlab": lambda: open_task(method, ""), "numpy": lambda: numpy_loops.open_task(method, ""), **others}
    entrants = [Entrant(engine, "", make) for engine, make in makers.items()]
    size = {"method": method.name}
    return measure("research", size, method, "float64", entrants, Effort(shortest=0.0, rounds=1))


@pytest.mark.parametrize("name", [*ONE_SAMPLE, *ALL_CLIENTS])
def test_the_loop_takes_the_same_steps(name: str) -> None:
    found = lines(small(name))
    for line in found:
        assert line.verdict, line.gap
        assert line.verdict.complaints == ()
        assert line.seconds
    assert "x NumPy" in text(CASE, found)


@pytest.mark.parametrize("name", IN_OPTAX)
def test_optax_takes_the_same_steps(name: str) -> None:
    try:
        load("optax")
    except Unavailable:
        pytest.skip("optax, a second engine, is not installed: make peers")
    from burlab.bench.peers import optax

    method = small(name)
    others = {kind: lambda kind=kind: optax.OptaxMethod(method, kind == "loop") for kind in ("loop", "calls")}
    assert [line.verdict.complaints for line in lines(method, **others) if line.verdict] == [(), (), (), ()]


@pytest.mark.parametrize("name", IN_TORCH)
def test_torch_takes_the_same_steps(name: str) -> None:
    try:
        torch = load("torch")
    except Unavailable:
        pytest.skip("PyTorch, a second engine, is not installed: make peers")
    from burlab.bench.peers import torch_methods

    method = small(name)
    others = {"torch": lambda: torch_methods.TorchMethod(method, torch)}
    assert [line.verdict.complaints for line in lines(method, **others) if line.verdict] == [(), (), ()]


def test_another_step_is_noticed() -> None:
    method = small("SAGA")
    other = replace(method, options={"lr": 0.0201})
    entrant = {"other": lambda: numpy_loops.open_task(other, "")}
    assert [bool(line.verdict and line.verdict.passed) for line in lines(method, **entrant)] == [True, True, False]
