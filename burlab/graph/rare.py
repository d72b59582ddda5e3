"""The modules of the rarer words, which a start does without: the hook `import_rare` imports them."""
# ruff: noqa: F401 - they are imported for the rules that they put into the tables
# pyright: reportUnusedImport=false

from .complex import (
    array_namespace,
    complex_arithmetic,
    complex_functions,
    eigenvalues,
    elementary,
    inverse,
    linear_systems,
    multilinear,
    spectra,
)
from .linalg import (
    exponential,
    numpy_factors,
    numpy_products,
    numpy_systems,
    scaled,
)
from .numpy_api import (
    accumulating,
    building,
    counting,
    extremes,
    folds,
    moving,
    nan_sums,
    norms,
    ordering,
    padding,
    polynomials,
    rounding,
    signals,
)
from .scipy_api import special_functions
