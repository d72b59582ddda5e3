"""Samples with targets: the one result of all readers and generators of data."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from burlab.errors import ArgumentError

from .vocabulary import Integers, decode, encode

Array = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True, slots=True, eq=False)
class Dataset:
    """Samples and their targets.

    Args:
        features: Shape (n, d), float64; of a LIBSVM file a SciPy CSR matrix; of text the characters that a model sees,
            int32, as positions in `vocabulary`.
        targets: Shape (n,): float64, or the number of a class, int64; of text the next characters, int32, of shape (n,)
            or (n, d).
        feature_names: d words; none where the source names no features.
        class_names: A word per class, none where the targets are numbers; of text its characters.
        source: Origin of the data.
        truth: Of synthetic data: coefficients, shape (d,), or the centres of classes, shape (k, d).
        vocabulary: Of text: its characters, in the order of their positions.

    >>> import burlab as bl
    >>> data = bl.data.synthetic_classes(6, 2, classes=3)
    >>> data, data.class_names[0]
    (<Dataset of 6 samples, 2 features, 3 classes: synthetic classes, seed 0>, 'class 0')
    """

    features: Any  # an array, or a matrix of SciPy, which has no types
    targets: Array
    feature_names: tuple[str, ...]
    class_names: tuple[str, ...]
    source: str
    truth: Array | None = None
    vocabulary: str = ""

    def __len__(self) -> int:
        """The number of samples."""
        return self.features.shape[0]

    def encode(self, text: str) -> Integers:
        """The positions of characters in the vocabulary.

        Args:
            text: Characters of the vocabulary.

        Returns:
            Shape (len(text),), int32.

        Raises:
            ArgumentError: A character is unknown, or the data are no text.
        """
        return encode(text, self._characters(), self.source)

    def decode(self, codes: Iterable[int]) -> str:
        """The characters at positions of the vocabulary.

        Args:
            codes: Integers.

        Returns:
            A string of as many characters.

        Raises:
            ArgumentError: A position is not an integer or lies outside of the vocabulary, or the data are no text.
        """
        return decode(codes, self._characters())

    def _characters(self) -> str:
        if not self.vocabulary:
            raise ArgumentError(
                f"{self.source!r} is not text: there are no characters to encode or decode. Use class_names."
            )
        return self.vocabulary

    def __repr__(self) -> str:
        n, d = self.features.shape
        what = f"{len(self.class_names)} classes" if self.class_names else "numbers"
        stored = getattr(self.features, "nnz", None)
        columns = f"{d:,} features" + (f" ({stored:,} stored entries)" if stored is not None else "")
        if self.vocabulary:
            columns, what = f"{d} characters each", f"{len(self.vocabulary)} different ones"
        return f"<Dataset of {n:,} samples, {columns}, {what}: {self.source}>"
