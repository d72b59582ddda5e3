"""Training of a network with 1 % of its links: steps of momentum, with links that stay or that change every 100 steps.

SET: Mocanu et al. 2018, arXiv:1707.04780. RigL: Evci et al. 2020, arXiv:1911.11134.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, cast

import numpy as np

from burlab.bench.problem import Array, Case, Size, SparseTraining, Timed

SAMPLES, EVERY, FRACTION = 6_400, 100, 0.3
VARIANTS = ("dense", "links that stay", "SET", "RigL")
DENSE = VARIANTS[0]


def problem(size: Size) -> SparseTraining:
    """Two layers with few links, and one with all."""
    rng, sizes = np.random.default_rng(0), (size["inputs"], size["hidden"], size["hidden"], 10)
    weights, links = list[Array](), list[Array | None]()
    for k, shape in enumerate(pairwise(sizes)):
        whole = k == len(sizes) - 2
        count = round(size["density"] * shape[0] * shape[1])
        places = np.sort(cast("Any", rng.choice(shape[0] * shape[1], count, replace=False)))
        w = rng.normal(size=shape) / np.sqrt(shape[0] * (1 if whole else size["density"]))
        if not whole:
            kept = np.zeros(w.size)
            kept[places] = w.reshape(-1)[places]
            w = kept.reshape(shape)
        weights.append(w)
        links.append(None if whole else places)
    inputs, targets = rng.normal(size=(SAMPLES, sizes[0])), rng.normal(size=(SAMPLES, sizes[-1]))
    return SparseTraining(
        tuple(weights), tuple(links), inputs, targets, size["batch"], 0.01, 0.9, EVERY, FRACTION, steps=EVERY
    )


def conclusions(lines: Sequence[Timed]) -> list[str]:
    """Sentences: the time of steps with few links over that of dense ones, of each engine and size."""
    found = list[str]()
    for line in lines:
        dense = next((x for x in lines if (x.engine, x.variant, x.size) == (line.engine, DENSE, line.size)), None)
        if line.seconds and line.variant != DENSE and dense is not None and dense.seconds:
            ratio = line.seconds / dense.seconds
            found.append(
                f"{line.engine}, batch {line.size['batch']}, {line.variant}: {ratio:.2f} of its own dense step's time."
            )
    return found


CASE = Case(
    "sparse",
    "sparse: 100 steps of a network with 1 % of its links, which stay or change every 100 steps (float32)",
    problem,
    {"burlab": VARIANTS, "numpy": VARIANTS},
    unit="100 steps",
    sizes=tuple({"inputs": 784, "hidden": 1000, "density": 0.01, "batch": b} for b in (32, 128)),
    quick=({"inputs": 64, "hidden": 100, "density": 0.05, "batch": 32},),
    dtype="float32",
    note="In NumPy sparse layers are dense ones with masks, by hand. Of 100 steps one changes links.",
    conclusions=conclusions,
)
