"""From a graph to a plan: loops, their order, and the place of every value."""
