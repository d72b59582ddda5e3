"""Conversion of arguments that do not pass the gate, where it loses nothing; else an error that explains.

Accepted by copying: arrays that are strided, of foreign byte order or not aligned, and Python numbers for 0-d
arguments. Refused: another dtype (it would hide a cost or lose digits), another shape, and buffers for results that
cannot be written.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from burlab.errors import ArgumentError, DTypeError, LayoutError, ShapeError

from .dtypes import is_narrow_float
from .memory import empty, too_large
from .plain import as_array, check_plain, is_numeric

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, slots=True)
class ArraySpec:
    """Shape and dtype of an argument or a result, and its name in messages."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    name: str

    @property
    def nbytes(self) -> int:
        """Bytes of the array."""
        return int(np.prod(self.shape, dtype=np.int64)) * self.dtype.itemsize

    def empty(self) -> Array:
        """Memory for it. Raises AllocationError where there is not enough."""
        return empty(self.shape, self.dtype, f"{self.name}, {self},")

    def __str__(self) -> str:
        return f"{self.dtype.name}{list(self.shape)}"


def check_count(values: Sequence[Any], specs: Sequence[ArraySpec], what: str) -> None:
    """Raise ArgumentError unless there are as many arrays as expected."""
    if len(values) != len(specs):
        wanted = ", ".join(f"{s.name} {s}" for s in specs)
        raise ArgumentError(
            f"{what}: {len(specs)} arrays were expected ({wanted}), got {len(values)}. Pass one for each."
        )


def coerce_input(value: object, spec: ArraySpec) -> Array:
    """An aligned row-major array of native byte order with the values of `value`; the same array where it is one."""
    array = _number(value, spec)
    if array is None:
        array = _as_array(value, spec)
    if array.shape != spec.shape:
        raise ShapeError(
            f"{spec.name} must have shape {spec.shape}, got {array.shape}. Reshape it, or compile for this shape."
        )
    if array.dtype.newbyteorder("=") != spec.dtype:
        raise DTypeError(
            f"{spec.name} must be {spec.dtype.name}, got {array.dtype.name}. "
            f"Convert it with .astype(np.{spec.dtype.name}), or compile for {array.dtype.name}."
        )
    try:
        return np.require(array, spec.dtype, ["C", "A"])
    except MemoryError:
        raise too_large(f"a contiguous copy of {spec.name}, {spec},", spec.nbytes) from None


def _number(value: object, spec: ArraySpec) -> Array | None:
    """A Python number, which has no dtype of its own."""
    kinds = {"f": (int, float), "i": (int,), "u": (int,), "b": (bool,), "V": (int, float)}[spec.dtype.kind]
    if spec.shape or type(value) not in kinds:
        return None
    try:
        return np.array(value, spec.dtype)
    except OverflowError:
        raise DTypeError(
            f"{spec.name} must be {spec.dtype.name}, but {value} does not fit. Pass a smaller number."
        ) from None


def _as_array(value: object, spec: ArraySpec) -> Array:
    kind = type(value).__name__
    if not is_numeric(value):
        raise DTypeError(
            f"{spec.name} must be an array {spec}, got {kind}. Pass np.asarray(value, np.{spec.dtype.name})."
        )
    array = as_array(value, spec.name)
    if array.dtype.hasobject or (array.dtype.kind not in "fiub" and not is_narrow_float(array.dtype)):
        raise DTypeError(f"{spec.name} must be {spec.dtype.name}, got {kind} of dtype {array.dtype}. Pass numbers.")
    return array


def coerce_output(buffer: object, spec: ArraySpec) -> Array:
    """The buffer itself, checked: a copy would not be what the caller looks into afterwards."""
    if not isinstance(buffer, np.ndarray):
        raise LayoutError(
            f"out for {spec.name} must be a NumPy array {spec}, got {type(buffer).__name__}. Use np.empty."
        )
    array = cast("Array", buffer)
    check_plain(array, f"out for {spec.name}")
    if array.shape != spec.shape:
        raise ShapeError(
            f"out for {spec.name} must have shape {spec.shape}, got {array.shape}. Use np.empty{spec.shape}."
        )
    if array.dtype.newbyteorder("=") != spec.dtype:
        raise DTypeError(f"out for {spec.name} must be {spec.dtype.name}, got {array.dtype.name}. Allocate it so.")
    for fine, what in (
        (array.flags.writeable, "read-only"),
        (array.flags.c_contiguous, "not contiguous in row-major order"),
        (array.flags.aligned, "not aligned"),
        (array.dtype.isnative, "of foreign byte order"),
    ):
        if not fine:
            raise LayoutError(
                f"out for {spec.name} must be a plain writeable array, but is {what}. Use a fresh np.empty."
            )
    return array


def check_apart(outputs: Sequence[Array], inputs: Sequence[Array]) -> None:
    """No output shares memory with an input or another output, or LayoutError."""
    for k, y in enumerate(outputs):
        for other in (*inputs, *outputs[:k]):
            if y.nbytes and np.may_share_memory(y, other):
                raise LayoutError(
                    "out must not overlap an argument or another out: a kernel may write before it has read all. "
                    "Pass a separate buffer."
                )
