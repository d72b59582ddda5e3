"""Files from the network, by pooch: kept in a cache, and refused where their hash is another."""

import hashlib
from dataclasses import dataclass
from pathlib import Path

from burlab.errors import FileError
from burlab.runtime.extras import require
from burlab.runtime.files import opened, read_text

from .dataset import Dataset
from .names import character_data
from .text import text


@dataclass(frozen=True, slots=True)
class Source:
    """A file on the network.

    name: in the cache. hash: of what it must hold, as "sha256:...", or None for anything. reader: the function of
    `bl.data` that takes a path to the file.
    """

    name: str
    url: str
    hash: str | None
    reader: str


NAMES = Source(
    "makemore_names.txt",
    "https://raw.githubusercontent.com/karpathy/makemore/master/names.txt",
    "sha256:0a30b5557f192f32ab962680889aac5f6fda0f4cecf40a6d0b5694f58ea8cc4d",
    "text",
)
SHAKESPEARE = Source(
    "tiny_shakespeare.txt",
    "https://raw.githubusercontent.com/karpathy/char-rnn/master/data/tinyshakespeare/input.txt",
    "sha256:86c4e6aa9db7c042ec79f339dcb96d42b0075e16b8fc2e86bf0ca57e2dc565ed",
    "text",
)


def tiny_shakespeare(block: int = 8) -> Dataset:
    """1,115,394 characters of Shakespeare, the text of char-rnn (Karpathy 2015), downloaded once.

    Args:
        block: Characters in a window.

    Returns:
        The windows of the text, as `text` gives them.

    Raises:
        ConfigurationError: Pooch, of the extra `burlab[data]`, is not installed.
        FileError: The download fails, or its hash differs.
    """
    return text(fetched(SHAKESPEARE), block)


def makemore_names(context: int = 3) -> Dataset:
    """The 32,033 first names of makemore (Karpathy 2022), as contexts and next characters, downloaded once.

    Args:
        context: Number of characters before the one to predict.

    Returns:
        A sample for each character and each end of a name, as `last_names` gives them.

    Raises:
        ConfigurationError, FileError: As `tiny_shakespeare` does.
    """
    return character_data(read_text(fetched(NAMES)).split(), context, "makemore's first names")


def fetched(source: Source, folder: Path | None = None) -> Path:
    """Return the path of the file, downloaded if it is not in the cache. folder: the cache, pooch's by default."""
    pooch = require("pooch", "data")
    pooch.get_logger().setLevel("WARNING")
    place = folder or pooch.os_cache("burlab")
    if (place_of := Path(place) / source.name).exists() and not place_of.is_file():
        raise FileError(f"{place_of} is not a file. Remove it, and it is downloaded again.")
    by_hand = f"Or download it elsewhere and pass its path to bl.data.{source.reader}"
    by_hand += f"; its hash is {source.hash}." if source.hash else "."
    try:
        found = pooch.retrieve(
            source.url,
            source.hash,
            fname=source.name,
            path=place,
            downloader=pooch.HTTPDownloader(timeout=30),
        )
    except OSError as error:
        raise FileError(
            f"{source.url} cannot be downloaded ({type(error).__name__}). Check the network and that {place} may be "
            f"written to. {by_hand}"
        ) from error
    except ValueError as error:
        raise FileError(
            f"what came from {source.url} is not {source.name}: its hash is another. Try again. {by_hand}"
        ) from error
    return Path(found)


def sha256_of(place: Path) -> str:
    """Return the hash of a file, as "sha256:..."."""
    with opened(place) as stream:
        return f"sha256:{hashlib.file_digest(stream, 'sha256').hexdigest()}"
