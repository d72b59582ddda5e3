"""Ordinary differential equations."""

from .solve import odeint

__all__ = ["odeint"]
