"""Formats of numbers as JSON, and back."""

from collections.abc import Callable
from dataclasses import asdict, fields
from typing import Any, cast

from burlab.errors import BurlabError, FileError
from burlab.optim.loss_scale import LossScale
from burlab.optim.number_formats import Formats
from burlab.transforms.numbers.formats import Format

_KINDS: dict[str, Callable[..., Any]] = {"format": Format, "scale": LossScale}
_NUMBERS = (int, float, bool)


def formats_to_json(formats: Formats) -> dict[str, Any]:
    """Return the fields by name.

    >>> from burlab import Formats
    >>> formats_to_json(Formats(params="e4m3", gradients=(4, 3), scale=2.0))["gradients"]
    [4, 3]
    """
    return {field.name: _to_json(getattr(formats, field.name)) for field in fields(formats)}


def formats_from_json(found: object) -> Formats | None:
    """Return the formats that were written; None for none. Raises FileError for anything else.

    >>> from burlab import Formats
    >>> formats_from_json(formats_to_json(Formats(params=(4, 3)))) == Formats(params=(4, 3))
    True
    """
    if found is None:
        return None
    try:
        given = cast("dict[str, Any]", found)
        return Formats(**{name: _from_json(value) for name, value in given.items()})
    except (BurlabError, KeyError, TypeError, ValueError, AttributeError) as error:
        raise FileError(f"its formats of numbers are malformed: {error} Use another copy.") from error


def _to_json(value: Any) -> Any:
    for name, kind in _KINDS.items():
        if type(value) is kind:
            return {name: {field: _finite(number) for field, number in asdict(value).items()}}
    return list(cast("tuple[int, ...]", value)) if isinstance(value, tuple) else value


def _finite(number: Any) -> Any:
    """JSON has no inf, which the largest number of a wide format may be."""
    return "inf" if number == float("inf") else number


def _from_json(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(cast("list[Any]", value))
    if not isinstance(value, dict):
        return value
    ((name, parts),) = cast("dict[str, Any]", value).items()
    given = {field: float("inf") if part == "inf" else part for field, part in parts.items()}
    if strange := [field for field, part in given.items() if type(part) not in _NUMBERS]:
        raise ValueError(f"{strange[0]} must be a number.")
    return _KINDS[name](**given)
