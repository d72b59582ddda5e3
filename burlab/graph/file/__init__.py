"""Graphs as JSON, and the checks after reading."""
