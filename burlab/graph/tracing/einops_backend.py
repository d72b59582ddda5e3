"""einops on traced arrays: `einops.rearrange`, `reduce`, `repeat`, `einsum`, `pack` and `unpack` in traced functions.

einops looks for the library of an array among the subclasses of its `AbstractBackend`. That of burlab is declared when
a trace begins and einops is imported; nothing imports einops.
"""

import sys
from collections.abc import Sequence
from typing import Any, NoReturn

import numpy as np

from burlab.graph.complex.array import Complex
from burlab.graph.faults import fault
from burlab.graph.node import Node
from burlab.typing import ArrayLike, Axis


def join_einops() -> None:
    """Declare the backend if einops is imported and does not have it."""
    backends: Any = sys.modules.get("einops._backends")
    base = getattr(backends, "AbstractBackend", None)
    if base is not None and not any(kind.framework_name == "burlab" for kind in base.__subclasses__()):
        type("BurlabBackend", (_Backend, base), {})


class _Backend:
    """Methods that einops calls, in NumPy's functions."""

    framework_name = "burlab"

    def is_appropriate_type(self, tensor: object) -> bool:
        return isinstance(tensor, (Node, Complex))

    def from_numpy(self, x: ArrayLike) -> Any:
        return x

    def to_numpy(self, _x: ArrayLike) -> NoReturn:
        raise fault("einops.asnumpy asked for the numbers of a traced array", "the array as it is")

    def arange(self, start: int, stop: int) -> Any:
        return np.arange(start, stop)

    def stack_on_zeroth_dimension(self, tensors: Sequence[Any]) -> Any:
        return np.stack(tensors)

    def add_axis(self, x: Any, new_position: int) -> Any:
        return np.expand_dims(x, new_position)

    def reduce(self, x: Any, operation: str, axes: Axis) -> Any:
        return getattr(x, operation)(axis=axes)

    def tile(self, x: Any, repeats: tuple[int, ...]) -> Any:
        return np.tile(x, repeats)

    def concat(self, tensors: Sequence[Any], axis: int) -> Any:
        return np.concatenate(tensors, axis=axis)

    def is_float_type(self, x: Any) -> bool:
        return x.dtype.kind in "fc"

    def einsum(self, pattern: str, *x: Any) -> Any:
        return np.einsum(pattern, *x)
