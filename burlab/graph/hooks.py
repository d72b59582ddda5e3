"""Protocols of higher modules that lower ones of this room call. `graph/__init__.py` alone installs them.

Each hook is a protocol: "go to definition" leads here, and pyright compares it with what is installed. They are read as
attributes of this module when they are called, so none of the modules below has to be imported for them.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from burlab.typing import ArrayLike, Tree

if TYPE_CHECKING:
    from .graph import Graph
    from .node import Node
    from .operation import Operation


class WritableResults(Protocol):
    """Assignments to results of traced operations: `buffers/results.py`."""

    def own(self, result: Tree, /, *operands: Any) -> Any:
        """Return the result of an operator, as a copy if it is one of its operands."""
        ...

    def of_method(self, result: Tree, name: str, x: "Node", args: tuple[Any, ...], kwargs: dict[str, Any], /) -> Any:
        """Return the result of a method of an array, recorded as a view if NumPy returns one."""
        ...

    def of_function(
        self, result: Tree, func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], /
    ) -> Any:
        """Return the result of a function of NumPy's, recorded as a view if NumPy returns one."""
        ...

    def call_ufunc(self, ufunc: np.ufunc, method: str, /, *inputs: Any, **kwargs: Any) -> Any:
        """Call a ufunc that writes into results: by `out`, or as ufunc.at."""
        ...

    def is_writer(self, func: Callable[..., Any], /) -> bool:
        """Return True if a function of NumPy's writes into its first argument."""
        ...

    def writable(self, x: "Node", /) -> Any:
        """Return the buffer that a result becomes when it is written to."""
        ...


class SparseArrays(Protocol):
    """One of SciPy's sparse matrices as traced functions see it: `sparse/scipy_matrices.py`."""

    def __call__(self, matrix: Any, /) -> Any:
        """Return it as a `SparseArray`."""
        ...


class ComplexNumbers(Protocol):
    """Calls that have a complex number among their arguments: `complex/complex_hook.py`."""

    def call_ufunc(self, ufunc: np.ufunc, method: str, /, *inputs: Any, **kwargs: Any) -> Any:
        """Call a ufunc of NumPy's."""
        ...

    def call_function(self, func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], /) -> Any:
        """Call any other function of NumPy's."""
        ...

    def call_operator(self, ufunc: str, /, *inputs: Any) -> Any:
        """Apply an operator, given the name of its ufunc."""
        ...

    def call_method(self, name: str, x: ArrayLike, /, *args: Any, **kwargs: Any) -> Any:
        """Call a method of an array."""
        ...

    def pair(self, real: ArrayLike, imag: Any, /) -> Any:
        """Return the complex array of two real ones."""
        ...

    def parts(self, value: Any, /) -> "tuple[Node, Node | None]":
        """Return the real and the imaginary part of a value; None for the latter where it is real."""
        ...


class GraphFormats(Protocol):
    """Text formats of graphs: `formats.py`."""

    def digest(self, graph: "Graph", /) -> str:
        """Return a hash of the graph's computation."""
        ...

    def listing(self, graph: "Graph", /) -> str:
        """Return the graph as text, one line per node."""
        ...

    def dot(self, graph: "Graph", /) -> str:
        """Return the graph in Graphviz's DOT language."""
        ...

    def to_json(self, graph: "Graph", /) -> str:
        """Return the graph as versioned JSON."""
        ...

    def from_json(self, text: str, /) -> "Graph":
        """Return the graph of such JSON."""
        ...


class Sweeps(Protocol):
    """Derivatives of nodes, for the few rules that need them: `autodiff/sweep.py`."""

    def jvp(
        self, outputs: "Sequence[Node]", inputs: "Sequence[Node]", tangents: "Sequence[Node | None]"
    ) -> "list[Node]":
        """Return the tangents of the outputs where the inputs move along `tangents`, None where one stays."""
        ...

    def vjp(self, outputs: "Sequence[Node]", inputs: "Sequence[Node]", cotangents: "Sequence[Node]") -> "list[Node]":
        """Return the cotangents of the inputs."""
        ...


rows: "Mapping[str, Operation]"
"""What the operations are, by name: `operation.py`."""
results: WritableResults
formats: GraphFormats
sweeps: Sweeps
flat_of: "Callable[[Node], Any]"
"""What `x.flat` is."""
why_not: Callable[[str], str]
"""Why a function of NumPy's that is in no table cannot be traced, and what to use."""
complex_numbers: Callable[[], ComplexNumbers]
"""Complex numbers, whose modules are imported with the first of them."""
sparse_array: SparseArrays
"""One of SciPy's sparse matrices as a leaf of a tree: its parts are arrays."""
sparse_constant: SparseArrays
"""The same as an operand: its parts are nodes."""
import_rare: Callable[[], None]
"""Imports the modules of the rarer words. A thread that meets one while another imports them waits for all."""
