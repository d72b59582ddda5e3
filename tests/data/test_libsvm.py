"""LIBSVM files: of scikit-learn, by hand with every oddity, from a server; what is written is read back."""

import bz2
import gzip
import hashlib
import lzma
import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse

import burlab as bl
from burlab.data.libsvm import fault
from burlab.errors import ArgumentError, ConfigurationError, DTypeError, FileError, ShapeError

datasets: Any = pytest.importorskip("sklearn.datasets", reason="scikit-learn is not installed: burlab[data]")
RNG = np.random.default_rng(0)


def read(folder: Path, content: bytes, **options: Any) -> tuple[list[list[float]], list[float]]:
    (folder / "hand.svm").write_bytes(content)
    data = bl.data.libsvm(folder / "hand.svm", **options)
    assert isinstance(data.features, scipy.sparse.csr_matrix)
    assert (data.features.dtype, data.targets.dtype) == (np.float64, np.float64)
    assert len(data) == len(data.targets)
    return data.features.toarray().tolist(), data.targets.tolist()


@pytest.mark.parametrize("zero_based", [True, False])
def test_a_file_of_scikit_learn(tmp_path: Path, zero_based: bool):
    a = scipy.sparse.random(300, 50, 0.1, format="csr", rng=RNG)
    y = RNG.choice([-1.0, 1.0], 300)
    datasets.dump_svmlight_file(
        a, y, str(tmp_path / "a.svm"), zero_based=zero_based, comment="by scikit-learn\nfor a test"
    )
    data = bl.data.libsvm(tmp_path / "a.svm", features=50)
    np.testing.assert_allclose(data.features.toarray(), a.toarray(), rtol=1e-15)  # it writes 16 digits
    np.testing.assert_array_equal(data.targets, y)
    assert data.features.has_sorted_indices
    assert repr(data) == f"<Dataset of 300 samples, 50 features ({a.nnz:,} stored entries), numbers: a.svm>"


ROWS = [[0.5, 0.0, -2.0], [0.0, 0.0, 0.0], [0.0, 1e-3, 0.0]]
LABELS = [1.0, -1.0, 2.5]
PLAIN = b"1 1:0.5 3:-2\n-1\n2.5 2:1e-3\n"


@pytest.mark.parametrize(
    "content",
    [
        PLAIN,
        PLAIN.rstrip(b"\n"),
        PLAIN.replace(b"\n", b"\r\n"),
        PLAIN.replace(b"\n", b"   \t\n"),
        PLAIN.replace(b" ", b"\t  "),
        b"# a title\n\n   \n" + PLAIN.replace(b"\n", b" # 7:8 words, more\n\n") + b"# the end",
        b"+1 1:+.5 3:-2.\n-1.0\n+2.5e0 2:1E-3\n",
        b"1 qid:1 1:0.5 3:-2\n-1 qid:1\n2.5 qid:22 2:1e-3\n",
        b"1 0:0.5 2:-2\n-1\n2.5 1:1e-3\n",
        b"1 01:0.5 +3:-2\n-1\n2.5 2:0.001\n",
        b"1 1:0.5 2:0 3:-2\n-1 1:0\n2.5 2:1e-3\n",
        gzip.compress(PLAIN),
        bz2.compress(PLAIN),
        lzma.compress(PLAIN),
    ],
    ids=(
        "plain,no newline at the end,CRLF,spaces at the end,tabs,comments and blank lines,signs and floats,qid,"
        "from 0,zeros in front,stored zeros,gz,bz2,xz"
    ).split(","),
)
def test_oddities_are_read(tmp_path: Path, content: bytes):
    assert read(tmp_path, content) == (ROWS, LABELS)


def test_a_stored_zero_stays_stored(tmp_path: Path):
    (tmp_path / "a").write_bytes(b"1 1:0 3:2\n")
    assert bl.data.libsvm(tmp_path / "a").features.nnz == 2


def test_nan_and_inf_are_numbers(tmp_path: Path):
    rows, labels = read(tmp_path, b"nan 1:inf\n-inf 1:-Infinity 2:NaN\n")
    np.testing.assert_array_equal(rows, [[np.inf, 0], [-np.inf, np.nan]])
    np.testing.assert_array_equal(labels, [np.nan, -np.inf])


def test_the_index_base(tmp_path: Path):
    content = b"1 1:5\n2 2:6\n"
    assert read(tmp_path, content)[0] == [[5, 0], [0, 6]]
    assert read(tmp_path, content, base=1)[0] == [[5, 0], [0, 6]]
    assert read(tmp_path, content, base=0)[0] == [[0, 5, 0], [0, 0, 6]]
    with pytest.raises(FileError, match=r"line 2: the index 0 is outside of \[1, 2147483647\]. Pass base=0"):
        read(tmp_path, b"1 1:5\n1 0:1", base=1)


