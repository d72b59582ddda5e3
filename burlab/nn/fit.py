"""Comparison of named arrays with a model's parameters: all differences are in one message."""

from dataclasses import dataclass, field

import numpy as np

from burlab.errors import ParameterError

from .layer import Array

_MAX_NAMES = 200  # of a message: all, unless somebody loads another model altogether


@dataclass
class Misfits:
    """Differences: missing names, unknown names, and shapes or dtypes that differ."""

    missing: list[str] = field(default_factory=list[str])
    extra: list[str] = field(default_factory=list[str])
    forms: list[str] = field(default_factory=list[str])

    def __bool__(self) -> bool:
        return bool(self.missing or self.extra or self.forms)

    def fitted(self, name: str, array: Array, leaf: Array, *, widen: bool = False) -> Array:
        """A copy of the array for a leaf; one of another shape or dtype is noted. widen: to a wider dtype, exactly."""
        shape, dtype = np.shape(leaf), leaf.dtype
        fits = array.dtype == dtype or (widen and array.dtype.kind == "f" and np.can_cast(array.dtype, dtype))
        if array.shape != shape or not fits:
            got = f"{array.dtype}{list(array.shape)}"
            self.forms.append(f"{name} is {got}, expected {dtype}{list(shape)}")
            return array
        with np.errstate(invalid="ignore"):  # a signaling nan that is widened is quiet afterwards
            return np.array(array, dtype, order="C")

    def check(self, source: str, advice: str = "") -> None:
        """Raise ParameterError where anything was noted.

        Args:
            source: Description of the arrays' origin.
            advice: Last sentence of the message.
        """
        groups = {
            "missing": self.missing,
            "that the model does not have": self.extra,
            "of another shape or dtype": self.forms,
        }
        lines = [f"{len(rows)} {what}: {_listed(rows)}." for what, rows in groups.items() if rows]
        if lines:
            raise ParameterError(
                f"{source} does not fit the model. {' '.join(lines)} "
                f"{advice or 'Make the model with the sizes and dtype that the parameters were made with.'}"
            )


def _listed(rows: list[str]) -> str:
    more = f"; and {len(rows) - _MAX_NAMES} more" if len(rows) > _MAX_NAMES else ""
    return "; ".join(rows[:_MAX_NAMES]) + more
