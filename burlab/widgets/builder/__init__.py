"""Graphs built by hand: a model without a screen, `GraphBuilder`, and the widget that presses it."""

from .builder import GraphBuilder

__all__ = ["GraphBuilder"]
