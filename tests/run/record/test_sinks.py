"""Rows in the logs of other tools: TensorBoard, tensorboardX and MLflow for real, others by their signatures."""

import logging
import math
import struct
from contextlib import contextmanager

import numpy as np
import pytest

import burlab as bl
from burlab.errors import ArgumentError

A = np.random.default_rng(0).normal(size=(12, 3))
PROBLEM = bl.FiniteSum(lambda x, a: 0.5 * (a @ x - 1.0) ** 2, A)


class WandbRun:
    """wandb.Run, as of 0.22."""

    def __init__(self):
        self.rows = []

    def log(self, data: dict, step: int | None = None, commit: bool | None = None) -> None:
        self.rows.append((step, data))


class Trackio:
    """The module trackio, as of 0.43."""

    def __init__(self):
        self.rows = []

    def log(self, metrics: dict, step: int | None = None) -> None:
        self.rows.append((step, metrics))


class LightningLogger:
    """lightning.pytorch.loggers.Logger, as of 2.5."""

    def __init__(self):
        self.rows = []

    def log_metrics(self, metrics: dict[str, float], step: int | None = None) -> None:
        self.rows.append((step, metrics))

    def log(self, level, message):
        raise AssertionError


class Writer:
    """torch.utils.tensorboard.SummaryWriter and tensorboardX.SummaryWriter, as far as both agree."""

    def __init__(self):
        self.scalars = []

    def add_scalar(self, tag, scalar_value, global_step=None, walltime=None):
        self.scalars.append((tag, scalar_value, global_step))

    @property
    def rows(self):
        steps = dict.fromkeys(step for _, _, step in self.scalars)
        return [(step, {tag: x for tag, x, at in self.scalars if at == step}) for step in steps]


FAKES = [WandbRun, Trackio, LightningLogger, Writer]


def measured(**more):
    validation = bl.FiniteSum(lambda x, a: (a @ x) ** 2, A[:4])
    return bl.minimize(
        PROBLEM, np.zeros(3), bl.optim.Adam(0.1), batch=4, steps=11, validation=validation, validate_every=5, **more
    )


@pytest.mark.parametrize("kind", FAKES)
def test_history_goes_to_any_log(kind):
    log, run = kind(), measured()
    run.history.to(log)
    history = run.history
    assert [step for step, _ in log.rows] == list(range(11))
    for step, row in log.rows:
        expected = {name: float(history[name][step]) for name in history if name != "step"}
        if step % 5:
            assert math.isnan(expected.pop("validation_value")), "it is measured every fifth step"
        assert row == expected
        assert all(type(x) is float for x in row.values())


def test_rows_may_be_left_out_and_names_begin_with_a_prefix():
    log, run = WandbRun(), measured()
    run.history.to(log, prefix="run/", every=4)
    assert [step for step, _ in log.rows] == [0, 4, 8, 10]
    assert all(name.startswith("run/") for _, row in log.rows for name in row)
    run.history.to(log, every=100)
    assert [step for step, _ in log.rows[4:]] == [0, 10]
    empty = WandbRun()
    bl.minimize(PROBLEM, np.zeros(3), bl.optim.GD(0.1)).history.to(empty)
    assert empty.rows == []


def test_nan_of_a_value_is_sent():
    log = WandbRun()
    run = bl.minimize(lambda x: np.sum(np.sqrt(x)), np.full(1, 0.1), bl.optim.GD(1.0), stop=bl.Stop(non_finite=False))
    run.step(3)
    run.history.to(log)
    assert [math.isnan(row["value"]) for _, row in log.rows] == [False, True, True]


@pytest.mark.parametrize("kind", FAKES)
def test_watch_sends_each_row_when_it_is_logged(kind):
    log = kind()
    with bl.watch(show=False, to=log, lr=0.5) as w:
        for step in range(3):
            w.log(step, loss=np.float32(2.0**-step), **({"extra": 7} if step == 1 else {}))
            assert len(log.rows) == step + 1
            w.hyper["lr"] = 0.1 * step
    assert log.rows == [
        (0, {"loss": 1.0, "lr": 0.5}), (1, {"loss": 0.5, "extra": 7.0, "lr": 0.0}), (2, {"loss": 0.25, "lr": 0.1}),
    ]  # fmt: skip


