"""The hook `complex_numbers`: functions that the rest of the graph calls where a complex number meets a node."""

from .array import call_function, call_method, call_operator, call_ufunc
from .parts import pair, parts

__all__ = ["call_function", "call_method", "call_operator", "call_ufunc", "pair", "parts"]
