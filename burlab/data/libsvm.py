"""LIBSVM files: `label index:value index:value ...`, a line for each sample; read by scikit-learn, written here.

The format is that of SVMlight (Joachims 1999) and of LIBSVM (Chang and Lin 2011, ACM TIST 2:27). A file that
scikit-learn refuses is read again, line by line, so that the error names the line.
"""

import bz2
import gzip
import hashlib
import lzma
import os
import re
import zlib
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

import numpy as np

from burlab.errors import ArgumentError, FileError
from burlab.runtime.checks.numbers import shown, whole
from burlab.runtime.extras import late, require
from burlab.runtime.files import as_path, opened

from .dataset import Dataset
from .download import Source, fetched, sha256_of

sparse: Any = late("scipy.sparse")

MAX_INDEX = 2**31 - 1  # of LIBSVM's own format, an int of C
_ADDRESS = re.compile(r"https?://", re.IGNORECASE)
_HASH = re.compile(r"([a-z0-9_]+:)?[0-9a-f]{8,}", re.IGNORECASE)
_COMPRESSED = {b"\x1f\x8b": gzip.open, b"BZh": bz2.open, b"\xfd7zXZ": lzma.open}
_BYTE_ORDER_MARKS = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")


def libsvm(
    path: str | os.PathLike[str],
    *,
    features: int | None = None,
    base: int | None = None,
    hash: str | None = None,  # noqa: A002 - pooch's word for it
) -> Dataset:
    r"""The samples of a LIBSVM (SVMlight) file: a sparse matrix and a number for each row.

    Comments from "#" on, blank lines and query numbers (`qid:3`) are skipped; a line that is a label alone is a row
    without entries. The file may be compressed by gzip, bzip2 or xz, whatever its name.

    Args:
        path: A file, or an address that begins with http:// or https://, which is downloaded once, by pooch.
        features: Number of columns, for a file whose last ones have no entry, such as a test set. None: the largest
            index.
        base: The index of the first feature, 0 or 1. None: 0 if the file has an index 0, else 1. A file that counts
            from 0 and has no entry in its first column needs base=0.
        hash: Of the file at an address, such as "sha256:0a30..." or "md5:..."; another content is refused. None: any
            content is taken, and `source` says its SHA-256.

    Returns:
        The features, a SciPy CSR matrix of shape (n, d), float64, and the labels as the file has them, float64. For
        numbers of classes from 0 on: `np.unique(data.targets, return_inverse=True)[1]`.

    Raises:
        ConfigurationError: Scikit-learn or pooch, of the extra `burlab[data]`, is not installed.
        FileError: The file cannot be read, has several labels in a sample, indices that do not ascend, or another
            fault, whose line the message names; or the download fails, or its hash differs.
        ArgumentError: `features` is less than the file has.

    >>> import burlab as bl, pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "three.svm"
    ...     _ = path.write_text("+1 1:0.5 # a comment\n-1\n+1 2:-2\n")
    ...     bl.data.libsvm(path, features=4)
    <Dataset of 3 samples, 4 features (2 stored entries), numbers: three.svm>
    """
    columns = None if features is None else whole(features, "features", 1, MAX_INDEX)
    first = None if base is None else whole(base, "base", 0, 1)
    place, source = _located(path, hash)
    matrix, labels = _read(place, first)
    found = int(matrix.shape[1]) if matrix.nnz else 0
    if columns is None and not found:
        raise FileError(f"{place} has no entries, so the number of features is not known. Pass features=.")
    if columns is not None and columns < found:
        raise ArgumentError(f"features={columns}, but {place} has entries in {found} columns. Pass features={found}.")
    matrix.resize((len(labels), columns or found))
    return Dataset(matrix, labels, (), (), source)


