"""What states of losses are for, each held against another implementation for 20 steps."""

from typing import Any

import numpy as np
import pytest

import burlab as bl
from burlab.optim import GD

RNG = np.random.default_rng(8)
N, D, WIDTH, LR, STEPS = 24, 5, 6, 0.05, 20
A, Y = 2.0 + 3.0 * RNG.normal(size=(N, D)), RNG.normal(size=N)
START = {
    "into": RNG.normal(size=(D, WIDTH)),
    "scale": 1 + 0.1 * RNG.normal(size=WIDTH),
    "shift": 0.1 * RNG.normal(size=WIDTH),
    "out": RNG.normal(size=WIDTH),
}
RUNNING = {"mean": np.zeros(WIDTH), "variance": np.ones(WIDTH)}


@pytest.fixture
def torch() -> Any:
    return pytest.importorskip("torch", reason="PyTorch, the second engine, is not installed: make peers")


def tensors(torch: Any, tree: Any) -> Any:
    return {name: torch.tensor(leaf, dtype=torch.float64, requires_grad=True) for name, leaf in tree.items()}


def batch_of(t: int, size: int) -> Any:
    return np.arange(t * size, (t + 1) * size) % N


def close(found: Any, wanted: Any) -> None:
    """The same numbers by name. wanted: tensors or arrays."""
    for name, leaf in found.items():
        other = wanted[name].detach().numpy() if hasattr(wanted[name], "detach") else wanted[name]
        np.testing.assert_allclose(leaf, other, rtol=1e-12, atol=1e-13, err_msg=name)


def predict(p: Any, z: Any, mean: Any, variance: Any) -> Any:
    z = (z - mean) / np.sqrt(variance + 1e-5)
    return np.tanh(p["scale"] * z + p["shift"]) @ p["out"]


def fitted(p: Any, a: Any, y: Any, state: Any) -> Any:
    z, b = a @ p["into"], a.shape[0]
    mean, variance = z.mean(axis=0), z.var(axis=0)
    unbiased = variance * b / (b - 1)
    new = {
        "mean": 0.9 * state["mean"] + 0.1 * mean,
        "variance": 0.9 * state["variance"] + 0.1 * unbiased,
    }
    return np.mean((predict(p, z, mean, variance) - y) ** 2), new


def by_layer(training: bool) -> Any:
    """The same two losses by `bl.nn.batch_norm`, both of whole batches."""

    def error(p: Any, a: Any, y: Any, state: Any) -> Any:
        z, running = bl.nn.batch_norm(a @ p["into"], state, training=training)
        return np.mean((np.tanh(p["scale"] * z + p["shift"]) @ p["out"] - y) ** 2), running

    return bl.BatchLoss(error, (A, Y), loss_state=RUNNING)


def evaluated(p: Any, a: Any, y: Any, state: Any) -> Any:
    return (predict(p, a @ p["into"], state["mean"], state["variance"]) - y) ** 2, state


@pytest.mark.parametrize("ready", [False, True])
def test_batch_normalization_in_training_and_evaluation(torch: Any, ready: bool) -> None:
    """Against torch.nn.BatchNorm1d with momentum 0.1, in both of its modes."""
    size = 8
    problem = by_layer(True) if ready else bl.BatchLoss(fitted, (A, Y), loss_state=RUNNING)
    check = by_layer(False) if ready else bl.FiniteSum(evaluated, (A, Y), loss_state=RUNNING)
    run = bl.minimize(
        problem, START, GD(LR), batch=size, sampler="sequential", validation=check, validate_every=1, steps=STEPS
    )
    norm, p = torch.nn.BatchNorm1d(WIDTH, dtype=torch.float64), tensors(torch, START)
    norm.weight.data, norm.bias.data = p["scale"].detach().clone(), p["shift"].detach().clone()
    a, y = torch.tensor(A), torch.tensor(Y)

    def error(rows: Any) -> Any:
        return torch.mean((torch.tanh(norm(a[rows] @ p["into"])) @ p["out"] - y[rows]) ** 2)

    learned = [p["into"], p["out"], norm.weight, norm.bias]
    errors: list[float] = []
    for t in range(STEPS):
        norm.eval()
        errors.append(error(np.arange(N)).item())
        norm.train()
        gradients = torch.autograd.grad(error(batch_of(t, size)), learned)
        with torch.no_grad():
            for leaf, gradient in zip(learned, gradients, strict=True):
                leaf.sub_(LR * gradient)
    close(run.x, {"into": p["into"], "out": p["out"], "scale": norm.weight, "shift": norm.bias})
    close(run.loss_state, {"mean": norm.running_mean, "variance": norm.running_var})
    np.testing.assert_allclose(run.history["validation_value"], errors, rtol=1e-12)
    norm.eval()
    np.testing.assert_allclose(check.value(run.x, state=run.loss_state), error(np.arange(N)).item(), rtol=1e-12)


