"""Clients on two processes of Dask: the bits of one process, also where one of them is killed in the middle."""

import copy
import os
import signal
import threading
import time

import cloudpickle
import numpy as np
import pytest

import burlab as bl
from burlab.errors import ArgumentError, ConfigurationError, StatusError
from burlab.problems.keeper import ClientKeeper
from burlab.runtime import cluster as machines
from burlab.runtime.cpu import InstructionSet
from tests.optim.federated_cases import FEATURES, FEDERATED, LABELS, MU, X0, D, loss, problem

STEPS = 8


@pytest.fixture(scope="module")
def client():
    import distributed

    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


def placed(client):
    data = list(zip(FEATURES, LABELS, strict=True))
    return bl.problems.federated(loss, data, lambda x: MU / 2 * (x @ x), cluster=client)


@pytest.fixture(scope="module")
def on_cluster(client):
    return placed(client)


def same(run, other):
    np.testing.assert_array_equal(run.x, other.x)
    for name in run.history:
        if name != "time":
            np.testing.assert_array_equal(run.history[name], other.history[name], err_msg=name)
    assert run.counts == other.counts
    return True


@pytest.mark.parametrize("name", ["EF21", "PPMARINA", "VRMARINA", "FedNL", "SCAFFOLD", "DiLoCo"])
def test_cluster_clients_have_the_bits_of_one_process(on_cluster, name, tmp_path):
    """All clients, some of them, some of their samples, Hessians, local steps of gradients and of any optimizer."""
    run = bl.minimize(on_cluster, X0, FEDERATED[name], seed=3, steps=STEPS)
    assert same(run, bl.minimize(problem(), X0, FEDERATED[name], seed=3, steps=STEPS))
    run.save(tmp_path / "a.burlab")
    end = run.step(2) or run.x
    run.seek(STEPS - 3)
    fork = run.fork()
    for other in (fork, bl.load_run(tmp_path / "a.burlab", on_cluster.data)):
        other.step(STEPS + 2 - other.t)
        np.testing.assert_array_equal(other.x, end)


def test_trees_of_single_precision_with_keys_and_parts_that_are_not_trained(client):
    def noisy(x, a, *, key):
        return np.sum((x["w"] * a + x["b"] - bl.random.normal(key, (), np.float32)) ** 2)

    clients = [a.astype(np.float32) for a in FEATURES]
    start = {"w": np.ones(D, np.float32), "b": np.zeros((), np.float32)}
    runs = [
        bl.minimize(bl.problems.federated(noisy, clients, cluster=where), start, bl.optim.DCGD(
            0.01, bl.compressors.RandK(2)), seed=5, steps=STEPS, trainable={"w": True, "b": False})
        for where in (client, None)
    ]  # fmt: skip
    np.testing.assert_array_equal(runs[0].x["w"], runs[1].x["w"])
    np.testing.assert_array_equal(runs[0].history["value"], runs[1].history["value"])


def test_clients_of_a_killed_worker_move_to_the_other(client):
    """Two runs share them, and both go on."""
    federation, pids = placed(client), list(client.run(os.getpid).values())
    runs = [bl.minimize(federation, X0, FEDERATED[name], steps=6) for name in ("EF21", "SCAFFOLD")]
    threads = [threading.Thread(target=run.step, args=(54,)) for run in runs]
    for thread in threads:
        thread.start()
    while not any(run.t > 6 for run in runs):
        time.sleep(0.001)
    os.kill(pids[0], signal.SIGKILL)
    assert all(run.t < 60 for run in runs), "they are in the middle"
    for thread in threads:
        thread.join()
    for run, name in zip(runs, ("EF21", "SCAFFOLD"), strict=True):
        assert same(run, bl.minimize(problem(), X0, FEDERATED[name], steps=60))
    client.wait_for_workers(2)


def test_run_without_workers_rests_until_there_is_one(client, monkeypatch):
    federation, pids = placed(client), list(client.run(os.getpid).values())
    run = bl.minimize(federation, X0, FEDERATED["EF21"], steps=2)
    os.kill(pids[0], signal.SIGKILL)
    with monkeypatch.context() as nobody:
        nobody.setattr(federation.oracle.keepers, "_workers", list)
        with pytest.raises(StatusError, match=r"the cluster lost the worker tcp.*, and has no other\. Start workers"):
            run.step(STEPS)
    assert run.t == 2
    run.step(STEPS - 2)
    assert same(run, bl.minimize(problem(), X0, FEDERATED["EF21"], steps=STEPS))
    client.wait_for_workers(2)


