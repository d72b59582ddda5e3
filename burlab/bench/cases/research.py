"""Steps of methods of the literature: each against the same steps in plain NumPy, and optax or PyTorch for some.

The problem is logistic regression with l2 in 20 dimensions. Optimizers and estimators of gradients take one of 10,000
samples per step, in their order; methods of clients take 20 clients with 100 samples each.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from burlab.bench.problem import Case, Method, Size
from burlab.communication.compressors import RandK, TopK

DIMENSION, SAMPLES, CLIENTS, CLIENT_SAMPLES, L2 = 20, 10_000, 20, 100, 0.01

# The methods, with the arguments that they are run with.
ONE_SAMPLE: Mapping[str, Mapping[str, Any]] = {
    "GD": {"lr": 0.05},
    "Adam": {"lr": 0.01},
    "Lion": {"lr": 0.001},
    "DoG": {},
    "Prodigy": {"bias_correction": True},
    "MeZO": {"lr": 0.002},
    "SVRG": {"lr": 0.02, "every": 1000},
    "SARAH": {"lr": 0.02, "every": 1000},
    "SAGA": {"lr": 0.02},
    "MVR": {"lr": 0.02, "a": 0.1},
    "STORM": {"k": 0.1, "w": 0.1, "c": 100.0},
    "SAM": {"lr": 0.02, "rho": 0.05},
    "masked momentum": {"lr": 0.01, "momentum": 0.9, "kept": 5},
}
ALL_CLIENTS: Mapping[str, Mapping[str, Any]] = {
    "DCGD": {"lr": 0.1, "compressor": RandK(4)},
    "EF21": {"lr": 0.1, "compressor": TopK(4)},
    "DIANA": {"lr": 0.1, "compressor": RandK(4)},
    "MARINA": {"lr": 0.1, "compressor": RandK(4)},
    "DASHA": {"lr": 0.1, "compressor": RandK(4)},
    "FedAvg": {"lr": 0.1, "tau": 5},
    "SCAFFOLD": {"lr": 0.1, "tau": 5},
    "FedNL": {"lr": 1.0, "compressor": TopK(20)},
}
IN_OPTAX = ("GD", "Adam", "Lion", "DoG", "Prodigy")
IN_TORCH = ("SAM", "masked momentum")


def problem(size: Size) -> Method:
    """The problem that a method is run on, the same whenever it is made."""
    name = size["method"]
    clients = name in ALL_CLIENTS
    rng = np.random.default_rng(0)
    shape = (CLIENTS, CLIENT_SAMPLES) if clients else (SAMPLES,)
    features = rng.normal(size=(*shape, DIMENSION)) * (np.exp(0.3 * rng.normal(size=(CLIENTS, 1, 1))) if clients else 1)
    labels = np.where(features @ rng.normal(size=DIMENSION) + rng.normal(size=shape) > 0, 1.0, -1.0)
    options = (ALL_CLIENTS if clients else ONE_SAMPLE)[name]
    return Method(name, options, features, labels, L2, rng.normal(size=(2, DIMENSION)))


def _skip(size: Size, engine: str, variant: str) -> str:  # noqa: ARG001
    if engine == "torch":
        return "" if size["method"] in IN_TORCH else "its optimizers are compared by optax's"
    return "" if engine != "optax" or size["method"] in IN_OPTAX else "optax does not have this method"


_SIZES = tuple({"method": name} for name in (*ONE_SAMPLE, *ALL_CLIENTS))

CASE = Case(
    "research",
    "research: a step of methods of the literature, on logistic regression in 20 dimensions (float64)",
    problem,
    {"burlab": ("minimize",), "numpy": ("loop",), "optax": ("a call per step", "loop in XLA"), "torch": ("eager",)},
    unit="step",
    sizes=_SIZES,
    quick=({"method": "SAGA"}, {"method": "EF21"}),
    note="One of 10,000 samples per step, or all of 20 clients with 100 samples each. Arrays: what the method keeps.",
    skip=_skip,
)
