"""exp3."""

from .transfer import SAVE as CASE

__all__ = ["CASE"]
