"""Wires around blocks: the points through which a wire goes that would run across other blocks."""

import itertools
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from burlab.widgets.drawing import Places

from .document import Document

Point = tuple[float, float]
_Wire = tuple[tuple[int, int], int, Point, Point]  # its block and argument, what it comes from, and both ends
Bends = Mapping[tuple[int, int], tuple[Point, ...]]
"""Bends of wires that have some, by the block and the number of the argument that they lead to."""

_MAX_ROUTED = 150  # blocks up to which wires are routed: a slider draws anew at each move
_GAP = 10.0  # pixels between a wire and a block that it goes around
_REACH = 4.0  # pixels around a block that count as the block
_ROUNDS = 4  # tries of one wire, each around what the one before ran across
_SAMPLES = np.linspace(0.0, 1.0, 13)


def routed(document: Document, at: Places, sizes: Mapping[int, tuple[float, float]]) -> Bends:
    """Return the bends of all wires of a document that would run across blocks.

    at, sizes: centre, and width and height of each block, in pixels.

    >>> document, x = Document().add("input")
    >>> document, y = document.add("tanh")
    >>> document, z = document.add("add", [x])
    >>> routed(document, {1: (0, 0), 2: (100, 0), 3: (200, 0)}, dict.fromkeys((1, 2, 3), (40, 20)))
    {(3, 0): ((70.0, -20.0), (130.0, -20.0))}
    """
    if not 2 < len(document) <= _MAX_ROUTED:
        return {}
    wires: list[_Wire] = []
    for key, block in document.blocks.items():
        (x, y), (width, height) = at[key], sizes[key]
        places = len(block.operands) + block.of.many
        for port, source in enumerate(block.operands):
            if source is not None:
                start = at[source][0] + sizes[source][0] / 2, at[source][1]
                wires.append(((key, port), source, start, (x - width / 2, y + ((port + 0.5) / places - 0.5) * height)))
    return _routed(tuple((key, *at[key], *sizes[key]) for key in document.blocks), tuple(wires))


@lru_cache(maxsize=16)  # another value of a constant moves no block
def _routed(blocks: tuple[tuple[float, ...], ...], wires: "tuple[_Wire, ...]") -> Bends:
    keys, boxes = np.array(blocks)[:, 0], np.array(blocks)[:, 1:]
    left, right = boxes[:, 0] - boxes[:, 2] / 2, boxes[:, 0] + boxes[:, 2] / 2
    found: dict[tuple[int, int], tuple[Point, ...]] = {}
    for (key, port), source, start, end in wires:
        near = (right > start[0]) & (left < end[0]) & (keys != key) & (keys != source)
        if near.any() and (bends := _bends(start, end, boxes[near])):
            found[key, port] = bends
    return found


def _bends(start: Point, end: Point, boxes: Any) -> tuple[Point, ...]:
    """Return the bends of one wire: above or below what it would run across, whichever crosses less or else is nearer.

    There are none if both ways cross as many blocks as the wire itself.
    """
    if end[0] - start[0] < 4 * _GAP or not (hit := _crossed([start, end], boxes)).any():
        return ()
    ways: list[tuple[int, float, tuple[Point, ...]]] = []
    for side in (-1, 1):
        around = hit.copy()
        for _ in range(_ROUNDS):
            way = _detour(start, end, boxes[around], side)
            crossed = _crossed([start, *way, end], boxes)
            ways.append((int(crossed.sum()), abs(way[0][1] - (start[1] + end[1]) / 2), way))
            if not (crossed & ~around).any():
                break
            around |= crossed
    crossings, _, bends = min(ways)
    return bends if crossings < hit.sum() else ()


def _detour(start: Point, end: Point, boxes: Any, side: int) -> tuple[Point, ...]:
    """Return the two ends of a lane above (-1) or below (1) of boxes."""
    x, y, width, height = boxes.T
    lane = float((y + side * height / 2)[np.argmax(side * (y + side * height / 2))]) + side * _GAP
    left, right = float((x - width / 2).min()) - _GAP, float((x + width / 2).max()) + _GAP
    return (max(left, start[0] + _GAP), lane), (min(right, end[0] - _GAP), lane)


def _crossed(route: Sequence[Point], boxes: Any) -> Any:
    """Return for each box whether the curve through the points of a route runs across it."""
    points = np.concatenate([_curve(a, b) for a, b in itertools.pairwise(route)])
    apart = np.abs(points[:, None, :] - boxes[None, :, :2]) - boxes[None, :, 2:] / 2
    return (apart < _REACH).all(-1).any(0)


def _curve(start: Point, end: Point) -> Any:
    """Return points of the curve that `drawing.curve` draws, shape (13, 2)."""
    t = _SAMPLES
    across = start[0] + (end[0] - start[0]) * (t + t * (1 - t) * (1 - 2 * t) / 2)
    return np.stack([across, start[1] + (end[1] - start[1]) * t**2 * (3 - 2 * t)], 1)
