"""Texts of the numbers of a node in a box: one number, or the range and the mean of an array."""

from dataclasses import dataclass
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True, slots=True)
class ValueSummary:
    """A value or gradient in short. text: as a box shows it. size: the mean of its absolute values.

    fault: "nan" or "inf" where it has one, "" where all is finite. known: whether there is a value at all. masks:
    whether all that is not finite in it is -inf, as in a causal mask.
    """

    text: str
    size: float = 0.0
    fault: str = ""
    known: bool = True
    masks: bool = False


def summarize(values: Any) -> ValueSummary:
    """The numbers of an array, shape any, in one line.

    >>> summarize(np.array([1.0, 2.0, 4.5])).text, summarize(np.tanh(1.0)).text
    ('1 … 4.5, mean 2.5', '0.7616')
    """
    array: Array = np.asarray(values)
    if array.size == 0:
        return ValueSummary("empty")
    if array.dtype.kind == "b":
        text = str(bool(array)) if array.size == 1 else f"{int(array.sum()):,} of {array.size:,} true"
        return ValueSummary(text, float(array.mean()))
    if array.dtype.kind in "iu":
        text = f"{array.item():,}" if array.size == 1 else f"{array.min():,} … {array.max():,}"
        return ValueSummary(text, float(np.abs(array).mean()))
    fault = "nan" if np.isnan(array).any() else "inf" if np.isinf(array).any() else ""
    masks = fault == "inf" and not np.isposinf(array).any()
    with np.errstate(all="ignore"):
        size = float(np.abs(array).mean(dtype=np.float64))
        if array.size == 1:
            return ValueSummary(f"{array.item():.4g}", size, fault, masks=masks)
        if fault:
            odd = np.isnan(array) if fault == "nan" else np.isinf(array)
            return ValueSummary(f"{int(odd.sum()):,} of {array.size:,} are {fault}", size, fault, masks=masks)
        low, high, mean = (f"{float(x):.3g}" for x in (array.min(), array.max(), array.mean(dtype=np.float64)))
    return ValueSummary(low if low == high else f"{low} … {high}, mean {mean}", size)
