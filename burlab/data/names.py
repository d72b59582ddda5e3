"""The last names of the PyPI package `names`, cut into contexts and next characters for a character model."""

from collections.abc import Iterable
from dataclasses import dataclass
from importlib import resources

import numpy as np

from burlab.runtime.checks.numbers import whole
from burlab.runtime.extras import require

from .vocabulary import Integers, decode, encode

_LONGEST = 1000  # characters that a prediction may see


@dataclass(frozen=True, slots=True)
class CharacterData:
    """Every position in every name: the characters before it, and the character at it.

    contexts: shape (n, k), int32; targets: shape (n,), int32: positions in `vocabulary`, a string that begins with ".",
    the mark before and after a name. names: the words themselves, in lower case.
    """

    contexts: Integers
    targets: Integers
    vocabulary: str
    names: list[str]

    def encode(self, text: str) -> Integers:
        """The positions of characters in the vocabulary.

        Args:
            text: Characters of the vocabulary.

        Returns:
            Shape (len(text),), int32.

        Raises:
            ArgumentError: A character is unknown.
        """
        return encode(text, self.vocabulary, "the last names")

    def decode(self, codes: Iterable[int]) -> str:
        """The characters at positions of the vocabulary.

        Args:
            codes: Integers.

        Returns:
            A string of as many characters.

        Raises:
            ArgumentError: A position is not an integer or lies outside of the vocabulary.
        """
        return decode(codes, self.vocabulary)


def last_names(context: int = 3) -> CharacterData:
    """The 88,799 most frequent last names of the United States census of 1990, most frequent first.

    Args:
        context: Number of characters before the one to predict, at least 1. Each name of length m gives m + 1 samples,
            the last one predicts its end.

    Returns:
        The 695,422 samples.

    Raises:
        ConfigurationError: The package `names`, of the extra `burlab[data]`, is not installed.

    >>> data = last_names(context=3)
    >>> data.names[0], data.contexts.shape
    ('smith', (695422, 3))
    >>> [(data.decode(c), data.vocabulary[t]) for c, t in zip(data.contexts[:3], data.targets[:3])]
    [('...', 's'), ('..s', 'm'), ('.sm', 'i')]
    """
    table = (resources.files(require("names", "data")) / "dist.all.last").read_text()
    return character_data([line.split()[0].lower() for line in table.splitlines() if line.strip()], context)


def character_data(names: list[str], context: int) -> CharacterData:
    """Every place in every word of ASCII letters, as `last_names` gives them."""
    whole(context, "context", 1, _LONGEST)
    vocabulary = "." + "".join(sorted(set("".join(names))))
    before = "." * context
    text = np.frombuffer("".join(f"{before}{name}." for name in names).encode(), np.uint8)
    codes = np.zeros(256, np.int32)
    codes[np.frombuffer(vocabulary.encode(), np.uint8)] = np.arange(len(vocabulary), dtype=np.int32)
    windows = np.lib.stride_tricks.sliding_window_view(codes[text], context + 1)
    lengths = [[context, len(name) + 1] for name in names]  # of each name: the padding, then what is to be predicted
    predicted = np.repeat(np.tile([False, True], len(names)), np.ravel(lengths))
    chosen = windows[predicted[context:]]
    return CharacterData(np.ascontiguousarray(chosen[:, :-1]), np.ascontiguousarray(chosen[:, -1]), vocabulary, names)
