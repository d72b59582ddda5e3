"""Recurrent cells: `cell(state, x) -> (state, output)`, which is what `bl.scan` repeats along a sequence."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from burlab.functions import sigmoid
from burlab.graph.tree import pytree
from burlab.typing import DTypeLike, Key

from .activations import Activation, function, known
from .layer import STATIC, Array, Layer, keys, sizes
from .linear import Linear


class GatedCell(Layer):
    """Base class of cells: gates that are linear in the input and in the last output.

    input: Linear from the input, hidden: Linear from the last output, each with a bias, as in PyTorch. All start
    uniform within 1 / sqrt(units), as PyTorch's.
    """

    input: Linear
    hidden: Linear

    def _gates(self, inputs: int, units: int, count: int, key: Key, bias: bool, dtype: DTypeLike) -> None:
        """Make the two layers, for `count` gates."""
        sizes(inputs=inputs, units=units)
        k0, k1 = keys(key, 2)
        form: Any = {"bias": bias, "dtype": dtype, "bound": units**-0.5}
        self._fill(
            input=Linear(inputs, count * units, key=k0, **form), hidden=Linear(units, count * units, key=k1, **form)
        )

    def _zeros(self) -> Array:
        weight = self.hidden.weight
        return np.zeros(weight.shape[0], weight.dtype)


@pytree
@dataclass(frozen=True, eq=False, repr=False, init=False)
class RNNCell(GatedCell):
    """h <- tanh(input(x) + hidden(h)), the output is h (Elman 1990). x: shape (inputs,); h: shape (units,).

    Args:
        inputs, units: Sizes of x and h.
        key: A key, shape (2,), uint64, for the start: uniform within 1 / sqrt(units).
        activation: In place of tanh, as for `MLP`.
        bias: False for none.
        dtype: float32 or float64.

    >>> import numpy as np, burlab as bl
    >>> cell = bl.nn.RNNCell(3, 5, key=bl.random.key(0))
    >>> last, outputs = bl.scan(cell, cell.start(), np.ones((7, 3), np.float32))
    >>> last.shape, outputs.shape
    ((5,), (7, 5))
    """

    input: Linear
    hidden: Linear
    activation: Activation = field(metadata=STATIC)

    def __init__(
        self,
        inputs: int,
        units: int,
        *,
        key: Key,
        activation: Activation = "tanh",
        bias: bool = True,
        dtype: DTypeLike = np.float32,
    ) -> None:
        self._gates(inputs, units, 1, key, bias, dtype)
        self._fill(activation=known(activation))

    def start(self) -> Array:
        """The state before the first element: zeros, shape (units,)."""
        return self._zeros()

    def __call__(self, state: Array, x: Array) -> tuple[Array, Array]:
        """The next state, which is the output too."""
        h = function(self.activation)(self.input(x) + self.hidden(state))
        return h, h


@pytree
@dataclass(frozen=True, eq=False, repr=False, init=False)
class GRUCell(GatedCell):
    """Gates r and z, candidate n = tanh(input_n(x) + r hidden_n(h)), h <- (1 - z) n + z h (Cho et al. 2014, PyTorch's).

    The gates stand in the order r, z, n; as in PyTorch, r scales what `hidden` gives, bias included. x: shape
    (inputs,); the state h, which is the output too: shape (units,).

    Args:
        inputs, units, key, bias, dtype: As for `RNNCell`.

    >>> import numpy as np, burlab as bl
    >>> cell = bl.nn.GRUCell(3, 5, key=bl.random.key(0))
    >>> bl.scan(cell, cell.start(), np.ones((7, 3), np.float32))[1].shape
    (7, 5)
    """

    input: Linear
    hidden: Linear

    def __init__(self, inputs: int, units: int, *, key: Key, bias: bool = True, dtype: DTypeLike = np.float32) -> None:
        self._gates(inputs, units, 3, key, bias, dtype)

    def start(self) -> Array:
        """The state before the first element: zeros, shape (units,)."""
        return self._zeros()

    def __call__(self, state: Array, x: Array) -> tuple[Array, Array]:
        """The next state, which is the output too."""
        units = self.hidden.weight.shape[0]
        a, b = self.input(x), self.hidden(state)
        gates = sigmoid(a[: 2 * units] + b[: 2 * units])
        r, z = gates[:units], gates[units:]
        n = np.tanh(a[2 * units :] + r * b[2 * units :])
        h = n + z * (state - n)
        return h, h


@pytree
@dataclass(frozen=True, eq=False, repr=False, init=False)
class LSTMCell(GatedCell):
    """c <- f c + i g, h <- o tanh(c) with gates i, f, g, o of x and h (Hochreiter and Schmidhuber 1997, Gers 2000).

    i, f, o go through a sigmoid, g through tanh; they stand in this order, which is PyTorch's. x: shape (inputs,); the
    state is (h, c), each of shape (units,); the output is h.

    Args:
        inputs, units, key, bias, dtype: As for `RNNCell`.

    >>> import numpy as np, burlab as bl
    >>> cell = bl.nn.LSTMCell(3, 5, key=bl.random.key(0))
    >>> (h, c), outputs = bl.scan(cell, cell.start(), np.ones((7, 3), np.float32))
    >>> outputs.shape, bool(np.all(outputs[-1] == h))
    ((7, 5), True)
    """

    input: Linear
    hidden: Linear

    def __init__(self, inputs: int, units: int, *, key: Key, bias: bool = True, dtype: DTypeLike = np.float32) -> None:
        self._gates(inputs, units, 4, key, bias, dtype)

    def start(self) -> tuple[Array, Array]:
        """The state before the first element: zeros, two of shape (units,)."""
        return self._zeros(), self._zeros()

    def __call__(self, state: tuple[Array, Array], x: Array) -> tuple[tuple[Array, Array], Array]:
        """The next state, and its h."""
        h, c = state
        units = self.hidden.weight.shape[0]
        a = self.input(x) + self.hidden(h)
        first, g, o = sigmoid(a[: 2 * units]), np.tanh(a[2 * units : 3 * units]), sigmoid(a[3 * units :])
        c = first[units:] * c + first[:units] * g
        h = o * np.tanh(c)
        return (h, c), h
