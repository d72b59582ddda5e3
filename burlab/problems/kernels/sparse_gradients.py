"""Gradients of single samples of sparse data: each is a number times the sample's row, so it has the row's entries."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from burlab.graph import Graph, Node, tree
from burlab.problems.sampling import Stream
from burlab.runtime.coerce import Array
from burlab.runtime.extras import late

from .sample_kernel import SampleKernel
from .sample_program import SampleProgram

sparse: Any = late("scipy.sparse")
_INPUTS = slice(2, 5)  # columns, starts, ends


def is_row(samples: SampleKernel) -> bool:
    """Return True if a gradient is a number times a row of the data, as where x meets products with the row only."""
    (n, *others) = samples.graph.outputs
    return not others and spreads_row(n, samples.graph)


def spreads_row(n: Node, graph: Graph) -> bool:
    """Return True for a vector that is a number times a row of the data."""
    if n.op != "spread_rows" or n.ndim != 1 or n.inputs[1].shape:
        return False
    return {n.inputs[0], *n.inputs[_INPUTS]} <= set(graph.inputs)


def factors(samples: SampleKernel) -> SampleKernel:
    """Return the kernel of the numbers by which rows are multiplied."""
    program = samples.program
    graph = program.written
    outputs = (graph.outputs[0].inputs[1],)
    structure = tree.flatten((0.0,))[1]
    wholes = len(samples.data.wholes)
    arrays = len(samples.data.arrays)
    return SampleKernel(
        SampleProgram(Graph(graph.inputs, outputs), structure, arrays, program.keyed, wholes=wholes),
        samples.data,
        samples.numbers,
    )


def sparse_rows(
    samples: SampleKernel, numbers: SampleKernel, fixed: Sequence[Array], stream: Stream, key: Any, chosen: Array
) -> Any:
    """Return the gradients as one of SciPy's CSR matrices, a row for each sample.

    samples: whose gradients are rows; numbers: their `factors`. chosen: numbers of the samples, shape (b,).
    """
    (by,) = tree.flatten(numbers.rows(fixed, stream, key))[0]
    graph, (n,) = samples.graph, samples.graph.outputs
    place = {x: k for k, x in enumerate(graph.inputs)}
    points = samples.program.fixed - len(samples.wholes)
    values, columns = (samples.wholes[place[n.inputs[k]] - points] for k in (0, 2))
    starts, ends = (samples.data.arrays[place[n.inputs[k]] - samples.program.fixed][chosen] for k in (3, 4))
    counts = ends - starts
    pointers = np.concatenate([[0], np.cumsum(counts)])
    entries: Any = np.arange(int(pointers[-1])) + np.repeat(starts - pointers[:-1], counts)
    return sparse.csr_array(
        (values[entries] * np.repeat(by, counts), columns[entries], pointers), (len(chosen), n.size)
    )
