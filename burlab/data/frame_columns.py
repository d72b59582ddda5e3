"""The columns of a table as features and targets: numbers as they are, words as columns of 0 and 1."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from burlab.errors import ArgumentError, DTypeError
from burlab.runtime.checks.numbers import shown
from burlab.runtime.extras import require
from burlab.runtime.memory import check_fits

from .dataset import Array, Dataset


def dataset_of(frame: Any, target: str, source: str) -> Dataset:
    """Return the data of a pandas frame whose column `target`, a name, is what is predicted."""
    targets, classes = targets_of(frame[target], source)
    features, names = features_of(frame.drop(columns=target), source)
    return Dataset(features, targets, names, classes, source)


def targets_of(column: Any, source: str) -> tuple[Array, tuple[str, ...]]:
    """Return the numbers of a column, and no words; or of a column of words their positions, and the words."""
    types = require("pandas", "frames").api.types
    if missing := int(column.isna().sum()):
        row = int(np.argmax(column.isna()))
        raise ArgumentError(
            f"{source}: the target {column.name!r} is missing in {missing} rows, first in row {row} (from 0). Remove "
            "them from the file, or choose another target."
        )
    if types.is_numeric_dtype(column.dtype) and not types.is_bool_dtype(column.dtype):
        return _numbers(column, source), ()
    words = column.astype("category").cat.remove_unused_categories()
    return words.cat.codes.to_numpy(np.int64), tuple(map(str, words.cat.categories))


def features_of(frame: Any, source: str) -> tuple[Array, tuple[str, ...]]:
    """Return all columns, shape (n, d), and their names; a missing number is nan."""
    pandas = require("pandas", "frames")
    types, parts, names = pandas.api.types, list[Array](), list[str]()
    for name in frame.columns:
        column = frame[name]
        if types.is_numeric_dtype(column.dtype):
            parts.append(_numbers(column, source)[:, None])
            names.append(str(name))
        elif (
            isinstance(column.dtype, pandas.CategoricalDtype)
            or column.dtype == object
            or types.is_string_dtype(column.dtype)
        ):
            words = column.astype("category").cat
            count = len(words.categories)
            check_fits(8 * len(column) * count, f"{source}: the {count:,} different words of the column {name!r}")
            parts.append((words.codes.to_numpy()[:, None] == np.arange(count)).astype(np.float64))
            names += [f"{name}={word}" for word in words.categories]
        else:
            raise DTypeError(
                f"{source}: the column {name!r} has dtype {column.dtype}, expected numbers or words. Leave it out, or "
                "convert it first."
            )
    if not parts:
        raise ArgumentError(f"{source} has no column but the target. A CSV file may need another delimiter=.")
    return np.concatenate(parts, axis=1), tuple(names)


def column_named(target: object, columns: Sequence[str], source: str) -> str:
    """Return the name of a column that is given by name or position; None is the last."""
    place = -1 if target is None else target
    if isinstance(place, str) and place in columns:
        return place
    if isinstance(place, int) and not isinstance(place, bool) and -len(columns) <= place < len(columns):
        return columns[place]
    raise ArgumentError(
        f"target={shown(target)} is not a column of {source}. Pass a name or a position: its {len(columns)} "
        f"columns are {shown(list(columns))}."
    )


def _numbers(column: Any, source: str) -> Array:
    try:
        return column.to_numpy(np.float64, na_value=np.nan)
    except (TypeError, ValueError) as error:
        raise DTypeError(
            f"{source}: the column {column.name!r} has dtype {column.dtype}, expected real numbers. Convert it first."
        ) from error
