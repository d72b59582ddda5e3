"""Data sets."""

from burlab.runtime.sharded import ShardedArray

from .csv_file import csv
from .dataset import Dataset
from .download import makemore_names, tiny_shakespeare
from .libsvm import libsvm
from .libsvm_writer import write_libsvm
from .names import last_names
from .openml import openml
from .planar_sets import synthetic_plane
from .shards import shards
from .sklearn import sklearn_set
from .synthetic import synthetic_classes, synthetic_regression
from .text import text

__all__ = [
    "Dataset",
    "ShardedArray",
    "csv",
    "last_names",
    "libsvm",
    "makemore_names",
    "openml",
    "shards",
    "sklearn_set",
    "synthetic_classes",
    "synthetic_plane",
    "synthetic_regression",
    "text",
    "tiny_shakespeare",
    "write_libsvm",
]
