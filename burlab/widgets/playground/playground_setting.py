"""The data, network and optimizer of a playground, as a run and as the lines of code that make the run."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

import burlab as bl
from burlab.data.planar_sets import KINDS
from burlab.errors import ArgumentError, ShapeError
from burlab.run import Event, Run
from burlab.runtime.checks.numbers import one_of, shown, whole
from burlab.runtime.plain import as_array, as_floats
from burlab.runtime.ranges import NOT_NEGATIVE, POSITIVE, number_in
from burlab.typing import Numbers

USER_DATA = "your arrays"
RATES = {"GD": 0.3, "Momentum": 0.1, "Nesterov": 0.1, "RMSProp": 0.01, "Adam": 0.03, "Lion": 0.01, "SignSGD": 0.01}
"""The optimizers that a menu offers, each with the learning rate that it begins with."""
ACTIVATIONS = ("tanh", "relu", "sigmoid", "gelu")
DTYPES = ("float32", "float64")
NUMBERS = {
    "exact": "exact numbers",
    "bfloat16": "bfloat16",
    "float16": "float16",
    "e5m2": "float8 e5m2",
    "e4m3": "float8 e4m3",
    "e2m1": "float4 e2m1",
}
"""Formats that x, the loss and the gradient are rounded to, with their titles: exact is the dtype."""
ROUNDINGS = ("nearest", "stochastic")
MAX_LAYERS, MAX_NEURONS = 6, 8  # hidden layers, and neurons in each: more cannot be told apart in the picture


@dataclass(frozen=True)
class PlaygroundSetting:
    """The data, the network and the optimizer of a playground.

    data: the name of a set of `bl.data.synthetic_plane`, or USER_DATA. own: the user's points, shape (n, 2), and
    classes -1 and 1, shape (n,). noise, samples: of the named sets. hidden: neurons in each hidden layer. lr: None for
    that of RATES. batch: samples of a step. seed: of data, start and samples. numbers: of NUMBERS; rounding: of x after
    a step. The state of the optimizer has the dtype: in 8 bits Adam's squares of gradients are 0.
    """

    data: str = "circles"
    noise: float = 0.2
    samples: int = 200
    hidden: tuple[int, ...] = (4, 3)
    activation: str = "tanh"
    optimizer: str = "Adam"
    lr: float | None = None
    batch: int = 20
    dtype: str = "float32"
    seed: int = 0
    numbers: str = "exact"
    rounding: str = "nearest"
    own: tuple[Numbers, Numbers] | None = None

    def __post_init__(self) -> None:
        one_of(self.data, (*KINDS, USER_DATA) if self.own is not None else KINDS, "data")
        one_of(self.activation, ACTIVATIONS, "activation")
        one_of(self.optimizer, RATES, "optimizer")
        one_of(self.dtype, DTYPES, "dtype")
        one_of(self.numbers, NUMBERS, "numbers")
        one_of(self.rounding, ROUNDINGS, "rounding")
        number_in(NOT_NEGATIVE, self.noise, "noise")
        if self.lr is not None:
            number_in(POSITIVE, self.lr, "lr")
        whole(self.samples, "samples", 2)
        whole(self.seed, "seed", 0)
        whole(self.batch, "batch", 1, len(self.points[1]))
        if len(self.hidden) > MAX_LAYERS or not all(
            1 <= whole(count, "hidden", 1) <= MAX_NEURONS for count in self.hidden
        ):
            raise ArgumentError(
                f"hidden is {shown(self.hidden)}, expected at most {MAX_LAYERS} layers of 1 to {MAX_NEURONS} neurons."
            )

    @cached_property
    def points(self) -> tuple[Numbers, Numbers]:
        """The points, shape (n, 2), and their classes, -1 or 1, shape (n,), float64."""
        if self.data == USER_DATA and self.own is not None:
            return self.own
        data = bl.data.synthetic_plane(self.data, self.samples, noise=self.noise, seed=self.seed)
        return data.features, 2.0 * data.targets - 1.0

    @property
    def widths(self) -> list[int]:
        """Neurons of each layer, from the two inputs to the one output."""
        return [2, *self.hidden, 1]

    @property
    def title(self) -> str:
        """The optimizer, the data and the numbers in words."""
        numbers = "" if self.numbers == "exact" else f" in {NUMBERS[self.numbers]}"
        return f"{self.optimizer} on {self.data}{numbers}"

    @property
    def rate(self) -> float:
        """The learning rate at the start."""
        return RATES[self.optimizer] if self.lr is None else self.lr

    def network(self) -> Any:
        """The network before training."""
        return bl.nn.MLP(self.widths, key=bl.random.key(self.seed), activation=self.activation, dtype=self.dtype)

    def run(self, network: Any) -> Run:
        """Return a run at step 0 that trains a network."""
        points, classes = (array.astype(self.dtype) for array in self.points)
        optimizer = getattr(bl.optim, self.optimizer)(lr=self.rate)
        problem, options = bl.FiniteSum(loss, (points, classes)), self._formats
        formats = bl.Formats(**options) if options else None
        return bl.minimize(problem, network, optimizer, batch=bl.Batch(self.batch), seed=self.seed, formats=formats)

    @property
    def _formats(self) -> dict[str, Any]:
        """The arguments of `bl.Formats`; {} for exact numbers."""
        if self.numbers == "exact":
            return {}
        names = dict.fromkeys(("params", "compute", "gradients"), self.numbers)
        return {**names, "master": False, "stochastic": self.rounding == "stochastic"}

    def code(self, events: tuple[Event, ...] | list[Event], steps: int) -> str:
        """Return the lines that make a run of this setting, and lead it to the same step with the same bits.

        Args:
            events: The changes of hyperparameters in the run.
            steps: The step where it is.
        """
        if self.data == USER_DATA:
            data = "points, classes = ...  # your arrays: shape (n, 2), and (n,) with -1 or 1"
        else:
            call = f'bl.data.synthetic_plane("{self.data}", {self.samples}, noise={self.noise!r}, seed={self.seed})'
            data = f"data = {call}\npoints, classes = data.features, 2.0 * data.targets - 1.0"
        optimizer = f"bl.optim.{self.optimizer}(lr={self.rate!r})"
        given = ", ".join(f"{name}={value!r}" for name, value in self._formats.items()).replace("'", '"')
        formats = f",\n    formats=bl.Formats({given}),\n" if given else ""
        changes = [(event.step, event.name, event.value) for event in events if event.step <= steps]
        again = f"for step, name, value in {changes}:\n    run.step(step - run.t)\n    run.hyper[name] = value\n"
        return f"""# The run of the playground at step {steps}. Paste this into a cell.
