"""The data sets that scikit-learn carries inside; nothing is downloaded."""

import numpy as np

from burlab.errors import ArgumentError
from burlab.runtime.checks.numbers import shown
from burlab.runtime.extras import require

from .dataset import Array, Dataset

_SOURCES = {
    "breast_cancer": "Breast Cancer Wisconsin (Diagnostic), Wolberg, Street and Mangasarian 1995",
    "diabetes": "Diabetes, Efron, Hastie, Johnstone and Tibshirani 2004",
    "digits": "Optical Recognition of Handwritten Digits, Alpaydin and Kaynak 1998",
    "iris": "Iris, Fisher 1936",
    "wine": "Wine, Aeberhard and Forina 1991",
}


def sklearn_set(name: str, *, standardize: bool = True) -> Dataset:
    """A data set of scikit-learn by name: "breast_cancer", "diabetes", "digits", "iris" or "wine".

    Args:
        name: Name of the data set.
        standardize: True to shift and scale features, and targets that are numbers, to mean 0 and variance 1; a
            constant feature becomes 0.

    Returns:
        The samples; targets are classes, or numbers for "diabetes".

    Raises:
        ConfigurationError: Scikit-learn, of the extra `burlab[data]`, is not installed.

    >>> import burlab as bl
    >>> data = bl.data.sklearn_set("breast_cancer")
    >>> data.features.shape, data.class_names
    ((569, 30), ('malignant', 'benign'))
    """
    if not isinstance(name, str) or name not in _SOURCES:  # pyright: ignore[reportUnnecessaryIsInstance] - users pass anything
        raise ArgumentError(f"the data set must be one of {', '.join(map(repr, _SOURCES))}; got {shown(name)}.")
    raw = getattr(require("sklearn.datasets", "data"), f"load_{name}")()
    classes = tuple(str(word) for word in raw.target_names) if name != "diabetes" else ()
    features = np.asarray(raw.data, np.float64)
    targets = np.asarray(raw.target, np.int64 if classes else np.float64)
    if standardize:
        features = _standard(features)
        targets = targets if classes else _standard(targets)
    return Dataset(features, targets, tuple(map(str, raw.feature_names)), classes, _SOURCES[name])


def _standard(values: Array) -> Array:
    centred = values - values.mean(0)
    deviation = centred.std(0)
    return centred / np.where(deviation > 0, deviation, 1.0)
