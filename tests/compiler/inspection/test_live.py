"""The bytes that live at each step, against what a kernel says it needs in all."""

import numpy as np
import pytest

import burlab as bl
from burlab.compiler.inspection.live_bytes import KINDS, live_bytes


def mlp(w, x):
    return np.sum(np.tanh(np.tanh(x @ w) @ w) ** 2)


def small(x):
    return x * np.tanh(x)


def gpt():
    model, tokens = bl.nn.GPT(key=bl.random.key(0)), np.arange(8)
    return bl.compile(lambda g, t: -np.mean(bl.log_softmax(g(t))[np.arange(8), t]), model, tokens)


# Which entries a loss takes, and their values, for eight tokens: it reads them back while its rows are still in memory.
LOSS_ROWS = 2 * 64
EXAMPLES = np.ones((32, 32)), np.ones((16, 32))
KERNELS = {
    "gpt": gpt,
    **{
        f"mlp {g}": lambda g=g: bl.compile(mlp, np.ones((32, 32)), np.ones((16, 32)), gear=g)
        for g in ("compiled", "replay")
    },
    **{f"small {g}": lambda g=g: bl.compile(small, 0.5, gear=g) for g in ("compiled", "replay")},
}


@pytest.mark.parametrize("name", KERNELS)
def test_live_bytes_equal_the_footprint(name):
    kernel = KERNELS[name]()
    plan, memory = kernel.executable.plan, kernel.memory
    live = live_bytes(plan)
    assert tuple(live) == KINDS
    assert {len(counts) for counts in live.values()} == {len(plan.steps)}
    assert set(live["inputs"]) == {memory["parameters"] + memory["inputs"]}
    assert set(live["constants"]) == {memory["constants"]}
    assert live["outputs"][-1] == memory["outputs"] + memory["gradients"]
    assert list(live["outputs"]) == sorted(live["outputs"])
    assert max(live["activations"]) <= memory["activations"]
    whole = [a + b for a, b in zip(live["activations"], live["temporaries"], strict=True)]
    assert max(whole) <= kernel.executable.workspace_bytes
    if not name.startswith("small"):
        lost = memory["activations"] - max(live["activations"])
        assert 0 <= lost <= (LOSS_ROWS if name == "gpt" else 0)  # the others live all at once where the sweep turns
        assert max(whole) > 0.6 * kernel.executable.workspace_bytes


def test_activations_grow_forward_and_shrink_backward():
    live = live_bytes(bl.compile(mlp, np.ones((32, 32)), np.ones((16, 32))).executable.plan)
    top = int(np.argmax(live["activations"]))
    assert list(live["activations"][: top + 1]) == sorted(live["activations"][: top + 1])
    assert live["activations"][-1] == 0
