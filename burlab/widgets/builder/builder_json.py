"""Documents as JSON, and from JSON of any origin.

Version 1: {"burlab_builder": 1, "blocks": [{"key", "kind", "label", "inputs", "options", "place"}, ...], "output"}.
Blocks refer to each other by key; open arguments are null. Numbers that JSON does not know are words: "inf", "nan".
"""

import json
import math
from types import MappingProxyType
from typing import Any, NoReturn, cast

from burlab.errors import ArgumentError, GraphError
from burlab.runtime.checks.stored import fields, optional, record, several, text, whole

from .block_palette import kind_of
from .document import Document, GraphBlock
from .literals import Literal

VERSION = 1
_KEY = whole(1, 1 << 31)
_MAX_DEPTH = 20


def _number(value: Any) -> bool:
    return type(value) in (int, float)


_BLOCK = fields(
    key=_KEY,
    kind=text,
    label=text,
    inputs=several(optional(_KEY)),
    options=lambda value: type(value) is dict,
    place=optional(record(_number, _number)),
)
_WHOLE = fields(burlab_builder=_number, blocks=several(_BLOCK), output=optional(_KEY))


def to_json(document: Document) -> str:
    """The document as JSON text, with a line for each block."""
    rows = [
        json.dumps(
            {
                "key": key,
                "kind": block.kind,
                "label": block.label,
                "inputs": block.operands,
                "options": {name: _plain(value) for name, value in block.options},
                "place": block.place,
            },
            allow_nan=False,
        )
        for key, block in document.blocks.items()
    ]
    inner = ",\n  ".join(rows)
    return f'{{"burlab_builder": {VERSION}, "output": {json.dumps(document.output)}, "blocks": [\n  {inner}\n]}}\n'


def from_json(written: str) -> Document:
    """A document from its JSON. Raises GraphError, naming the block, if the text is invalid.

    >>> document = Document().add("input", options={"value": [1.0, float("nan")]})[0]
    >>> to_json(from_json(to_json(document))) == to_json(document)
    True
    """
    try:
        data: Any = json.loads(written)
    except (TypeError, ValueError, RecursionError) as error:
        raise GraphError(f"expected the JSON of a builder; the text is not JSON: {error}.") from None
    if not isinstance(data, dict) or "burlab_builder" not in data:
        raise GraphError('a builder\'s JSON was expected, an object with the key "burlab_builder"; this has none.')
    row = cast("dict[str, Any]", data)
    if row["burlab_builder"] != VERSION:
        raise GraphError(
            f"this burlab reads builders of version {VERSION}, got version {row['burlab_builder']!s:.20}. "
            "Save it again with this burlab, or use the one that wrote it."
        )
    if not _WHOLE(row):
        wrong = [k for k, block in enumerate(row.get("blocks") or []) if not _BLOCK(block)]
        _damaged(f"block {wrong[0]} is" if wrong else "it is", "not as a builder writes it")
    blocks: dict[int, GraphBlock] = {}
    for block in row["blocks"]:
        if block["key"] in blocks:
            _damaged(f"the key {block['key']}", "belongs to two blocks")
        blocks[block["key"]] = _block(block)
    document = Document(MappingProxyType(blocks), row["output"])
    for key, block in blocks.items():
        if unknown := [x for x in block.operands if x is not None and x not in blocks]:
            _damaged(f"block {key}", f"takes the value of block {unknown[0]}, which does not exist")
    if document.output is not None and document.output not in blocks:
        _damaged(f"the output {document.output}", "does not exist")
    assert document.order is not None  # raises GraphError for a circle
    return document


def _block(row: dict[str, Any]) -> GraphBlock:
    try:
        kind = kind_of(row["kind"])
        options = {name: _literal(value) for name, value in row["options"].items()}
        alone, _ = Document().add(kind.name, label=row["label"], options=options, place=row["place"])
    except ArgumentError as error:
        _damaged(f"block {row['key']}:", str(error))
    (block,) = alone.blocks.values()
    count = len(row["inputs"])
    if count != len(kind.ports) and not (kind.many and count >= 1):
        _damaged(f"block {row['key']}", f"has {count} inputs, but {kind.name} takes {len(kind.ports)}")
    return GraphBlock(block.kind, block.label, tuple(row["inputs"]), block.options, block.place)


def _plain(value: Literal) -> Any:
    if isinstance(value, tuple):
        return [_plain(item) for item in cast("tuple[Any, ...]", value)]
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def _literal(value: Any, depth: int = 0) -> Literal:
    if isinstance(value, list) and depth < _MAX_DEPTH:
        return tuple([_literal(item, depth + 1) for item in cast("list[Any]", value)])
    return float(value) if value in ("inf", "-inf", "nan") else cast("Any", value)


def _damaged(where: str, what: str) -> NoReturn:
    raise GraphError(f"this builder's JSON is damaged: {where} {what}. Use another copy of it.")
