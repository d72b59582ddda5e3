"""Losses in two parts: a model maps x and a sample to targets, and the loss is a function of these."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, cast

import numpy as np

from burlab.errors import ArgumentError, DTypeError, ShapeError
from burlab.graph import Node, tree
from burlab.graph.linear_nodes import concatenate, reshape
from burlab.graph.node import as_node
from burlab.graph.numpy_api.promotion import as_dtype
from burlab.graph.signatures import FLOATS
from burlab.graph.tracing.trace import trace
from burlab.problems.data import Data
from burlab.problems.point import Point
from burlab.runtime.coerce import Array
from burlab.transforms import jacobian
from burlab.typing import Key

from .robust_loss import RobustLoss
from .steepest import grad, value_and_grad

Function = Callable[..., Any]


@dataclass(frozen=True)
class Targets:
    """The parts: model(x, *sample) and loss(z, *sample); a part with a parameter `key` gets the sample's.

    weighted: True if a sample ends with a weight, which neither part takes. robust: if the targets are residuals and
    the loss is a sum over them, what it makes of each. paired: if x is a pair of tables, and a sample begins with the
    number of a row of each, the residuals of a function of two rows and the rest of the sample.
    """

    model: Function
    loss: Function
    model_keyed: bool
    loss_keyed: bool
    weighted: bool = False
    robust: RobustLoss | None = None
    paired: Function | None = None

    @property
    def whole(self) -> Function:
        """The loss as a function of x."""
        whole = partial(_keyed if self.model_keyed or self.loss_keyed else _unkeyed, self)
        cast("Any", whole).__name__ = getattr(self.loss, "__name__", "loss")
        return whole

    def targets(self, x: tree.Tree, sample: tuple[Any, ...], **key: Any) -> Node:
        """Return the targets of a sample. Raises DTypeError if the model returns no array of floats."""
        found: Any = self.model(x, *sample, **(key if self.model_keyed else {}))
        if not tree.flatten(found)[1].is_leaf():
            raise ArgumentError("the model gave several arrays, expected one: the targets. Join them.")
        node = as_node(found)
        if node.dtype not in FLOATS or not node.size:
            raise DTypeError(f"the model gave {node.dtype} of shape {node.shape}, expected floats: the targets.")
        return node

    def vector(self, x: tree.Tree, *sample: Any) -> tuple[Node]:
        """Return the targets of a sample as one vector, in x's dtype."""
        z = self.targets(x, self._own(sample))
        return (as_dtype(reshape(z, (z.size,)), tree.flatten(x)[0][0].dtype),)

    def size(self, point: Point, data: Data) -> int:
        """Return the number of entries of a target."""
        key = {"key": np.zeros(2, np.uint64)} if self.model_keyed else {}

        def of_sample(x: tree.Tree, *sample: Any, **key: Any) -> Node:
            return self.targets(x, self._own(sample), **key)

        return trace(of_sample, (point.tree, *data.sample(0)), key).graph.outputs[0].size

    def row(self, loss: Function, x: tree.Tree, *sample: Any, **key: Any) -> Any:
        """Return a sample's targets, followed by the loss's gradient at them, in one vector of x's dtype.

        loss: of targets and a sample, one number.
        """
        own, dtype = self._own(sample), tree.flatten(x)[0][0].dtype
        z = self.targets(x, own, **key)
        slope = as_node(grad(loss, z, *own, **(key if self.loss_keyed else {})))
        return (concatenate([as_dtype(reshape(node, (node.size,)), dtype) for node in (z, slope)], 0),)

    def jacobian(self, x: tree.Tree, *sample: Any, **key: Any) -> Any:
        """Return the Jacobian of a sample's targets by all numbers of x, shape (k, d), or of its two rows."""
        return (self._linearized(x, self._own(sample), key)[1],)

    def residuals_and_jacobian(self, x: tree.Tree, *sample: Any, **key: Any) -> Any:
        """Return a sample's residuals, shape (k,), and their Jacobian, in one vector of x's dtype.

        Of a robust loss both are scaled, so that a sum of squares with them has the loss's gradient and curvature.
        """
        if self.robust is None:
            raise ArgumentError(
                "f.residuals_and_jacobian is about residuals, and the targets of this problem are not residuals. Make "
                "it with bl.Residuals(r, data)."
            )
        r, rows = self.robust.scaled(*self._linearized(x, self._own(sample), key))
        if self.weighted:
            root = np.sqrt(sample[-1])
            r, rows = root * r, root * rows
        return (concatenate([r, reshape(rows, (rows.size,))], 0),)

    def _linearized(self, x: tree.Tree, own: tuple[Any, ...], key: dict[str, Any]) -> tuple[Any, Any]:
        """Return a sample's targets, shape (k,), and their Jacobian, (k, d), in x's dtype; by two rows if paired."""

        def flat(y: tree.Tree) -> Node:
            z = as_node(self.paired(*y, *own[2:])) if self.paired else self.targets(y, own, **key)
            return as_dtype(reshape(z, (z.size,)), dtype)

        dtype = tree.flatten(x)[0][0].dtype
        if self.paired is not None:
            x = rows_of(x, own)
        z = flat(x)
        blocks = tree.flatten(jacobian(flat)(x))[0]
        return z, concatenate([reshape(as_node(b), (z.size, as_node(b).size // z.size)) for b in blocks], 1)

    def surrogate(self, x: tree.Tree, scale: Array, *sample: Any, **key: Any) -> Any:
        """Value and gradient of |model(x) - goal|^2 / (2 scale); the goal, shape (k,), follows the sample."""
        *given, goal = sample
        own, dtype = self._own(tuple(given)), tree.flatten(x)[0][0].dtype

        def half(y: tree.Tree) -> Any:
            off: Any = reshape(self.targets(y, own, **key), goal.shape) - goal
            number = np.sum(off * off) / (2 * scale)
            return number * given[-1] if self.weighted else number

        value, gradient = value_and_grad(half, x)
        return value.astype(dtype), gradient

    def _own(self, sample: tuple[Any, ...]) -> tuple[Any, ...]:
        return sample[:-1] if self.weighted else sample


def rows_of(x: tree.Tree, sample: tuple[Any, ...]) -> tuple[Any, Any]:
    """Return the row of each of the two tables of x that a sample names. Raises ShapeError for another x."""
    first, second = tables_of(tree.flatten(x)[0])
    return first[sample[0]], second[sample[1]]


def tables_of(tables: list[Any]) -> list[Any]:
    """Return the leaves of x as two tables. Raises ShapeError for other leaves."""
    if len(tables) != 2 or not all(table.ndim and len(table) for table in tables):
        raise ShapeError(
            f"x has arrays of shapes {[table.shape for table in tables]}, but residuals with pairs=True are of two "
            "tables, each with a row for a block of unknowns. Pass x as such a pair, and train both."
        )
    return tables


def _unkeyed(parts: Targets, x: tree.Tree, *sample: Any) -> Any:
    return parts.loss(parts.targets(x, sample), *sample)


def _keyed(parts: Targets, x: tree.Tree, *sample: Any, key: Key | None) -> Any:
    z = parts.targets(x, sample, key=key)
    return parts.loss(z, *sample, **({"key": key} if parts.loss_keyed else {}))


def with_goals(data: Data, size: int, dtype: "np.dtype[Any]") -> Data:
    """Return the data with a last array of goals: `size` numbers for each position of a batch, passed with it."""
    goals: Array = np.broadcast_to(np.zeros(size, dtype), (data.samples, size))
    return data.with_array(goals)


def plain(regularizer: Function, x: tree.Tree, _scale: Any) -> Any:
    """Return value and gradient of a regularizer, which ignores the scale of a surrogate."""
    value, gradient = value_and_grad(regularizer, x)
    return value.astype(tree.flatten(x)[0][0].dtype), gradient
