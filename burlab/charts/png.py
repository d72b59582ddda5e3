"""The shades of a map as a PNG image, made with zlib alone (PNG, W3C Recommendation of 2003, ISO/IEC 15948)."""

import struct
import zlib
from typing import Any

import numpy as np

from burlab.typing import Numbers

from .grid import LEVELS
from .palette import PALETTE

_SHADE, _LINE = (100, 135, 190), (110, 130, 165)  # the colours of a height and of a level line
_SIDES = tuple(tuple(bytes.fromhex(colour[1:])) for colour in PALETTE[:2])  # below and above a middle
_ALPHA, _LINE_ALPHA = 115, 130  # of 255


def shaded(heights: Numbers, width: int, height: int, middle: float | None = None) -> bytes:
    """Return an image of so many pixels: opaque where it is high, lines between levels, clear where it is not finite.

    heights: float64, shape (rows, columns), the first row lowest in the image. middle: as in `Map`.

    >>> shaded(np.arange(6.0).reshape(2, 3), 30, 20)[1:4]
    b'PNG'
    """
    fine = _stretched(heights, width, height)
    known = np.isfinite(fine)
    low, high = (float(fine[known].min()), float(fine[known].max())) if known.any() else (0.0, 0.0)
    if middle is not None:
        far = max(abs(low - middle), abs(high - middle))
        low, high = middle - far, middle + far
    part = np.where(known, (fine - low) / ((high - low) or 1.0), 0.0)
    level = np.floor(part * LEVELS)
    edge = np.zeros_like(known)
    edge[:, 1:] |= level[:, 1:] != level[:, :-1]
    edge[1:, :] |= level[1:, :] != level[:-1, :]
    pixels = np.zeros((height, width, 4), np.uint8)
    pixels[...] = (*_SHADE, 0)
    if middle is not None:
        pixels[..., :3] = np.where((part < 0.5)[..., None], _SIDES[0], _SIDES[1])
        part = np.where(known, np.abs(2 * part - 1), 0.0)
    pixels[..., 3] = part * _ALPHA
    pixels[edge & known] = (*_LINE, _LINE_ALPHA)
    return _png(pixels[::-1])


def _stretched(heights: Numbers, width: int, height: int) -> Numbers:
    """Heights at every pixel, bilinear between the points of the grid, whose outer ones lie on the edges."""
    r, r1, down = _between(heights.shape[0], height)
    c, c1, right = _between(heights.shape[1], width)
    down = down[:, None]
    with np.errstate(invalid="ignore"):
        above = heights[r][:, c] * (1 - right) + heights[r][:, c1] * right
        below = heights[r1][:, c] * (1 - right) + heights[r1][:, c1] * right
        return above * (1 - down) + below * down


def _between(count: int, pixels: int) -> tuple[Any, Any, Any]:
    """For each pixel the two points of a grid around it, and how far it lies from the first to the second, 0 to 1."""
    at = np.linspace(0, count - 1, pixels)
    first = np.minimum(np.floor(at).astype(np.int64), max(count - 2, 0))
    return first, np.minimum(first + 1, count - 1), at - first


def _png(pixels: np.ndarray[tuple[int, int, int], np.dtype[np.uint8]]) -> bytes:
    """A file of eight bits each of red, green, blue and alpha; every row without a filter."""
    height, width, _ = pixels.shape
    rows = np.concatenate([np.zeros((height, 1), np.uint8), pixels.reshape(height, width * 4)], axis=1)
    header = struct.pack(">2I5B", width, height, 8, 6, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(rows.tobytes(), 9)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data)) for name, data in chunks
    )
