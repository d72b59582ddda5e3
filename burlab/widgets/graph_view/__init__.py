"""Graphs in a notebook: still pictures, and `GraphView`, which opens groups of nodes."""
