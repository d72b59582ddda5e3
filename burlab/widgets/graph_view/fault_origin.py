"""Vertices whose value is nan or inf, and where that begins; a mask of -inf, and what carries it on, is no fault."""

from collections.abc import Sequence

import numpy as np

from .network import Network
from .value_summary import ValueSummary


def faults_of(network: Network, values: Sequence[ValueSummary]) -> tuple[str, ...]:
    """Return the fault of each vertex, "nan", "inf" or "": infinities that come from a mask of -inf alone are none.

    >>> import numpy as np, burlab as bl
    >>> masked = lambda x: np.sum(np.exp(np.where(x > 0, x, -np.inf)))
    >>> model = bl.GraphView(masked, np.array([1.0, -1.0])).model
    >>> set(faults_of(model.network, model.sweep.values))
    {''}
    """
    found: list[str] = []
    for k, (v, value) in enumerate(zip(network.vertices, values, strict=True)):
        sources = [x for x in v.operands if values[x].fault == "inf"]
        masked = value.masks and (v.kind == "input" or bool(sources) or _takes_mask(network, k))
        innocent = value.fault == "inf" and masked and not any(found[x] for x in sources)
        found.append("" if innocent else value.fault)
    return tuple(found)


def origin_of(network: Network, faults: Sequence[str]) -> int | None:
    """Return the first vertex with a fault that none of its operands has; None where there is no fault."""
    begins = (k for k, v in enumerate(network.vertices) if faults[k] and not any(faults[x] for x in v.operands))
    return next(begins, None)


def _takes_mask(network: Network, vertex: int) -> bool:
    """Return True if a constant with -inf, which stands inside of its operation, enters a vertex."""
    if not network.nodes:
        return False
    left = [*network.nodes[vertex].inputs]
    while left:  # a constant may come through views
        n = left.pop()
        if n.is_constant and n.dtype.kind == "f" and bool((np.asarray(n.params) == -np.inf).any()):
            return True
        if n not in network.index:
            left.extend(n.inputs)
    return False
