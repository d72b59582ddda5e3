"""Losses and activations against PyTorch's, by value and gradient; what they refuse."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import burlab as bl
from burlab.errors import ArgumentError, DTypeError, IndexRangeError, ShapeError
from tests.engines import assert_close, torch_or_skip

nn = bl.nn
RNG = np.random.default_rng(8)
SCORES = RNG.normal(size=(4, 7)) * 3
CLASSES = RNG.integers(0, 7, 4)
SIGNS = RNG.choice([-1.0, 1.0], size=(4, 7))


@dataclass(frozen=True)
class LossCase:
    """ours(x, target) and theirs(functional, x, target)."""

    name: str
    ours: Callable[[Any, Any], Any]
    theirs: Callable[[Any, Any, Any], Any]
    x: Any
    target: Any

    def __str__(self) -> str:
        return self.name


CASES = [
    LossCase("cross_entropy, rows", nn.cross_entropy, lambda f, x, y: f.cross_entropy(x, y), SCORES, CLASSES),
    LossCase("cross_entropy, one", nn.cross_entropy, lambda f, x, y: f.cross_entropy(x, y), SCORES[0], CLASSES[0]),
    LossCase("cross_entropy, far", nn.cross_entropy, lambda f, x, y: f.cross_entropy(x, y), SCORES * 1e3, CLASSES),
    LossCase("mse", nn.mse, lambda f, x, y: f.mse_loss(x, y), SCORES, SIGNS),
    LossCase("mse, numbers", nn.mse, lambda f, x, y: f.mse_loss(x, y), SCORES[0, 0], SIGNS[0, 0]),
    LossCase("huber", nn.huber, lambda f, x, y: f.huber_loss(x, y), SCORES, SIGNS),
    LossCase(
        "huber, delta",
        lambda x, y: nn.huber(x, y, delta=2.5),
        lambda f, x, y: f.huber_loss(x, y, delta=2.5),
        SCORES,
        SIGNS,
    ),
    LossCase("hinge", nn.hinge, lambda f, x, y: f.relu(1 - x * y).mean(), SCORES, SIGNS),
    LossCase("logistic", nn.logistic, lambda f, x, y: f.soft_margin_loss(x, y), SCORES, SIGNS),
    LossCase(
        "logistic, far",
        nn.logistic,
        lambda f, x, y: f.binary_cross_entropy_with_logits(x, (y + 1) / 2),
        SCORES * 500,
        SIGNS,
    ),
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_losses_equal_torchs(case: LossCase) -> None:
    torch = torch_or_skip()
    x = torch.tensor(case.x, requires_grad=True)
    wanted = case.theirs(torch.nn.functional, x, torch.tensor(case.target))
    wanted.backward()
    value, gradient = bl.value_and_grad(case.ours)(case.x, case.target)
    assert_close(value, wanted.item(), 1e-12)
    assert_close(gradient, x.grad.numpy(), 1e-12)
    assert_close(case.ours(case.x, case.target), wanted.item(), 1e-12)
    single = bl.jit(case.ours)(case.x.astype(np.float32), case.target if case.target.dtype.kind == "i" else
                               case.target.astype(np.float32))  # fmt: skip
    assert single.dtype == np.float32


@pytest.mark.parametrize("name", ["relu", "gelu", "silu", "tanh", "sigmoid"])
def test_activations_equal_torchs(name: str) -> None:
    torch = torch_or_skip()
    x = torch.tensor(SCORES, requires_grad=True)
    wanted = getattr(torch.nn.functional, name)(x)
    wanted.sum().backward()
    act = getattr(nn, name)
    assert_close(act(SCORES), wanted.detach().numpy(), 1e-13)
    assert_close(bl.grad(lambda x: np.sum(act(x)))(SCORES), x.grad.numpy(), 1e-13)


@pytest.mark.parametrize(
    ("call", "kind", "words"),
    [
        (lambda: nn.cross_entropy(SCORES, CLASSES[:2]), ShapeError, "got logits (4, 7) and target (2,)"),
        (lambda: nn.cross_entropy(SCORES, CLASSES * 1.0), DTypeError, "an integer; got float64"),
        (lambda: nn.mse(SCORES, SIGNS[0]), ShapeError, "got (4, 7) and (7,)"),
        (lambda: nn.hinge(SCORES[:, 0], SIGNS[:, :1]), ShapeError, "hinge expects a prediction and a target"),
        (lambda: nn.huber(SCORES, SIGNS, delta=0.0), ArgumentError, "delta is 0.0, expected a number above 0"),
    ],
)  # fmt: skip
def test_losses_with_wrong_arguments_raise(call: Any, kind: type[Exception], words: str) -> None:
    with pytest.raises(kind, match=re.escape(words)):
        call()


@pytest.mark.parametrize("wrong", [7, 8, -1, -7])
@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_a_target_that_is_no_class_is_refused(wrong: int, dtype: Any) -> None:
    target = np.array([0, 6, wrong, 1], dtype)
    for loss in (nn.cross_entropy, bl.jit(nn.cross_entropy), bl.grad(nn.cross_entropy)):
        with pytest.raises(IndexRangeError):
            loss(SCORES, target)
    with pytest.raises(IndexRangeError, match=f"target holds {wrong}, but classes are 0 to 6"):
        bl.grad(lambda x: nn.cross_entropy(x, target))(SCORES)
    assert nn.cross_entropy(SCORES, target % 7) == pytest.approx(bl.jit(nn.cross_entropy)(SCORES, target % 7))
