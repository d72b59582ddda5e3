"""The same sweep on two processes of Dask: the same bits, also where one of them is killed in the middle."""

import os
import pickle
import signal
import threading
import time
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import burlab as bl
from burlab.errors import ArgumentError, ConfigurationError
from burlab.experiments import dask_plugin
from burlab.runtime import cluster as machines
from burlab.runtime.cling import declared
from burlab.runtime.cpu import InstructionSet
from tests.experiments.test_folder import same
from tests.interrupts import interrupt

A = np.random.default_rng(3).normal(size=(24, 3))
HYPERS = {"lr": [0.1, 0.01]}


class Loss:
    """Counts the processes that it has come to: a file for each time that it is unpacked."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __call__(self, x, a):
        return 0.5 * (a @ x - 1.0) ** 2

    def __setstate__(self, state):
        self.__dict__.update(state)
        (self.folder / f"{os.getpid()} {len(list(self.folder.iterdir()))}").touch()


def swept(cluster=None, problem=None, **changed):
    problem = bl.FiniteSum(lambda x, a: 0.5 * (a @ x - 1.0) ** 2, A) if problem is None else problem
    given = {"problem": problem, "x0": np.zeros(3), "optimizers": bl.optim.GD(), "hypers": HYPERS}
    return bl.sweep(**given | {"seeds": 3, "batch": 4, "steps": 30, "cluster": cluster} | changed)


@pytest.fixture(scope="module")
def expected():
    return swept()


@pytest.fixture(scope="module")
def client():
    import distributed

    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


def test_cluster_sweep_has_the_bits_of_one_process(client, expected, tmp_path):
    """Also: the problem travels once to each worker."""
    sweep = swept(client, bl.FiniteSum(Loss(tmp_path), A))
    assert same(sweep, expected)
    assert sweep.best().hypers == expected.best().hypers
    unpacked = sorted(file.name.split()[0] for file in tmp_path.iterdir())
    assert unpacked == sorted(str(pid) for pid in client.run(os.getpid).values())


def test_a_folder_is_filled_and_read_by_one_process(client, expected, tmp_path):
    sweep = swept(client, folder=tmp_path)
    assert same(swept(folder=tmp_path), expected)
    assert swept(folder=tmp_path).rows == sweep.rows


def test_the_run_of_a_worker_that_is_killed_is_done_by_another(client, expected, tmp_path):
    folder, over, killed = tmp_path / "sweep", tmp_path / "killed", []
    pids = list(client.run(os.getpid).values())

    def kill():
        while not (folder / "sweep.json").exists() or not list(folder.glob("0*.json")):
            time.sleep(0.005)
        os.kill(pids[0], signal.SIGKILL)
        killed.append(len(list(folder.glob("0*.json"))))
        over.touch()

    def when(rows):
        """Never true; once a run is done the others wait, so that the worker is killed in the middle."""
        while list(folder.glob("0*.json")) and not over.exists():
            time.sleep(0.005)
        return np.zeros(len(rows["value"]), bool)

    killer = threading.Thread(target=kill)
    killer.start()
    sweep = swept(client, folder=folder, stop=bl.Stop(when=when))
    killer.join()
    assert killed[0] < 6, "it was in the middle"
    assert all(row.reason == "steps" for row in sweep.rows)
    assert same(sweep, expected)


def test_a_run_that_fails_is_a_row_with_its_reason(client):
    def when(rows):
        if rows["lr"][0] == 0.1:
            raise ZeroDivisionError("nobody can say")
        return np.zeros(len(rows["value"]), bool)

    sweep = swept(client, stop=bl.Stop(when=when), seeds=1)
    assert [row.reason for row in sweep.rows] == ["error", "steps"]
    assert sweep.rows[0].message == "ZeroDivisionError: nobody can say"


def test_an_interrupt_keeps_what_is_done_and_frees_the_workers(client, expected):
    done = []

    def call():
        with warnings.catch_warnings(record=True):
            warnings.simplefilter("always")
            done.append(swept(client, steps=None, stop=bl.Stop(seconds=60.0), seeds=1))
        raise KeyboardInterrupt

    interrupt(call, lambda: any(client.processing().values()), wait=1.0)
    assert [row.done for row in done[0].rows] == [False, False]
    assert same(swept(client), expected), "no worker is still at it"


def test_sweep_refuses_workers_of_another_kind(client, monkeypatch):
    monkeypatch.setattr(machines, "instruction_set", lambda: InstructionSet("none", (), "", (), 16))
    with pytest.raises(
        ConfigurationError, match=r"the worker tcp.* computes with .*, this sweep with none.*BURLAB_ISA"
    ):
        swept(client)
    monkeypatch.setattr(machines, "__version__", "0.0")
    with pytest.raises(ConfigurationError, match=r"not 0\.0: bits would differ\. Install"):
        swept(client)


def test_a_worker_that_comes_later_is_refused_too(monkeypatch, expected):
    sent = dask_plugin.SettingPlugin.of(expected.setting)
    monkeypatch.setattr(machines, "instruction_set", lambda: InstructionSet("none", (), "", (), 16))
    with pytest.raises(ConfigurationError, match=r"the worker .* computes with none"):
        sent.do(expected.trials[0])


def test_a_worker_unpacks_and_compiles_once(expected):
    problem = bl.FiniteSum(lambda x, a: 0.5 * (a @ x - 7.0) ** 2, A)
    sent = pickle.loads(pickle.dumps(dask_plugin.SettingPlugin.of(replace(expected.setting, problem=problem))))
    before = len(declared())
    assert sent.do(expected.trials[0]).row.reason == "steps"
    content, once = sent._settings(), len(declared())
    assert once > before
    for trial in expected.trials[1:]:
        assert sent.do(trial).row.reason == "steps"
    assert len(declared()) == once
    assert sent._settings() is content


def test_unpicklable_problem_raises(client):
    lock = threading.Lock()

    def loss(x, a):
        with lock:
            return np.sum(a * x)

    with pytest.raises(ArgumentError, match=r"cannot be sent to a cluster: TypeError: .*lock"):
        swept(client, bl.FiniteSum(loss, A))
    with pytest.raises(ArgumentError, match="whose runs cannot be files"):
        swept(client, optimizers=bl.optim.SciPy("BFGS"), hypers=None, batch=None)
    with pytest.raises(ArgumentError, match="threads=2 is for runs in this process"):
        swept(client, threads=2)


def test_non_client_cluster_raises():
    with pytest.raises(ArgumentError, match="cluster is 'tcp://here', expected a client"):
        swept("tcp://here")
