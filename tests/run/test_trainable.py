"""`trainable=`: a part of x is trained; the rest costs no gradient, no state and no history."""

import re
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import burlab as bl
from burlab.errors import ArgumentError, FileError
from burlab.optim import GD, Adam, Hyper, Momentum, Muon, Optimizer, SciPy
from tests.engines import torch_or_skip
from tests.run.saved_cases import same
from tests.run.test_sampler import batches

RNG = np.random.default_rng(5)
LAYERS = 4
X0 = {"body": [RNG.normal(size=(8, 8)) for _ in range(LAYERS)], "head": RNG.normal(size=8), "scale": 1.5}
A, B = RNG.normal(size=(30, 8)), RNG.normal(size=30)


def network(p: Any, a: Any) -> Any:
    h = a
    for w in p["body"]:
        h = np.tanh(w @ h)
    return p["scale"] * (p["head"] @ h)


def loss(p: Any, a: Any, b: Any) -> Any:
    return (network(p, a) - b) ** 2


def ridge(p: Any) -> Any:
    return 0.01 * (np.sum(p["head"] ** 2) + np.sum(p["body"][-1] ** 2) + p["scale"] ** 2)


PROBLEM = bl.FiniteSum(loss, (A, B), ridge)
LAST = {"body": [False] * (LAYERS - 1) + [True], "head": True, "scale": False}
HEAD = {"body": False, "head": True, "scale": False}


def test_the_steps_are_those_of_torch_with_frozen_leaves() -> None:
    torch = torch_or_skip()
    run = bl.minimize(PROBLEM, X0, Momentum(0.05, 0.9), batch=6, seed=3, steps=7, trainable=LAST)
    body = [torch.tensor(w, requires_grad=k == LAYERS - 1) for k, w in enumerate(X0["body"])]
    head, scale = torch.tensor(X0["head"], requires_grad=True), X0["scale"]
    optimizer = torch.optim.SGD([body[-1], head], lr=0.05, momentum=0.9)
    for i in batches("reshuffle", len(B), 6, 7, seed=3):
        h = torch.tensor(A[i])
        for w in body:
            h = torch.tanh(h @ w.T)
        value = torch.mean((scale * (h @ head) - torch.tensor(B[i])) ** 2)
        value = value + 0.01 * ((head**2).sum() + (body[-1] ** 2).sum() + scale**2)
        optimizer.zero_grad()
        value.backward()
        optimizer.step()
    np.testing.assert_allclose(run.x["head"], head.detach().numpy(), rtol=1e-12)
    np.testing.assert_allclose(run.x["body"][-1], body[-1].detach().numpy(), rtol=1e-12)
    assert all(np.array_equal(a, b) for a, b in zip(run.x["body"][:-1], X0["body"], strict=False))
    assert run.x["scale"] == 1.5
    assert run.state["v"].shape == (8 * 8 + 8,)
    assert run.history["value"][0] == pytest.approx(PROBLEM.value(X0, batches("reshuffle", len(B), 6, 1, seed=3)[0]))


def matrix_products(run: bl.Run) -> int:
    nodes = run._engine.setup.loss.samples.graph.nodes
    return sum(n.op == "contract" and max(m.ndim for m in (n, *n.inputs)) > 1 for n in nodes)


def test_layers_below_the_trained_ones_have_no_backward_sweep() -> None:
    """A layer costs a product forward; backward an outer product, and one more for the layer below."""
    runs = {
        part: bl.minimize(PROBLEM, X0, Adam(1e-3), batch=4, steps=1, trainable=flags)
        for part, flags in {"all": None, "last": LAST, "head": HEAD}.items()
    }
    counts = {part: matrix_products(run) for part, run in runs.items()}
    assert counts == {"all": 3 * LAYERS - 1, "last": LAYERS + 1, "head": LAYERS}
    assert runs["head"].memory["optimizer_state"] < runs["all"].memory["optimizer_state"] / 10
    assert runs["head"].memory["parameters"] == 2 * 8 * 8


@pytest.mark.parametrize(
    "trainable",
    [
        HEAD,
        lambda path: path == "head",
        {"body": [False] * LAYERS, "head": np.True_, "scale": False},
    ],
)
def test_forms_of_the_argument(trainable: Any) -> None:
    run = bl.minimize(PROBLEM, X0, GD(0.1), batch=3, steps=2, trainable=trainable)
    assert run.state == {}
    assert run._engine.read().shape == (8,)
    assert not np.array_equal(run.x["head"], X0["head"])
    assert np.array_equal(run.x["body"][3], X0["body"][3])


def test_training_all_equals_the_default() -> None:
    options: Any = {"batch": 5, "seed": 2, "steps": 4}
    same(
        bl.minimize(PROBLEM, X0, Adam(0.01), trainable=True, **options),
        bl.minimize(PROBLEM, X0, Adam(0.01), **options),
    )


@dataclass(frozen=True)
class QueryingRule(Optimizer):
    """Asks about the part that it trains, at the start and in a step."""

    lr: Hyper = 0.05

    def init(self, x: Any, *, f: Any) -> Any:
        return {"g": f.grad(x), "rows": np.zeros((3, x.size)), "slope": np.zeros(())}

    def update(self, g: Any, state: Any, x: Any, t: Any, *, f: Any) -> Any:
        v = f.hvp(x, g)
        return x - self.lr * v, {"g": f.full_grad(x), "rows": f.per_sample_grads(x), "slope": f.jvp(x, g)}


