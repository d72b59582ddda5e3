"""From a NumPy function to its graph, without what lies above the compiler."""

import numpy as np

from burlab.graph import Graph, Node
from burlab.graph.node import as_node


def traced(function, *examples):
    """The graph of a function at arguments like the examples; a tuple gives several outputs."""
    arrays = [np.asarray(x) for x in examples]
    inputs = tuple(Node("input", (), f"x{k}", x.shape, x.dtype) for k, x in enumerate(arrays))
    outputs = function(*inputs)
    return Graph(inputs, tuple(map(as_node, outputs if isinstance(outputs, tuple) else (outputs,))))