def agreeing(p: Any, a: Any, y: Any, state: Any) -> Any:
    student, teacher = np.tanh(a @ p["w"]) @ p["v"], np.tanh(0.9 * a @ state["w"]) @ state["v"]
    new = {name: 0.9 * state[name] + 0.1 * p[name] for name in p}
    return (student - y) ** 2 + 0.5 * (student - teacher) ** 2, new


@pytest.mark.parametrize("batch", [1, 6])
def test_a_mean_teacher(torch: Any, batch: int) -> None:
    start = {"w": 0.3 * START["into"], "v": START["out"]}
    problem = bl.FiniteSum(agreeing, (A, Y), loss_state=start)
    run = bl.minimize(problem, start, GD(0.01), batch=batch, sampler="sequential", steps=STEPS)
    p, teacher = tensors(torch, start), {name: torch.tensor(leaf) for name, leaf in start.items()}
    a, y = torch.tensor(A), torch.tensor(Y)
    for t in range(STEPS):
        i = batch_of(t, batch)
        student, said = torch.tanh(a[i] @ p["w"]) @ p["v"], torch.tanh(0.9 * a[i] @ teacher["w"]) @ teacher["v"]
        value = torch.mean((student - y[i]) ** 2 + 0.5 * (student - said) ** 2)
        gradients = torch.autograd.grad(value, [p["w"], p["v"]])
        with torch.no_grad():
            teacher = {name: 0.9 * teacher[name] + 0.1 * p[name] for name in p}
            for leaf, gradient in zip((p["w"], p["v"]), gradients, strict=True):
                leaf.sub_(0.01 * gradient)
    close(run.x, p)
    close(run.loss_state, teacher)


def remembered(p: Any, a: Any, y: Any, i: Any, state: Any) -> Any:
    """Temporal ensembling: what was said of each sample, and how often it was seen."""
    said, table, seen = a @ p, state["said"].copy(), state["seen"].copy()
    table[i] = 0.6 * state["said"][i] + 0.4 * said
    seen[i] += 1
    trust = 1.0 * (state["seen"][i] > 0)
    return np.mean((said - y) ** 2 + trust * (said - state["said"][i]) ** 2), {"said": table, "seen": seen}


@pytest.mark.parametrize(("kind", "batch"), [(bl.FiniteSum, 1), (bl.BatchLoss, 1), (bl.BatchLoss, 5)])
def test_a_memory_of_samples(torch: Any, kind: Any, batch: int) -> None:
    memory = {"said": np.zeros(N), "seen": np.zeros(N, np.int32)}
    problem = kind(remembered, (A, Y, np.arange(N)), loss_state=memory)
    run = bl.minimize(problem, np.zeros(D), GD(1e-3), batch=batch, seed=3, steps=2 * STEPS)
    run.seek(STEPS)
    p, said, seen, x = torch.zeros(D, dtype=torch.float64, requires_grad=True), np.zeros(N), np.zeros(N, int), run.x
    for i in samples_of(batch):
        z = torch.tensor(A[i]) @ p
        trust = torch.tensor(1.0 * (seen[i] > 0))
        value = torch.mean((z - torch.tensor(Y[i])) ** 2 + trust * (z - torch.tensor(said[i])) ** 2)
        (gradient,) = torch.autograd.grad(value, [p])
        said[i] = 0.6 * said[i] + 0.4 * z.detach().numpy()
        seen[i] += 1
        with torch.no_grad():
            p -= 1e-3 * gradient
    close({"x": x, **run.loss_state}, {"x": p, "said": said, "seen": seen})
    assert run.loss_state["seen"].dtype == np.int32


