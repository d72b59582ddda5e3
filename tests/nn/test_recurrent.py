"""Cells along sequences against PyTorch's RNN, GRU and LSTM: values, gradients, batches; single steps; compile time."""

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import burlab as bl
from burlab.graph import tree
from tests.engines import assert_close, torch_or_skip

nn = bl.nn
KEY = bl.random.key(2)
CELLS: dict[str, Callable[..., Any]] = {"RNN": nn.RNNCell, "GRU": nn.GRUCell, "LSTM": nn.LSTMCell}
EACH = pytest.mark.parametrize("name", CELLS)


def pair(name: str, bias: bool = True) -> tuple[Any, Any, Any]:
    """torch, its module of one layer, and our cell with the same random parameters."""
    torch = torch_or_skip()
    torch.manual_seed(4)
    module = getattr(torch.nn, name)(3, 5, bias=bias, batch_first=True).double()
    cell = CELLS[name](3, 5, key=KEY, bias=bias, dtype=np.float64)
    return torch, module, nn.from_torch(cell, module.state_dict())


def leaves(value: Any) -> list[Any]:
    return [np.asarray(leaf) for leaf in tree.flatten(value)[0]]


def run(cell: Any, xs: Any) -> Any:
    return bl.scan(cell, cell.start(), xs)


@EACH
@pytest.mark.parametrize("length", [1, 7, 13])
def test_a_sequence_equals_torchs(name: str, length: int) -> None:
    torch, module, cell = pair(name)
    rng = np.random.default_rng(length)
    xs, v = rng.normal(size=(length, 3)), rng.normal(size=(length, 5))
    x = torch.tensor(xs[None], requires_grad=True)
    outputs, last = module(x)
    states = [s[0, 0] for s in last] if name == "LSTM" else [last[0, 0]]
    sum([(outputs[0] * torch.tensor(v)).sum(), *((s**2).sum() for s in states)]).backward()

    def loss(cell: Any, xs: Any) -> Any:
        state, ys = run(cell, xs)
        return np.sum(ys * v) + sum(np.sum(s**2) for s in tree.flatten(state)[0])

    state, ys = bl.jit(run)(cell, xs)
    assert_close([ys, *leaves(state)], [outputs[0].detach().numpy(), *(s.detach().numpy() for s in states)], 1e-10)
    by_cell, by_xs = bl.grad(loss, argnums=(0, 1))(cell, xs)
    wanted = nn.from_torch(cell, {key: p.grad for key, p in module.named_parameters()})
    assert_close(leaves(by_cell), leaves(wanted), 1e-10)
    assert_close(by_xs, x.grad[0].numpy(), 1e-10)


@EACH
def test_samples_of_a_batch_and_no_bias(name: str) -> None:
    torch, module, cell = pair(name, bias=False)
    assert cell.input.bias is None
    many = np.random.default_rng(0).normal(size=(4, 6, 3))
    assert_close(bl.vmap(lambda xs: run(cell, xs)[1])(many), module(torch.tensor(many))[0].detach().numpy(), 1e-10)


@EACH
def test_one_step_is_torchs_cell(name: str) -> None:
    torch = torch_or_skip()
    module = getattr(torch.nn, f"{name}Cell")(3, 5).double()
    cell = nn.from_torch(CELLS[name](3, 5, key=KEY, dtype=np.float64), module.state_dict())
    assert nn.count(cell) == sum(p.numel() for p in module.parameters())
    x, h = np.random.default_rng(1).normal(size=(2, 5))
    state = (torch.tensor(h), torch.tensor(h * 2)) if name == "LSTM" else torch.tensor(h)
    wanted = module(torch.tensor(x[:3]), state)
    got, output = cell((h, h * 2) if name == "LSTM" else h, x[:3])
    assert_close(leaves(got), [w.detach().numpy() for w in (wanted if name == "LSTM" else [wanted])], 1e-12)
    np.testing.assert_array_equal(output, leaves(got)[0])


def test_no_element_is_the_start() -> None:
    cell = nn.LSTMCell(3, 5, key=KEY)
    (h, c), ys = bl.jit(run)(cell, np.empty((0, 3), np.float32))
    assert (np.all(h == 0), np.all(c == 0), ys.shape) == (True, True, (0, 5))


def test_initial_cells_are_distributed_as_torchs() -> None:
    torch = torch_or_skip()
    cell, module = nn.LSTMCell(300, 100, key=KEY), torch.nn.LSTMCell(300, 100)
    for ours, theirs in ((cell.input.weight, module.weight_ih), (cell.hidden.bias, module.bias_hh)):
        assert np.abs(ours).max() == pytest.approx(theirs.abs().max().item(), rel=0.02)
        assert ours.std() == pytest.approx(theirs.std().item(), rel=0.08)


def test_two_hundred_steps_compile_as_ten_do() -> None:
    """The cell is called as often, and the text of the kernels does not depend on the length."""
    cell = nn.LSTMCell(8, 16, key=KEY)

    def work(length: int) -> tuple[int, int, str]:
        calls: list[int] = []

        def f(cell: Any, xs: Any) -> Any:
            def iteration(state: Any, x: Any) -> Any:
                calls.append(1)
                return cell(state, x)

            return np.sum(bl.scan(iteration, cell.start(), xs)[1] ** 2)

        xs = np.ones((length, 8), np.float32)
        k = bl.compile(bl.grad(f), cell, xs)
        k(cell, xs)
        return len(calls), len(k.graph.nodes), re.sub(r"burlab_\w+|\d+", "", k.source)

    assert work(200) == work(10)


def test_a_language_of_letters_is_learned() -> None:
    """A GRU over letters in float32: its loss falls in a few steps."""
    text = np.array([ord(c) - 97 for c in "abcabdabcabd" * 20], np.int32)
    windows = np.lib.stride_tricks.sliding_window_view(text, 9)
    k0, k1, k2 = (bl.random.key(k) for k in range(3))
    model = {"embed": nn.Embedding(4, 8, key=k0), "cell": nn.GRUCell(8, 16, key=k1), "head": nn.Linear(16, 4, key=k2)}

    def loss(m: Any, x: Any, y: Any) -> Any:
        return nn.cross_entropy(m["head"](run(m["cell"], m["embed"](x))[1]), y)

    problem = bl.FiniteSum(loss, (windows[:, :-1].copy(), windows[:, 1:].copy()))
    before = problem.value(model)
    trained = bl.minimize(problem, model, bl.optim.Adam(1e-2), batch=16, steps=60).x
    assert isinstance(trained["cell"], nn.GRUCell)
    assert problem.value(trained) < 0.5 * before
