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


SHARES = np.exp(SIGNS) * RNG.uniform(size=(4, 7))
SHARES[0, 2:5] = 0.0
SHARES /= SHARES.sum(axis=-1, keepdims=True)


def hinton(f: Any, x: Any, teacher: Any) -> Any:
    """T^2 KL at T = 3, as torch's tutorials write it."""
    return 9.0 * f.kl_div(f.log_softmax(x / 3.0, -1), f.softmax(teacher / 3.0, -1), reduction="batchmean")


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
    LossCase("cross_entropy, probabilities", nn.cross_entropy, lambda f, x, y: f.cross_entropy(x, y), SCORES, SHARES),
    LossCase(
        "cross_entropy, a row of probabilities",
        nn.cross_entropy,
        lambda f, x, y: f.cross_entropy(x, y),
        SCORES[0],
        SHARES[0],
    ),
    LossCase(
        "cross_entropy, smoothed",
        lambda x, y: nn.cross_entropy(x, y, label_smoothing=0.2),
        lambda f, x, y: f.cross_entropy(x, y, label_smoothing=0.2),
        SCORES * 1e3,
        CLASSES,
    ),
    LossCase(
        "cross_entropy, smoothed probabilities",
        lambda x, y: nn.cross_entropy(x, y, label_smoothing=0.2),
        lambda f, x, y: f.cross_entropy(x, y, label_smoothing=0.2),
        SCORES,
        SHARES,
    ),
    LossCase(
        "kl_divergence",
        nn.kl_divergence,
        lambda f, x, y: f.kl_div(f.log_softmax(x, -1), y, reduction="batchmean"),
        SCORES,
        SHARES,
    ),
    LossCase(
        "kl_divergence, far",
        nn.kl_divergence,
        lambda f, x, y: f.kl_div(f.log_softmax(x, -1), y, reduction="batchmean"),
        SCORES * 1e3,
        SHARES,
    ),
    LossCase("distillation", lambda x, y: nn.distillation(x, y, temperature=3.0), hinton, SCORES, SIGNS * 4),
    LossCase("distillation, far", lambda x, y: nn.distillation(x, y, temperature=3.0), hinton, SCORES * 1e3, SIGNS * 4),
    LossCase(
        "distillation with labels",
        lambda x, y: nn.distillation(x, (4 * SIGNS).astype(x.dtype), y, temperature=3.0, weight=0.7),
        lambda f, x, y: 0.7 * hinton(f, x, y.new_tensor(4 * SIGNS, dtype=x.dtype)) + 0.3 * f.cross_entropy(x, y),
        SCORES,
        CLASSES,
    ),
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
        (lambda: nn.cross_entropy(SCORES, SHARES[:, 1:]), ShapeError, "probabilities of the shape of logits"),
        (lambda: nn.cross_entropy(SCORES, CLASSES, label_smoothing=1.5), ArgumentError, "label_smoothing is 1.5"),
        (lambda: nn.kl_divergence(SCORES, SHARES[0]), ShapeError, "got (4, 7) and (7,)"),
        (lambda: nn.kl_divergence(SCORES, SHARES.astype(int)), DTypeError, "probabilities, floats; got int64"),
        (lambda: nn.distillation(SCORES, SHARES[0]), ShapeError, "logits and teacher of one shape"),
        (lambda: nn.distillation(SCORES, SCORES, temperature=0.0), ArgumentError, "temperature of distillation is 0.0"),
        (lambda: nn.distillation(SCORES, SCORES, weight=2.0), ArgumentError, "weight of distillation is 2.0"),
        (lambda: nn.mse(SCORES, SIGNS[0]), ShapeError, "got (4, 7) and (7,)"),
        (lambda: nn.hinge(SCORES[:, 0], SIGNS[:, :1]), ShapeError, "hinge expects a prediction and a target"),
        (lambda: nn.huber(SCORES, SIGNS, delta=0.0), ArgumentError, "delta is 0.0, expected a number above 0"),
    ],
)  # fmt: skip
def test_losses_with_wrong_arguments_raise(call: Any, kind: type[Exception], words: str) -> None:
    with pytest.raises(kind, match=re.escape(words)):
        call()


def test_masked_classes_count_nothing_where_their_probability_is_zero() -> None:
    masked, kept = np.array([0.5, -np.inf, 2.0]), np.array([0.5, 2.0])
    p, q = np.array([0.25, 0.0, 0.75]), np.array([0.25, 0.75])
    for loss in (nn.cross_entropy, nn.kl_divergence):
        value, slope = bl.value_and_grad(loss)(masked, p)
        wanted, slopes = bl.value_and_grad(loss)(kept, q)
        assert_close(value, wanted, 1e-15)
        assert_close(slope[[0, 2]], slopes, 1e-15)
        assert slope[1] == 0.0
    for teacher in (masked, np.array([1.0, -np.inf, 0.0])):
        value, slope = bl.value_and_grad(lambda x, t=teacher: nn.distillation(x, t))(masked)
        assert_close(value, nn.distillation(kept, teacher[[0, 2]]), 1e-15)
        assert np.all(np.isfinite(slope))


def test_soft_losses_have_second_derivatives_and_fit_into_a_finite_sum() -> None:
    bl.check_grads(lambda x, p: nn.cross_entropy(x, p, label_smoothing=0.1), (SCORES, SHARES + 0.1), order=2)
    bl.check_grads(nn.kl_divergence, (SCORES, SHARES + 0.1), order=2)
    bl.check_grads(lambda x, t: nn.distillation(x, t, CLASSES), (SCORES, SIGNS), order=2)
    sum_of_rows = bl.FiniteSum(lambda w, x, p: nn.cross_entropy(w * x, p), (SCORES, SHARES))
    assert_close(sum_of_rows.value(np.ones(7)), nn.cross_entropy(SCORES, SHARES), 1e-14)


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