def samples_of(batch: int) -> Any:
    """The samples of each step of a run with seed 3, as the steps of another run say them."""
    problem = bl.BatchLoss(lambda p, i, state: (np.sum(0.0 * p), i), np.arange(N), loss_state=np.zeros(batch, int))
    run = bl.minimize(problem, 0.0, GD(1.0), batch=batch, seed=3)
    found: list[Any] = []
    for _ in range(STEPS):
        run.step()
        found.append(run.loss_state)
    return found


def pruned(p: Any, a: Any, y: Any, state: Any, *, t: Any) -> Any:
    """The larger half of the weights, chosen anew every fourth step."""
    mask = np.where(t % 4 == 0, np.abs(p) >= np.median(np.abs(p)), state["mask"])
    return (a @ np.where(mask, p, 0.0) - y) ** 2, {"mask": mask}


@pytest.mark.parametrize("batch", [1, 6])
def test_a_mask_by_magnitude(batch: int) -> None:
    problem = bl.FiniteSum(pruned, (A, Y), loss_state={"mask": np.ones(D, bool)})
    x0 = RNG.normal(size=D)
    run = bl.minimize(problem, x0, GD(1e-3), batch=batch, sampler="sequential", steps=STEPS)
    x, mask = x0, np.ones(D, bool)
    for t in range(STEPS):
        i = batch_of(t, batch)
        mask = np.abs(x) >= np.median(np.abs(x)) if t % 4 == 0 else mask
        x = x - 1e-3 * mask * (2 * (A[i] @ (mask * x) - Y[i]) @ A[i] / batch)
    close({"x": run.x, **run.loss_state}, {"x": x, "mask": mask})
    assert run.loss_state["mask"].dtype == bool


def drawn(p: Any, a: Any, y: Any, state: Any, *, key: Any, t: Any) -> Any:
    """A mask that is drawn anew every third step, and counts its changes."""
    mask = np.where(t % 3 == 0, bl.random.uniform(key, (D,)) < 0.5, state[0])
    return np.mean((a @ np.where(mask, p, 0.0) - y) ** 2), (mask, state[1] + (mask != state[0]).sum())


@pytest.mark.parametrize(("kind", "batch"), [(bl.FiniteSum, 1), (bl.BatchLoss, 6)])
def test_a_mask_that_is_drawn(kind: Any, batch: int) -> None:
    """The mask of each step is what the loss drew; the steps follow from it."""
    start = np.ones(D, bool), np.array(0)
    run = bl.minimize(kind(drawn, (A, Y), loss_state=start), np.ones(D), GD(1e-3), batch=batch, sampler="sequential")
    x, mask, changes, masks = np.ones(D), start[0], 0, list[Any]()
    for t in range(STEPS):
        run.step()
        found, counted = run.loss_state
        if t % 3 == 0:
            masks.append(found)
        else:
            np.testing.assert_array_equal(found, mask)
        changes, mask, i = changes + (found != mask).sum(), found, batch_of(t, batch)
        assert counted == changes
        x = x - 1e-3 * mask * (2 * (A[i] @ (mask * x) - Y[i]) @ A[i] / batch)
        np.testing.assert_allclose(run.x, x, rtol=1e-12)
    assert len({mask.tobytes() for mask in masks}) > 3
    assert 0.2 < np.mean(masks) < 0.8
