"""Files: what comes back is what was written, and nothing damaged, foreign or unwritten is ever taken for a file."""

import json
import os
import stat
import subprocess
import sys

import numpy as np
import pytest

from burlab.errors import FileError
from burlab.run.file import container

DOCUMENT = {"steps": 3, "names": ["lr", "µ"], "nested": {"none": None, "yes": True}, "pi": 3.141592653589793}


def arrays():
    rng = np.random.default_rng(0)
    return {
        "wide": rng.normal(size=(3, 2)),
        "narrow": rng.normal(size=5).astype(np.float32),
        "empty": np.empty((0, 4), np.int64),
        "scalar": np.array(7, np.int32),
        "mask": np.array([True, False, True]),
        "keys": np.array([2**64 - 1], np.uint64),
        "odd": np.array([np.nan, -0.0, np.inf]),
    }


@pytest.fixture
def saved(tmp_path):
    path = tmp_path / "a.burlab"
    container.write(path, "test", DOCUMENT, arrays())
    return path


def test_container_reads_what_was_written(saved):
    document, read = container.read(saved, "test")
    assert document == DOCUMENT
    assert list(read) == list(arrays())
    for name, array in arrays().items():
        assert (read[name].dtype, read[name].shape) == (array.dtype, array.shape)
        assert read[name].tobytes() == array.tobytes()
        assert read[name].flags.writeable
    assert list(saved.parent.iterdir()) == [saved]


def test_other_layouts_and_byte_orders_are_written_as_the_same_numbers(tmp_path):
    array = np.arange(24.0).reshape(4, 6)
    layouts = {"fortran": np.asfortranarray(array), "big": array.astype(">f8"), "part": array[::2, ::-1]}
    container.write(tmp_path / "a", "test", None, layouts)
    read = container.read(tmp_path / "a", "test")[1]
    for name, layout in layouts.items():
        np.testing.assert_array_equal(read[name], layout)
        assert read[name].dtype.isnative


def test_truncated_container_raises(saved):
    whole = saved.read_bytes()
    for size in range(len(whole)):
        saved.write_bytes(whole[:size])
        with pytest.raises(FileError, match=r"cut off after|is damaged: it has|begins with"):
            container.read(saved, "test")
    saved.write_bytes(whole + b"\0")
    with pytest.raises(FileError, match=f"it has {len(whole) + 1} bytes, expected {len(whole)}"):
        container.read(saved, "test")


@pytest.mark.parametrize("bits", [0x01, 0xFF])
def test_a_file_with_any_byte_changed_is_refused(saved, bits):
    whole = saved.read_bytes()
    for place in range(len(whole)):
        changed = bytearray(whole)
        changed[place] ^= bits
        saved.write_bytes(changed)
        with pytest.raises(FileError):
            container.read(saved, "test")


def test_bytes_in_another_order_are_refused(saved):
    whole = saved.read_bytes()
    half = len(whole) // 128 * 64
    for changed in (whole[half:] + whole[:half], whole[:half] + whole[half + 64 :] + whole[half : half + 64]):
        saved.write_bytes(changed)
        with pytest.raises(FileError):
            container.read(saved, "test")


def test_a_newer_format_names_both_versions(saved, monkeypatch):
    monkeypatch.setattr(container, "VERSION", 2)
    container.write(saved, "test", DOCUMENT, arrays())
    monkeypatch.undo()
    with pytest.raises(FileError, match=r"format is version 2, and this burlab \(.+\) reads version 1"):
        container.read(saved, "test")


def test_a_file_of_another_kind_is_refused(saved):
    with pytest.raises(FileError, match="holds a 'test', expected a run"):
        container.read(saved, "run")


def craft(path, content):
    """A file whose checksums fit, with another header."""
    header = (content if isinstance(content, str) else json.dumps(content)).encode()
    first = container._FIRST.pack(
        container.MAGIC, container.VERSION, len(header), container.rounded(container._START + len(header)) + 64
    )
    whole = first + container.hashlib.sha256(first + header).digest() + header
    path.write_bytes(whole.ljust(container.rounded(len(whole)) + 64, b"\0"))


