"""`burlab bench device`: every step of it on a CPU, and with a GPU that is played."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from burlab import bench, cli
from burlab.bench.cases import device
from burlab.bench.clock import Effort
from burlab.bench.measure import Entrant, VariantResult, measure
from burlab.bench.namespace import Namespace
from burlab.bench.peers.jax_training import ScanTraining
from burlab.bench.peers.torch_training import GraphTraining
from burlab.bench.problem import Unavailable
from burlab.bench.worker import open_task

SIZE = {"batch": 2, "device": "cpu", "threads": 1}


@pytest.fixture
def no_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody sees a GPU."""
    monkeypatch.setattr(device, "gpu", lambda _engine: "")


def results(*entrants: Entrant) -> list[VariantResult]:
    """Of entrants that are judged by each other."""
    return measure("device", SIZE, device.problem(SIZE), "float32", entrants, Effort(0.001, 3, 0.1))


def on_the_cpu(engine: str, variant: str) -> Entrant:
    """A variant of an engine, in this process."""
    return Entrant(engine, variant, lambda: open_task(engine, "device", SIZE, variant))


def test_all_variants_pass_the_gate_on_a_cpu():
    pytest.importorskip("torch")
    pytest.importorskip("jax")

    lines = results(*(on_the_cpu(engine, v) for engine, variants in device.CASE.variants.items() for v in variants))
    assert [line.variant for line in lines if line.seconds] == [
        "minimize, 1 thread",
        "minimize",
        "eager",
        "CUDA graph",
        "20 steps in a scan",
    ], lines
    assert {line.verdict.against for line in lines if line.verdict} == {"jax", "torch"}


def test_a_timed_scan_has_twenty_steps_in_the_order_of_the_samples():
    jax = pytest.importorskip("jax")
    from burlab.bench.peers.jax import namespace

    task = ScanTraining(device.problem(SIZE), jax, namespace(jax))
    assert task._t == 1
    task.repeat(21)
    assert task._t == 41
    assert task._starts(3).tolist() == [82, 84, 86]


class PlayedGpu:
    """What `torch.cuda` is asked for; a graph is the step itself, which is recorded with a step that is computed."""

    def __init__(self) -> None:
        self.recording = False
        self.waits = self.recorded = self.played = 0
        self.whole: Callable[[], None] = lambda: None
        self.CUDAGraph = lambda: SimpleNamespace(replay=self.replay)
        self.Stream = self.current_stream = lambda: SimpleNamespace(wait_stream=lambda _other: None)
        self.stream = nullcontext
        self.is_available = lambda: True

    def synchronize(self) -> None:
        self.waits += 1

    @contextmanager
    def graph(self, _graph: object) -> Iterator[None]:
        self.recorded += 1
        yield

    def replay(self) -> None:
        self.played += 1
        self.whole()


class Played(GraphTraining):
    """Tells the played GPU which step it records."""

    def _recorded(self, whole: Callable[[], None], cuda: Any) -> Callable[[], None]:
        cuda.whole = whole
        return super()._recorded(whole, cuda)


def test_a_recorded_step_is_played_from_the_start_with_the_samples_of_each_step():
    torch: Any = pytest.importorskip("torch")
    gpu = PlayedGpu()

    def on_cpu(function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, device: str, **options: Any) -> Any:
            assert device == "cuda"
            return function(*args, **options)

        return call

    np_ = Namespace(torch, cuda=gpu, as_tensor=on_cpu(torch.as_tensor), tensor=on_cpu(torch.tensor))
    problem = replace(device.problem(SIZE), device="cuda")
    played = Entrant("torch", "CUDA graph", lambda: Played(problem, np_))  # pyright: ignore[reportArgumentType]
    lines = results(played, on_the_cpu("burlab", "minimize, 1 thread"))
    assert all(line.verdict and line.verdict.passed and line.seconds for line in lines), lines
    assert gpu.recorded == 2, "at the start, and where displacements are looked at"
    assert gpu.played >= gpu.waits > 3


@pytest.mark.parametrize(("engine", "variant"), [("torch", "eager"), ("torch", "CUDA graph"), ("jax", "")])
def test_an_engine_without_a_gpu_is_a_gap_with_its_name(engine: str, variant: str):
    module = pytest.importorskip(engine)
    if device.gpu(engine):
        pytest.skip("there is a GPU")
    name = {"torch": "PyTorch", "jax": "JAX"}[engine]
    with pytest.raises(Unavailable, match=f"{name} {module.__version__.replace('+', '.')} sees no GPU"):
        open_task(engine, "device", {**SIZE, "device": "cuda"}, variant)


@pytest.mark.usefixtures("no_gpu")
def test_without_a_gpu_the_case_says_so_once_and_ends_well(capfd: pytest.CaptureFixture[str]):
    assert cli.main(["bench", "device"]) == 0
    out = capfd.readouterr().out
    assert out.count("skipped: neither PyTorch nor JAX sees a GPU here") == len(device.CASE.variants)
    report = bench.run("device", sizes=[{**SIZE, "device": "cuda"}])
    assert [line.seconds for line in report.lines] == [None] * len(report.lines)


def line(engine: str, variant: str, batch: int, microseconds: float) -> VariantResult:
    size = {"batch": batch, "device": "cuda", "threads": 16}
    timing = SimpleNamespace(seconds=microseconds * 1e-6)
    return VariantResult("device", size, engine, variant, timing=timing)  # pyright: ignore[reportArgumentType]


def test_conclusions_from_the_times_of_a_server(monkeypatch: pytest.MonkeyPatch):
    """An H200 beside a processor of 16 cores: microseconds a step."""
    monkeypatch.setattr(device, "gpu", lambda _engine: "an H200")
    times = {
        ("burlab", "minimize, 1 thread"): (58, 326, 3045, 19_671, 168_783),
        ("burlab", "minimize"): (60, 500, 1974, 4900, 37_726),
        ("torch", "eager"): (8094, 7840, 7959, 7266, 15_256),
        ("torch", "CUDA graph"): (711, 1018, 1519, 2811, 14_831),
        ("jax", "20 steps in a scan"): (384, 395, 1091, 1638, 1701),
    }
    lines = [
        line(*who, batch, time)
        for who, row in times.items()
        for batch, time in zip((1, 8, 64, 512, 4096), row, strict=True)
    ]
    assert device.conclusions(lines) == [
        "PyTorch has computed on an H200.",
        "PyTorch, eager, pays from a batch of about 180 on against burlab with 1 thread.",
        "PyTorch, eager, pays from a batch of about 960 on against burlab with all threads.",
        "PyTorch, CUDA graph, pays from a batch of about 29 on against burlab with 1 thread.",
        "PyTorch, CUDA graph, pays from a batch of about 37 on against burlab with all threads.",
        "JAX has computed on an H200.",
        "JAX, 20 steps in a scan, pays from a batch of about 11 on against burlab with 1 thread.",
        "JAX, 20 steps in a scan, pays from a batch of about 6 on against burlab with all threads.",
    ]


def test_a_batch_where_the_gpu_loses_again_comes_before_the_one_from_which_it_pays():
    assert device.pays({1: (1, 2), 8: (2, 1), 64: (1, 2)}) == "pays from a batch of about 23 on"
