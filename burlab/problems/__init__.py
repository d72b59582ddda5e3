"""What an optimizer minimizes: finite sums of one-sample losses, and plain functions."""

from .finite_sum import FiniteSum
from .oracle import Oracle

__all__ = ["FiniteSum", "Oracle"]
