"""Parts of a model by their paths: which of them a caller means, and the model with others in their places."""

import dataclasses
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any, cast

from burlab.errors import ArgumentError
from burlab.runtime.checks.numbers import shown

from .layer import Layer

Targets = str | Iterable[str] | Callable[[str], bool] | None


def is_target(path: str, targets: Targets) -> bool:
    """Return True if targets mean a path: by its end, by a predicate, or None for all."""
    if targets is None:
        return True
    if callable(targets):
        return bool(targets(path))
    names: Any = [targets] if isinstance(targets, str) else targets
    if not isinstance(names, Iterable) or not all(isinstance(name, str) for name in cast("Any", names)):
        raise ArgumentError(
            f"targets must be ends of paths, as ['qkv'], or a function of a path; got {shown(targets)}."
        )
    return any(re.search(rf"(^|\.){re.escape(name)}$", path) for name in cast("Iterable[str]", names))


def parts_of(model: object) -> Iterator[tuple[str, Any]]:
    """Yield the fields of a layer, or the items of a list or dict, with their names; nothing of what has none."""
    if isinstance(model, Layer):
        yield from ((f.name, getattr(model, f.name)) for f in dataclasses.fields(cast("Any", model)))
    elif isinstance(model, dict):
        yield from ((str(name), part) for name, part in cast("dict[Any, Any]", model).items())
    elif isinstance(model, (list, tuple)):
        yield from ((str(k), part) for k, part in enumerate(cast("list[Any]", model)))


def replaced(model: object, path: str, rule: Callable[[Any, str], Any]) -> Any:
    """Return the model with what the rule gives in place of each part.

    rule: a function of a part and its path; where it returns None it is asked for the part's own parts.
    """
    if (new := rule(model, path)) is not None:
        return new
    parts = {name: replaced(part, f"{path}.{name}".lstrip("."), rule) for name, part in parts_of(model)}
    if not any(parts[name] is not part for name, part in parts_of(model)):
        return model
    if isinstance(model, Layer):
        return model.replace(**parts)
    if isinstance(model, dict):
        return dict(zip(cast("dict[Any, Any]", model), parts.values(), strict=True))
    kind = cast("Any", type)(model)
    return kind(*parts.values()) if hasattr(kind, "_fields") else kind(parts.values())
