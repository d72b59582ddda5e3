"""Indices, axes, shapes and counts that are none, or do not fit an array of shape (3,): programs by what is wrong."""

from collections.abc import Callable
from typing import Any

import numpy as np

PLACES: dict[str, Callable[[Any], Any]] = {
    "a mask of another length": lambda x: x[[True, False]],
    "a mask of other axes": lambda x: x.reshape(1, 3)[np.ones((3, 1), bool)],
    "a mask of more axes": lambda x: x[np.ones((3, 1), bool)],
    "True as an index": lambda x: x[True],
    "masked integers as an index": lambda x: x[np.ma.array([0, 1], mask=[False, True])],
    "a text as an index": lambda x: x["a"],
    "a float as an index": lambda x: x[np.float64(1)],
    "lists of different lengths as an index": lambda x: x[[[0], 1]],
    "a slice from a text": lambda x: x["a":],
    "a slice by steps of 0": lambda x: x[::0],
    "two Ellipses": lambda x: x[..., ...],
    "reshape to a text": lambda x: x.reshape("a"),
    "reshape to floats": lambda x: x.reshape(3.0, 1),
    "broadcast to floats": lambda x: np.broadcast_to(x, (3.0,)),
    "a text as an axis": lambda x: np.sum(x, axis="a"),
    "a float as an axis": lambda x: np.sum(x, axis=0.0),
    "an axis twice": lambda x: np.sum(x, axis=(0, 0)),
    "squeeze of a long axis": lambda x: np.squeeze(x, 0),
    "full_like of what does not fit": lambda x: np.full_like(x.astype(np.int32), 2**40),
    "pad with what does not fit": lambda x: np.pad(x.astype(np.int32), 1, constant_values=2**40),
    "pad by less than none": lambda x: np.pad(x, -1),
    "pad by floats": lambda x: np.pad(x, 1.0),
    "pad by three widths": lambda x: np.pad(x, (1, 2, 3)),
    "pad by lists of different lengths": lambda x: np.pad(x, [[1], [1, 2], 3]),
    "diff less than 0 times": lambda x: np.diff(x, -1),
    "repeat by floats": lambda x: np.repeat(x, 1.5),
    "repeat less than 0 times": lambda x: np.repeat(x, -1),
    "repeat by a text": lambda x: np.repeat(x, "a"),
    "repeat by too few counts": lambda x: np.repeat(x, [1, 2]),
    "tile by floats": lambda x: np.tile(x, 1.5),
    "tile less than 0 times": lambda x: np.tile(x, -1),
}
