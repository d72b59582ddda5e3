"""Characters as positions in a vocabulary, and back."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from burlab.errors import ArgumentError
from burlab.runtime.checks.numbers import shown

Integers = np.ndarray[Any, np.dtype[np.int32]]


def encode(text: str, vocabulary: str, source: str) -> Integers:
    """The positions of characters, shape (len(text),).

    Args:
        text: Characters of the vocabulary.
        vocabulary: The characters that exist, sorted.
        source: What they were taken from, for the error.

    Raises:
        ArgumentError: A character is unknown.

    >>> encode("cab", "abc", "an alphabet")
    array([2, 0, 1], dtype=int32)
    """
    unknown = sorted(set(text) - set(vocabulary))
    if unknown:
        raise ArgumentError(
            f"{', '.join(map(repr, unknown))} does not occur in {source}. Use the {len(vocabulary)} "
            "characters of data.vocabulary."
        )
    points = np.frombuffer(text.encode("utf-32-le"), np.uint32)
    known = np.frombuffer(vocabulary.encode("utf-32-le"), np.uint32)
    return np.searchsorted(known, points).astype(np.int32)


def decode(codes: Iterable[int], vocabulary: str) -> str:
    """The characters at positions of the vocabulary.

    Args:
        codes: Positions, shape (n,), integers.
        vocabulary: The characters that exist.

    Raises:
        ArgumentError: A position is not an integer or lies outside of the vocabulary.

    >>> decode([2, 0, 1], "abc")
    'cab'
    """
    positions = np.asarray(list(codes))
    if positions.size and positions.dtype.kind not in "iu":
        raise ArgumentError(f"codes must be integers; got {positions.dtype}.")
    outside = [int(code) for code in positions if not 0 <= code < len(vocabulary)]
    if outside:
        raise ArgumentError(
            f"The code {shown(outside[0])} lies outside of the vocabulary. Its {len(vocabulary)} characters are 0 to "
            f"{len(vocabulary) - 1}."
        )
    return "".join(vocabulary[code] for code in positions)
