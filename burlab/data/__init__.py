"""Data to learn from."""

from .dataset import Dataset
from .names import CharacterData, last_names
from .sklearn import sklearn_set
from .synthetic import synthetic_classes, synthetic_regression

__all__ = ["CharacterData", "Dataset", "last_names", "sklearn_set", "synthetic_classes", "synthetic_regression"]