def test_questions_files_and_time_travel(tmp_path: Any) -> None:
    options: Any = {"batch": 3, "validation": PROBLEM, "validate_every": 2, "trainable": HEAD}
    run = bl.minimize(PROBLEM, X0, QueryingRule(), **options)
    np.testing.assert_allclose(run.state["g"], PROBLEM.grad(X0)["head"], rtol=1e-12)
    run.step(4)
    before = run.x
    i = batches("reshuffle", len(B), 3, 5)[4]
    run.step(1)
    np.testing.assert_allclose(run.state["rows"], PROBLEM.per_sample_grads(before, i)["head"], rtol=1e-12)
    g = PROBLEM.grad(before, i)
    zero = {"body": [0 * w for w in X0["body"]], "head": g["head"], "scale": 0.0}
    assert run.state["slope"] == pytest.approx(PROBLEM.jvp(before, zero, i), rel=1e-12)
    np.testing.assert_allclose(run.x["head"], before["head"] - 0.05 * PROBLEM.hvp(before, zero, i)["head"], rtol=1e-12)
    assert run.history["validation_value"][4] == pytest.approx(PROBLEM.value(before))
    run.save(tmp_path / "run.burlab")
    loaded = bl.load_run(tmp_path / "run.burlab", (A, B), validation=(A, B))
    fork, again = run.fork(), bl.minimize(PROBLEM, X0, QueryingRule(), **options)
    again.step(5)
    for other in (run, loaded, fork, again):
        other.seek(2)
        other.step(6)
    for other in (loaded, again):
        same(other, run)
    same(fork, loaded)
    assert loaded.x["scale"] == 1.5


def test_rules_for_leaves_see_only_what_is_trained() -> None:
    seen = []

    @dataclass(frozen=True)
    class Leaves(Optimizer):
        per_leaf = True

        def update(self, g: Any, state: Any, x: Any, t: Any) -> Any:
            seen.append(x)
            return {
                **x,
                "body": [w if w is None else w - 0.1 * d for w, d in zip(x["body"], g["body"], strict=True)],
            }, {}

    run = bl.minimize(PROBLEM, X0, Leaves(), batch=2, steps=1, trainable=LAST)
    assert seen[0]["body"][:3] == [None] * 3
    assert seen[0]["scale"] is None
    want = X0["body"][3] - 0.1 * PROBLEM.grad(X0, batches("reshuffle", len(B), 2, 1)[0])["body"][3]
    np.testing.assert_allclose(run.x["body"][3], want, rtol=1e-12)
    only = {"body": [False, True, False, True], "head": False, "scale": False}
    got = bl.minimize(PROBLEM, X0, Muon(0.1), batch=4, steps=2, trainable=only).x
    assert [np.array_equal(a, b) for a, b in zip(got["body"], X0["body"], strict=True)] == [True, False, True, False]


def test_complex_parts_metrics_and_scipy() -> None:
    def f(p: Any) -> Any:
        return np.sum(np.abs(p["z"] * p["w"] - 1) ** 2) + p["b"] ** 2, {"b": p["b"]}

    x0 = {"z": np.array([1 + 1j, 2.0]), "w": np.array([1j, 1.0]), "b": np.float64(2.0)}
    run = bl.minimize(f, x0, GD(0.1), steps=300, has_aux=True, trainable={"z": True, "w": False, "b": False})
    np.testing.assert_allclose(run.x["z"], 1 / x0["w"], rtol=1e-12)
    assert np.array_equal(run.x["w"], x0["w"])
    assert run.history["b"].tolist() == [2.0] * 300
    other = bl.minimize(lambda p: f(p)[0], x0, SciPy("BFGS"), steps=20, trainable={"z": True, "w": False, "b": False})
    np.testing.assert_allclose(other.x["z"], 1 / x0["w"], rtol=1e-5)
    assert other.x["b"] == 2.0


def test_run_owns_its_frozen_parameters() -> None:
    """A change of x0 after the start changes nothing, and x may be written to; a path of a part is none."""
    x0 = {"a": np.ones(2), "b": np.ones(2)}
    run = bl.minimize(lambda p: np.sum((p["a"] - p["b"]) ** 2), x0, GD(0.5), trainable={"a": True, "b": False})
    x0["b"][:] = 7.0
    run.x["b"][:] = 9.0
    run.step(1)
    assert (run.x["a"].tolist(), run.x["b"].tolist()) == ([1.0, 1.0], [1.0, 1.0])
    assert run.path is None


@pytest.mark.parametrize(
    ("trainable", "text"),
    [
        (
            False,
            "trainable is False for all of body.0, body.1, body.2, body.3, head, scale, expected True",
        ),
        ({"body": True, "head": 1, "scale": False}, "trainable gave 1 for head, expected True or False"),
        (lambda path: path, "trainable gave 'body.0' for body.0, expected True or False"),
        ({"body": True, "tail": True}, "trainable is the tree {'body': *, 'tail': *}, but x0 is the tree"),
        (lambda path, leaf: True, "trainable cannot be called with a path"),
        ([True, False], "Pass a bool for each array of x0, or for a part of it; or a function of paths"),
    ],
)
def test_invalid_trainable_raises(trainable: Any, text: str) -> None:
    with pytest.raises(ArgumentError, match=re.escape(text)):
        bl.minimize(PROBLEM, X0, GD(0.1), trainable=trainable)


def test_a_file_with_another_rest_is_refused(tmp_path: Any) -> None:
    from burlab.run.file import container

    run = bl.minimize(PROBLEM, X0, GD(0.1), batch=3, steps=1, trainable=HEAD)
    run.save(tmp_path / "run.burlab")
    document, arrays = container.read(tmp_path / "run.burlab", "run")
    del arrays["rest/0"]
    container.write(tmp_path / "cut.burlab", "run", document, arrays)
    with pytest.raises(FileError, match="1 trained arrays and 4 others do not make"):
        bl.load_run(tmp_path / "cut.burlab", (A, B))
