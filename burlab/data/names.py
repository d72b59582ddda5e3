"""The last names of the PyPI package `names`, cut into contexts and next characters for a character model."""

from importlib import resources

import numpy as np

from burlab.runtime.checks.numbers import whole
from burlab.runtime.extras import require

from .dataset import Dataset

_LONGEST = 1000  # characters that a prediction may see


def last_names(context: int = 3) -> Dataset:
    """The 88,799 most frequent last names of the United States census of 1990, most frequent first.

    Args:
        context: Number of characters before the one to predict, at least 1. Each name of length m gives m + 1 samples,
            the last one predicts its end.

    Returns:
        The 695,422 samples: the characters before, shape (695422, context), int32, and the next one. The first
        character of the vocabulary is ".", the mark before and after a name.

    Raises:
        ConfigurationError: The package `names`, of the extra `burlab[data]`, is not installed.

    >>> data = last_names(context=3)
    >>> data.features.shape, data.vocabulary
    ((695422, 3), '.abcdefghijklmnopqrstuvwxyz')
    >>> [(data.decode(c), data.vocabulary[t]) for c, t in zip(data.features[:3], data.targets[:3])]
    [('...', 's'), ('..s', 'm'), ('.sm', 'i')]
    """
    table = (resources.files(require("names", "data")) / "dist.all.last").read_text()
    names = [line.split()[0].lower() for line in table.splitlines() if line.strip()]
    return character_data(names, context, "last names of the census of the United States, 1990")


def character_data(names: list[str], context: int, source: str) -> Dataset:
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
    contexts, targets = np.ascontiguousarray(chosen[:, :-1]), np.ascontiguousarray(chosen[:, -1])
    return Dataset(contexts, targets, (), tuple(vocabulary), source, vocabulary=vocabulary)
