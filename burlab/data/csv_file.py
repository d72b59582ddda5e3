"""Files of comma-separated values, by pandas: NumPy's readers know neither quotes with line breaks nor words."""

import os
from typing import Any

from burlab.errors import ArgumentError, FileError
from burlab.runtime.checks.numbers import shown, truth
from burlab.runtime.extras import require
from burlab.runtime.files import as_path, opened

from .dataset import Dataset
from .frame_columns import column_named, dataset_of


def csv(
    path: str | os.PathLike[str],
    target: str | int | None = None,
    *,
    header: bool = True,
    delimiter: str = ",",
) -> Dataset:
    r"""The samples of a CSV file: a row for each, and one column that is predicted.

    Columns of numbers are features as they are. A column of words becomes a feature of 0 and 1 for each word, called
    "column=word". Missing numbers are nan; a missing word is 0 in all its columns.

    Args:
        path: Of a file in UTF-8; it may be compressed if its name says so (.gz, .bz2, .xz, .zip).
        target: The predicted column, by name or position. None: the last one.
        header: False if the first line is a sample; columns are then called "x0", "x1", ...
        delimiter: Between two fields: a character, or r"\s+" for any white space.

    Returns:
        The features, shape (n, d), float64, and the targets, shape (n,): float64, or int64 where the column has words,
        which are the `class_names`, sorted.

    Raises:
        ConfigurationError: Pandas, of the extra `burlab[frames]`, is not installed.
        FileError: The file cannot be read as a table.
        ArgumentError: There is no such column, a target is missing, or delimiter is not a string.

    >>> import burlab as bl, pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "trees.csv"
    ...     _ = path.write_text("height,kind,sick\n3.5,oak,yes\n2,elm,no\n")
    ...     data = bl.data.csv(path)
    >>> data.features.tolist(), data.feature_names
    ([[3.5, 0.0, 1.0], [2.0, 1.0, 0.0]], ('height', 'kind=elm', 'kind=oak'))
    >>> data.targets, data.class_names
    (array([1, 0]), ('no', 'yes'))
    """
    place = as_path(path)
    named = truth(header, "header")
    if not isinstance(delimiter, str):  # pyright: ignore[reportUnnecessaryIsInstance] - users pass anything
        raise ArgumentError(f"delimiter is {shown(delimiter)}, expected a character, such as ';'.")
    frame = _frame(place, named, delimiter)
    if not named:
        frame.columns = [f"x{k}" for k in range(frame.shape[1])]
    frame.columns = [str(name) for name in frame.columns]
    if not frame.index.equals(require("pandas", "frames").RangeIndex(len(frame))):
        raise FileError(f"{place} has rows of more fields than its first line. Give every column a name.")
    if not len(frame):
        raise FileError(f"{place} holds no sample. Pass header=False if its first line is one.")
    return dataset_of(frame, column_named(target, list(frame.columns), place.name), place.name)


def _frame(place: Any, named: bool, delimiter: str) -> Any:
    pandas = require("pandas", "frames")
    packing = {".gz": "gzip", ".bz2": "bz2", ".xz": "xz", ".zip": "zip"}.get(place.suffix)
    try:
        with opened(place) as stream:
            return pandas.read_csv(stream, sep=delimiter, header=0 if named else None, compression=packing)
    except UnicodeDecodeError as error:
        raise FileError(f"{place} is not UTF-8: {error.reason} at byte {error.start}. Convert it first.") from error
    except (OSError, EOFError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise FileError(f"{place} cannot be read: {reason}. Check the path, and that the file is whole.") from error
    except (ValueError, TypeError) as error:  # of which pandas' own are
        raise FileError(
            f"{place} cannot be read as a table with delimiter={shown(delimiter)}: {str(error).strip()}. Check the "
            "delimiter and the header."
        ) from error
