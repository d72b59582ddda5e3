"""Values of a step that queries are about: its batch, its samples, the names of its columns."""

from typing import Any, NamedTuple

import numpy as np

from burlab.errors import DTypeError, IndexRangeError, ShapeError
from burlab.graph import Node
from burlab.graph.node import as_node
from burlab.graph.numpy_api.promotion import as_dtype
from burlab.graph.origin import location
from burlab.typing import ArrayLike

from .part_places import PartPlace

ESTIMATOR_NORM = "estimator_norm"
"""The column of the norm of what `Queries.estimated` was given."""
VALUE = "value"
"""A metric that a rule logs under this name is the value of its step, where the step computes none."""
GRADIENT_NORM = "norm of the gradient"
"""Among the logged numbers: the norm of the gradient of a step whose update reads no g."""
ROWS = "rows"
"""Among the queries of an update: it reads the gradients of its samples at the point of the step."""
BATCH = "batch"
"""The hyperparameter that is the size of a batch."""


class PairedRows(NamedTuple):
    """Two tables of unknowns: each sample's residuals are of a row of each.

    first, second: for each sample the number of its row, int64 of shape (n,). first_shape, second_shape: how many rows
    there are, and numbers in a row.
    """

    first: Any
    second: Any
    first_shape: tuple[int, int]
    second_shape: tuple[int, int]

    @property
    def width(self) -> int:
        """Numbers in a row of both."""
        return self.first_shape[1] + self.second_shape[1]


class Batches(NamedTuple):
    """Samples and batches of a run.

    batch: number of samples of a step. samples: of the problem. full: each step uses all of them, in order. clients:
    number of samples of each client of a federation. elsewhere: True if they are on other machines. weights: of the
    samples, shape (n,), unless they are 1. planned: where the size varies, up to `batch`: the first size, or a
    schedule. targets: size of the model's output for a sample; 0 without a model. clients_log: True if the mean of the
    clients' values is the value of a step. tables: of residuals by pairs of rows. products: the source of the parts
    of a loss of products with sparse rows, where a step uses all of them. numbers: live ones that the loss reads, each
    a `Live`. parts: of x that have losses of their own.
    """

    batch: int = 1
    samples: int = 1
    full: bool = False
    clients: tuple[int, ...] = ()
    elsewhere: bool = False
    weights: Any = None
    planned: Any = None
    targets: int = 0
    clients_log: bool = False
    tables: PairedRows | None = None
    products: Any = None
    numbers: tuple[Any, ...] = ()
    parts: tuple[PartPlace, ...] = ()


PRODUCTS = Batches._fields.index("products")
"""The place of the products, by which they are read without a note of it in `SeenBatches`."""


class SeenBatches(Batches):
    """The same, and which of its sizes, and whether products, an update has read."""

    names: set[str]

    def __new__(cls, *facts: Any) -> "SeenBatches":
        """Nothing is read yet."""
        self = super().__new__(cls, *facts)
        self.names = set()
        return self

    @property
    def batch(self) -> int:  # pyright: ignore[reportIncompatibleVariableOverride] - the same number, noted
        """Number of samples of a step."""
        self.names.add("batch")
        return self[0]

    @property
    def samples(self) -> int:  # pyright: ignore[reportIncompatibleVariableOverride] - as above
        """Number of samples of the problem."""
        self.names.add("samples")
        return self[1]

    @property
    def products(self) -> Any:  # pyright: ignore[reportIncompatibleVariableOverride] - as above
        """The source of the parts of a loss of products."""
        self.names.add("products")
        return self[PRODUCTS]


class Known(NamedTuple):
    """Values of a step that an update gets: the point, gradient and value there, the key, the samples' numbers.

    oracle: the address of the oracle, which answers queries.
    """

    x: Node
    gradient: Node
    value: Node
    key: Node
    indices: Node
    oracle: Node


def chosen_numbers(numbers: ArrayLike, name: str, of: str, size: int) -> Node:
    """Traced or known numbers of samples or entries, shape (b,), as int64."""
    node, what = as_node(numbers), f"{location()}{name}"
    if node.dtype.kind not in "iu":
        raise DTypeError(f"{what} has dtype {node.dtype}, expected integers from 0 to {size - 1}.")
    if node.ndim != 1 or not node.size:
        raise ShapeError(f"{what} has shape {node.shape}, expected (b,) with at least one of the {of}.")
    if node.is_constant:
        known = np.asarray(node.params)
        outside = known[(known < 0) | (known >= size)]
        if outside.size:
            raise IndexRangeError(f"{what} holds {outside[0]}, but there are {size} {of}: use 0 to {size - 1}.")
    return as_dtype(node, np.dtype(np.int64))
