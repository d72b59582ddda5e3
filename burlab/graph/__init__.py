"""Computation graphs: tracing NumPy code, differentiating and simplifying what was traced."""

from burlab.graph.autodiff.sweep import jvp, vjp

from . import (
    indexed_table as indexed_table,
    nonlinear_table as nonlinear_table,
    query as query,
    random as random,
    show as show,
)
from .complex import (
    arithmetic as arithmetic,
    elementary as elementary,
    functions as functions,
    linear_systems as linear_systems,
    multilinear as multilinear,
    spectra as spectra,
)
from .file import reading as reading, serial as serial
from .graph import Call, Graph
from .linalg import (
    exponential as exponential,
    numpy_factors as numpy_factors,
    numpy_products as numpy_products,
    numpy_systems as numpy_systems,
)
from .node import Node
from .numpy_api import (
    accumulating as accumulating,
    building as building,
    counting as counting,
    extremes as extremes,
    indexing as indexing,
    joining as joining,
    moving as moving,
    nan_sums as nan_sums,
    norms as norms,
    ordering as ordering,
    padding as padding,
    polynomials as polynomials,
    products as products,
    reduction as reduction,
    refused as refused,
    rounding as rounding,
    shapes as shapes,
    signal as signal,
    ufuncs as ufuncs,
)
from .order import topological
from .origin import scope
from .scipy_api import special as special

__all__ = ["Call", "Graph", "Node", "jvp", "scope", "topological", "vjp"]
