"""The flagship programs, small: each gives named arrays. They run together in a process for each base and set.

python -m tests.matrix.programs results.npz [program ...]
"""

import contextlib
import io
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import burlab as bl
from burlab.cli import doctor
from burlab.graph import tree
from tests.transforms.models import MODELS

Array = np.ndarray[Any, Any]
Results = dict[str, Any]
KEY = bl.random.key(3)


def losses(model: Any, x: Any, y: Any) -> Any:
    return bl.nn.cross_entropy(model(x), y)


def trained(problem: Any, model: Any, batch: int, steps: int) -> Results:
    run = bl.minimize(problem, model, bl.optim.Adam(3e-3), batch=batch, steps=steps, progress=False)
    values = np.asarray(run.history["value"], tree.flatten(model)[0][0].dtype)  # what they were computed in
    return {f"x after {steps} steps of {batch}": run.x, f"values of {batch}": values}


def texts() -> tuple[Array, Array]:
    tokens = np.random.default_rng(1).integers(0, 33, (96, 9))
    return tokens[:, :-1], tokens[:, 1:]


def gpt() -> Results:
    problem = bl.FiniteSum(losses, texts())
    model = bl.nn.GPT(33, 8, 24, 6, 2, key=KEY)
    per_sample = problem.per_sample_grads(model, np.arange(3))
    return {**trained(problem, model, 1, 4), **trained(problem, model, 64, 2), "gradients": per_sample}


def mlp() -> Results:
    rng = np.random.default_rng(2)
    data = rng.normal(size=(70, 19)).astype(np.float32), rng.integers(0, 5, 70)
    model = bl.nn.MLP([19, 33, 64, 5], key=KEY)
    problem = bl.FiniteSum(losses, data)
    return {**trained(problem, model, 1, 4), **trained(problem, model, 64, 3), "value": problem.value(model)}


def lstm() -> Results:
    rng = np.random.default_rng(4)

    def loss(cell: Any, xs: Any) -> Any:
        return np.mean(bl.scan(cell, cell.start(), xs)[1] ** 2)

    results: Results = {}
    for dtype in (np.float32, np.float64):
        cell = bl.nn.LSTMCell(5, 18, key=KEY, dtype=dtype)
        value_and_gradient = bl.value_and_grad(loss)(cell, rng.normal(size=(9, 5)).astype(dtype))
        results[np.dtype(dtype).name] = value_and_gradient
    return results


def convolution() -> Results:
    rng = np.random.default_rng(5)
    layers = bl.nn.Conv2d(2, 5, 3, stride=2, key=KEY), bl.nn.Conv1d(5, 4, 3, padding=1, key=KEY)
    images = rng.normal(size=(6, 2, 9, 11)).astype(np.float32)

    def loss(layers: Any, image: Any) -> Any:
        h = bl.relu(layers[0](image))
        return np.sum(bl.nn.max_pool(layers[1](np.reshape(h, (5, -1))), 2) ** 2)

    return trained(bl.FiniteSum(loss, (images,)), layers, 4, 3)


def mixture() -> Results:
    model, p, (points,) = MODELS["mixture"]
    problem = bl.FiniteSum(lambda p, x: model(np, p, x[None]), (np.tile(points, (5, 1)),))
    return {"mean": problem.value(p), "gradient": problem.grad(p), **trained(problem, p, 16, 3)}


def models() -> Results:
    """Value and gradient in both gears."""
    results: Results = {}
    for name, (model, p, data) in MODELS.items():
        for gear in ("compiled", "replay"):
            k = bl.compile(lambda p, *data, f=model: f(np, p, *data), p, *data, gear=gear)
            results[f"{name} {gear}"] = k.value_and_grad(p, *data)
    return results


def single(name: str) -> tuple[Any, Any, list[Array]]:
    """A model in float32: its function, parameters and data."""
    model, p, data = MODELS[name]
    leaves, structure = tree.flatten(p)
    few = [x.astype(np.float32) if x.dtype.kind == "f" else x for x in data]
    return model, tree.unflatten(structure, [leaf.astype(np.float32) for leaf in leaves]), few


def sums_of(x: Any) -> Any:
    """Sums, extremes and norms along rows and columns, whole and in awkward parts."""
    rows = np.sum(x, axis=-1), np.max(x, axis=-1), np.sum(x**2, axis=-1), np.mean(x[:, 3:], axis=-1)
    columns = np.sum(x, axis=0), np.min(x, axis=0), np.cumsum(x, axis=0)[-1], np.sum(x[:, ::2], axis=0)
    norms = bl.softmax(x), bl.logsumexp(x), np.sum(np.tanh(x)), np.argmax(x, axis=-1)
    return rows, columns, norms


def products_of(a: Any, b: Any) -> Any:
    """In register blocks, in lanes and in phases."""
    return a @ b, a @ b[:, 0], a[0] @ b, np.einsum("ik,jk->ij", a, b.T)


def scores_of(x: Any) -> Any:
    """Many small products."""
    return x @ np.swapaxes(x, -1, -2) @ x


