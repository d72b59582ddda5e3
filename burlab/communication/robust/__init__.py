"""Byzantine clients, and aggregators that make one vector of many in spite of them."""

from .aggregators import Aggregator, Krum, Median, NearestMean, TrimmedMean
from .attacks import ALIE, Attack, Mimic, Noise, SignFlip

__all__ = ["ALIE", "Aggregator", "Attack", "Krum", "Median", "Mimic", "NearestMean", "Noise", "SignFlip", "TrimmedMean"]
