"""Complex numbers as leaves of trees: flattening splits them into their parts, unflattening joins the parts."""

from typing import Any

import numpy as np

from burlab.graph.handles import present
from burlab.typing import Array, Tree

from .array import Complex


def split(leaf: Tree) -> Any:
    """Return the parts of a complex number or array as a `Complex` of numbers, arrays or nodes."""
    leaf = present(leaf)
    if type(leaf) is Complex:
        return leaf
    if type(leaf) is complex:
        return Complex(leaf.real, leaf.imag)
    real, imag = np.real(leaf), np.imag(leaf)
    if not np.ndim(leaf):
        return Complex(real[()], imag[()])
    return Complex(np.ascontiguousarray(real), np.ascontiguousarray(imag))


def joined(real: Array | float, imag: Array | float) -> Any:
    """Return the complex number or array of two known parts of one dtype; a `Complex` of parts of any other kind."""
    if type(real) is float and type(imag) is float:
        return complex(real, imag)
    if not all(isinstance(part, (np.floating, np.ndarray)) for part in (real, imag)):
        return Complex(real, imag)
    result = np.empty(np.shape(real), np.result_type(real, np.complex64))
    result.real, result.imag = real, imag
    return result[()]