def test_the_number_of_features(tmp_path: Path):
    assert read(tmp_path, b"1 2:5\n", features=4)[0] == [[0, 5, 0, 0]]
    assert read(tmp_path, b"1\n-1\n", features=2) == ([[0, 0], [0, 0]], [1, -1])
    with pytest.raises(ArgumentError, match=r"features=1, but .* has entries in 2 columns. Pass features=2"):
        read(tmp_path, b"1 2:5\n", features=1)
    with pytest.raises(FileError, match=r"has no entries.*Pass features="):
        read(tmp_path, b"1\n-1\n")
    for options, words in (({"features": 0}, "features=0"), ({"base": 2}, "base=2"), ({"base": True}, "base=True")):
        with pytest.raises(ArgumentError, match=words):
            read(tmp_path, PLAIN, **options)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (b"1,2 1:3", "'1,2' where one label is expected. burlab's data have one target each: read a file of several"),
        (b" 1:3 2:4", "'1:3' where one label is expected"),
        (b"1 3:1 2:1", "the index 2 comes after 3, expected indices that ascend"),
        (b"1 2:1 2:1", "the index 2 is there twice, expected indices that ascend"),
        (b"1 -1:1", "the index -1 is outside of [0, 2147483647]"),
        (b"1 2147483648:1", "the index 2147483648 is outside of"),
        (b"1 99999999999999999999:1", "the index 99999999999999999999 is outside of"),
        (b"yes 1:1", "'yes' is not a label, expected a number"),
        (b"1 2", "'2' is not an entry, expected index:value such as 3:0.5"),
        (b"1 2:", "'2:' is not an entry"),
        (b"1 2: 3", "'2:' is not an entry"),
        (b"1 a:3", "'a:3' is not an entry"),
        (b"1 1.5:3", "'1.5:3' is not an entry"),
        (b"1 2:3:4", "'2:3:4' is not an entry"),
        (b"1 2:x", "'2:x' is not an entry"),
        (b"\xff\xfe1 1:1", "it begins with a byte order mark"),
        (b"\xef\xbb\xbf1 1:1", "it begins with a byte order mark"),
        (b"\x93NUMPY\x01", "is not a label"),
        (b"1 1:2\r1 1:3\r1 2:4", "'1' is not an entry"),
    ],
)
def test_a_fault_is_named_by_line(tmp_path: Path, line: bytes, words: str):
    with pytest.raises(FileError, match="hand.svm: line 3: " + ".*" * (b"NUMPY" in line) + re.escape(words)):
        read(tmp_path, b"# title\n1 1:3\n" + line + b"\n1 1:5\n")


def test_no_fault_is_found_in_a_good_file():
    assert not fault(PLAIN.splitlines(keepends=True), 0)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "holds no sample"),
        (b"# nothing\n\n", "holds no sample"),
        (gzip.compress(PLAIN * 100)[:-20], "cannot be read"),
        (gzip.compress(PLAIN * 100)[:40] + b"xxxxxxxxxxxxxx", "cannot be read"),
        (bz2.compress(PLAIN * 100)[:-20], "cannot be read"),
        (lzma.compress(PLAIN * 100)[:-20], "cannot be read"),
        (lzma.compress(PLAIN * 100)[:30] + b"x" * 80, "cannot be read"),
    ],
)
def test_empty_and_damaged_files_are_refused(tmp_path: Path, content: bytes, words: str):
    with pytest.raises(FileError, match=words):
        read(tmp_path, content)


def test_missing_files_folders_and_other_values_are_refused(tmp_path: Path):
    for path, kind, words in (
        (tmp_path / "none", FileError, "cannot be read: No such file"),
        (tmp_path, FileError, "it is a folder"),
        (3, ArgumentError, "path=3 is not a path"),
    ):
        with pytest.raises(kind, match=words):
            bl.data.libsvm(path)  # pyright: ignore[reportArgumentType]
    with pytest.raises(ArgumentError, match="hash= is for a download"):
        bl.data.libsvm("a.svm", hash="sha256:0123456789")


def test_without_scikit_learn_the_command_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setitem(sys.modules, "sklearn.datasets", None)
    with pytest.raises(ConfigurationError, match=re.escape("pip install 'burlab[data]'")):
        read(tmp_path, PLAIN)


# Downloads.


