"""Layers of products: Linear, Embedding, and the MLP."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from burlab.errors import ArgumentError, DTypeError, IndexRangeError
from burlab.graph.node import Node
from burlab.graph.numpy_api.indexing import asarray
from burlab.graph.tree import pytree
from burlab.runtime.checks.numbers import flag, shown
from burlab.runtime.plain import as_array
from burlab.runtime.ranges import NOT_NEGATIVE, number_in
from burlab.typing import DTypeLike, Key

from . import init
from .activations import Activation, function, known
from .layer import STATIC, Array, Layer, check, floating, keys, sizes


@pytree
@dataclass(frozen=True, eq=False, repr=False, init=False)
class Linear(Layer):
    """y = x @ weight + bias. weight: shape [in, out], the transpose of PyTorch's; bias: shape [out], or None.

    x: shape (..., in); the result has shape (..., out).

    Args:
        inputs, outputs: Sizes in and out.
        key: A key, shape (2,), uint64, for the start: uniform within `bound`.
        bias: False for none.
        bound: By default 1 / sqrt(in), as PyTorch's.
        dtype: float32 or float64.

    >>> import numpy as np, burlab as bl
    >>> layer = bl.nn.Linear(3, 2, key=bl.random.key(0))
    >>> layer.weight.shape, layer(np.ones(3, np.float32)).shape
    ((3, 2), (2,))
    """

    weight: Array
    bias: Array | None

    def __init__(
        self,
        inputs: int,
        outputs: int,
        *,
        key: Key,
        bias: bool = True,
        bound: float | None = None,
        dtype: DTypeLike = np.float32,
    ) -> None:
        sizes(inputs=inputs, outputs=outputs)
        reach = inputs**-0.5 if bound is None else number_in(NOT_NEGATIVE, bound, "bound of Linear")
        w, b = keys(key, 2)
        form: Any = {"dtype": floating(dtype), "low": -reach, "high": reach}
        weight = init.uniform(w, (inputs, outputs), **form)
        self._fill(weight=weight, bias=init.uniform(b, (outputs,), **form) if flag(bias, "bias") else None)

    def __call__(self, x: Array) -> Array:
        """x @ weight + bias."""
        check(self, x, self.weight, self.weight.shape[0])
        y = x @ self.weight
        return y if self.bias is None else y + self.bias


@pytree
@dataclass(frozen=True, eq=False, repr=False, init=False)
class Embedding(Layer):
    """Row `index` of a table. weight: shape [count, width].

    index: integers of any shape; the result has shape (*index.shape, width).

    Args:
        count, width: Sizes of the table.
        key: A key, shape (2,), uint64, for the start: standard normal.
        dtype: float32 or float64.

    >>> import numpy as np, burlab as bl
    >>> bl.nn.Embedding(65, 24, key=bl.random.key(0))(np.array([0, 64, 0])).shape
    (3, 24)
    """

    weight: Array

    def __init__(self, count: int, width: int, *, key: Key, dtype: DTypeLike = np.float32) -> None:
        sizes(count=count, width=width)
        self._fill(weight=init.normal(key, (count, width), floating(dtype)))

    def __call__(self, index: Array) -> Array:
        """The rows at `index`, one or many."""
        index = index if isinstance(index, Node) else as_array(index, "index")
        if index.dtype.kind not in "iu":
            raise DTypeError(f"Embedding expects integers as index, got {index.dtype}. Use index.astype(np.int32).")
        count = self.weight.shape[0]
        if isinstance(index, Node):  # -1 would be the last row; what is known only later is asked by the kernel
            known: Any = index.astype(np.int64)
            return asarray(self.weight)[np.where(known < 0, count, known)]
        outside = index[(index < 0) | (index >= count)]
        if outside.size:
            raise IndexRangeError(f"Embedding has the rows 0 to {count - 1}, got index {outside.flat[0]}.")
        return asarray(self.weight)[index]


@pytree
@dataclass(frozen=True, eq=False, repr=False, init=False)
class MLP(Layer):
    """Linear layers with an activation between each two of them. x: shape (..., widths[0]).

    Args:
        widths: From the input to the output, at least two.
        key: A key, shape (2,), uint64, for the start of the layers.
        activation: "relu", "tanh", ...; or any function of an array.
        bias: False for none.
        dtype: float32 or float64.

    >>> import numpy as np, burlab as bl
    >>> mlp = bl.nn.MLP([2, 16, 1], key=bl.random.key(0), activation="tanh")
    >>> mlp
    <MLP: 65 parameters, float32>
    >>> mlp(np.ones(2, np.float32)).shape
    (1,)
    """

    layers: tuple[Linear, ...]
    activation: Activation = field(metadata=STATIC)

    def __init__(
        self,
        widths: Sequence[int],
        *,
        key: Key,
        activation: Activation = "relu",
        bias: bool = True,
        dtype: DTypeLike = np.float32,
    ) -> None:
        listed = isinstance(widths, (Sequence, np.ndarray)) and not isinstance(widths, str)  # pyright: ignore[reportUnnecessaryIsInstance] - users
        if not listed or any(isinstance(width, (Sequence, np.ndarray)) for width in widths):
            raise ArgumentError(f"widths={shown(widths)} must be a list of widths, at least two: [inputs, outputs].")
        if len(widths) < 2:
            raise ArgumentError(f"widths={shown(widths)} names no layer. Pass at least two: [inputs, outputs].")
        pairs = zip(keys(key, len(widths) - 1), widths, widths[1:], strict=False)
        layers = tuple(Linear(a, b, key=k, bias=bias, dtype=dtype) for k, a, b in pairs)
        self._fill(layers=layers, activation=known(activation))

    def __call__(self, x: Array) -> Array:
        """The output of the last layer, which no activation follows."""
        act = function(self.activation)
        for layer in self.layers[:-1]:
            x = act(layer(x))
        return self.layers[-1](x)
