"""Loops of PyTorch as people write them, watched."""

import math
import subprocess
import sys
import threading

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed: pip install 'burlab[bench]'")

import burlab as bl  # noqa: E402 - only where there is PyTorch
from burlab.errors import ArgumentError  # noqa: E402
from burlab.monitor import pytorch  # noqa: E402
from tests.monitor.test_pause_gate import until  # noqa: E402


@pytest.fixture(autouse=True)
def every_step(monkeypatch):
    """Norms in every step, whatever they cost."""
    monkeypatch.setattr(pytorch, "MAX_MEASURING_SHARE", math.inf)


class Training:
    """Least squares of a line: a model, an optimizer, data, and the loops that people write."""

    def __init__(self, make=lambda p: torch.optim.SGD(p, lr=0.05)):
        torch.manual_seed(0)
        self.model = torch.nn.Linear(2, 1).double()
        self.optimizer = make(self.model.parameters())
        self.x = torch.randn(32, 2, dtype=torch.float64)
        self.y = self.x @ torch.tensor([[2.0], [-1.0]], dtype=torch.float64)
        self.losses, self.gradients, self.changes = [], [], []

    def loss(self):
        self.optimizer.zero_grad()
        return torch.nn.functional.mse_loss(self.model(self.x), self.y)

    def step(self, loss, act):
        """Take a step, and note independently of the watch what it was."""
        self.losses.append(loss.item())
        self.gradients.append(np.sqrt(sum(float((p.grad**2).sum()) for p in self.model.parameters())))
        before = [p.detach().clone() for p in self.model.parameters()]
        act()
        moved = zip(self.model.parameters(), before, strict=True)
        self.changes.append(np.sqrt(sum(float(((p.detach() - q) ** 2).sum()) for p, q in moved)))

    def watch(self, **options):
        return bl.watch.torch(self.model, self.optimizer, **options)


def log_after(t, w):
    loss = t.loss()
    loss.backward()
    t.step(loss, t.optimizer.step)
    w.log(loss=loss)


def log_after_another_refresh(t, w):
    """As people do who do not know of torch.no_grad."""
    loss = t.loss()
    loss.backward()
    t.step(loss, t.optimizer.step)
    w.log(loss=loss, residual=(t.model(t.x) - t.y).abs().mean())


def log_before(t, w):
    loss = t.loss()
    w.log(loss=loss)
    loss.backward()
    t.step(loss, t.optimizer.step)


def log_nothing(t, _):
    loss = t.loss()
    loss.backward()
    t.step(loss, t.optimizer.step)


def closure(t, _):
    def evaluate():
        loss = t.loss()
        loss.backward()
        return loss

    t.step(evaluate(), lambda: t.optimizer.step(evaluate))


def named_closure(t, _):
    def evaluate():
        loss = t.loss()
        loss.backward()
        return loss

    t.step(evaluate(), lambda: t.optimizer.step(closure=evaluate))


def known(history, name):
    """The rows that have a column: their steps, and its values."""
    here = ~np.isnan(history[name])
    return history["step"][here].tolist(), history[name][here]


STYLES = [log_after, log_after_another_refresh, log_before, log_nothing, closure, named_closure]


@pytest.mark.parametrize("style", STYLES)
def test_every_style_of_loop_gives_the_same_rows(style):
    t = Training()
    with t.watch() as w:
        for _ in range(6):
            style(t, w)
    assert w.t == 6
    for name, expected in (("gradient_norm", t.gradients), ("step_norm", t.changes)):
        steps, found = known(w.history, name)
        assert steps == list(range(6))
        np.testing.assert_allclose(found, expected, rtol=1e-12)
    if style is not log_nothing:
        steps, found = known(w.history, "loss")
        assert steps == list(range(6))
        np.testing.assert_allclose(found, t.losses, rtol=1e-12)


@pytest.mark.parametrize("style", STYLES)
def test_watching_changes_no_bit_of_the_training(style):
    watched, alone = Training(), Training()
    with watched.watch() as w:
        for _ in range(20):
            style(watched, w)

    class Deaf:
        def log(self, **_):
            pass

    for _ in range(20):
        style(alone, Deaf())
    for p, q in zip(watched.model.parameters(), alone.model.parameters(), strict=True):
        assert torch.equal(p, q)