def kernel_cases() -> dict[str, tuple[Any, ...]]:
    """Functions of the library's kernels and their arguments, of sizes that fill registers and that do not."""
    rng = np.random.default_rng(6)
    cases: dict[str, tuple[Any, ...]] = {}
    for dtype in ("float32", "float64"):
        for width in (4, 13, 40, 700):
            cases[f"sums {dtype} {width}"] = sums_of, rng.normal(size=(21, width)).astype(dtype)
        for m, k, n in ((1, 70, 40), (1, 300, 7), (16, 4, 4), (17, 33, 29), (9, 130, 8), (64, 24, 72)):
            a, b = rng.normal(size=(m, k)).astype(dtype), rng.normal(size=(k, n)).astype(dtype)
            cases[f"products {dtype} {m} {k} {n}"] = products_of, a, b
        cases[f"attention {dtype}"] = scores_of, rng.normal(size=(2, 5, 16, 8)).astype(dtype)
    return cases


def kernels() -> Results:
    results: Results = {}
    for name, (f, *arrays) in kernel_cases().items():
        for gear in ("compiled", "replay"):
            results[f"{name} {gear}"] = bl.compile(f, *arrays, gear=gear)(*arrays)
    return results


def drawn() -> Results:
    draw = bl.jit(lambda key: (bl.random.normal(key, (37,)), bl.random.uniform(key, (5,), dtype=np.float32)))
    return {"numbers": draw(KEY)}


def tape() -> Results:
    results: Results = {}
    with bl.Tape() as made:
        x, y, z = bl.Value(0.7), bl.Value(-1.3), bl.Value(2.1)
        out = (x * y + z**2).tanh() + (x / z).exp() * bl.relu(y + 2.0) + sum(k * x * z for k in range(30))
        out.backward()
        results["value"] = [v.data for v in (out, x, y, z)] + [v.grad for v in (x, y, z)]
        results["nodes"] = len(made)
    from burlab.eager.cells import Cells

    cell = Cells().run("Value wave(Value x) { Value y = x; for (int k = 0; k < 5; ++k) y = sin(y * x) + y; return y; }")
    x = bl.Value(0.4)
    wave = cell["wave"](x)
    wave.backward()
    return {**results, "cell": [wave.data, x.grad]}


def lanes() -> Results:
    """Replay of scalar code, one by one and in lanes of rows."""

    def f(a: Any, b: Any) -> Any:
        for _ in range(6):
            a = np.tanh(a * b + 0.3) - np.exp(-a * a) * b + np.sin(a) / (2.0 + b * b)
        return a * b

    rng = np.random.default_rng(8)
    results: Results = {}
    for dtype in (np.float32, np.float64):
        a, b = (rng.normal(size=83).astype(dtype) for _ in range(2))
        for gear in ("replay", "compiled"):
            k = bl.compile(bl.value_and_grad(f, argnums=(0, 1)), a[0], b[0], gear=gear)
            results[f"{np.dtype(dtype).name} {gear}"] = k.map(a, b)
    return results


def profile() -> Results:
    """That it measures is for other tests: here, that twins with clocks compile, and the run goes on as it was."""
    model, p, data = MODELS["gpt"]
    k = bl.compile(lambda p, *data: model(np, p, *data), p, *data)
    rows = k.profile(p, *data).rows
    run = bl.minimize(bl.FiniteSum(losses, texts()), bl.nn.GPT(33, 8, 12, 3, 1, key=KEY), bl.optim.GD(0.1), batch=4)
    run.step(2)
    run.profile()
    run.step(1)
    return {"rows": len(rows) > 5 and all(row.nanoseconds >= 0 for row in rows), "x": run.x}


def curvature() -> Results:
    """Second derivatives, loops, and optimizers that ask for more than a gradient."""
    f = bl.problems.rosenbrock()
    newton = bl.minimize(f, f.start, bl.optim.Newton(), steps=4, progress=False).x
    lbfgs = bl.minimize(f, f.start, bl.optim.LBFGS(), steps=6, progress=False).x
    loop = bl.while_loop(lambda s: np.sum(s) < 90.0, lambda s: s * 1.3 + 1.0, np.ones(7))
    return {"hessian": bl.hessian(f)(f.start), "newton": newton, "lbfgs": lbfgs, "loop": loop}


def exported() -> Results:
    """The texts of programs, which other compilers make and run: `test_bases.py`."""
    results: Results = {}
    for name in ("gpt", "mixture"):
        model, p, data = single(name)
        with tempfile.TemporaryDirectory() as folder:
            bl.compile(lambda p, *data, f=model: f(np, p, *data), p, *data).export(folder)
            for file in sorted(Path(folder).iterdir()):
                results[f"{name}/{file.name}"] = file.read_text()
    return results


def examined() -> Results:
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        code = doctor.main()
    assert code == 0, said.getvalue()
    return {"works": "burlab works here." in said.getvalue()}


PROGRAMS: tuple[Callable[[], Results], ...] = (
    *(gpt, mlp, lstm, convolution, mixture, models, kernels, drawn),
    *(tape, lanes, profile, curvature, exported, examined),
)


def arrays_of(results: Results) -> dict[str, Array]:
    """Every array of results, by name and place."""
    return {
        f"{name} [{k}]": np.asarray(leaf)
        for name, result in results.items()
        for k, leaf in enumerate(tree.flatten(result)[0])
    }


if __name__ == "__main__":
    chosen = [f for f in PROGRAMS if f.__name__ in (sys.argv[2:] or f.__name__)]
    np.savez(sys.argv[1], **arrays_of({f"{f.__name__}: {name}": x for f in chosen for name, x in f().items()}))
