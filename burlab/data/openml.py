"""Data sets of OpenML (Vanschoren, van Rijn, Bischl and Torgo 2014), by scikit-learn."""

from typing import Any

import numpy as np

from burlab.errors import ArgumentError, FileError
from burlab.runtime.checks.numbers import shown
from burlab.runtime.extras import late, require

from .dataset import Dataset
from .frame_columns import dataset_of, targets_of

sparse: Any = late("scipy.sparse")


def openml(name: str | int, *, version: int | str = "active", target: str | None = None) -> Dataset:
    """A data set of www.openml.org, downloaded once by scikit-learn's `fetch_openml`.

    Columns of words become features of 0 and 1, as `csv` makes them; a sparse data set stays a SciPy CSR matrix.

    Args:
        name: Name of the data set, or its number there.
        version: One of its versions; "active" is the oldest that is active. A number is a version of its own.
        target: The predicted column. None: the one that OpenML states.

    Returns:
        The features, shape (n, d), float64, and the targets: numbers, or classes.

    Raises:
        ConfigurationError: Scikit-learn, of the extra `burlab[data]`, or pandas, of `burlab[frames]`, is not installed.
        FileError: The download fails.
        ArgumentError: OpenML has no such data set or column, or states no single target.
    """
    fetch: Any = require("sklearn.datasets", "data").fetch_openml
    require("pandas", "frames")
    numbered = isinstance(name, int) and not isinstance(name, bool)
    if not numbered and not (isinstance(name, str) and name):
        raise ArgumentError(f"name is {shown(name)}, expected the name of a data set such as 'adult', or its number.")
    chosen = {"data_id": name} if numbered else {"name": name, "version": version}
    try:
        raw = fetch(**chosen, target_column=target or "default-target", as_frame="auto", parser="auto")
    except OSError as error:
        raise FileError(
            f"OpenML's {shown(name)} cannot be downloaded ({type(error).__name__}). Check the network."
        ) from error
    except (ValueError, KeyError) as error:
        raise ArgumentError(f"OpenML's {shown(name)}: {error}") from error
    source = f"OpenML's {raw.details['name']}, version {raw.details['version']}, data set {raw.details['id']}"
    if len(raw.target_names) != 1:
        raise ArgumentError(
            f"{source} has {len(raw.target_names)} targets, expected one. Pass target=, a column such as "
            f"{shown(list(raw.feature_names)[-1])}."
        )
    if raw.frame is not None:
        return dataset_of(raw.frame, raw.target_names[0], source)
    targets, classes = targets_of(require("pandas", "frames").Series(raw.target, name=raw.target_names[0]), source)
    return Dataset(
        sparse.csr_matrix(raw.data, dtype=np.float64), targets, tuple(map(str, raw.feature_names)), classes, source
    )
