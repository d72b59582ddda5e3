"""The exceptions of burlab: each is a `BurlabError` and the builtin that fits it.

A message says what was expected, what came, and what to do:

>>> raise ShapeError("x0 has shape (3,), the problem needs (2,). Pass a 2-vector, or build it with dim=3.")
Traceback (most recent call last):
    ...
burlab.errors.ShapeError: x0 has shape (3,), the problem needs (2,). Pass a 2-vector, or build it with dim=3.
"""

__all__ = [
    "AllocationError",
    "ArgumentError",
    "BurlabError",
    "CompileError",
    "ConfigurationError",
    "ConvergenceError",
    "DTypeError",
    "FileError",
    "GradientError",
    "GraphError",
    "IndexRangeError",
    "LayoutError",
    "NonFiniteError",
    "ParameterError",
    "ShapeError",
    "StatusError",
    "TapeError",
    "TraceError",
    "UnregisteredError",
]


class BurlabError(Exception):
    """Anything that burlab raises on purpose."""


class AllocationError(BurlabError, MemoryError):
    """An array is larger than the memory of this machine, or there is no memory left for it."""


class ArgumentError(BurlabError, ValueError):
    """An argument has a value that the function cannot use."""


class CompileError(BurlabError, RuntimeError):
    """The C++ compiler refused a text; the message holds what it said."""


class ConfigurationError(BurlabError, RuntimeError):
    """The machine or an environment variable does not allow what was asked."""


class ConvergenceError(BurlabError, RuntimeError):
    """A search ended before any of its criteria held."""


class DTypeError(BurlabError, TypeError):
    """An array has a dtype that does not fit."""


class FileError(BurlabError, OSError):
    """A file cannot be read or written, is damaged or of another version, or belongs to other data."""


class GradientError(BurlabError, AssertionError):
    """A derivative differs from the finite differences that check it."""


class GraphError(BurlabError, ValueError):
    """A graph is malformed, or its JSON comes from a version that this one cannot read."""


class IndexRangeError(BurlabError, IndexError):
    """An integer index, known only when a kernel runs, left its axis."""


class LayoutError(BurlabError, ValueError):
    """An array cannot cross into C++: read-only, not contiguous, or of foreign byte order."""


class NonFiniteError(BurlabError, FloatingPointError):
    """A node made the first inf or nan of a computation that was asked to stay finite."""


class ParameterError(BurlabError, ValueError):
    """Named parameters do not fit a model; the message lists every name."""


class ShapeError(BurlabError, ValueError):
    """An array has a shape that does not fit."""


class StatusError(BurlabError, RuntimeError):
    """C++ returned a status that has no exception of its own."""


class TapeError(BurlabError, RuntimeError):
    """A handle points to a node that its tape has cut off, or two tapes were mixed."""


class TraceError(BurlabError, TypeError):
    """A traced function did something that cannot be recorded; the message names the line and the remedy."""


class UnregisteredError(GraphError):
    """A graph has an operation of a user's that is not registered."""
