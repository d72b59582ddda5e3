"""The arrays of a safetensors file, in dtypes of NumPy: numbers of two bytes and of one are widened, exactly."""

import hashlib
import json
import math
import warnings
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from burlab.errors import DTypeError, FileError
from burlab.runtime.extras import late

from .layer import Array

safetensors: Any = late("safetensors", "files")

CHECKSUM = "burlab_sha256"
_DTYPES = {
    **{f"F{8 * n}": f"<f{n}" for n in (2, 4, 8)},
    **{f"I{8 * n}": f"<i{n}" for n in (1, 2, 4, 8)},
    **{f"U{8 * n}": f"<u{n}" for n in (1, 2, 4, 8)},
    "BOOL": "?",
    "C64": "<c8",
}


class Tensors(NamedTuple):
    """Contents of a file. widened: the names of arrays whose dtype NumPy does not have."""

    arrays: dict[str, Array]
    metadata: dict[str, str]
    widened: set[str]


def tensors(text: bytes, place: str) -> Tensors:
    """The content of a file. Raises FileError where it is damaged, DTypeError for a dtype without a wider one."""
    try:
        rows = safetensors.deserialize(text)
        metadata = json.loads(text[8 : 8 + int.from_bytes(text[:8], "little")]).get("__metadata__", {})
    except (safetensors.SafetensorError, ValueError, KeyError, TypeError) as error:
        what = str(error) or type(error).__name__
        raise FileError(
            f"{place} is not a whole safetensors file: it has {len(text)} bytes, and {what}. Use another copy."
        ) from error
    arrays = {name: _array(name, row, place) for name, row in rows}
    if CHECKSUM in metadata and metadata[CHECKSUM] != checksum(arrays):
        raise FileError(f"{place} is damaged: its numbers do not match their checksum. Use another copy.")
    widened = {name: row["dtype"] for name, row in rows if row["dtype"] in _WIDENED}
    if widened:
        kinds = ", ".join(sorted(set(widened.values())))
        warnings.warn(
            f"{place}: {len(widened)} arrays of dtype {kinds}, which NumPy does not have, are float32 now: the same "
            "numbers, in more memory.",
            stacklevel=4,
        )
    return Tensors(arrays, metadata, set(widened))


def checksum(arrays: Mapping[str, Array]) -> str:
    """Checksum of names and numbers, whatever their order in the file."""
    digest = hashlib.sha256()
    for name in sorted(arrays):
        array = arrays[name]
        digest.update(f"{name} {array.dtype.name} {array.shape}\n".encode())
        digest.update(np.array(array, array.dtype.newbyteorder("<"), order="C").tobytes())
    return digest.hexdigest()


def _array(name: str, row: Mapping[str, Any], place: str) -> Array:
    dtype, raw = row["dtype"], row["data"]
    if dtype in _WIDENED:
        found = _WIDENED[dtype](raw)
    elif dtype in _DTYPES:
        found = np.frombuffer(raw, _DTYPES[dtype])
    else:
        raise DTypeError(f"{place}: {name} has dtype {dtype}, of which NumPy has no wider one. Convert it before.")
    return found.reshape(row["shape"])


def _bfloat16(raw: bytes) -> Array:
    """The upper half of a float32."""
    return (np.frombuffer(raw, "<u2").astype(np.uint32) << 16).view(np.float32)


def _float8_e5m2(raw: bytes) -> Array:
    """The upper half of a float16."""
    with np.errstate(invalid="ignore"):  # a signaling nan is quiet afterwards
        return (np.frombuffer(raw, np.uint8).astype(np.uint16) << 8).view(np.float16).astype(np.float32)


def _float8_e4m3(raw: bytes) -> Array:
    """Four bits of exponent, three of mantissa, no infinity (Micikevicius et al. 2022, arXiv:2209.05433)."""
    numbers = [_e4m3(code) for code in range(128)]
    return np.array([*numbers, *(-x for x in numbers)], np.float32)[np.frombuffer(raw, np.uint8)]


def _e4m3(code: int) -> float:
    exponent, mantissa = divmod(code, 8)
    if code == 0x7F:
        return math.nan
    return math.ldexp(8 * (exponent > 0) + mantissa, max(exponent, 1) - 10)


_WIDENED = {"BF16": _bfloat16, "F8_E5M2": _float8_e5m2, "F8_E4M3": _float8_e4m3}
