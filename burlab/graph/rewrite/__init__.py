"""From a graph to an equal one that is cheaper, or that works on a batch."""
