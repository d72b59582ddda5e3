"""From a graph to a plan: what runs in which loop, in which order, and where every value lies."""