def test_runs_on_threads_share_the_actors_and_their_kernels(on_cluster):
    def swept(where):
        chosen = {name: FEDERATED[name] for name in ("EF21", "FedAvg")}
        return bl.sweep(where, lambda seed: X0 + seed, chosen, {"lr": [0.1, 0.05]}, seeds=2, steps=STEPS, threads=2)

    for row, other in zip(swept(on_cluster).rows, swept(problem()).rows, strict=True):
        assert (row.value, row.counts, row.reason) == (other.value, other.counts, "steps")
    assert {len(actor.forms) for actor in on_cluster.oracle.keepers._actors} == {1}


def test_a_pause_leaves_a_question_that_nobody_answers(client):
    """A worker is halted by the system; the step that it held up is done again."""
    run, pid = bl.minimize(placed(client), X0, FEDERATED["EF21"], steps=1), next(iter(client.run(os.getpid).values()))
    os.kill(pid, signal.SIGSTOP)
    try:
        run.start()
        assert not run.rests(0.2)
        run.pause()
        assert run.wait(60)
        assert run.t < 3
    finally:
        os.kill(pid, signal.SIGCONT)
    run.step(STEPS - run.t)
    assert same(run, bl.minimize(problem(), X0, FEDERATED["EF21"], steps=STEPS))


def test_error_of_a_client_is_raised_locally(client):
    """Also what is said of a worker that can compute nothing."""
    here = os.getpid()

    def loss(x, a):
        if os.getpid() != here:
            raise ZeroDivisionError("nobody can say")
        return np.sum((x - a) ** 2)

    federation = bl.problems.federated(loss, FEATURES, cluster=client)
    with pytest.raises(ZeroDivisionError, match="nobody can say"):
        bl.minimize(federation, X0, FEDERATED["EF21"], steps=1)
    lock = threading.Lock()

    def locked(x, a):
        with lock:
            return np.sum((x - a) ** 2)

    federation = bl.problems.federated(locked, FEATURES, cluster=client)
    with pytest.raises(ArgumentError, match=r"the loss cannot be sent to a cluster: TypeError: .*lock"):
        bl.minimize(federation, X0, FEDERATED["EF21"])


@pytest.mark.parametrize(
    ("optimizer", "message"),
    [
        (bl.optim.GD(0.1), "GD reads the gradient over samples, but these are on the cluster"),
        (bl.optim.SAGA(0.1), r"f\.per_sample_grads is about samples, and these are on a cluster"),
        (bl.optim.SciPy("BFGS"), "SciPy reads the gradient"),
        (
            bl.optim.through(FEDERATED["EF21"], np.round),
            r"through asks for the value of a step at T\(x\), which is about",
        ),
    ],
    ids=["step", "question", "scipy", "through"],
)
def test_query_that_the_cluster_lacks_raises(on_cluster, optimizer, message):
    with pytest.raises(ArgumentError, match=message):
        bl.minimize(on_cluster, X0, optimizer, batch=None)


def test_federation_refuses_workers_of_another_kind(client, monkeypatch):
    own = machines.machine()
    monkeypatch.setattr(machines, "instruction_set", lambda: InstructionSet("none", (), "", (), 16))
    with pytest.raises(ConfigurationError, match=r"computes with .*, this problem with none.*BURLAB_ISA"):
        placed(client)
    with pytest.raises(ConfigurationError, match="which came later computes with none"):
        ClientKeeper([0], [1], own, np.zeros(1))


def test_the_problem_computes_here_and_is_not_sent(on_cluster, client):
    x = np.linspace(-1, 1, D)
    np.testing.assert_array_equal(on_cluster.grad(x), problem().grad(x))
    assert copy.deepcopy(on_cluster).oracle.keepers is on_cluster.oracle.keepers
    with pytest.raises(ArgumentError, match="clients are on a cluster cannot be sent"):
        cloudpickle.dumps(on_cluster)
    with pytest.raises(ArgumentError, match="cluster is 'tcp://here', expected a client"):
        placed("tcp://here")


def test_a_client_of_dask_that_was_closed_is_named(client):
    import distributed

    with distributed.Client(client.scheduler.address, set_as_default=False) as other:
        run = bl.minimize(placed(other), X0, FEDERATED["EF21"], steps=1)
    with pytest.raises(StatusError, match="the Dask client of this problem is closed"):
        run.step()
