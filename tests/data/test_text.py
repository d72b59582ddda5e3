"""Text as windows of characters: of any file, of Python's own reference, of downloads that are what they say."""

import hashlib
import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import burlab as bl
from burlab.data.download import NAMES, SHAKESPEARE, Source, fetched
from burlab.errors import ArgumentError, ConfigurationError, FileError

TEXT = "Zwölf Boxkämpfer jagen Viktor quer über den großen Sylter Deich – 𝛁f!\n"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "text").write_text(TEXT, "utf-8")
    return tmp_path / "text"


@pytest.mark.parametrize("block", [1, 5, len(TEXT) - 1])
def test_windows_of_a_file(file: Path, block: int):
    data = bl.data.text(file, block)
    assert data.features.shape == data.targets.shape == (len(TEXT) - block, block)
    assert data.features.dtype == data.targets.dtype == np.int32
    for k, (x, y) in enumerate(zip(data.features, data.targets, strict=True)):
        assert (data.decode(x), data.decode(y)) == (TEXT[k : k + block], TEXT[k + 1 : k + 1 + block])
    assert data.vocabulary == "".join(sorted(set(TEXT)))
    np.testing.assert_array_equal(data.encode(TEXT)[:-block], data.features[:, 0])
    assert "text" in repr(data)


def test_the_default_is_pythons_reference():
    data = bl.data.text()
    assert 400_000 < len(data) < 600_000
    content = data.decode(data.features[:, 0])
    assert content.startswith('The "assert" statement')
    assert "yield" in content
    assert data.features.shape[1] == 8


def test_windows_take_no_memory_of_their_own_in_a_sum_either():
    data = bl.data.text(block=512)
    problem = bl.FiniteSum(lambda w, x: np.sum(w[x]), data.features)
    assert problem.oracle.data.nbytes == 4 * (len(data) + 511), "the text once, not each window"
    w, picked = np.random.default_rng(0).normal(size=len(data.vocabulary)), np.array([3, 70_001, 3, 9])
    for rows in (picked, np.arange(100, 200)):
        expected = np.mean(np.sum(w[data.features[rows]], axis=1))
        np.testing.assert_allclose(problem.value(w, rows), expected, rtol=1e-12)


@pytest.mark.parametrize(
    ("call", "kind", "words"),
    [
        (lambda f: bl.data.text(f, 0), ArgumentError, "block=0 must be an integer, at least 1"),
        (lambda f: bl.data.text(f, 2.0), ArgumentError, "block=2.0 must be"),
        (lambda f: bl.data.text(f, len(TEXT)), ArgumentError, f"has {len(TEXT)} characters; block={len(TEXT)} needs"),
        (lambda f: bl.data.text(f.with_name("none")), FileError, "none cannot be read: No such file"),
        (lambda f: bl.data.text(3), ArgumentError, "path=3 is not a path"),
        (lambda f: bl.data.text(f).encode("Ab%"), ArgumentError, "'%', 'A' does not occur in text"),
    ],
)
def test_text_with_wrong_arguments_raises(file: Path, call: Any, kind: type[Exception], words: str):
    with pytest.raises(kind, match=re.escape(words)):
        call(file)


def test_bytes_that_are_no_text_are_refused(tmp_path: Path):
    (tmp_path / "bytes").write_bytes(b"abc\xff")
    with pytest.raises(FileError, match="bytes is not UTF-8 text: invalid start byte at byte 3"):
        bl.data.text(tmp_path / "bytes")


# Downloads, from a server on this machine.


@pytest.fixture
def source(served: tuple[Path, str]) -> Source:
    (served[0] / "a.txt").write_text("to be or not to be")
    return Source("a.txt", f"{served[1]}/a.txt", f"sha256:{hashlib.sha256(b'to be or not to be').hexdigest()}", "text")


def test_download_is_stored(source: Source, served: tuple[Path, str], tmp_path: Path):
    place = fetched(source, tmp_path / "cache")
    assert place.read_text() == "to be or not to be"
    (served[0] / "a.txt").unlink()
    assert fetched(source, tmp_path / "cache") == place


@pytest.mark.parametrize("content", ["to be or not to b", "to be or not to bf", ""])
def test_a_download_that_is_cut_or_changed_is_refused(
    source: Source, served: tuple[Path, str], tmp_path: Path, content: str
):
    (served[0] / "a.txt").write_text(content)
    with pytest.raises(FileError, match=r"is not a\.txt: its hash is another"):
        fetched(source, tmp_path / "cache")
    assert not (tmp_path / "cache" / "a.txt").exists()


def test_damaged_stored_file_is_fetched_again(source: Source, tmp_path: Path):
    place = fetched(source, tmp_path / "cache")
    place.write_text("to be")
    assert fetched(source, tmp_path / "cache").read_text() == "to be or not to be"


def test_missing_network_and_missing_file_are_reported(source: Source, served: tuple[Path, str], tmp_path: Path):
    for url in ("http://127.0.0.1:1/a.txt", f"{served[1]}/none.txt"):
        with pytest.raises(FileError, match=rf"{url} cannot be downloaded \(.*Check the network.*{source.hash}"):
            fetched(Source("a.txt", url, source.hash, "text"), tmp_path / "cache")


def test_without_pooch_the_message_names_the_command(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "pooch", None)
    for call in (bl.data.tiny_shakespeare, bl.data.makemore_names):
        with pytest.raises(ConfigurationError, match=re.escape("pip install 'burlab[data]'")):
            call()


def test_the_hashes_are_those_that_were_published():
    hashes = [str(source.hash).removeprefix("sha256:") for source in (NAMES, SHAKESPEARE)]
    assert [found[:8] for found in hashes] == ["0a30b555", "86c4e6aa"]
    assert [len(found) for found in hashes] == [64, 64]


def test_a_byte_order_mark_is_no_character(tmp_path):
    place = tmp_path / "marked.txt"
    place.write_text("abcabc", "utf-8-sig")
    data = bl.data.text(place, block=2)
    assert (data.vocabulary, data.decode(data.features[0])) == ("abc", "ab")
