"""Files that hold a JSON document and arrays, whole or not at all: no pickle, nothing in them is ever executed.

Layout, numbers little-endian: 12 bytes of magic, the format's version (uint32), the header's length and the file's
length (uint64), SHA-256 of these 32 bytes and the header; the header: JSON in UTF-8 with the kind of the file, the
burlab that wrote it, the document, and for each array name, dtype, shape, place and SHA-256; then the arrays, each at a
multiple of 64 bytes, zeros between them. So every byte is covered, and reading is one pass.
"""

import hashlib
import json
import math
import os
import struct
from collections.abc import Iterator, Mapping
from io import BufferedReader
from pathlib import Path
from typing import Any, cast

import numpy as np

from burlab._version import __version__
from burlab.errors import FileError
from burlab.runtime.checks.numbers import shown
from burlab.runtime.checks.stored import several, size
from burlab.runtime.coerce import Array
from burlab.runtime.dtypes import STORED, dtype_of
from burlab.runtime.files import as_path, opened, pieces, write_whole
from burlab.runtime.memory import rounded

VERSION = 1
MAGIC = b"\x89burlab\r\n\x1a\n\0"  # a text-mode transfer or a cut at 7 bits shows
_FIRST = struct.Struct("<12sIQQ")
_START = _FIRST.size + hashlib.sha256().digest_size  # where the header begins
_SHAPE = several(size, 32)


def write(path: str | os.PathLike[str], kind: str, document: dict[str, Any], arrays: Mapping[str, Array]) -> None:
    """Write a file, or leave the old one unchanged. document: JSON. Raises FileError if the system refuses."""
    target = as_path(path).resolve()
    rows: list[dict[str, Any]] = []
    raws: list[Array] = []
    end = 0
    for name, array in arrays.items():
        raw = _raw(array)
        form = {"name": name, "dtype": array.dtype.name, "shape": array.shape, "place": end}
        rows.append(form | {"sha256": sha256(raw)})
        raws.append(raw)
        end += rounded(raw.nbytes)
    content = {"kind": kind, "burlab": __version__, "document": document, "arrays": rows}
    header = json.dumps(content, allow_nan=False).encode()
    first = _FIRST.pack(MAGIC, VERSION, len(header), rounded(_START + len(header)) + end)
    begin = first + hashlib.sha256(first + header).digest() + header
    write_whole(target, _padded([begin, *(raw.data for raw in raws)]))


def read(path: str | os.PathLike[str], kind: str) -> tuple[Any, dict[str, Array]]:
    """The document and the arrays of a file, verified to the last bit. Raises FileError with the reason."""
    place = as_path(path)
    try:
        with opened(place) as stream:
            header, end = _header(stream, place)
            return _content(stream, place, header, end, kind)
    except FileError:
        raise
    except OSError as error:
        raise FileError(f"{place} cannot be read: {error.strerror}. Check the path and its permissions.") from error
    except (KeyError, RecursionError, TypeError, ValueError) as error:
        raise FileError(f"{place} is malformed: {type(error).__name__}: {error}. Use another copy.") from error


def sha256(*parts: Array) -> str:
    """The checksum of the numbers of an array, or of its parts in order, little-endian and in C order."""
    checksum = hashlib.sha256()
    for piece in (piece for part in parts for piece in pieces(_raw(part).data)):
        checksum.update(piece)
    return checksum.hexdigest()


def _raw(array: Array) -> Array:
    """The bytes of an array, little-endian and in C order."""
    if array.dtype.name not in STORED:
        raise FileError(f"an array of dtype {array.dtype} cannot be saved; expected {', '.join(sorted(STORED))}.")
    return np.ascontiguousarray(array, array.dtype.newbyteorder("<")).reshape(-1).view(np.uint8)


def _padded(parts: list[bytes | memoryview]) -> Iterator[bytes | memoryview]:
    """The parts, each followed by zeros up to a multiple of 64 bytes."""
    for part in parts:
        yield part
        size = memoryview(part).nbytes
        yield bytes(rounded(size) - size)


def _header(stream: BufferedReader, place: Path) -> tuple[Any, int]:
    """The verified header, and the file's length."""
    size = os.fstat(stream.fileno()).st_size
    begin = stream.read(_START)
    if not MAGIC.startswith(begin[: len(MAGIC)]) or not begin:
        raise FileError(f"expected a file of burlab, got {place}, which begins with {begin[:12]!r} and not {MAGIC!r}.")
    if len(begin) < _START:
        raise FileError(f"{place} is cut off after {size} bytes, inside its first {_START}. Use another copy.")
    _, version, length, end = cast("tuple[bytes, int, int, int]", _FIRST.unpack(begin[: _FIRST.size]))
    newer = f" Its format is version {version}, and this burlab ({__version__}) reads version {VERSION}."
    header = stream.read(length) if _START + length <= size else b""
    if hashlib.sha256(begin[: _FIRST.size] + header).digest() != begin[_FIRST.size :]:
        cut = f"it has {size} bytes of {end}" if size < end else "its header does not match its checksum"
        raise FileError(f"{place} is damaged: {cut}.{newer if version != VERSION else ''} Use another copy.")
    if version != VERSION:
        raise FileError(f"{place} was written by another burlab.{newer} Read it with a burlab that knows it.")
    if size != end:
        raise FileError(f"{place} is damaged: it has {size} bytes, expected {end}. Use another copy.")
    return json.loads(header), end


def _content(
    stream: BufferedReader, place: Path, header: dict[str, Any], end: int, kind: str
) -> tuple[Any, dict[str, Array]]:
    if header["kind"] != kind:
        raise FileError(f"{place} holds a {header['kind']!a:.40}, expected a {kind}.")
    arrays: dict[str, Array] = {}
    start = _gap(stream, place)
    for row in header["arrays"]:
        if stream.tell() != start + row["place"]:
            raise ValueError(f"the array {row['name']} is not where the one before it ends")
        arrays[row["name"]] = _array(stream, place, row, end)
        _gap(stream, place)
    if stream.tell() != end:
        raise ValueError(f"{end - stream.tell()} bytes belong to no array")
    return header["document"], arrays


def _array(stream: BufferedReader, place: Path, row: dict[str, Any], end: int) -> Array:
    name, dtype, shape = row["name"], row["dtype"], tuple(row["shape"])
    if dtype not in STORED or not _SHAPE(shape):
        raise ValueError(f"the array {shown(name)} has dtype {shown(dtype)} and shape {shape}")
    nbytes = math.prod(shape) * dtype_of(dtype).itemsize
    if nbytes > end - stream.tell():
        raise ValueError(f"the array {shown(name)} of shape {shape} is longer than the file")
    raw = np.empty(nbytes, np.uint8)
    if sum(stream.readinto(piece) for piece in pieces(raw.data)) != nbytes or sha256(raw) != row["sha256"]:
        raise FileError(f"{place} is damaged: the array {name} does not match its checksum. Use another copy.")
    if dtype == "bool" and raw.max(initial=0) > 1:
        raise ValueError(f"the array {shown(name)} of masks holds {raw.max()}, which is neither true nor false")
    return raw.view(dtype_of(dtype).newbyteorder("<")).astype(dtype, copy=False).reshape(shape)


def _gap(stream: BufferedReader, place: Path) -> int:
    """Skip the zeros before the next array, and return its offset."""
    position = stream.tell()
    if any(stream.read(rounded(position) - position)):
        raise FileError(f"{place} is damaged: bytes between arrays are not zero. Use another copy.")
    return rounded(position)
