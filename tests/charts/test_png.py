"""The image of a map: a well-formed PNG whose shade rises with the height."""

import struct
import zlib

import numpy as np
import pytest

from burlab.charts.grid import LEVELS
from burlab.charts.palette import PALETTE
from burlab.charts.png import shaded


def pixels(data: bytes) -> np.ndarray:
    """Decode what an independent reader of the format would: chunks with right checksums, rows without filters."""
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    at, chunks = 8, {}
    while at < len(data):
        (size,) = struct.unpack(">I", data[at : at + 4])
        name, body = data[at + 4 : at + 8], data[at + 8 : at + 8 + size]
        assert struct.unpack(">I", data[at + 8 + size : at + 12 + size])[0] == zlib.crc32(name + body)
        chunks[name] = body
        at += 12 + size
    width, height, depth, kind, *_ = struct.unpack(">2I5B", chunks[b"IHDR"])
    assert (depth, kind) == (8, 6)
    rows = np.frombuffer(zlib.decompress(chunks[b"IDAT"]), np.uint8).reshape(height, 1 + 4 * width)
    assert not rows[:, 0].any()
    return rows[:, 1:].reshape(height, width, 4)


def test_the_first_row_of_heights_is_at_the_bottom():
    alpha = pixels(shaded(np.repeat(np.arange(5.0)[:, None], 4, 1), 30, 40))[..., 3].astype(int)
    assert alpha[0].min() > alpha[-1].max()
    assert alpha[-1].max() == 0


def test_shades_rise_to_the_right_but_for_the_lines_between_levels():
    image = pixels(shaded(np.tile(np.arange(9.0), (3, 1)), 200, 20))
    line = image[5]
    shade = line[(line[:, 0] == 100), 3].astype(int)
    assert (np.diff(shade) >= 0).all()
    assert shade[0] == 0
    assert shade[-1] > 100
    assert LEVELS - 4 <= (line[:, 0] != 100).sum() <= LEVELS  # the lines


def test_pixels_of_nonfinite_heights_are_transparent():
    heights = np.arange(12.0).reshape(3, 4)
    heights[0, 0], heights[2, 3] = np.nan, np.inf
    image = pixels(shaded(heights, 60, 60))
    assert image[-1, 0, 3] == 0
    assert image[0, -1, 3] == 0
    assert image[..., 3].any()


def test_flat_and_unknown_heights_make_a_clear_image():
    for heights in (np.full((4, 4), 7.0), np.full((4, 4), np.nan), np.zeros((1, 1))):
        assert not pixels(shaded(heights, 10, 10))[..., 3].any()


def test_two_colours_part_at_a_middle_and_fade_towards_it():
    image = pixels(shaded(np.tile(np.linspace(-1.0, 3.0, 9), (3, 1)), 200, 20, middle=0.0))
    row = image[5]
    blue, orange = (tuple(bytes.fromhex(colour[1:])) for colour in PALETTE[:2])
    sides = [(k, tuple(pixel[:3]), int(pixel[3])) for k, pixel in enumerate(row)]
    below = [(k, alpha) for k, colour, alpha in sides if colour == blue]
    above = [(k, alpha) for k, colour, alpha in sides if colour == orange]
    assert max(below)[0] < 50 <= min(above)[0], "the middle lies at a quarter of the way"
    assert [alpha for _, alpha in below] == sorted((alpha for _, alpha in below), reverse=True)
    assert [alpha for _, alpha in above] == sorted(alpha for _, alpha in above)
    assert 3 * below[0][1] == pytest.approx(above[-1][1], abs=6), "as far from the middle, as strong"