@pytest.mark.parametrize(
    "row",
    [
        {"shape": [10**15]},
        {"shape": [-1, -8]},
        {"shape": [2.0]},
        {"shape": "ab"},
        {"dtype": "object"},
        {"dtype": "float128"},
        {"dtype": "no dtype"},
        {"place": 64},
        {"sha256": None},
        {"shape": [4]},
    ],
)
def test_a_header_that_makes_no_sense_is_refused(tmp_path, row):
    path = tmp_path / "a"
    zeros = container.hashlib.sha256(bytes(64)).hexdigest()
    good = {"name": "a", "dtype": "float64", "shape": [8], "place": 0, "sha256": zeros}
    craft(path, {"kind": "test", "document": 1, "arrays": [good]})
    assert container.read(path, "test")[0] == 1
    craft(path, {"kind": "test", "document": 1, "arrays": [good | row]})
    with pytest.raises(FileError):
        container.read(path, "test")


@pytest.mark.parametrize("content", ["no JSON", "[]", "{}", '{"kind": "test"}', '{"kind": "test", "arrays": [1]}'])
def test_a_header_that_is_none_is_refused(tmp_path, content):
    craft(tmp_path / "a", content)
    with pytest.raises(FileError, match="malformed"):
        container.read(tmp_path / "a", "test")


def test_missing_file_or_folder_raises(tmp_path):
    with pytest.raises(FileError, match="No such file"):
        container.read(tmp_path / "none", "test")
    with pytest.raises(FileError, match="is a folder and not a file"):
        container.read(tmp_path, "test")
    with pytest.raises(FileError, match="is a folder"):
        container.write(tmp_path, "test", None, {})
    with pytest.raises(FileError, match=r"No such file or directory.+Check that the folder exists"):
        container.write(tmp_path / "no" / "a", "test", None, {})
    (tmp_path / "text").write_text("hello, this is some text that is no run")
    with pytest.raises(FileError, match="expected a file of burlab"):
        container.read(tmp_path / "text", "test")
    (tmp_path / "empty").touch()
    with pytest.raises(FileError):
        container.read(tmp_path / "empty", "test")


def test_unstorable_values_raise(tmp_path):
    with pytest.raises(FileError, match="dtype object"):
        container.write(tmp_path / "a", "test", None, {"a": np.array([object()])})
    with pytest.raises(ValueError, match="JSON"):
        container.write(tmp_path / "a", "test", float("nan"), {})
    assert not list(tmp_path.iterdir())


def test_a_failed_write_leaves_the_old_file(saved, monkeypatch):
    before = saved.read_bytes()

    def fail(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(FileError, match=r"No space left on device.+What was there is unchanged"):
        container.write(saved, "test", None, arrays())

    def interrupt(descriptor):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        container.write(saved, "test", None, arrays())
    assert saved.read_bytes() == before
    assert list(saved.parent.iterdir()) == [saved]


def test_the_users_permissions_hold(tmp_path):
    mask = os.umask(0o027)
    try:
        container.write(tmp_path / "a", "test", None, {})
    finally:
        os.umask(mask)
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o640
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "a")
    container.write(link, "test", 1, {})
    assert link.is_symlink()
    assert container.read(tmp_path / "a", "test")[0] == 1


PROGRAM = """
import sys, numpy as np
from burlab.run.file import container
k = 0
while True:
    k += 1
    container.write(sys.argv[1], "test", k, {"a": np.full(100_000, float(k))})
    print(k, flush=True)
"""


def test_a_process_killed_while_it_writes_leaves_a_whole_file(tmp_path):
    path = tmp_path / "a"
    for turn in range(5):
        with subprocess.Popen([sys.executable, "-c", PROGRAM, str(path)], stdout=subprocess.PIPE, text=True) as process:
            while int(process.stdout.readline()) < 2 + turn:
                pass
            process.kill()
        k, read = container.read(path, "test")
        assert (read["a"] == k).all()
