"""Sweeps in a notebook."""
