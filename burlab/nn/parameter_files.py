"""Parameters in files of the safetensors format: any tree of arrays, by dotted paths. Nothing in a file is executed.

A weight is stored as it is, [in, out]. The format has no checksum of the numbers, so one stands in its metadata, which
is verified where it is there: files of other programs can be read too.
"""

import os
from contextlib import suppress
from typing import Any

import numpy as np

from burlab.errors import ArgumentError, BurlabError, DTypeError, FileError, ParameterError
from burlab.graph import tree
from burlab.runtime.extras import late
from burlab.runtime.files import as_path, read_bytes, write_whole
from burlab.runtime.plain import as_array
from burlab.typing import Tree

from .fit import Misfits
from .layer import Array, Layer
from .tensor_files import CHECKSUM, checksum, tensors
from .torch_layout import from_torch

safetensors: Any = late("safetensors", "files")
codec: Any = late("safetensors.numpy", "files")

_ADVICE = "Read a file of PyTorch's with bl.nn.from_torch(model, bl.load_parameters(path))."


def save_parameters(path: str | os.PathLike[str], parameters: Tree) -> None:
    """Write a model, or any tree of arrays, to a safetensors file; what was there is replaced at once or not at all.

    Args:
        path: The file.
        parameters: The tree; names in the file are dotted paths such as `blocks.0.norm1.weight`.

    Raises:
        ArgumentError: Two leaves have the same name.
        DTypeError: One is of a dtype that the format does not have.
        FileError: The system refuses.

    >>> import tempfile, burlab as bl
    >>> layer = bl.nn.Linear(2, 3, key=bl.random.key(0))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     bl.save_parameters(f"{folder}/layer.safetensors", layer)
    ...     again = bl.load_parameters(f"{folder}/layer.safetensors", layer)
    >>> bool((again.weight == layer.weight).all())
    True
    """
    target = as_path(path).resolve()
    arrays = _named(parameters)
    if not arrays:
        kind = type(parameters).__name__
        raise ArgumentError(f"a {kind} without an array has no parameters to save. Pass a model, or a tree of arrays.")
    try:
        content = codec.save(arrays, metadata={CHECKSUM: checksum(arrays)})
    except safetensors.SafetensorError as error:
        raise DTypeError(f"the parameters cannot be written: {error}. Convert them with .astype.") from error
    write_whole(target, [content])


def load_parameters(path: str | os.PathLike[str], like: Tree = None) -> Tree:
    """The tree of the arrays in a safetensors file, with the structure of `like`, a model of the same sizes and dtype.

    Args:
        like: None for all arrays by name, as `bl.nn.from_torch` takes them. Numbers in bfloat16 and float8 are widened
            to float32, with a warning.

    Returns:
        A tree of the structure of `like`, or {name: array}.

    Raises:
        ParameterError: Names are missing, unknown, or of another shape or dtype; the message lists all.
        FileError: The file is missing, truncated, damaged or not of this format.

    Example: `save_parameters`.
    """
    place = as_path(path)
    try:
        text = read_bytes(place)
    except OSError as error:
        raise FileError(f"{place} cannot be read: {error.strerror}. Check the path and its permissions.") from error
    arrays, metadata, widened = tensors(text, str(place))
    if like is None:
        return arrays
    if metadata.get("format") == "pt" and isinstance(like, Layer):
        raise ParameterError(f"{place} was written by PyTorch, whose weights are [out, in], not [in, out]. {_ADVICE}")
    misfits = Misfits()
    found: list[Array] = []
    wanted = _named(like)
    for name, leaf in wanted.items():
        if name in arrays:
            found.append(misfits.fitted(name, arrays[name], leaf, widen=name in widened))
        else:
            misfits.missing.append(name)
    misfits.extra += [name for name in arrays if name not in wanted]
    misfits.check(str(place), _ADVICE if misfits and _is_torchs(like, arrays) else "")
    return tree.unflatten(tree.flatten(like)[1], found)


def _named(parameters: Tree) -> dict[str, Array]:
    """The leaves by their dotted paths, in C order."""
    leaves, names = tree.flatten(parameters)[0], tree.dotted_names(parameters)
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ArgumentError(f"two leaves are called {', '.join(twice)}. Use keys without dots.")
    return {name: np.array(as_array(leaf, name), order="C") for name, leaf in zip(names, leaves, strict=True)}


def _is_torchs(like: Tree, arrays: dict[str, Array]) -> bool:
    """Return True if arrays that do not fit a model are those of a PyTorch module that does."""
    if not isinstance(like, Layer):
        return False
    with suppress(BurlabError):
        from_torch(like, arrays)
        return True
    return False
