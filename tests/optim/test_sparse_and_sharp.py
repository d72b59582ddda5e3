"""SAM and TopKAST against loops in NumPy that were written for `through`; what moves, what is live, what is refused."""

from typing import Any

import numpy as np
import pytest

import burlab as bl
from burlab.errors import ArgumentError
from burlab.optim import GD, SAM, Adam, Momentum, TopKAST
from tests.optim.through_loops import LOOPS
from tests.optim.through_methods import START, A, B, loss
from tests.run.test_sampler import batches

RULES = {
    "SAM": SAM(Momentum(0.05, mu=0.5), 0.1),
    "Top-KAST": TopKAST(GD(0.05), density=0.25, backward=0.5, decay=0.1),
}


def run_of(rule: Any, **options: Any) -> bl.Run:
    return bl.minimize(bl.FiniteSum(loss, (A, B)), START, rule, batch=8, seed=5, **options)


@pytest.mark.parametrize("name", RULES)
def test_steps_are_those_of_a_loop(name: str) -> None:
    run = run_of(RULES[name], steps=20)
    wanted = LOOPS[name](batches("reshuffle", len(B), 8, 20, seed=5))
    for part in START:
        np.testing.assert_allclose(run.x[part], wanted.x[part], rtol=1e-11, atol=1e-13)
    np.testing.assert_allclose(run.history["value"], wanted.values, rtol=1e-11)
    assert (run.counts["samples"], run.counts["values"]) == (wanted.twin.gradients, wanted.twin.values)


def test_weights_outside_of_the_larger_set_stay_whatever_the_optimizer_keeps() -> None:
    """Adam would go on moving what has left the set, by its moments."""
    run = run_of(TopKAST(Adam(0.1), density=0.25, backward=0.5))
    before, moved = run.iterate["w"], np.zeros(24, bool)
    for _ in range(20):
        run.step()
        after = run.iterate["w"]
        still = np.argsort(-np.abs(before).ravel())[12:]
        np.testing.assert_array_equal(after.ravel()[still], before.ravel()[still])
        moved, before = moved | (after != before).ravel(), after
    assert np.count_nonzero(moved) > 12, "other weights have come in"
    assert np.count_nonzero(run.x["w"]) == 6


def test_of_weights_of_one_size_as_many_are_used_as_the_share_says() -> None:
    run = bl.minimize(lambda w: np.sum(w * np.arange(8.0).reshape(2, 4)), np.ones((2, 4)), TopKAST(GD(0.1), 0.25, 0.5))
    np.testing.assert_array_equal(run.x, [[1, 1, 0, 0], [0, 0, 0, 0]])


def test_the_radius_and_the_decay_are_live() -> None:
    run = run_of(RULES["SAM"])
    run.hyper["rho"] = 0.0
    run.step(5)
    np.testing.assert_allclose(run.x["w"], run_of(Momentum(0.05, mu=0.5), steps=5).x["w"], rtol=1e-12)
    assert run_of(RULES["Top-KAST"]).hyper["decay"] == 0.1


def test_sam_stays_where_the_gradient_is_zero() -> None:
    run = bl.minimize(lambda x: np.sum(x**2), np.zeros(3), SAM(GD(0.1)), steps=2)
    np.testing.assert_array_equal(run.x, np.zeros(3))


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: TopKAST(GD(), density=0.0), "density of TopKAST"),
        (
            lambda: TopKAST(GD(), density=0.5, backward=0.25),
            "backward of TopKAST must be at least its density; got 0.25",
        ),
        (lambda: TopKAST(GD(), decay=-1.0), "decay of TopKAST"),
        (lambda: SAM(GD(), rho=-0.1), "rho of SAM"),
        (lambda: SAM(0.1), "SAM is put around an optimizer"),  # type: ignore[arg-type]
        (
            lambda: bl.minimize(lambda x: np.sum(x**2), np.ones(2), TopKAST(bl.optim.NewtonCG())),
            r"inside of TopKAST asks f\.hvp, which TopKAST does not answer",
        ),
        (lambda: SAM(GD()).init(np.ones(2)), "SAM knows the form of x only in a run"),
    ],
)
def test_wrong_arguments_are_refused(make: Any, text: str) -> None:
    with pytest.raises(ArgumentError, match=text):
        make()
