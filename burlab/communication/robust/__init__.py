"""Clients that lie, and how a server or a peer makes one vector of many all the same."""

from .aggregators import Aggregator, Krum, Median, NearestMean, TrimmedMean
from .attacks import ALIE, Attack, Mimic, Noise, SignFlip

__all__ = ["ALIE", "Aggregator", "Attack", "Krum", "Median", "Mimic", "NearestMean", "Noise", "SignFlip", "TrimmedMean"]
