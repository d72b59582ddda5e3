"""The main job without Jupyter: a neural network learns to spell last names, and then invents some.

The model is the one of Bengio, Ducharme, Vincent and Jauvin 2003, A Neural Probabilistic Language Model, for characters
and without direct connections: each character is a point in space, the points of the last three go through one hidden
layer, and out comes a score for each character that may follow. It is plain NumPy; burlab differentiates it.
"""

import os
import sys
from pathlib import Path
from typing import Any

import numpy as np

import burlab as bl
from burlab._version import __version__
from burlab.data import Dataset, last_names
from burlab.runtime.extras import require
from burlab.typing import Array

CONTEXT, EMBEDDING, HIDDEN = 3, 8, 32
STEPS = 7000
Model = dict[str, Any]


def start(characters: int, rng: np.random.Generator) -> Model:
    """Random weights, float32."""
    model = {
        "embedding": rng.normal(size=(characters, EMBEDDING)),
        "hidden": rng.normal(size=(CONTEXT * EMBEDDING, HIDDEN)) / np.sqrt(CONTEXT * EMBEDDING),
        "hidden_bias": np.zeros(HIDDEN),
        "output": rng.normal(size=(HIDDEN, characters)) * 0.1,
        "output_bias": np.zeros(characters),
    }
    return {name: weights.astype(np.float32) for name, weights in model.items()}


def scores(model: Model, context: Array) -> Any:
    """Return the score of each character as the next one after the context, shape (characters,)."""
    x = np.reshape(model["embedding"][context], -1)
    h = np.tanh(x @ model["hidden"] + model["hidden_bias"])
    return h @ model["output"] + model["output_bias"]


def loss(model: Model, context: Array, target: Array) -> Any:
    """The cross-entropy of the character that did follow: -log softmax(scores)[target]."""
    z = scores(model, context)
    return bl.logsumexp(z) - z[target]


def invent(model: Model, data: Dataset, rng: np.random.Generator) -> str:
    """A name, character by character. The largest of the scores plus Gumbel noise is a draw from their softmax."""
    name = "." * CONTEXT
    while True:
        z = scores(model, data.encode(name[-CONTEXT:]))
        name += data.vocabulary[np.argmax(z + rng.gumbel(size=len(z)))]
        if name.endswith("."):
            return name.strip(".")


def train(problem: bl.FiniteSum, model: Model, steps: int, seed: int) -> bl.Run:
    """Adam with a large step size for five sevenths of the steps, then a small one; an interrupt ends it early."""
    run = bl.minimize(problem, model, bl.optim.Adam(lr=1e-2), batch=512, seed=seed)
    try:
        run.step(steps * 5 // 7, progress=True)
        run.hyper["lr"] = 1e-3
        run.step(steps - steps * 5 // 7, progress=True)
    except KeyboardInterrupt:
        print(f"\nInterrupted at step {run.t}: this is what was reached.")
    return run


def main(steps: int | None = None, seed: int = 0, out: Path = Path("report.html")) -> int:
    """Train, print the loss and some names, write the report; return the exit code."""
    if not out.parent.is_dir():
        print(
            f"burlab: there is no folder {out.parent} for the report. Make it, or choose another --out.",
            file=sys.stderr,
        )
        return 1
    require("plotly.graph_objects", "lab")  # the report comes last, and a minute later
    data, rng = last_names(CONTEXT), np.random.default_rng(seed)
    problem = bl.FiniteSum(loss, (data.features, data.targets), threads=min(4, os.cpu_count() or 1))
    model = start(len(data.vocabulary), rng)
    size = sum(weights.size for weights in model.values())
    print(f"{np.sum(data.targets == 0):,} last names, {len(problem):,} characters to predict, {size:,} parameters")
    run = train(problem, model, STEPS if steps is None else steps, seed)
    value, guess = float(problem.value(run.x)), float(np.log(len(data.vocabulary)))
    print(f"mean cross-entropy per character over all names: {value:.4f} (a uniform guess: {guess:.4f})")
    names = [invent(run.x, data, rng) for _ in range(40)]
    print("invented:", ", ".join(names[:20]))
    report(out, run, problem, value, guess, names)
    print(f"report: {out}")
    return 0


def report(out: Path, run: bl.Run, problem: bl.FiniteSum, value: float, guess: float, names: list[str]) -> None:
    """Write the curve, the facts and the names."""
    from burlab.plots import training_curve, write_report

    history = run.history
    levels = {"uniform guess": guess, "all names, at the end": value}
    figure = training_curve(history["samples"] / len(problem), history["value"], levels=levels, x_title="epoch")
    seconds = history["time"][-1] / 1e9 if run.t else 0.0
    facts = {
        "mean cross-entropy per character, all names": f"{value:.4f}",
        "a uniform guess": f"{guess:.4f}",
        "steps": f"{run.t:,} of 512 characters, in {seconds:.1f} s",
        "model": f"context {CONTEXT}, embedding {EMBEDDING}, hidden {HIDDEN}, tanh (Bengio et al. 2003)",
        "burlab": __version__,
    }
    write_report(out, "A network that learned to spell last names", facts, figure, {"Invented names": names})