import burlab as bl

{data}
net = bl.nn.MLP({self.widths}, key=bl.random.key({self.seed}), activation="{self.activation}", dtype="{self.dtype}")


def loss(net, point, label):
    return bl.nn.logistic(net(point)[0], label)


problem = bl.FiniteSum(loss, (points.astype("{self.dtype}"), classes.astype("{self.dtype}")))
run = bl.minimize(problem, net, {optimizer}, batch=bl.Batch({self.batch}), seed={self.seed}{formats})
{again if changes else ""}run.step({f"{steps} - run.t" if changes else steps})
net = run.x
bl.analysis.boundary(lambda point: net(point.astype("{self.dtype}"))[0], points, classes)
"""


def loss(net: Any, point: Any, label: Any) -> Any:
    """Return the logistic loss of one sample: the code says the same."""
    return bl.nn.logistic(net(point)[0], label)


def own_data(features: Any, labels: Any) -> tuple[Numbers, Numbers]:
    """Return arrays of a user as points, shape (n, 2), and classes, -1 or 1.

    Raises:
        ShapeError: The points are not in a plane, or there is not one label for each.
        ArgumentError: The labels are not of two kinds, or a point is not finite.
    """
    points, kinds = as_floats(features, "features"), as_array(labels, "labels")
    if points.ndim != 2 or points.shape[1] != 2 or kinds.shape != points.shape[:1]:
        raise ShapeError(
            f"data has features of shape {points.shape} and labels of shape {kinds.shape}, expected (n, 2) and (n,): "
            "points in a plane, and the class of each. Choose two columns."
        )
    if not np.isfinite(points).all():
        raise ArgumentError("features must be finite; they hold nan or inf. Leave these rows out.")
    names = np.unique(kinds)
    if len(names) != 2:
        raise ArgumentError(f"labels hold {len(names)} different values, expected 2: the playground parts two classes.")
    return np.asarray(points, np.float64), np.where(kinds == names[1], 1.0, -1.0)
