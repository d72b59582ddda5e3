"""From a Python function to a graph, and what around the function the graph depends on."""