def _located(path: object, known: str | None) -> tuple[Path, str]:
    """Return a file on this machine, and what it is, for people."""
    if isinstance(path, str) and _ADDRESS.match(path):
        if known is not None and not (isinstance(known, str) and _HASH.fullmatch(known)):  # pyright: ignore[reportUnnecessaryIsInstance] - users pass anything
            raise ArgumentError(f"hash is {shown(known)}, expected one such as 'sha256:0a30b555...', or None.")
        name = path.partition("?")[0].rstrip("/").rpartition("/")[2]
        cached = f"{hashlib.sha256(path.encode()).hexdigest()[:16]}-{name}"
        place = fetched(Source(cached, path, known, "libsvm"))
        return place, f"{name} from {path}, {known or sha256_of(place)}"
    if known is not None:
        raise ArgumentError(f"hash= is for a download, but {shown(path)} is a path. Leave hash out.")
    place = as_path(path)
    return place, place.name


def _read(place: Path, base: int | None) -> tuple[Any, "np.ndarray[Any, np.dtype[np.float64]]"]:
    """Return the CSR matrix and the labels."""
    load = require("sklearn.datasets", "data").load_svmlight_file
    zero_based = "auto" if base is None else base == 0
    try:
        with _lines(place) as lines:
            matrix, labels = load(lines, zero_based=zero_based)
    except (ValueError, OverflowError) as error:
        with _lines(place) as lines:
            raise FileError(f"{place}: {fault(lines, 0 if base is None else base) or error}") from error
    if not len(labels):
        raise FileError(f"{place} holds no sample, expected lines such as '+1 1:0.5 3:2'. Check that it is the one.")
    return sparse.csr_matrix(matrix), labels


@contextmanager
def _lines(place: Path) -> Generator[Iterable[bytes]]:
    """The bytes of a file, decompressed. Raises FileError."""
    try:
        with opened(place) as stream:
            beginning = stream.peek(8)
            decompress = next((f for mark, f in _COMPRESSED.items() if beginning.startswith(mark)), None)
            yield cast("Iterable[bytes]", decompress(stream) if decompress else stream)
    except (OSError, EOFError, lzma.LZMAError, zlib.error) as error:
        if isinstance(error, FileError):
            raise
        reason = getattr(error, "strerror", None) or str(error)
        raise FileError(f"{place} cannot be read: {reason}. Check the path, and that the file is whole.") from error


def fault(lines: Iterable[bytes], base: int) -> str:
    """Say which line of a LIBSVM file is wrong, and why; "" where none is. base: the least index."""
    for number, line in enumerate(lines, 1):
        if wrong := _fault_of(line, base):
            return f"line {number}: {wrong}"
    return ""


def _fault_of(line: bytes, base: int) -> str:
    words = line.partition(b"#")[0].split()
    if not words:
        return ""
    label, *entries = words
    if label.startswith(_BYTE_ORDER_MARKS):
        return "it begins with a byte order mark. Save the file as plain ASCII."
    if b"," in label or b":" in label:
        return (
            f"{_text(label)} where one label is expected. burlab's data have one target each: read a file of several "
            "by sklearn.datasets.load_svmlight_file(path, multilabel=True)."
        )
    if _number(label) is None:
        return f"{_text(label)} is not a label, expected a number: lines are such as '+1 1:0.5 3:2'."
    before = base - 1
    for entry in entries[1:] if entries and entries[0].startswith(b"qid:") else entries:
        index, colon, value = entry.partition(b":")
        if not colon or not re.fullmatch(rb"[+-]?\d+", index) or _number(value) is None:
            return f"{_text(entry)} is not an entry, expected index:value such as 3:0.5."
        if not base <= int(index) <= MAX_INDEX:
            hint = " Pass base=0 if the file counts from 0." if int(index) == 0 else ""
            return f"the index {int(index)} is outside of [{base}, {MAX_INDEX}].{hint}"
        if int(index) <= before:
            what = "is there twice" if int(index) == before else f"comes after {before}"
            return f"the index {int(index)} {what}, expected indices that ascend. Sort the line, or add up its entries."
        before = int(index)
    return ""


def _number(word: bytes) -> float | None:
    try:
        return float(word)
    except ValueError:
        return None


def _text(word: bytes) -> str:
    return shown(word.decode(errors="replace"))