def test_watch_of_a_loop_of_pytorch_sends_what_it_measures():
    torch = pytest.importorskip("torch")
    log, model = WandbRun(), torch.nn.Linear(2, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with bl.watch.torch(model, optimizer, show=False, to=log) as w:
        for _ in range(2):
            optimizer.zero_grad()
            loss = model(torch.ones(4, 2)).square().mean()
            loss.backward()
            optimizer.step()
            w.log(loss=loss)
    assert [step for step, _ in log.rows] == [0, 1]
    assert {"loss", "gradient_norm", "step_norm", "lr"} <= set(log.rows[0][1])
    assert log.rows[1][1]["loss"] == w.history["value"][1]


def swept(to, **more):
    return bl.sweep(PROBLEM, np.zeros(3), bl.optim.GD(), {"lr": [0.1, 0.2]}, seeds=2, steps=6, to=to, **more)


@pytest.mark.parametrize("kind", FAKES)
def test_sweep_sends_a_row_for_each_run(kind):
    log = kind()
    sweep = swept(log)
    assert sorted(log.rows, key=lambda row: row[0]) == [
        (row.number, {"lr": row.hypers["lr"], "seed": row.seed, "value": row.value, "steps": 6, "seconds": row.seconds})
        for row in sweep.rows
    ]


def test_sweep_sends_histories_to_logs_of_their_own(tmp_path):
    logs, ends = {}, []

    @contextmanager
    def opened(row):
        yield logs.setdefault((row.hypers["lr"], row.seed), WandbRun())
        ends.append(row.number)

    sweep = swept(opened, folder=tmp_path, threads=2)
    assert sorted(ends) == [0, 1, 2, 3]
    for row, run in zip(sweep.rows, sweep.runs, strict=True):
        rows = logs[row.hypers["lr"], row.seed].rows
        assert [numbers["value"] for _, numbers in rows] == run.history["value"].tolist()
    swept(opened, folder=tmp_path)
    assert len(ends) == 4, "runs of the folder have been sent before"
    one = []
    swept(lambda row: one.append(WandbRun()) or one[-1])
    assert [len(log.rows) for log in one] == [6] * 4


@pytest.mark.parametrize("to", [3, "runs", logging.getLogger("x"), WandbRun, print])
def test_objects_that_are_no_log_are_refused(to):
    with pytest.raises(ArgumentError, match=r"log is .*, expected an object with a method add_scalar"):
        measured().history.to(to)
    with pytest.raises(ArgumentError, match=r"to is .*, expected an object with a method add_scalar"):
        bl.watch(to=to)
    if not callable(to):
        with pytest.raises(ArgumentError, match=r"to is .*, expected an object with a method add_scalar"):
            swept(to)


@pytest.mark.parametrize("module", ["torch.utils.tensorboard", "tensorboardX"])
def test_tensorboard_reads_the_numbers(module, tmp_path):
    """Its own reader of event files; numbers are float32 there."""
    event_accumulator = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    SummaryWriter = pytest.importorskip(module).SummaryWriter
    run = measured()
    with SummaryWriter(tmp_path / "one") as writer:
        run.history.to(writer, prefix="adam/")
    with SummaryWriter(tmp_path / "two") as writer, bl.watch(show=False, to=writer, lr=0.25) as w:
        w.log(7, loss=0.1)
    swept(lambda row: SummaryWriter(tmp_path / f"sweep {row.number}"))
    events = event_accumulator.EventAccumulator(str(tmp_path / "one")).Reload()
    assert set(events.Tags()["scalars"]) == {f"adam/{name}" for name in run.history if name != "step"}
    for name in run.history:
        if name != "step":
            column = run.history[name].astype(np.float64)
            seen = [(event.step, event.value) for event in events.Scalars(f"adam/{name}")]
            assert seen == [
                (k, struct.unpack("f", struct.pack("f", x))[0]) for k, x in enumerate(column) if not np.isnan(x)
            ]
    events = event_accumulator.EventAccumulator(str(tmp_path / "two")).Reload()
    assert [(event.step, event.value) for event in events.Scalars("loss")] == [(7, float(np.float32(0.1)))]
    assert [(event.step, event.value) for event in events.Scalars("lr")] == [(7, 0.25)]
    events = event_accumulator.EventAccumulator(str(tmp_path / "sweep 3")).Reload()
    assert [event.step for event in events.Scalars("value")] == list(range(6)), "the writer was closed"


@pytest.mark.filterwarnings("ignore")  # MLflow's own, about SQLAlchemy
def test_mlflow_stores_the_numbers(tmp_path, monkeypatch):
    monkeypatch.setenv("MLFLOW_TRACKING_URI", f"sqlite:///{tmp_path}/mlflow.db")
    mlflow = pytest.importorskip("mlflow")
    mlflow.set_experiment("burlab")
    run = measured()
    with mlflow.start_run() as active:
        run.history.to(mlflow)
    client = mlflow.MlflowClient()
    for name in run.history:
        if name != "step":
            column = run.history[name].astype(np.float64)
            seen = [(one.step, one.value) for one in client.get_metric_history(active.info.run_id, name)]
            assert sorted(seen) == [(k, x) for k, x in enumerate(column) if not np.isnan(x)]

    @contextmanager
    def opened(row):
        with mlflow.start_run(run_name=str(row.number)):
            mlflow.log_params(row.hypers)
            yield mlflow

    sweep = swept(opened)
    found = {one.info.run_name: one for one in client.search_runs([active.info.experiment_id])}
    for row in sweep.rows:
        assert found[str(row.number)].data.params == {"lr": str(row.hypers["lr"])}
        assert found[str(row.number)].data.metrics["value"] == sweep.runs[row.number].history["value"][-1]


def test_frames_of_histories_are_parquet_and_arrow(tmp_path):
    pyarrow, pandas = pytest.importorskip("pyarrow"), pytest.importorskip("pandas")
    run = measured()
    with bl.watch(show=False) as w:
        w.log(loss=0.5)
        w.log(other=1.0)
    for history in (run.history, w.history):
        frame = history.frame()
        frame.to_parquet(tmp_path / "history.parquet")
        pandas.testing.assert_frame_equal(pandas.read_parquet(tmp_path / "history.parquet"), frame, check_exact=True)
        table = pyarrow.Table.from_pandas(frame)
        assert table.column_names == list(history)
        for name in history:
            assert np.array_equal(table[name].to_numpy(), history[name], equal_nan=history[name].dtype.kind == "f")
