"""Messages for races and trees of branches with the longest records. A process of its own: they are many runs."""

import pytest

import burlab as bl
from burlab.widgets.branches.branches_model import BranchesModel
from burlab.widgets.race.race_model import RaceModel
from tests.widgets.long_records import NOISY, START, all_of, check, noisy


def race(steps):
    rules = {f"rate {k}": bl.optim.GD(0.02 * (k + 1)) for k in range(6)}
    model = all_of(RaceModel(bl.race(NOISY, START, rules, seeds=12, batch=1, steps=steps // 10)))
    for against in ("step", "seconds", "bytes"):
        model.apply({"type": "against", "value": against})
        yield model.chart(), model.state()


def branches(steps):
    tree = bl.branches(noisy(steps))
    for k in range(40):  # early, as each branch has the rows before it, too
        tree.fork("A", at=(k * steps) // 1000, lr=0.01 + k * 1e-4).run.step(steps // 100)
    model = all_of(BranchesModel(tree))
    yield model.chart(), model.state()


@pytest.mark.parametrize("shown", [race, branches])
def test_a_page_gets_no_more_of_a_long_comparison(shown):
    check(shown, 100_000)


@pytest.mark.full
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("shown", [race, branches])
def test_a_page_gets_no_more_of_a_comparison_of_ten_million_steps(shown):
    check(shown, 10_000_000)
