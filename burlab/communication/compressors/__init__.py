"""Compression operators of distributed optimization: the message sent in place of a vector, its error and its bits."""

from .compressor import Compressor, Identity, Scaled
from .low_rank import RankK
from .rounded import QSGD, Bernoulli, Dithering, Natural
from .sparsifiers import ApproximateTopK, RandK, RandSeqK, TopK, TopLEK

__all__ = [
    "QSGD",
    "ApproximateTopK",
    "Bernoulli",
    "Compressor",
    "Dithering",
    "Identity",
    "Natural",
    "RandK",
    "RandSeqK",
    "RankK",
    "Scaled",
    "TopK",
    "TopLEK",
]