def test_numbers_of_the_loops_own_count_and_validation_does_not_begin_a_step():
    t = Training()
    with t.watch() as w:
        for _ in range(4):
            log_after(t, w)
            t.model.eval()
            with torch.no_grad():
                w.log(val_loss=t.loss(), grad_norm=7.0)
            t.model.train()
    steps, _ = known(w.history, "val_loss")
    assert steps == [0, 1, 2, 3]
    assert known(w.history, "gradient_norm")[1][1::2].tolist() == [7.0] * 4


def test_steps_that_the_loop_numbers_itself():
    t = Training()
    with t.watch() as w:
        for step in range(100, 104):
            log_nothing(t, w)
            w.log(step, loss=t.losses[-1])
        log_nothing(t, w)
    assert known(w.history, "gradient_norm")[0] == [100, 101, 102, 103, 104]


def test_a_line_search_is_one_step():
    t = Training(lambda p: torch.optim.LBFGS(p, lr=1.0, max_iter=5))
    with t.watch() as w:
        for _ in range(3):
            closure(t, w)
    steps, values = known(w.history, "value")
    assert steps == [0, 1, 2]
    np.testing.assert_allclose(values, t.losses, rtol=1e-12)
    assert w.memory["optimizer_state"] > 0


def test_knobs_go_into_the_optimizer_at_the_next_step_from_another_thread_too():
    t = Training()
    with t.watch() as w:
        log_after(t, w)
        assert list(w.hyper) == ["lr", "momentum", "dampening", "weight_decay"]
        other = threading.Thread(target=lambda: w.hyper.__setitem__("lr", 0.01))
        other.start()
        other.join()
        assert t.optimizer.param_groups[0]["lr"] == 0.05
        log_after(t, w)
        assert t.optimizer.param_groups[0]["lr"] == 0.01
        w.momentum = 0.5
        log_after(t, w)
        assert t.optimizer.param_groups[0]["momentum"] == 0.5
    assert w.history["lr"].tolist() == [0.05, 0.01, 0.01]
    assert [(event.name, event.value) for event in w.events] == [("lr", 0.01)]
    assert w.hyper.scheduled == ()
    np.testing.assert_allclose(t.changes[1], 0.01 * t.gradients[1])


def test_a_scheduler_is_followed_until_a_knob_is_turned_and_again_after_it_is_given_back():
    t = Training()
    scheduler = torch.optim.lr_scheduler.LambdaLR(t.optimizer, lambda k: 0.5**k)
    with t.watch() as w:

        def steps(count):
            for _ in range(count):
                log_after(t, w)
                scheduler.step()

        steps(3)
        assert (w.hyper.scheduled, w.hyper.follows("lr")) == (("lr",), True)
        w.lr = 1e-3
        steps(2)
        assert not w.hyper.follows("lr")
        w.hyper["lr"] = None
        steps(2)
    np.testing.assert_allclose(
        w.history["lr"], [0.05, 0.025, 0.0125, 1e-3, 1e-3, 0.05 * 0.5**5, 0.05 * 0.5**6], rtol=1e-12
    )


@pytest.mark.parametrize(("name", "value"), [("lr", -1.0), ("momentum", 1.5), ("lr", "fast")])
def test_invalid_torch_hyperparameter_raises(name, value):
    w = Training().watch()
    with pytest.raises(Exception, match=f"the hyperparameter {name} is"):
        w.hyper[name] = value


def test_pausing_a_loop_that_logs_nothing():
    t, w = Training(), None
    w = t.watch()
    w.pause()

    def loop():
        with w:
            for _ in range(4):
                log_nothing(t, w)

    thread = threading.Thread(target=loop, daemon=True)
    thread.start()
    assert until(lambda: w.t == 1 and not w.running)
    w.step(2)
    assert until(lambda: w.t == 3 and not w.running)
    w.resume()
    thread.join(120.0)
    assert (w.t, w.stopped.message) == (4, "The loop has ended after step 3.")


