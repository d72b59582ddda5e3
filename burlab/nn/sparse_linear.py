"""A layer of products whose links are a list: most weights of its matrix do not exist."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np

from burlab.errors import ArgumentError
from burlab.graph.buffers.buffer_functions import at_add, zeros
from burlab.graph.numpy_api.indexing import asarray
from burlab.graph.tree import pytree
from burlab.runtime.checks.numbers import flag, real, shown
from burlab.runtime.ranges import NOT_NEGATIVE, number_in
from burlab.transforms import custom_vjp, random, stop_gradient
from burlab.typing import DTypeLike, Key

from . import init
from .layer import STATIC, Array, Layer, check, floating, keys, sizes


@pytree
@dataclass(frozen=True, eq=False, repr=False, init=False)
class SparseLinear(Layer):
    """y = x @ W + bias, where W[rows[i], columns[i]] = weight[i], and all else of W is 0 and not stored.

    weight: shape [links]; rows, columns: int32, shape [links]; bias: shape [out], or None. Memory and time of a step
    follow the links. x: shape (..., in); the result has shape (..., out). Optimizers train the weights of fixed links;
    `bl.optim.rewire` around one prunes and grows links in the loop. `bl.grad` needs floats alone: it is taken by
    weights, as in `bl.grad(lambda w: f(layer.replace(weight=w)))`; gradients of a `FiniteSum` have None at rows and
    columns.

    Args:
        inputs, outputs: Sizes in and out.
        density: The share of the links of a `Linear` that there are, above 0 and at most 1; at least one link.
        key: A key, shape (2,), uint64, for links and weights: distinct links, all as likely, and weights uniform
            within `bound`.
        bias: False for none.
        bound: By default 1 / sqrt(density in): as PyTorch's, for the mean number of links of an output.
        dtype: float32 or float64.

    >>> import numpy as np, burlab as bl
    >>> layer = bl.nn.SparseLinear(20, 10, density=0.1, key=bl.random.key(0))
    >>> layer.weight.shape, layer(np.ones(20, np.float32)).shape, layer.dense().shape
    ((20,), (10,), (20, 10))
    """

    weight: Array
    rows: Array
    columns: Array
    bias: Array | None
    block: (
        tuple[Array, Array] | None
    )  # a first row of W, and zeros, shape [rows, out]: for gradients by all its entries there
    inputs: int = field(metadata=STATIC)
    outputs: int = field(metadata=STATIC)

    def __init__(
        self,
        inputs: int,
        outputs: int,
        *,
        density: float,
        key: Key,
        bias: bool = True,
        bound: float | None = None,
        dtype: DTypeLike = np.float32,
    ) -> None:
        sizes(inputs=inputs, outputs=outputs)
        share = real(density, "density of SparseLinear")
        if not 0 < share <= 1:
            raise ArgumentError(f"density of SparseLinear must be above 0 and at most 1; got {shown(density)}.")
        links = max(round(share * inputs * outputs), 1)
        reach = (share * inputs) ** -0.5 if bound is None else number_in(NOT_NEGATIVE, bound, "bound of SparseLinear")
        w, b, drawn = keys(key, 3)
        places = np.sort(np.asarray(random.permutation(drawn, np.arange(inputs * outputs)))[:links])
        form: Any = {"dtype": floating(dtype), "low": -reach, "high": reach}
        self._fill(
            weight=init.uniform(w, (links,), **form),
            rows=(places // outputs).astype(np.int32),
            columns=(places % outputs).astype(np.int32),
            bias=init.uniform(b, (outputs,), **form) if flag(bias, "bias") else None,
            block=None,
            inputs=int(inputs),
            outputs=int(outputs),
        )

    def __call__(self, x: Array) -> Array:
        """x @ W + bias."""
        check(self, x, self.weight, self.inputs)
        first = np.moveaxis(x, -1, 0)
        weight = np.reshape(self.weight, (-1, *(1,) * (np.ndim(x) - 1)))
        products = weight * asarray(first)[self.rows]
        y = np.moveaxis(at_add(zeros((self.outputs, *first.shape[1:]), products.dtype), self.columns, products), 0, -1)
        if self.block is not None:
            first, entries = self.block
            seen = asarray(stop_gradient(x))[..., first + np.arange(entries.shape[0])]
            y = y + _zero_product()(seen, entries)
        return y if self.bias is None else y + self.bias

    def dense(self) -> Array:
        """The matrix W, shape [in, out]."""
        matrix = at_add(zeros((self.inputs, self.outputs), self.weight.dtype), (self.rows, self.columns), self.weight)
        if self.block is None:
            return matrix
        first, entries = self.block
        return at_add(matrix, first + np.arange(entries.shape[0]), entries)


@cache
def _zero_product() -> Callable[[Array, Array], Array]:
    """x @ zeros, which multiplies nothing, with the derivative by the zeros that a product has."""

    def value(x: Array, entries: Array) -> Array:
        return np.zeros((*x.shape[:-1], entries.shape[-1]), x.dtype)

    def backward(g: Array, _y: Array, x: Array, entries: Array) -> tuple[Array, Array]:
        rows, width = entries.shape
        return np.zeros_like(x), np.reshape(x, (-1, rows)).T @ np.reshape(g, (-1, width))

    return custom_vjp(value, backward, np.zeros((1, 2)), np.zeros((2, 3)), surrogate=True)
