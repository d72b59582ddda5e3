"""Losses over sparse data whose gradient is a number times a row, plus a multiple of x: for steps row by row."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from burlab.graph import Graph, Node, tree
from burlab.problems.sampling import full
from burlab.runtime.coerce import Array

from .loss import Loss
from .sample_kernel import SampleKernel
from .sample_program import SampleProgram
from .sparse_gradients import spreads_row

_POLYNOMIAL = {"input", "constant", "add", "sub", "neg", "mul", "square", "sum", "contract", "broadcast", "reshape"}
_RTOL = 1e-12
_VALUES, _COLUMNS, _STARTS, _ENDS = 0, 2, 3, 4  # inputs of spread_rows


class Ridge(NamedTuple):
    """The regularizer weight |x|^2 / 2 + constant."""

    weight: float = 0.0
    constant: float = 0.0


class RowLoss(NamedTuple):
    """samples: kernel of a sample's value and of the number that multiplies its row in the gradient.

    values, columns: of all entries of the matrix. starts, ends: which arrays of the data hold the ends of rows.
    entries: of a row, about.
    """

    samples: SampleKernel
    values: Array
    columns: Array
    starts: int
    ends: int
    entries: int
    ridge: Ridge


def row_loss(loss: Loss, fixed: Sequence[Array]) -> RowLoss | None:
    """Return a loss in parts; None if its gradient is no row, or its regularizer no `Ridge`, or it reads numbers.

    loss: with value and gradient, without metrics. fixed: x, as a list of one vector, float64.
    """
    samples = loss.samples
    if samples.groups != (1, 1) or samples.keyed or samples.numbers:
        return None
    if not spreads_row(samples.graph.outputs[1], samples.graph):
        return None
    ridge = Ridge() if loss.regularizer is None else _ridge(loss.regularizer, fixed[0])
    if ridge is None:
        return None
    graph, n = samples.graph, samples.graph.outputs[1]
    place = {x: k for k, x in enumerate(graph.inputs)}
    values, columns = (samples.wholes[place[n.inputs[k]] - len(fixed)] for k in (_VALUES, _COLUMNS))
    starts, ends = (place[n.inputs[k]] - samples.program.fixed for k in (_STARTS, _ENDS))
    return RowLoss(_of_factors(samples), values, columns, starts, ends, n.params[1], ridge)


def _of_factors(samples: SampleKernel) -> SampleKernel:
    """Return the kernel of (value, number of the row)."""
    program = samples.program
    value, gradient = program.written.outputs
    graph = Graph(program.written.inputs, (value, gradient.inputs[1]))
    arrays, wholes = len(samples.data.arrays), len(samples.data.wholes)
    return SampleKernel(SampleProgram(graph, program.structure, arrays, False, wholes=wholes), samples.data)


def _ridge(regularizer: SampleKernel, x: Array) -> Ridge | None:
    """Return a regularizer as a `Ridge`; None if it is none.

    A polynomial is one if its gradient is a multiple of x at two random points.
    """
    if not _is_polynomial(regularizer.graph):
        return None
    rng = np.random.default_rng(0)
    weights: list[float] = []
    for point in rng.uniform(0.5, 2.0, (2, x.size)):
        _, (gradient,) = _at(regularizer, point)
        weights.append(float(gradient[0] / point[0]))
        if not np.allclose(gradient, weights[0] * point, rtol=_RTOL, atol=0):
            return None
    value, _ = _at(regularizer, np.zeros_like(x))
    return Ridge(weights[0], float(value)) if weights[0] >= 0 else None


def _at(regularizer: SampleKernel, x: Array) -> tuple[Array, tuple[Array, ...]]:
    value, *gradient = tree.flatten(regularizer.mean([x], full(1), (0, 0), 1))[0]
    return value, tuple(gradient)


def _is_polynomial(graph: Graph) -> bool:
    """Return True if a graph adds and multiplies only."""
    fixed: set[Node] = set()
    for n in graph.nodes:
        if n.is_constant or (n.inputs and fixed.issuperset(n.inputs)):
            fixed.add(n)
        elif n.op.partition("'")[0] not in _POLYNOMIAL:
            return False
    return True
