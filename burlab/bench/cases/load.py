"""exp4."""

from .transfer import LOAD as CASE

__all__ = ["CASE"]
