"""Functions of a sample that read x by one product with a sparse row alone, split at this product."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from burlab.graph import Graph, Node
from burlab.graph.graph import topological
from burlab.graph.node import as_node
from burlab.graph.sparse import SparseArray
from burlab.graph.sparse.row_operations import RowParams
from burlab.graph.substitute import inline, keep, rebuild
from burlab.problems.data import Data
from burlab.problems.point import Point
from burlab.runtime.coerce import Array
from burlab.runtime.extras import late

from .sample_kernel import SampleKernel
from .sample_program import SampleProgram

sparse: Any = late("scipy.sparse")
Function = Callable[..., Any]


class ProductParts(NamedTuple):
    """A function of x and a sample in two parts: the product of a sparse row with x, and what is made of it.

    matrix: the rows. outer: from the product and `arrays` of one sample to the result.
    """

    matrix: SparseArray
    outer: Graph
    arrays: tuple[Array, ...]

    def applied(self, product: Any, *sample: Any) -> Any:
        """Return the result of a sample."""
        return inline(self.outer, [as_node(product), *map(as_node, sample)])[0]


def product_parts(function: Function, data: Data, point: Point) -> ProductParts | None:
    """Return the parts of a function, None if it reads x by anything but one product with a sparse row.

    function: (x, *sample) -> a tuple of one array.
    """
    if len(point.leaves) != 1 or point.leaves[0].ndim != 1 or not data.wholes:
        return None
    program = SampleProgram.trace(function, [point.tree], data, False)
    graph, fixed = program.graph, program.fixed
    n = _only_product(graph, fixed)
    if n is None or n.dtype != point.leaves[0].dtype:
        return None
    product = Node("input", (), "product", (), n.dtype)
    (result,) = rebuild(graph.outputs, {x: x for x in graph.inputs} | {n: product}, keep)
    read = {x for x in topological([result]) if x.is_input and x is not product}
    places = [k for k, x in enumerate(graph.inputs) if x in read]
    arrays = [a for k in places if k >= fixed and isinstance(a := data.arrays[k - fixed], np.ndarray)]
    if len(arrays) < len(places):
        return None
    wholes, number = SampleKernel(program, data).wholes, {x: k for k, x in enumerate(graph.inputs)}
    values, columns = (wholes[number[n.inputs[k]] - 1] for k in (0, 2))
    starts, ends = (data.arrays[number[n.inputs[k]] - fixed] for k in (3, 4))
    params = RowParams(*n.params)
    matrix = SparseArray(values, columns, starts, ends, params.size, params.entries)
    return ProductParts(matrix, Graph((product, *(graph.inputs[k] for k in places)), (result,)), tuple(arrays))


def _only_product(graph: Graph, fixed: int) -> Node | None:
    """The product of a row of the data with x, if nothing else reads x. fixed: number of inputs that samples share."""
    x, *wholes = graph.inputs[:fixed]
    readers = [n for n in graph.nodes if any(y is x for y in n.inputs)]
    if len(readers) != 1 or any(y is x for y in graph.outputs):
        return None
    (n,) = readers
    if n.op != "row_products" or n.inputs[1] is not x or n.shape or RowParams(*n.params).apart:
        return None
    known = {n.inputs[0], n.inputs[2]} <= set(wholes) and set(n.inputs[3:]) <= set(graph.inputs[fixed:])
    return n if known else None


def csr_of_rows(matrix: SparseArray) -> Any:
    """Return rows of whole arrays, which may be any of these, as a CSR array of SciPy."""
    counts = matrix.ends - matrix.starts
    pointers: Array = np.concatenate([[0], np.cumsum(counts)])
    entries: Array = np.arange(int(pointers[-1])) + np.repeat(matrix.starts - pointers[:-1], counts)
    return sparse.csr_array((matrix.values[entries], matrix.columns[entries], pointers), shape=matrix.shape)
