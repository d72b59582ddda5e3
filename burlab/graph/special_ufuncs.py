"""The operation of a ufunc of scipy.special that SciPy's own loop computes, on real and on complex numbers.

No graph holds a complex number: such an argument is an array of pairs along a last axis, and so are the results of a
ufunc that has several, or a complex one. The table of derivatives is `scipy_api/derivative_rows.py`.
"""
# ruff: noqa: D102 - Operation documents the methods

import re
from collections.abc import Sequence
from functools import cache
from importlib import import_module
from typing import Any, NamedTuple, Protocol

import numpy as np

from burlab.errors import GraphError
from burlab.runtime.checks.stored import record, text

from . import hooks
from .node import Node
from .operation import Shares, Tangents, Together, structural
from .signatures import Form, require
from .tally import Tally

_LOOP = re.compile(r"[fdFDlg]+->[fdFD]+")


class Loop(NamedTuple):
    """The characters of NumPy's dtypes that a loop takes and gives."""

    arguments: str
    results: str

    @property
    def dtype(self) -> "np.dtype[Any]":
        """The dtype of the results, or of their parts."""
        return np.dtype(self.results[0].lower())

    @property
    def parts(self) -> int:
        """Real numbers that one element gives."""
        return sum(1 + (code in "FD") for code in self.results)


class Derivatives(Protocol):
    """The table of derivatives, as `scipy_api/special_loops.py` reads it."""

    def forward(self, n: Node, tangents: Tangents, /) -> Node | None:
        """Return the tangent of a node."""
        ...

    def reverse(self, n: Node, g: Node, active: set[Node], /) -> Shares:
        """Return the active inputs, each with its share of the cotangent."""
        ...


tables: list[Derivatives] = []
"""The table, which its module puts here when it is imported."""


@cache
def ufunc_of(name: str) -> np.ufunc:
    """Return a ufunc of scipy.special. Raises GraphError for another name."""
    found = getattr(import_module("scipy.special._ufuncs"), name, None)
    if not isinstance(found, np.ufunc):
        raise GraphError(f"the SciPy that is installed has no ufunc scipy.special.{name}.")
    return found


def loop_of(params: tuple[str, str]) -> Loop:
    """Return the loop that a node's parameters name."""
    arguments, _, results = params[1].partition("->")
    return Loop(arguments, results)


def element_shape(x: Node, code: str) -> tuple[int, ...]:
    """Return the shape of an argument, of a complex one without the axis of pairs."""
    return x.shape[:-1] if code in "FD" else x.shape


def _table() -> Derivatives:
    hooks.import_rare()
    return tables[-1]


@structural
class Special(Together):
    """A ufunc by its name and loop."""

    name = "special"
    parameters = record(text, text)
    dense_operands = True

    def form(self, params: tuple[str, str], inputs: Sequence[Node]) -> Form:
        require(bool(_LOOP.fullmatch(params[1])) and params[1] in ufunc_of(params[0]).types, "SciPy has no such loop")
        loop = loop_of(params)
        require(len(inputs) == len(loop.arguments), f"it needs {len(loop.arguments)} inputs")
        pairs = list(zip(inputs, loop.arguments, strict=True))
        require(all(x.dtype == np.dtype(code.lower()) for x, code in pairs), "its inputs are not of the loop's dtypes")
        require(all(code not in "FD" or x.shape[-1:] == (2,) for x, code in pairs), "its complex inputs are pairs")
        shapes = {element_shape(x, code) for x, code in pairs}
        require(len(shapes) == 1, "its inputs differ in shape")
        (shape,) = shapes
        return (shape if loop.parts == 1 else (*shape, loop.parts)), loop.dtype

    def forward(self, n: Node, tangents: Tangents) -> Node | None:
        return _table().forward(n, tangents)

    def reverse(self, n: Node, g: Node, active: set[Node]) -> Shares:
        return _table().reverse(n, g, active)

    def work(self, n: Node) -> int:
        return 100 * n.size

    def tally(self, n: Node) -> Tally:
        return Tally(transcendental=n.size)
