"""Floating-point operations of evaluations of a loss, from the graphs of its kernels."""

from burlab.graph import Graph
from burlab.graph.graph_tally import graph_tally
from burlab.graph.tracing.function_structure import Weak
from burlab.graph.tracing.trace_cache import TraceCache

from .loss import Loss

_FLOPS = TraceCache[int](lambda _: ())  # by graphs, which runs share


def flops_of(graph: Graph) -> int:
    """Return the floating-point operations of a graph that is simplified."""
    found = _FLOPS.find(Weak(graph))
    if found is None:
        found = graph_tally(graph).total.flops
        _FLOPS.put(Weak(graph), found)
    return found


def evaluation_flops(loss: Loss, batch: int, *, rows: bool = False) -> int:
    """Return those of an evaluation over a batch: each sample, sums and means of their answers, the regularizer.

    rows: whether there is an answer for each sample, without a mean.
    """
    each, numbers = flops_of(loss.samples.graph), sum(y.size for y in loss.samples.graph.outputs)
    if rows:
        return batch * each
    if loss.samples.program.batch:  # the graph is of a whole batch
        batch = 1
    mean = (batch + 1) * numbers if batch > 1 else 0
    extra = 0 if loss.regularizer is None else flops_of(loss.regularizer.graph) + numbers
    return batch * each + mean + extra
