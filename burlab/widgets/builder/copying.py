"""Copies of blocks: next to those of the same document, or from the text of a clipboard."""

from collections.abc import Iterable, Mapping
from itertools import count

from .builder_json import from_json
from .document import Document, GraphBlock

_APART = 30.0  # pixels from a block to its copy, both ways


def duplicated(document: Document, keys: Iterable[int]) -> tuple[Document, list[int]]:
    """Return the document with copies of some blocks, and their keys. They have places; wires from others lead to both.

    >>> document, x = Document().add("input", label="x", place=(0, 0))
    >>> document, y = document.add("square", [x], place=(90, 0))
    >>> document, copies = duplicated(document, [y])
    >>> document[copies[0]].operands == (x,), document[copies[0]].place
    (True, (120.0, 30.0))
    """
    chosen = set(keys)
    blocks = {key: document[key] for key in document.order if key in chosen}
    return _inserted(document, blocks, (_APART, _APART), keep_wires=True)


def pasted(document: Document, text: str, place: tuple[float, float] | None = None) -> tuple[Document, list[int]]:
    """Return the document with the blocks of a builder's JSON, and their keys.

    place: of the middle of what is pasted; None for next to where it was copied from. Raises GraphError if the text is
    no builder's.
    """
    clip = from_json(text)
    blocks = {key: clip[key] for key in clip.order}
    by = (_APART, _APART)
    if place is not None and (at := [block.place for block in blocks.values() if block.place is not None]):
        xs, ys = zip(*at, strict=True)
        by = place[0] - (min(xs) + max(xs)) / 2, place[1] - (min(ys) + max(ys)) / 2
    return _inserted(document, blocks, by, keep_wires=False)


def _inserted(
    document: Document, blocks: Mapping[int, GraphBlock], by: tuple[float, float], *, keep_wires: bool
) -> tuple[Document, list[int]]:
    """Add blocks in an order in which arguments come first. keep_wires: from blocks that are no copies."""
    new: dict[int | None, int] = {}
    for key, block in blocks.items():
        operands = [new.get(x, x if keep_wires else None) for x in block.operands]
        if block.of.many:
            operands = [x for x in operands if x is not None]
        place = None if block.place is None else (block.place[0] + by[0], block.place[1] + by[1])
        label, options = _free_label(document, block.label), dict(block.options)
        document, new[key] = document.add(block.kind, operands, label=label, options=options, place=place)
    return document, list(new.values())


def _free_label(document: Document, label: str) -> str:
    """Return a label, with a number if a block has it already: x, x2, x3, ..."""
    taken = {block.label for block in document.blocks.values()}
    return next(name for k in count(1) if (name := label if k == 1 else f"{label}{k}") not in taken or not label)
