"""Steps that touch the entries of one sparse row only, against steps that touch all entries."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from scipy import sparse

import burlab as bl
from burlab import optim
from burlab.errors import FileError, IndexRangeError
from burlab.run.file import container
from burlab.run.file.save_run import KIND
from burlab.run.loop.lazy_step import LazyStep

N, D = 60, 90
PLAIN = [optim.GD(0.3), optim.SAGA(0.3), optim.SVRG(0.3, every=70)]
SCALED = [optim.proximal(inner, optim.l2(0.05)) for inner in PLAIN]
SHRUNK = [
    optim.proximal(inner, penalty) for inner in PLAIN for penalty in (optim.l1(0.01), optim.elastic_net(0.2, 0.1))
]
RNG = np.random.default_rng(0)
A: Any = sparse.random_array((N, D), density=0.05, rng=RNG, format="csr", data_sampler=RNG.standard_normal)
Y = RNG.choice([-1.0, 1.0], N)
START = RNG.normal(size=D)


def softplus(x, a, y):
    return np.logaddexp(0.0, -y * (a @ x))


def squares(x, a, y):
    return (2 * a @ x - y) ** 2 / 2


def smooth(x):
    return 0.05 * (x @ x) + 0.3


def both(optimizer, *, loss=softplus, regularizer=None, matrix=A, start=START, steps=700, **options):
    """Return a run over sparse rows and one over dense rows."""
    return [
        bl.minimize(bl.FiniteSum(loss, (a, Y), regularizer), start, optimizer, batch=1, steps=steps, seed=3, **options)
        for a in (matrix, matrix.toarray())
    ]


def is_lazy(run):
    return isinstance(run.engine.setup.update, LazyStep)


def agree(run, other, *, rtol=1e-12):
    """The points and the columns of the histories, where they are known."""
    assert is_lazy(run)
    assert not is_lazy(other)
    np.testing.assert_allclose(run.x, other.x, rtol=rtol, atol=rtol * np.abs(other.x).max())
    for column in ("value", "gradient_norm"):
        dense = other.history[column]
        np.testing.assert_allclose(run.history[column], dense, rtol=rtol, atol=rtol / 50 * np.max(dense))
    found = np.asarray(run.history["step_norm"])
    known = np.isfinite(found)
    np.testing.assert_allclose(found[known], other.history["step_norm"][known], rtol=1e-9, atol=1e-14)
    return known


@pytest.mark.parametrize("optimizer", PLAIN + SCALED + SHRUNK, ids=repr)
def test_it_equals_a_dense_step(optimizer):
    known = agree(*both(optimizer))
    assert known.all() if optimizer == PLAIN[0] else 0 < known.sum() < known.size / 5


@pytest.mark.parametrize("optimizer", PLAIN + SCALED, ids=repr)
@pytest.mark.parametrize("loss", [softplus, squares])
def test_a_multiple_of_the_square_scales(optimizer, loss):
    run, other = both(optimizer, loss=loss, regularizer=smooth)
    agree(run, other)
    assert run.value == pytest.approx(other.value, rel=1e-12)


@pytest.mark.parametrize("sampler", ["uniform", "reshuffle", "sequential", "nice", np.arange(N)[::-1].reshape(-1, 1)])
def test_samplers(sampler):
    agree(*both(optim.SAGA(0.2), sampler=sampler, steps=300))


def test_numbers_may_change_sign_far_behind():
    """Penalties that drive entries to 0 and through it between two touches."""
    rng = np.random.default_rng(1)
    matrix = sparse.random_array((N, 4000), density=0.001, rng=rng, format="csr", data_sampler=rng.standard_normal)
    matrix = sparse.csr_array(matrix * 3.0)
    start = rng.normal(size=4000) * 0.05
    for penalty in (optim.l1(0.003), optim.elastic_net(0.002, 0.3)):
        for inner in (optim.SVRG(0.3, every=997), optim.SAGA(0.3)):
            run, other = both(optim.proximal(inner, penalty), loss=squares, matrix=matrix, start=start, steps=3000)
            agree(run, other, rtol=1e-11)
            assert 0 < np.count_nonzero(run.x) < 4000
            assert np.array_equal(run.x == 0, other.x == 0)


def test_rows_without_entries_and_wide_indices():
    matrix = sparse.csr_array(sparse.vstack([A[:3], sparse.csr_array((2, D)), A[5:]]))
    for kind in (np.int32, np.int64):
        matrix.indices, matrix.indptr = matrix.indices.astype(kind), matrix.indptr.astype(kind)
        agree(*both(optim.SAGA(0.2), matrix=matrix))


def test_functions_of_the_entries():
    agree(*both(optim.SAGA(0.05), loss=lambda x, a, y: (np.sin(a) @ x - y) ** 2))


@pytest.mark.parametrize("optimizer", [PLAIN[1], PLAIN[2], SHRUNK[4]], ids=repr)
def test_changes_by_hand(optimizer):
    """A change of a rate brings all entries up to date."""
    runs = both(optimizer, steps=100, regularizer=None if "l1" in repr(optimizer) else smooth)
    for run in runs:
        run.hyper["lr"] = 0.05
        run.step(150)
        run.hyper["lr"] = 0.2
        run.step(1)
        run.hyper["lr"] = 0.01
        run.step(200)
    agree(*runs)


@pytest.mark.parametrize("optimizer", PLAIN + SHRUNK[:2], ids=repr)
def test_time_travel_gives_the_same_bits(optimizer, tmp_path):
    run = both(optimizer, steps=900, keyframe_bytes=20_000, history_bytes=1 << 20)[0]
    end = run.x
    run.seek(333)
    middle, value = run.x, run.row_value()
    fork = run.fork()
    run.seek(0)
    assert np.array_equal(run.x, START)
    run.seek(333)
    assert np.array_equal(run.x, middle)
    assert run.row_value() == value == run.history["value"][333]
    run.save(tmp_path / "run.burlab")
    loaded = bl.load_run(tmp_path / "run.burlab", (A, Y))
    assert is_lazy(loaded)
    for one in (run, fork, loaded):
        one.step(567)
        assert np.array_equal(one.x, end)


@pytest.mark.parametrize("lazy", [[0, 0, True], [1, 0, False], [1, 7, True], [2, 0, True], [2, -1, True], [3, 1, True]])
def test_a_file_with_another_form_is_refused(lazy, tmp_path):
    run, other = both(optim.SAGA(0.3), steps=9)
    for k, one in enumerate((run, other)):
        path = tmp_path / f"{k}.burlab"
        one.save(path)
        document, arrays = container.read(path, KIND)
        document["recipe"]["lazy"] = lazy if one is run else [1, 0, True]
        container.write(path, KIND, document, arrays)
        with pytest.raises(FileError, match=r"rows of sparse data|malformed"):
            bl.load_run(path, (A if one is run else A.toarray(), Y))


def test_whoever_looks_changes_nothing():
    runs = [both(optim.SAGA(0.3), regularizer=smooth, steps=0)[0] for _ in range(2)]
    for _ in range(40):
        runs[0].step(7)
        runs[0].value, runs[0].row_value(), runs[0].iterate, runs[0].state, runs[0].history["value"][-1]
        before = runs[0].hyper["lr"]
        runs[0].hyper["lr"] = 0.1
        runs[0].row_value()
        runs[0].hyper["lr"] = before
        runs[1].step(7)
    assert np.array_equal(runs[0].x, runs[1].x)
    assert np.array_equal(runs[0].history["value"], runs[1].history["value"])


@pytest.mark.parametrize("optimizer", [PLAIN[1], SCALED[2], SHRUNK[2]], ids=repr)
def test_a_state_starts_another_run(optimizer):
    run, other = both(optimizer, steps=123)
    again = [
        bl.minimize(one.problem, one.iterate, optimizer, batch=1, steps=250, seed=8, state=one.state)
        for one in (run, other)
        if one is run
    ]
    assert is_lazy(again[0])
    assert np.isfinite(again[0].x).all()
    np.testing.assert_allclose(run.iterate, other.iterate, rtol=1e-12, atol=1e-12)
    if "SAGA" in repr(optimizer):
        np.testing.assert_allclose(run.state["mean"], other.state["mean"], rtol=1e-12, atol=1e-14)
        np.testing.assert_allclose(A.toarray() * run.state["table"][:, None], other.state["table"], atol=1e-13)
        dense = bl.minimize(other.problem, other.iterate, optimizer, batch=1, steps=250, seed=8, state=other.state)
        agree(again[0], dense)


def test_equal_programs_share_a_setup():
    problem = bl.FiniteSum(softplus, (A, Y), smooth)
    for rate in (0.1, 0.2):
        run = bl.minimize(problem, START, optim.SAGA(rate), batch=1, steps=200, seed=3)
        assert is_lazy(run)
        np.testing.assert_allclose(run.x, both(optim.SAGA(rate), regularizer=smooth, steps=200)[1].x, rtol=1e-12)


def test_validation_sees_entries_that_are_up_to_date():
    problem = bl.FiniteSum(softplus, (A.toarray(), Y))
    run, other = both(optim.SAGA(0.3), validation=problem, validate_every=37)
    seen = np.asarray(run.history["validation_value"])
    known = np.isfinite(seen)
    assert known.sum() == math.ceil(700 / 37)
    np.testing.assert_allclose(seen[known], other.history["validation_value"][known], rtol=1e-12)


def test_a_full_gradient_ends_it():
    stop = bl.Stop(grad_norm=0.02, of="full", every=50)
    run, other = both(optim.SAGA(0.3), regularizer=smooth, steps=5000, stop=stop)
    assert run.stopped.reason == other.stopped.reason == "grad_norm"
    assert run.t == other.t


def test_costs_are_those_of_the_gradients_that_it_takes():
    saga, _ = both(PLAIN[1], steps=200)
    assert saga.history["samples"][-1] == N + 200
    svrg, _ = both(PLAIN[2], steps=200)
    assert svrg.history["samples"][-1] == 200 + 3 * N


def test_operations_are_those_of_the_entries():
    run, other = both(PLAIN[1], regularizer=smooth, steps=200)
    assert 0 < run.history["flops"][-1] < other.history["flops"][-1] / 3


def test_a_state_has_a_number_for_each_row():
    run, _ = both(PLAIN[1], steps=3)
    assert {name: leaf.shape for name, leaf in run.state.items()} == {
        "carried": (6,), "last": (D,), "mean": (D,), "table": (N,),
    }  # fmt: skip


@dataclass(frozen=True)
class Own(optim.GD):
    pass


def test_what_touches_all_entries_is_a_dense_step():
    for run in (
        both(optim.GD(lambda t: 0.1 / (t + 1)), steps=50)[0],
        both(Own(0.1), steps=50)[0],
        both(optim.Momentum(0.1), steps=50)[0],
        both(SHRUNK[0], regularizer=smooth, steps=50)[0],
        both(optim.GD(0.1), regularizer=lambda x: np.sum(np.abs(x) ** 3), steps=50)[0],
        both(optim.GD(0.1), sampler=np.arange(1.0, N + 1) / np.sum(np.arange(1, N + 1)), steps=50)[0],
        bl.minimize(bl.FiniteSum(softplus, (A, Y)), START, optim.GD(0.1), batch=2, steps=50),
        bl.minimize(bl.FiniteSum(softplus, (A.astype(np.float32), Y.astype(np.float32))), START.astype(np.float32),
                    optim.GD(0.1), batch=1, steps=50),
    ):  # fmt: skip
        assert not is_lazy(run)
        assert np.isfinite(run.x).all()


def test_a_profile_has_the_kernel_and_the_rest():
    run, _ = both(PLAIN[1], steps=10)
    profile = run.profile()
    assert all(row.nanoseconds >= 0 for row in profile.rows)


def test_the_time_of_a_step_does_not_depend_on_the_length_of_x():
    def seconds(d):
        matrix = sparse.csr_array((np.ones(2 * N), np.arange(2 * N) % d, 2 * np.arange(N + 1)), (N, d))
        run = bl.minimize(bl.FiniteSum(softplus, (matrix, Y)), np.zeros(d), optim.SAGA(0.1), batch=1, keyframe_bytes=0)
        run.step(4096)
        best = math.inf
        for _ in range(5):
            before = run.history["time"][-1]
            run.step(20_000)
            best = min(best, run.history["time"][-1] - before)
        return best

    assert seconds(40_000) < 8 * seconds(200), "a dense step takes a hundred times as long"


def test_entries_outside_of_x_are_named():
    matrix = A.copy()
    run = bl.minimize(bl.FiniteSum(softplus, (matrix, Y)), START, optim.GD(0.1), batch=1, sampler="sequential", steps=1)
    matrix.indices[matrix.indptr[5]] = D + 7
    with pytest.raises(IndexRangeError, match="In sample 5 of the data"):
        run.step(20)
    assert run.t == 5


def test_a_run_that_diverges_stops():
    with pytest.warns(RuntimeWarning, match="inf|nan"):
        run = both(optim.SAGA(1e200), loss=squares, steps=200)[0]
    assert run.stopped.reason == "non_finite"
