"""Problems of the benchmarks: a model in NumPy functions, its points or data, and an engine's answer."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

Array = np.ndarray[Any, Any]
Size = Mapping[str, Any]  # numbers, or the kind of a problem
Namespace = Any  # NumPy or a module with its functions, with `relu` and `logsumexp`: see namespace.py


@dataclass(frozen=True, slots=True)
class Scalar:
    """A function of a few numbers, recorded operation by operation.

    function: (np_, *numbers) -> number. points: shape (m, k), float64: where it is differentiated, by every argument.
    names: of the k arguments. formula: the same in C++, the body of `template <class T> T formula(const T* x)`; empty
    where the graph is too large to be written down.
    """

    function: Callable[..., Any]
    points: Array
    names: tuple[str, ...]
    formula: str = ""


@dataclass(frozen=True, slots=True)
class Training:
    """Steps of gradient descent on the mean of a loss over batches of samples, taken in their order.

    loss: (np_, parameters, inputs, targets) -> the loss of each sample, for any leading axes of inputs and targets.
    parameters: name -> array, float64. inputs, targets: leading axis n, integers. batch: samples per step. kind:
    which model of another library is the same. lr: step size. dtype: of the steps that are timed.
    difference: how far central differences go, less than what keeps relu from its kinks. device: where the peers
    compute, "cpu" or "cuda".
    """

    loss: Callable[..., Any]
    parameters: Mapping[str, Array]
    inputs: Array
    targets: Array
    batch: int
    kind: str
    lr: float = 0.1
    dtype: str = "float32"
    difference: float = 1e-4
    device: str = "cpu"

    def batch_of(self, step: int) -> slice:
        """The samples of a step; n is a multiple of the batch."""
        first = step * self.batch % len(self.inputs)
        return slice(first, first + self.batch)


@dataclass(frozen=True, slots=True)
class ArrayObjective:
    """A function of named arrays, differentiated by all of them.

    kind: which one. function: (np_, parameters, data) -> number; `np_.grad` is the gradient of the engine. points:
    parameters, name -> array, float64. data: known arrays, of floats or of integers that are indices.
    """

    kind: str
    function: Callable[..., Any]
    points: tuple[Mapping[str, Array], ...]
    data: Mapping[str, Array]


@dataclass(frozen=True, slots=True)
class BatchObjective:
    """A loss of a whole batch, whose samples meet in their embeddings; differentiated by all named arrays.

    embed: (np_, parameters, *rows of the data) -> embeddings, of one sample or of many. meet: (np_, *embeddings) ->
    number. points: parameters, name -> array, float64. data: name -> array, float64, of one row per sample. chunks:
    samples that are embedded at a time, in variants by chunks. dtype: of the gradients that are timed.
    """

    embed: Callable[..., Any]
    meet: Callable[..., Any]
    points: tuple[Mapping[str, Array], ...]
    data: Mapping[str, Array]
    chunks: int
    dtype: str = "float32"

    def function(self, np_: Namespace, parameters: Mapping[str, Any], data: Mapping[str, Any]) -> Any:
        """The loss of the whole batch at once."""
        return self.meet(np_, *self.embed(np_, parameters, *data.values()))


@dataclass(frozen=True, slots=True)
class SparseTraining:
    """Steps of momentum on the mean squared error of a network of tanh whose layers have few of their links.

    weights: of each layer, shape (in, out), float64, 0 where there is no link. links: of each layer the places of its
    links in the flat matrix, ascending, or None where it has all. inputs, targets: float64, one row per sample; each
    step takes `batch` of them in their order. every, fraction: steps from one change of links to the next, and the
    share of links that change. dtype: of the steps that are timed, of which one repetition does `steps`.
    """

    weights: tuple[Array, ...]
    links: tuple[Array | None, ...]
    inputs: Array
    targets: Array
    batch: int
    lr: float
    momentum: float
    every: int
    fraction: float
    steps: int
    dtype: str = "float32"

    @property
    def parameters(self) -> Mapping[str, Array]:
        """Weights and biases before the first step."""
        weights = {f"w{k}": w for k, w in enumerate(self.weights)}
        return weights | {f"b{k}": np.zeros(w.shape[1]) for k, w in enumerate(self.weights)}

    def batch_of(self, step: int) -> slice:
        """The samples of a step; their number is a multiple of the batch."""
        first = step * self.batch % len(self.inputs)
        return slice(first, first + self.batch)

    def by_links(self, arrays: Mapping[str, Array]) -> dict[str, Array]:
        """Weights or their gradients, each as a vector of its links, where not all are there; biases as they are."""
        listed = {f"w{k}": links for k, links in enumerate(self.links) if links is not None}
        return {n: np.reshape(a, -1)[listed[n]] if n in listed else a for n, a in arrays.items()}

    def value(self, x: Mapping[str, Array]) -> float:
        """The loss of the first batch, of weights by links."""
        batch, h = self.batch_of(0), self.inputs[self.batch_of(0)]
        for k, (w, links) in enumerate(zip(self.weights, self.links, strict=True)):
            matrix = x[f"w{k}"]
            if links is not None:
                matrix = np.zeros(w.size)
                matrix[links] = x[f"w{k}"]
            h = h @ np.reshape(matrix, w.shape) + x[f"b{k}"]
            h = np.tanh(h) if k + 1 < len(self.weights) else h
        return float(np.mean((h - self.targets[batch]) ** 2))


@dataclass(frozen=True, slots=True)
class Method:
    """Steps of a method of optimization from zero, on l2-regularized logistic regression in float64.

    name: of the optimizer in `bl.optim`. options: its arguments. features: shape (n, d), of which each step takes one
    sample in their order; or (clients, n, d), of which each step takes all. labels: -1 or 1, of the features' shape
    without d. l2: the weight of |x|^2 / 2. points: shape (m, d), where gradients are compared.
    """

    name: str
    options: Mapping[str, Any]
    features: Array
    labels: Array
    l2: float
    points: Array
    dtype: str = "float64"

    @property
    def clients(self) -> bool:
        """True if the samples belong to clients."""
        return self.features.ndim == 3

    @property
    def parameters(self) -> Mapping[str, Array]:
        """Parameters before the first step."""
        return {"x": np.zeros(self.features.shape[-1])}

    def value(self, x: Array) -> float:
        """The mean of the losses of all samples, and the regularizer."""
        return float(np.mean(np.logaddexp(0.0, -self.labels * (self.features @ x))) + self.l2 / 2 * (x @ x))


@dataclass(frozen=True, slots=True)
class Transfer:
    """Numbers that go to a file and come back.

    numbers: shape (n,), float64. direction: "save" or "load", which is what is timed.
    """

    numbers: Array
    direction: str

    def at(self, point: int) -> Array:
        """Other numbers at each point, so that nothing from before can pass."""
        return self.numbers + point


@dataclass(frozen=True, slots=True)
class OtherNumbers:
    """A function of rows of numbers, with other numbers in their place.

    kind: "values", "intervals", "jets", "rounded" or "digits". function: (np_, x) -> a number for each row of x.
    points: shape (2, m, d), float64: the rows, twice. radius: of the intervals around them. direction: shape (m, d), of
    the jets. order: of these.
    """

    kind: str
    function: Callable[..., Any]
    points: Array
    radius: float
    direction: Array
    order: int


@dataclass(frozen=True, slots=True)
class Start:
    """A scalar problem that a new process solves once."""

    scalar: Scalar


Problem = (
    Scalar | Training | ArrayObjective | BatchObjective | SparseTraining | Method | Transfer | OtherNumbers | Start
)


@dataclass(frozen=True, slots=True)
class Answer:
    """Result of an engine at one point: the value, and the gradient by each named argument or parameter.

    visited: numbers of nodes that the sweep visited and that the graph can reach, where the engine counts them.
    """

    value: float
    gradients: Mapping[str, Array]
    visited: tuple[int, int] | None = None


class Task(Protocol):
    """One problem in one variant of one engine, ready to compute."""

    def answer(self, point: int, dtype: str) -> Answer:
        """Value and gradients at one point, or over one batch, in "float64" or "float32"."""
        ...

    def repeat(self, count: int) -> float:
        """Seconds that `count` gradients or steps take, through what `answer` or `displacements` has shown."""
        ...

    def displacements(self) -> Mapping[str, Array] | None:
        """Return the change of each parameter by the first 2 timed steps, of a method 10; None without steps."""
        ...

    def facts(self) -> Mapping[str, float]:
        """Return further figures: "jit" in seconds, "arrays" in bytes."""
        ...


class Timed(Protocol):
    """The result of a variant, as conclusions read it."""

    @property
    def size(self) -> Size:
        """Of the problem."""
        ...

    @property
    def engine(self) -> str:
        """Name of the engine."""
        ...

    @property
    def variant(self) -> str:
        """Name of the variant."""
        ...

    @property
    def seconds(self) -> float | None:
        """Seconds of one gradient or step; None if it was not timed."""
        ...

    @property
    def facts(self) -> Mapping[str, float]:
        """Further figures."""
        ...


class Unavailable(Exception):
    """This engine does not do this here; the message says why, and what to do."""


@dataclass(frozen=True, slots=True)
class Case:
    """One experiment: which sizes, which problem at each, and in which variants each engine does it.

    quick: the sizes of a short look. variants: engine -> the names of its variants. unit: of the times.
    dtype: of the timed arrays. axis: the size that figures are drawn over. skip: (size, engine,
    variant) -> why not, or "". missing: why nothing of a size is measured here, or "". alone: True to measure the
    memory of each variant in a process of its own. conclusions: sentences about the results, below the tables.
    """

    name: str
    title: str
    problem: Callable[..., Problem]
    variants: Mapping[str, tuple[str, ...]]
    unit: str
    sizes: tuple[Size, ...] = ({},)
    quick: tuple[Size, ...] = ({},)
    dtype: str = "float64"
    axis: str = ""
    note: str = ""
    skip: Callable[[Size, str, str], str] = field(default=lambda _size, _engine, _variant: "")
    missing: Callable[[Size], str] = field(default=lambda _size: "")
    alone: bool = False
    conclusions: Callable[[Sequence[Timed]], Sequence[str]] = field(default=lambda _lines: ())


def label(size: Size) -> str:
    """A size in words.

    >>> label({"hidden": 4, "batch": 64})
    'hidden 4, batch 64'
    """
    return ", ".join(f"{name} {x if isinstance(x, str) else f'{x:,}'}" for name, x in size.items())
