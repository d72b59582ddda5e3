"""`burlab demo`: the model learns to spell, invents names, and writes a report."""

import re
from pathlib import Path

import numpy as np
import pytest

import burlab as bl
from burlab.cli import demo
from burlab.data import last_names


def test_a_short_demo(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    page = tmp_path / "report.html"
    assert demo.main(steps=140, seed=1, out=page) == 0
    printed = capsys.readouterr()
    assert "88,799 last names, 695,422 characters to predict, 1,907 parameters" in printed.out
    assert "100/100" in printed.err
    assert "40/40" in printed.err
    value = float(re.findall(r"all names: ([\d.]+)", printed.out)[0])
    assert 2.36 < value < 3.0
    assert f"{value:.4f}" in page.read_text()


def test_the_whole_demo_reaches_its_loss(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    assert demo.main(out=tmp_path / "report.html") == 0
    assert float(re.findall(r"all names: ([\d.]+)", capsys.readouterr().out)[0]) < 2.36


def test_no_folder_for_the_report(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    assert demo.main(steps=1, out=tmp_path / "nowhere" / "report.html") == 1
    assert "no folder" in capsys.readouterr().err


def test_the_loss_is_the_cross_entropy_of_the_scores():
    data = last_names(demo.CONTEXT)
    model = demo.start(27, np.random.default_rng(0))
    context, target = data.features[100], data.targets[100]
    z = demo.scores(model, context).astype(float)
    expected = -np.log(np.exp(z[target]) / np.exp(z).sum())
    problem = bl.FiniteSum(demo.loss, (data.features, data.targets))
    np.testing.assert_allclose(problem.value(model, [100]), expected, rtol=1e-5)


def test_the_gradient_is_torchs():
    torch = pytest.importorskip("torch")
    data = last_names(demo.CONTEXT)
    model = {k: v.astype(float) for k, v in demo.start(27, np.random.default_rng(0)).items()}
    batch = np.arange(0, 600_000, 1171)
    leaves = {k: torch.tensor(v, requires_grad=True) for k, v in model.items()}
    x = leaves["embedding"][torch.tensor(data.features[batch])].reshape(len(batch), -1)
    h = torch.tanh(x @ leaves["hidden"] + leaves["hidden_bias"])
    scores = h @ leaves["output"] + leaves["output_bias"]
    torch.nn.functional.cross_entropy(scores, torch.tensor(data.targets[batch]).long()).backward()
    gradient = bl.FiniteSum(demo.loss, (data.features, data.targets)).grad(model, batch)
    for name, leaf in leaves.items():
        np.testing.assert_allclose(gradient[name], leaf.grad.numpy(), rtol=1e-10, atol=1e-14)


def test_invented_names_are_words_of_the_alphabet():
    data = last_names(demo.CONTEXT)
    model = demo.start(27, np.random.default_rng(0))
    for seed in range(5):
        name = demo.invent(model, data, np.random.default_rng(seed))
        assert re.fullmatch("[a-z]*", name)