@pytest.fixture
def address(served: tuple[Path, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (served[0] / "a9a.bz2").write_bytes(bz2.compress(PLAIN))
    return f"{served[1]}/a9a.bz2"


def test_a_file_of_a_server(address: str, served: tuple[Path, str], tmp_path: Path):
    known = f"sha256:{hashlib.sha256(bz2.compress(PLAIN)).hexdigest()}"
    data = bl.data.libsvm(address, hash=known)
    assert data.features.toarray().tolist() == ROWS
    assert data.source == f"a9a.bz2 from {address}, {known}"
    (served[0] / "a9a.bz2").unlink()  # from now on from the cache
    assert bl.data.libsvm(address, hash=known).source == bl.data.libsvm(address).source == data.source
    assert [place.name[17:] for place in (tmp_path / "cache" / "burlab").iterdir()] == ["a9a.bz2"]


def test_another_hash_is_refused(address: str, tmp_path: Path):
    with pytest.raises(
        FileError, match=r"its hash is another.*pass its path to bl\.data\.libsvm; its hash is md5:0123"
    ):
        bl.data.libsvm(address, hash="md5:0123456789abcdef0123456789abcdef")
    assert not list((tmp_path / "cache" / "burlab").glob("*"))
    for wrong in ("none", "sha256:xyz", 3):
        with pytest.raises(ArgumentError, match="expected one such as 'sha256:"):
            bl.data.libsvm(address, hash=wrong)  # pyright: ignore[reportArgumentType]


def test_two_files_of_one_name_are_two(address: str, served: tuple[Path, str]):
    (served[0] / "other").mkdir()
    (served[0] / "other" / "a9a.bz2").write_bytes(b"7 1:1\n")
    assert len(bl.data.libsvm(address)) == 3
    assert len(bl.data.libsvm(f"{served[1]}/other/a9a.bz2")) == 1


def test_a_missing_file_of_a_server_is_reported(address: str):
    with pytest.raises(FileError, match=r"none cannot be downloaded \(HTTPError\)"):
        bl.data.libsvm(address.replace("a9a.bz2", "none"))


# Writing.


@pytest.mark.parametrize("base", [0, 1])
@pytest.mark.parametrize("form", ["array", "csr_matrix", "csc_array", "coo_matrix"])
def test_what_is_written_is_read_bit_for_bit(tmp_path: Path, base: int, form: str):
    a = scipy.sparse.random(5000, 7, 0.4, format="csr", rng=RNG)  # more rows than are converted at once
    a.data = np.exp(30 * RNG.normal(size=a.nnz)) * RNG.choice([-1, 1], a.nnz)
    y = RNG.normal(size=5000)
    bl.data.write_libsvm(
        tmp_path / "a", a.toarray() if form == "array" else getattr(scipy.sparse, form)(a), y, base=base
    )
    data = bl.data.libsvm(tmp_path / "a", features=7, base=base)
    np.testing.assert_array_equal(data.features.toarray(), a.toarray())
    np.testing.assert_array_equal(data.targets, y)
    theirs, labels = datasets.load_svmlight_file(tmp_path / "a", n_features=7, zero_based=base == 0)
    np.testing.assert_array_equal(theirs.toarray(), a.toarray())
    np.testing.assert_array_equal(labels, y)


@pytest.mark.parametrize("dtype", ["float16", "float32", "int8", "uint64", "bool"])
def test_other_dtypes_are_written_exactly(tmp_path: Path, dtype: str):
    a = (RNG.random((4, 3)) * 100).astype(dtype)
    bl.data.write_libsvm(tmp_path / "a", a, a[:, 0])
    data = bl.data.libsvm(tmp_path / "a", features=3)
    np.testing.assert_array_equal(data.features.toarray(), a)
    np.testing.assert_array_equal(data.targets, a[:, 0])


def test_duplicates_are_added_and_the_callers_matrix_stays(tmp_path: Path):
    a = scipy.sparse.csr_matrix((np.array([1.0, 2.0, 4.0]), np.array([2, 2, 0]), np.array([0, 3])), (1, 3))
    bl.data.write_libsvm(tmp_path / "a", a, [np.nan])
    assert (tmp_path / "a").read_text() == "nan 1:4 3:3\n"
    assert a.indices.tolist() == [2, 2, 0]


@pytest.mark.parametrize(
    ("features", "targets", "kind", "words"),
    [
        (np.ones(3), np.ones(3), ShapeError, "features has shape (3,) and targets (3,)"),
        (np.ones((3, 2)), np.ones(2), ShapeError, "features has shape (3, 2) and targets (2,)"),
        (np.ones((3, 2), complex), np.ones(3), DTypeError, "features has dtype complex128"),
        (np.ones((1, 2)), ["yes"], DTypeError, "targets"),
    ],
)
def test_what_is_no_data_is_not_written(tmp_path: Path, features: Any, targets: Any, kind: Any, words: str):
    with pytest.raises(kind, match=re.escape(words)):
        bl.data.write_libsvm(tmp_path / "a", features, targets)
    assert not (tmp_path / "a").exists()
