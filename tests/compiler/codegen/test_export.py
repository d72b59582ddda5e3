"""Kernels as standalone C++: compiled by g++ with all warnings, without burlab, and equal."""

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import burlab as bl
from burlab.cli import demo
from burlab.errors import ArgumentError, FileError, ShapeError

RNG = np.random.default_rng(0)
pytestmark = pytest.mark.skipif(shutil.which("g++") is None, reason="no g++")


def compile_and_run(folder: Path) -> "subprocess.CompletedProcess[str]":
    flags = ["-std=c++20", "-O2", "-Wall", "-Werror"]
    built = subprocess.run(
        ["g++", *flags, "main.cpp", "-o", "run"], cwd=folder, capture_output=True, text=True, check=False
    )
    assert built.returncode == 0, built.stderr[:3000]
    return subprocess.run([folder / "run"], capture_output=True, text=True, check=False)


def mlp(p: Any, x: Any, y: Any) -> Any:
    for k, (w, b) in enumerate(p):
        x = x @ w + b if k == len(p) - 1 else np.tanh(x @ w + b)
    return bl.logsumexp(x) - x[y]


def scalar(a: Any, b: Any) -> Any:
    return np.exp(-a) * np.sin(a * b) ** 3 / (1.0 + b**2) + np.maximum(a, b)


def waves(x: Any) -> Any:
    return np.cos(x) - np.sinh(x)


def loop(x: Any) -> Any:
    y = bl.while_loop(lambda y: np.sum(y) < 100.0, lambda y: y * 1.5 + x, x)
    return bl.cond(np.sum(y) > 1.0, np.cumsum, np.negative, y)


def tables(t: Any, i: Any) -> Any:
    wide = np.concatenate([t[i], t[:2]])
    normal = (wide - np.mean(wide, -1, keepdims=True)) / np.sqrt(np.var(wide, -1, keepdims=True) + 1e-3)
    return np.sum(bl.softmax(normal) * np.arange(5.0)) + np.max(t)


def sequence(cell: Any, xs: Any) -> Any:
    return np.sum(bl.scan(cell, cell.start(), xs)[1] ** 2)


P = [(RNG.normal(size=(6, 8)) / 3, RNG.normal(size=8)), (RNG.normal(size=(8, 4)) / 3, RNG.normal(size=4))]
SINGLE = [(w.astype(np.float32), b.astype(np.float32)) for w, b in P]
CASES = {
    "mlp": (mlp, P, RNG.normal(size=6), 2),
    "single": (mlp, SINGLE, RNG.normal(size=6).astype(np.float32), np.int64(3)),
    "scalar": (scalar, 0.7, -1.3),
    "waves": (waves, RNG.normal(size=3)),
    "loop": (loop, np.array([0.5, 1.0, 2.0])),
    "sequence": (sequence, bl.nn.LSTMCell(3, 5, key=bl.random.key(1)), RNG.normal(size=(4, 3)).astype(np.float32)),
    "tables": (tables, RNG.normal(size=(9, 5)), np.array([1, 0, 8, 1])),
}


@pytest.mark.parametrize("name", CASES)
def test_exported_kernel_compiles_without_warnings_and_agrees(name: str, tmp_path: Path) -> None:
    f, *args = CASES[name]
    k = bl.compile(f, *args)
    k.export(tmp_path / "out")
    assert sorted(p.name for p in (tmp_path / "out").iterdir()) == sorted(["main.cpp", f"{f.__name__}.hpp"])
    ran = compile_and_run(tmp_path / "out")
    assert ran.returncode == 0, ran.stdout
    assert ran.stdout.endswith("agrees\n")


def test_the_model_of_the_demo_agrees(tmp_path: Path) -> None:
    context, target = np.array([1, 0, 26]), np.int64(4)
    model = demo.start(27, RNG)
    bl.compile(demo.loss, model, context, target).export(tmp_path, demo.start(27, RNG), context, target)
    assert compile_and_run(tmp_path).returncode == 0


def test_a_layer_replayed_and_computed_again_agrees(tmp_path: Path) -> None:
    model = bl.nn.MLP([12, 16, 5], key=bl.random.key(0))
    f = lambda m, x, y: bl.nn.cross_entropy(m(x), y)  # noqa: E731 - a lambda has no name of its own
    x, y = RNG.normal(size=(7, 12)).astype(np.float32), RNG.integers(0, 5, 7)
    bl.compile(f, model, x, y, gear="replay", remat="sqrt").export(tmp_path, model, x, y)
    assert (tmp_path / "kernel.hpp").exists()
    assert compile_and_run(tmp_path).returncode == 0


def test_a_wrong_number_is_noticed(tmp_path: Path) -> None:
    bl.compile(scalar, 1.0, 2.0).export(tmp_path, 0.7, -1.3)
    main = tmp_path / "main.cpp"
    text = main.read_text()
    changed = re.sub(r"(want1\[\] = \{\s*)\S+\}", r"\g<1>0.125}", text)
    assert changed != text
    main.write_text(changed)
    ran = compile_and_run(tmp_path)
    assert ran.returncode == 1
    assert ran.stdout.endswith("DIFFERS\n")


def test_exported_text_has_no_local_path_and_checks_its_arguments(tmp_path: Path) -> None:
    k = bl.compile(scalar, 1.0, 2.0)
    text = k.to_cpp()
    assert '#include "' not in text
    assert str(Path(bl.__file__).parent) not in text
    with pytest.raises(ShapeError):
        k.export(tmp_path, np.ones(3), 1.0)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["double", "main", "std", "near", "gamma", "a b", "x\n#error", "café", "_x", ""])
def test_a_name_that_cpp_has_no_use_for_becomes_kernel(name: str, tmp_path: Path) -> None:
    def f(x: Any) -> Any:
        return x * 2

    f.__name__ = name
    k = bl.compile(f, 1.0)
    k.export(tmp_path, 3.0)
    assert (tmp_path / "kernel.hpp").exists()
    assert compile_and_run(tmp_path).returncode == 0


def test_arguments_of_any_name_and_folders_that_cannot_be(tmp_path: Path) -> None:
    k = bl.compile(lambda p: p['a\n"\\ #error'] * 2, {'a\n"\\ #error': 1.0})
    assert "#error" not in k.to_cpp()
    (tmp_path / "file").touch()
    with pytest.raises(FileError, match="cannot be made"):
        k.export(tmp_path / "file" / "x")
    with pytest.raises(ArgumentError, match="null character"):
        k.export("a\0b")
