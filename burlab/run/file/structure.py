"""The structure of a tree as JSON and back, without pickle: a file names classes, but never has Python import one."""

import dataclasses
import math
import sys
from typing import Any, cast

from burlab.errors import FileError
from burlab.graph import tree

Text = Any
"""JSON: "leaf", "none", or a list of a kind and what it holds."""

_HINT = "Pass load_run(..., like=x), x being any tree of the same structure."


def to_json(structure: tree.TreeDef) -> Text:
    """Return the description of a structure.

    >>> to_json(tree.flatten({"w": (1.0, None)})[1])
    ['dict', [['w', ['tuple', ['leaf', 'none']]]]]
    """
    return _describe(tree.unflatten(structure, [_Leaf()] * structure.num_leaves))


def from_json(text: Text, like: tree.Tree = None) -> tree.TreeDef:
    """Return the structure that JSON describes. like: a tree of that structure, needed where it holds what no file can.

    Raises FileError where a class is not there, or `like` has another structure.
    """
    try:
        structure = tree.flatten(_rebuild(text) if like is None else like)[1]
        found = to_json(structure)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise FileError(f"the saved x has a structure that cannot be made: {error}. {_HINT}") from error
    if _sorted(found) != _sorted(text):
        what = "like=" if like is not None else "the tree that this Python makes of it"
        raise FileError(f"the saved x has the structure {_show(text)}, but {what} has {_show(found)}. {_HINT}")
    return structure


class _Leaf:
    """Stands for an array."""


def _describe(node: Any) -> Text:
    if isinstance(node, _Leaf):
        return "leaf"
    if node is None:
        return "none"
    if type(node) in (list, tuple):
        return [type(node).__name__, [_describe(child) for child in node]]
    if type(node) is dict:
        items = list(cast("dict[Any, Any]", node).items())
        return ["dict", [[key if type(key) in (str, int) else [repr(key)], _describe(child)] for key, child in items]]
    return ["object", f"{type(node).__module__}:{type(node).__qualname__}", _parts(node)]


def _parts(node: Any) -> list[list[Any]]:
    """The fields of an object with their names; if it has none, its children with their keys."""
    if dataclasses.is_dataclass(node):
        return [[f.name, _field(f, getattr(node, f.name))] for f in dataclasses.fields(node)]
    if hasattr(node, "_fields"):
        return [[name, _describe(getattr(node, name))] for name in node._fields]
    structure = tree.flatten(node)[1]
    children = [tree.unflatten(part, [_Leaf()] * part.num_leaves) for part in structure.children()]
    return [[repr(key), _describe(child)] for key, child in zip(structure.entries(), children, strict=True)]


def _field(field: "dataclasses.Field[Any]", value: Any) -> Text:
    if not field.metadata.get("static"):
        return _describe(value)
    plain = type(value) in (str, int, bool, type(None)) or (type(value) is float and math.isfinite(value))
    return {"static": value} if plain else {"shown": repr(value)}


def _rebuild(text: Text) -> Any:
    if isinstance(text, str):
        return {"leaf": _Leaf(), "none": None}[text]
    kind, *content = cast("list[Any]", text)
    if kind == "list":
        return [_rebuild(child) for child in content[0]]
    if kind == "tuple":
        return tuple(_rebuild(child) for child in content[0])
    if kind == "dict":
        return {_key(key): _rebuild(child) for key, child in content[0]}
    return _object(*content)


def _key(key: Text) -> str | int:
    if isinstance(key, list):
        raise FileError(f"x has the dictionary key {key[0]}, which no file can hold. {_HINT}")
    return key


def _object(name: str, parts: list[list[Any]]) -> Any:
    kind = _loaded(name)
    if kind is None:
        raise FileError(f"x holds a {name}, which is not imported. Import it first, or: {_HINT}")
    values = {str(key): _part(part, name) for key, part in parts}
    if dataclasses.is_dataclass(kind):
        if values.keys() != {field.name for field in dataclasses.fields(kind)}:
            raise FileError(f"x holds a {name}, which cannot be made from its parts: it has other fields here. {_HINT}")
        value = object.__new__(cast("Any", kind))  # as pytree() does: no __init__
        for key, part in values.items():
            object.__setattr__(value, key, part)
        return value
    plain: Any = tuple  # its constructor calls no code of the class
    if issubclass(kind, plain) and getattr(kind, "_fields", None) == tuple(values):
        return plain.__new__(kind, values.values())
    raise FileError(f"x holds a {name}, which cannot be made from its parts. {_HINT}")


def _part(part: Text, name: str) -> Any:
    if not isinstance(part, dict):
        return _rebuild(part)
    if "static" not in part:
        raise FileError(f"x holds a {name} with a static field that no file can hold. {_HINT}")
    return cast("dict[str, Any]", part)["static"]


def _loaded(name: str) -> Any:
    """A class by its module and name, if its module is there already."""
    module, _, qualname = name.partition(":")
    kind: Any = sys.modules.get(module)
    for step in qualname.split("."):
        known: dict[str, Any] = getattr(kind, "__dict__", {})  # getattr on a module may import another one
        kind = known.get(step)
    return kind if isinstance(kind, type) else None


def _sorted(text: Text) -> Text:
    """A description in which the order of dictionaries does not count."""
    if not isinstance(text, list):
        return text
    parts = [_sorted(part) for part in cast("list[Any]", text)]
    if parts[:1] == ["dict"]:
        parts[1] = sorted(parts[1], key=repr)
    return parts


def _show(text: Text) -> str:
    """A description as Python would write the tree."""
    if isinstance(text, str):
        return {"leaf": "*", "none": "None"}[text]
    if isinstance(text, dict):
        static = cast("dict[str, Any]", text)
        return static["shown"] if "shown" in static else repr(static["static"])
    kind, *content = cast("list[Any]", text)
    if kind in ("list", "tuple"):
        inside = ", ".join(_show(child) for child in content[0])
        return f"[{inside}]" if kind == "list" else f"({inside})"
    if kind == "dict":
        return "{" + ", ".join(f"{key!r}: {_show(child)}" for key, child in content[0]) + "}"
    return f"{content[0].rpartition(':')[2]}({', '.join(f'{key}={_show(part)}' for key, part in content[1])})"
