"""Every format that a graph is written in or read from: the hook `formats`."""

from .file.reading import from_json
from .file.serial import digest, to_json
from .show import dot, listing

__all__ = ["digest", "dot", "from_json", "listing", "to_json"]
