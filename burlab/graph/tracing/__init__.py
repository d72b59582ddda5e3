"""From a Python function to a graph, and the captured values that the graph depends on."""
