"""Graphs as JSON, and the checks of what is read."""
