"""Pooling against PyTorch's, windows apart and overlapping; a convolutional network learns; what is refused."""

import re
from typing import Any

import numpy as np
import pytest

import burlab as bl
from burlab.errors import ArgumentError, ShapeError
from tests.engines import assert_close, torch_or_skip

nn = bl.nn
X = np.random.default_rng(2).normal(size=(3, 9, 8))
CASES = [((2, 3), None), (2, None), (3, 1), ((3, 2), (2, 1)), (1, None)]


@pytest.mark.parametrize("kind", ["max", "avg"])
@pytest.mark.parametrize(("window", "stride"), CASES)
def test_pooling_equals_torchs(kind: str, window: Any, stride: Any) -> None:
    torch = torch_or_skip()
    ours, theirs = getattr(nn, f"{kind}_pool"), getattr(torch.nn.functional, f"{kind}_pool2d")
    x = torch.tensor(X, requires_grad=True)
    wanted = theirs(x[None], window, stride)[0]
    (wanted**2).sum().backward()
    assert_close(ours(X, window, stride), wanted.detach().numpy(), 1e-13)
    assert_close(bl.grad(lambda x: np.sum(ours(x, window, stride) ** 2))(X), x.grad.numpy(), 1e-13)
    many = np.stack([X, X[:, ::-1]])
    got = bl.vmap(lambda x: ours(x, window, stride))(many)
    assert_close(got, theirs(torch.tensor(many), window, stride).numpy(), 1e-13)


@pytest.mark.parametrize("kind", ["max", "avg"])
def test_pooling_along_one_axis(kind: str) -> None:
    torch = torch_or_skip()
    wanted = getattr(torch.nn.functional, f"{kind}_pool1d")(torch.tensor(X[0][None]), 3, 2)[0]
    assert_close(getattr(nn, f"{kind}_pool")(X[0], 3, 2), wanted.numpy(), 1e-13)


def test_a_convolutional_network_learns_where_a_line_lies() -> None:
    """Images with a horizontal or a vertical line, float32."""
    rng = np.random.default_rng(0)
    images, targets = rng.normal(size=(120, 1, 8, 8)).astype(np.float32) * 0.3, np.arange(120) % 2
    for image, target in zip(images, targets, strict=True):
        (image[0] if target else image[0].T)[rng.integers(8)] += 1
    k0, k1 = bl.random.key(0), bl.random.key(1)
    model = {"conv": nn.Conv2d(1, 6, 3, key=k0), "head": nn.Linear(6 * 9, 2, key=k1)}

    def loss(m: Any, x: Any, y: Any) -> Any:
        return nn.cross_entropy(m["head"](nn.max_pool(nn.relu(m["conv"](x)), 2).reshape(-1)), y)

    problem = bl.FiniteSum(loss, (images, targets))
    run = bl.minimize(problem, model, bl.optim.Adam(2e-2), batch=20, steps=60)
    assert problem.value(run.x) < 0.5 * problem.value(model)


@pytest.mark.parametrize(
    ("call", "kind", "words"),
    [
        (lambda: nn.Conv2d(1, 1, 3, key=bl.random.key(0))(X), ShapeError, "expects x of shape (1, height, width)"),
        (lambda: nn.Conv1d(1, 1, 3, key=bl.random.key(0))(X), ShapeError, "(1, length), got (3, 9, 8)"),
        (lambda: nn.Conv1d(1, 1, (3, 3), key=bl.random.key(0)), ArgumentError, "window=(3, 3) must be an integer"),
        (lambda: nn.Conv2d(1, 1, 3, stride=0, key=bl.random.key(0)), ArgumentError, "stride=0 must be"),
        (lambda: nn.max_pool(X, 10), ShapeError, "reaches over (10, 10) entries does not fit into (9, 8)"),
        (lambda: nn.avg_pool(X[0, 0], 2), ShapeError, "avg_pool expects x of shape"),
    ],
)  # fmt: skip
def test_convolution_and_pooling_with_wrong_shapes_raise(call: Any, kind: type[Exception], words: str) -> None:
    with pytest.raises(kind, match=re.escape(words)):
        call()
