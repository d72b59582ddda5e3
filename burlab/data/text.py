"""Text, cut into windows of characters and the characters that follow."""

import os

import numpy as np

from burlab.errors import ArgumentError, FileError
from burlab.runtime.checks.numbers import shown
from burlab.runtime.files import as_path, read_text

from .dataset import Dataset
from .vocabulary import encode


def text(path: str | os.PathLike[str] | None = None, block: int = 8) -> Dataset:
    """The characters of a text file, UTF-8, without a byte order mark; without a path: Python's own language reference.

    Args:
        path: Of a text file. The default, half a million characters, ships with every CPython as `pydoc_data.topics`;
            its topics are joined in the order of their names.
        block: Characters in a window, at least 1.

    Returns:
        Every window of `block` characters as features, and the same window one character later as targets: both of
        shape (n, block), int32, where n is the length of the text less `block`. They are views of one array of the
        whole text, so they take no memory of their own. The vocabulary is the sorted characters of the text.

    Raises:
        ArgumentError: The text has no window of so many characters.
        FileError: The file cannot be read as text.

    >>> import burlab as bl
    >>> data = bl.data.text(block=16)
    >>> data.features.shape[1], data.features.dtype
    (16, dtype('int32'))
    >>> data.decode(data.features[0]), data.decode(data.targets[0])
    ('The "assert" sta', 'he "assert" stat')
    """
    if path is None:
        from pydoc_data.topics import topics

        return text_data("\n\n".join(topics[name] for name in sorted(topics)), block, "Python's language reference")
    place = as_path(path)
    try:
        return text_data(read_text(place).removeprefix("\ufeff"), block, place.name)
    except UnicodeDecodeError as error:
        raise FileError(
            f"{place} is not UTF-8 text: {error.reason} at byte {error.start}. Convert it first."
        ) from error
    except OSError as error:
        raise FileError(f"{place} cannot be read: {error.strerror}. Check the path and its permissions.") from error


def text_data(content: str, block: int, source: str) -> Dataset:
    """The windows of a text. Raises ArgumentError where it has not one."""
    if isinstance(block, bool) or not isinstance(block, int) or block < 1:  # pyright: ignore[reportUnnecessaryIsInstance] - users pass anything
        raise ArgumentError(f"block={shown(block)} must be an integer, at least 1: the characters of a window.")
    if len(content) <= block:
        raise ArgumentError(
            f"{source} has {len(content)} characters; block={shown(block)} needs more. Pass a smaller block."
        )
    vocabulary = "".join(sorted(set(content)))
    codes = encode(content, vocabulary, source)
    windows = np.lib.stride_tricks.sliding_window_view(codes, block)
    return Dataset(windows[:-1], windows[1:], (), tuple(vocabulary), source, vocabulary=vocabulary)