def test_memory_by_what_it_is_for():
    t = Training(lambda p: torch.optim.Adam(p, lr=0.1))
    with t.watch() as w:
        assert w.memory["gradients"] == 0
        log_after(t, w)
    assert w.memory["parameters"] == w.memory["gradients"] == 24
    assert w.memory["optimizer_state"] >= 48


def test_hooks_end_with_the_loop():
    t = Training()
    with t.watch() as w:
        log_after(t, w)
    log_nothing(t, w)
    assert w.t == 1
    assert not t.optimizer._optimizer_step_pre_hooks
    assert not t.model._forward_pre_hooks


def test_a_gradient_that_is_nan_is_marked():
    t = Training()
    t.x[0, 0] = math.nan
    with t.watch() as w:
        log_after(t, w)
    assert set(w.non_finite) == {"gradient_norm", "step_norm", "value"}


def test_norms_take_a_share_of_the_time_at_most(monkeypatch):
    monkeypatch.setattr(pytorch, "MAX_MEASURING_SHARE", 1e-9)
    t = Training()
    with t.watch() as w:
        for _ in range(10):
            log_after(t, w)
    assert known(w.history, "gradient_norm")[0] == known(w.history, "step_norm")[0] == [0]
    assert known(w.history, "loss")[0] == list(range(10))


def test_sparse_gradients():
    model = torch.nn.Embedding(5, 2, sparse=True)
    optimizer = torch.optim.SparseAdam(list(model.parameters()))
    with bl.watch.torch(model, optimizer) as w:
        model(torch.tensor([1, 1, 3])).sum().backward()
        optimizer.step()
    assert w.history["gradient_norm"].tolist() == [pytest.approx(math.sqrt(2 * 4 + 2 * 1))]
    assert w.memory["gradients"] == 3 * 8 + 3 * 2 * 4  # rows that were looked up, and their entries


def test_own_hyperparameters_next_to_those_of_the_optimizer():
    t = Training()
    with t.watch(temperature=2.0) as w:
        log_after(t, w)
        w.temperature = 1.0
        log_after(t, w)
    assert w.history["temperature"].tolist() == [2.0, 1.0]
    with pytest.raises(ArgumentError, match="lr is a number of the optimizer already"):
        t.watch(lr=0.1)


def test_watch_torch_with_wrong_arguments_raises():
    t, other = Training(), Training()
    with pytest.raises(ArgumentError, match="the optimizer came first"):
        bl.watch.torch(t.optimizer, t.model)
    with pytest.raises(ArgumentError, match="the model is a function"):
        bl.watch.torch(lambda x: x, t.optimizer)
    with pytest.raises(ArgumentError, match="the optimizer is a GD"):
        bl.watch.torch(t.model, bl.optim.GD(0.1))
    with pytest.raises(ArgumentError, match="expected an optimizer of the model's parameters"):
        bl.watch.torch(t.model, other.optimizer)


def test_torch_monitor_has_title_and_repr():
    w = Training().watch()
    assert w.title == "SGD on Linear"
    assert repr(w) == "<Monitor at step 0, lr=0.05, momentum=0, dampening=0, weight_decay=0>"


def test_memory_is_read_by_another_thread_during_backward():
    """PyTorch writes gradients without the GIL: a look at them from another thread took the whole process down."""
    program = """
import threading, torch, burlab as bl
model = torch.nn.Sequential(*[torch.nn.Linear(4, 4) for _ in range(30)])
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
x, done = torch.ones(2, 4), threading.Event()
def ask():
    while not done.is_set():
        w.memory
with bl.watch.torch(model, optimizer, show=False) as w:
    threads = [threading.Thread(target=ask) for _ in range(3)]
    [thread.start() for thread in threads]
    for _ in range(400):
        optimizer.zero_grad()
        model(x).sum().backward()
        optimizer.step()
        w.log()
    done.set()
    [thread.join() for thread in threads]
print(w.t, w.memory["gradients"])
"""
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=300, check=False)
    assert (found.returncode, found.stdout.split()) == (0, ["400", "2400"]), found.stderr
