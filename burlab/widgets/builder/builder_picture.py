"""The picture of a document: texts, sizes and places of its blocks, and all of it as a still picture."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from burlab.widgets.drawing import Box, Places, draw
from burlab.widgets.layered import layered

from .block_palette import WEIGHTS
from .document import Document, GraphBlock
from .evaluate import Evaluation
from .exporting import short
from .literals import written
from .routing import routed

_BLOCK_GAP = 40.0  # pixels between adjacent blocks
_MAX_LINE_LENGTH = 26  # letters of a line


def boxes_of(document: Document, result: Evaluation) -> Mapping[int, Box]:
    """A box for each block: its kind, value and gradient."""
    return {key: _box(document, result, key, block) for key, block in document.blocks.items()}


def edges_of(document: Document) -> list[tuple[int, int]]:
    """From each operand to the block that takes it."""
    return [(x, key) for key, block in document.blocks.items() for x in block.operands if x is not None]


def arranged(document: Document, boxes: Mapping[int, Box]) -> Places:
    """Return the places of blocks: those of the layout, unless some were moved by hand; others are near these."""
    at = {key: block.place for key, block in document.blocks.items() if block.place is not None}
    if not document.blocks:
        return {}
    if not at:
        sizes = {key: size(box, len(document[key].operands)) for key, box in boxes.items()}
        return layered(sizes, edges_of(document)).centres
    for key in document.order:
        if key not in at:
            at[key] = _free(document, boxes, at, key)
    return at


def size(box: Box, ports: int = 0) -> tuple[float, float]:
    """Width and height of a block: room for its words and for a place at each argument."""
    return max(box.width, 84.0), max(box.height, 22.0 + 15.0 * ports)


def settled(document: Document, result: Evaluation) -> Document:
    """The document with the present place of each block, so that no block moves by itself later."""
    return document.move(arranged(document, boxes_of(document, result)))


def svg(document: Document, result: Evaluation) -> str:
    """The document as SVG, in the colours of the page's theme."""
    boxes = boxes_of(document, result)
    if not boxes:
        return draw({0: Box(("an empty builder",), "operation")}, [])
    at = arranged(document, boxes)
    sizes = {key: size(box, len(document[key].operands)) for key, box in boxes.items()}
    bends = {
        (x, key): way for (key, port), way in routed(document, at, sizes).items() if (x := document[key].operands[port])
    }
    return draw(boxes, edges_of(document), at, bends)


def headline(block: GraphBlock) -> str:
    """Return the name of a block in a few letters."""
    symbol = block.of.symbol or block.kind.removeprefix("graph.")
    return _cut(f"{block.label} = {symbol}" if block.label and not block.of.is_leaf else block.label or symbol)


def detail(block: GraphBlock) -> str:
    """The options that are not as they are by default, but for what the value shows anyway."""
    changed = [(o.name, v) for o, (_, v) in zip(block.of.options, block.options, strict=True) if v != o.default]
    words = [f"{n} {written(v)}" for n, v in changed if n not in ("value", "seed", "dtype", WEIGHTS)]
    return _cut(", ".join(["trained" for n, _ in changed if n == WEIGHTS] + words))


def form(value: Any) -> str:
    """Dtype and shape; nothing for a float64 number."""
    array = np.asarray(value)
    words = "" if array.dtype == np.float64 else array.dtype.name
    return f"{words}{list(array.shape)}" if array.ndim else words


def lines_of(document: Document, result: Evaluation, key: int) -> list[tuple[str, str]]:
    """Return the lines in a block, each with its kind: head, detail, value, gradient, fault or open."""
    block = document[key]
    lines = [("head", headline(block)), ("detail", detail(block))]
    if key in result.values:
        lines.append(("value", " ".join(filter(None, (short(result.values[key]), form(result.values[key]))))))
        lines.append(("gradient", f"∂ {short(result.gradients[key])}" if key in result.gradients else ""))
    lines.append(("fault", result.faults.get(key) or result.odd.get(key, "")))
    lines.append(("open", result.waiting.get(key, "")))
    return [(what, _cut(text)) for what, text in lines if text]


def _box(document: Document, result: Evaluation, key: int, block: GraphBlock) -> Box:
    wrong = key in result.faults or key in result.odd
    kind: Any = "output" if key == document.root else "input" if block.of.is_leaf else "operation"
    lines = tuple(text for _, text in lines_of(document, result, key))
    return Box(lines, "fault" if wrong else kind, result.faults.get(key, block.of.doc), cut=key in result.waiting)


def _free(document: Document, boxes: Mapping[int, Box], at: Places, key: int) -> tuple[float, float]:
    """Right of the operands, and below the blocks that are there."""
    near = [x for x in document.blocks[key].operands if x in at]
    width, height = size(boxes[key])
    right = max((at[x][0] + size(boxes[x])[0] / 2 for x in near if x is not None), default=0.0)
    first = min(x for x, _ in at.values())  # of the leaves, mostly: an operation begins the column after it
    x = right + _BLOCK_GAP + width / 2 if near else first if document[key].of.is_leaf else first + width + _BLOCK_GAP
    y = float(np.mean([at[n][1] for n in near if n is not None])) if near else min(y for _, y in at.values())
    while any(
        abs(x - u) < (size(boxes[n])[0] + width) / 2 + _BLOCK_GAP / 2
        and abs(y - v) < (size(boxes[n])[1] + height) / 2 + _BLOCK_GAP / 2
        for n, (u, v) in at.items()
    ):
        y += _BLOCK_GAP / 2
    return x, y


def _cut(text: str) -> str:
    return text if len(text) <= _MAX_LINE_LENGTH else f"{text[: _MAX_LINE_LENGTH - 1]}…"
