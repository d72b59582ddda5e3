"""Samples as a LIBSVM file, so exact that reading it gives the same numbers."""

import os
from collections.abc import Iterator
from typing import Any

import numpy as np

from burlab.errors import DTypeError, ShapeError
from burlab.runtime.checks.numbers import whole
from burlab.runtime.extras import late
from burlab.runtime.files import as_path, write_whole
from burlab.runtime.plain import as_array
from burlab.typing import ArrayLike

sparse: Any = late("scipy.sparse")

_ROWS = 4096  # that are converted at once


def write_libsvm(path: str | os.PathLike[str], features: Any, targets: ArrayLike, *, base: int = 1) -> None:
    """Write samples to a LIBSVM file, whole or not at all; `libsvm` reads the same numbers back.

    Each number has as many digits as tell it from its neighbours (scikit-learn's `dump_svmlight_file` has 16, of the 17
    that some need). Of an array the entries that are not 0 are written, of a sparse matrix the stored ones. The format
    does not say how many features there are: pass `features=` to `libsvm` where the last columns are empty.

    Args:
        path: Of the file.
        features: Real numbers, shape (n, d): an array, or a matrix of SciPy.
        targets: Real numbers, shape (n,).
        base: The index of the first feature, 0 or 1, as LIBSVM has it.

    Raises:
        DTypeError: For complex numbers, and for what is not a number.
        ShapeError: For other shapes.
        FileError: The file cannot be written.

    >>> import burlab as bl, numpy as np, pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "two.svm"
    ...     bl.data.write_libsvm(path, np.array([[0.1, 0.0], [0.0, 1 / 3]]), [1.0, -1.0], base=0)
    ...     print(path.read_text(), end="")
    1 0:0.1
    -1 1:0.3333333333333333
    """
    first = whole(base, "base", 0, 1)
    rows: Any = sparse.csr_matrix(features, copy=True) if sparse.issparse(features) else as_array(features, "features")
    labels = as_array(targets, "targets")
    for array, name in ((rows, "features"), (labels, "targets")):
        if array.dtype.kind not in "fiub":
            raise DTypeError(f"{name} has dtype {array.dtype}, expected real numbers. Convert it with .astype.")
    if rows.ndim != 2 or labels.shape != rows.shape[:1]:
        raise ShapeError(
            f"features has shape {rows.shape} and targets {labels.shape}, expected (n, d) and (n,): one number a row."
        )
    if sparse.issparse(rows):
        rows.sum_duplicates()
    write_whole(as_path(path), _blocks(rows, labels, first))


def _blocks(rows: Any, labels: "np.ndarray[Any, Any]", base: int) -> Iterator[bytes]:
    """Yield the lines of some rows at a time."""
    for start in range(0, len(labels), _ROWS):
        block = rows[start : start + _ROWS]
        part = sparse.csr_matrix(block.astype(np.float64) if block.dtype.kind == "f" else block)
        bounds, indices, values = part.indptr.tolist(), (part.indices + base).tolist(), _texts(part.data)
        entries = [f"{index}:{value}" for index, value in zip(indices, values, strict=True)]
        yield "".join(
            " ".join([label, *entries[bounds[k] : bounds[k + 1]]]) + "\n"
            for k, label in enumerate(_texts(labels[start : start + _ROWS]))
        ).encode()


def _texts(values: "np.ndarray[Any, Any]") -> list[str]:
    """Numbers as text, those without a fraction as integers."""
    if values.dtype.kind != "f":
        return [str(int(value)) for value in values.tolist()]
    return [repr(value).removesuffix(".0") for value in values.astype(np.float64, copy=False).tolist()]
