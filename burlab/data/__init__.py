"""Data sets."""

from .dataset import Dataset
from .download import makemore_names, tiny_shakespeare
from .names import CharacterData, last_names
from .planar_sets import synthetic_plane
from .sklearn import sklearn_set
from .synthetic import synthetic_classes, synthetic_regression
from .text import TextData, text

__all__ = [
    "CharacterData",
    "Dataset",
    "TextData",
    "last_names",
    "makemore_names",
    "sklearn_set",
    "synthetic_classes",
    "synthetic_plane",
    "synthetic_regression",
    "text",
    "tiny_shakespeare",
]
