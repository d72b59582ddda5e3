"""The eager gear: each operation at once on a C++ tape, every node visible."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .tape import Tape as Tape, TapePosition as TapePosition
    from .value import Value as Value

__all__ = ["Tape", "TapePosition", "Value"]

_HOME = {"TapePosition": "tape", "Tape": "tape", "Value": "value"}


def __getattr__(name: str) -> Any:
    """Compile the types at their first use, not when this package is imported."""
    if name not in _HOME:
        raise AttributeError(f"module 'burlab.eager' has no attribute {name!r}.")
    globals()[name] = value = getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    return value
