"""CSV files and OpenML's data sets: numbers, words, missing values; what is no table is refused."""

import gzip
import hashlib
import json
import re
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.error import URLError

import numpy as np
import pytest
import scipy.sparse

import burlab as bl
from burlab.errors import ArgumentError, ConfigurationError, DTypeError, FileError

pandas: Any = pytest.importorskip("pandas", reason="pandas is not installed: burlab[frames]")

TREES = """height,kind,"age, years",sick
3.5,oak,100,yes
2,"elm, white",,no
"4e0",oak,7,"no"
1,,3,yes
"""


@pytest.fixture
def trees(tmp_path: Path) -> Path:
    (tmp_path / "trees.csv").write_text(TREES)
    return tmp_path / "trees.csv"


def test_numbers_words_and_missing_values(trees: Path):
    data = bl.data.csv(trees)
    assert data.feature_names == ("height", "kind=elm, white", "kind=oak", "age, years")
    expected = [[3.5, 0, 1, 100], [2, 1, 0, np.nan], [4, 0, 1, 7], [1, 0, 0, 3]]
    np.testing.assert_array_equal(data.features, expected)
    assert (data.features.dtype, data.targets.dtype) == (np.float64, np.int64)
    assert ([data.class_names[k] for k in data.targets], data.source) == (["yes", "no", "no", "yes"], "trees.csv")


@pytest.mark.parametrize("target", ["height", 0, -4])
def test_a_target_of_numbers(trees: Path, target: Any):
    data = bl.data.csv(trees, target)
    assert (data.targets.tolist(), data.targets.dtype, data.class_names) == ([3.5, 2, 4, 1], np.float64, ())
    assert data.feature_names[-2:] == ("sick=no", "sick=yes")


def test_without_a_header_with_another_delimiter_compressed(tmp_path: Path):
    numbers = np.random.default_rng(0).normal(size=(20, 4))
    text = "\n".join(";".join(map(repr, row)) for row in numbers.tolist())
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress(text.encode()))
    data = bl.data.csv(tmp_path / "a.csv.gz", "x1", header=False, delimiter=";")
    np.testing.assert_allclose(data.features, numbers[:, [0, 2, 3]], rtol=1e-15)
    np.testing.assert_allclose(data.targets, numbers[:, 1], rtol=1e-15)
    assert data.feature_names == ("x0", "x2", "x3")


def test_true_and_false_are_classes_as_target_and_numbers_as_feature(tmp_path: Path):
    (tmp_path / "a.csv").write_text("a,b\nTrue,False\nFalse,False\nTrue,True\n")
    data = bl.data.csv(tmp_path / "a.csv")
    assert (data.features.tolist(), data.targets.tolist()) == ([[1], [0], [1]], [0, 0, 1])
    assert data.class_names == ("False", "True")


@pytest.mark.parametrize(
    ("content", "options", "kind", "words"),
    [
        (
            TREES,
            {"target": "high"},
            ArgumentError,
            "target='high' is not a column of a.csv. Pass a name",
        ),
        (TREES, {"target": 4}, ArgumentError, "target=4 is not a column"),
        (TREES, {"target": True}, ArgumentError, "target=True is not a column"),
        (TREES, {"target": 2}, ArgumentError, "the target 'age, years' is missing in 1 rows, first in row 1"),
        (TREES, {"target": "kind"}, ArgumentError, "the target 'kind' is missing in 1 rows, first in row 3"),
        (TREES, {"header": 1}, ArgumentError, "header=1 is neither True nor False"),
        (TREES, {"delimiter": ";"}, ArgumentError, "has no column but the target. A CSV file may need"),
        ("a,b\n1,2,3\n1,2,3\n", {}, FileError, "has rows of more fields than its first line"),
        ("a\n1\n", {}, ArgumentError, "has no column but the target"),
        ("a,b\n", {}, FileError, "holds no sample. Pass header=False"),
        ("", {}, FileError, "cannot be read as a table"),
        ("a,b\n1,2\n1,2,3,4\n", {}, FileError, "cannot be read as a table"),
        (b"a,b\n\xff\xfe,2\n", {}, FileError, "is not UTF-8"),
    ],
)
def test_what_is_no_table_is_refused(tmp_path: Path, content: Any, options: Any, kind: Any, words: str):
    (tmp_path / "a.csv").write_bytes(content.encode() if isinstance(content, str) else content)
    with pytest.raises(kind, match=re.escape(words)):
        bl.data.csv(tmp_path / "a.csv", **options)


def test_missing_and_damaged_files_are_refused(tmp_path: Path):
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress(TREES.encode() * 50)[:-9])
    for name, words in (("none", "No such file"), ("a.csv.gz", "cannot be read")):
        with pytest.raises(FileError, match=words):
            bl.data.csv(tmp_path / name)


def test_so_many_words_that_memory_would_not_do_are_refused(trees: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(
        "burlab.data.frame_columns.check_fits", lambda nbytes, what: (_ for _ in ()).throw(MemoryError(what))
    )
    with pytest.raises(MemoryError, match="the 2 different words of the column 'kind'"):
        bl.data.csv(trees)


def test_without_pandas_the_command_is_named(trees: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ConfigurationError, match=re.escape("pip install 'burlab[frames]'")):
        bl.data.csv(trees)
    pytest.importorskip("sklearn", reason="scikit-learn is not installed: burlab[data]")
    with pytest.raises(ConfigurationError, match=re.escape("pip install 'burlab[frames]'")):
        bl.data.openml("adult")


# OpenML, from a server on this machine that answers as www.openml.org does.

DENSE = """@RELATION trees
@ATTRIBUTE height REAL
@ATTRIBUTE kind {oak,elm}
@ATTRIBUTE sick {yes,no}
@DATA
3.5,oak,yes
?,elm,no
4,oak,no
"""
SPARSE = """@RELATION words
@ATTRIBUTE a REAL
@ATTRIBUTE b REAL
@ATTRIBUTE c REAL
@ATTRIBUTE y {no,yes}
@DATA
{0 2.5,3 yes}
{1 1,2 -1}
"""
SETS = {
    1: ("trees", DENSE, ["height", "kind", "sick"], "ARFF"),
    2: ("words", SPARSE, ["a", "b", "c", "y"], "Sparse_ARFF"),
}


def answer(path: str) -> tuple[int, Any]:
    """What OpenML answers to the four questions of scikit-learn."""
    if found := re.search(r"data_name/(\w+)", path):
        named = [k for k, (name, *_) in SETS.items() if name == found[1]]
        if not named:
            return 412, {"error": {"code": "372", "message": "No results"}}
        return 200, {"data": {"dataset": [{"did": k, "status": "active", "version": 1} for k in named]}}
    number = int(re.findall(r"\d+", path)[-1])
    if number not in SETS:
        return 412, {"error": {"code": "111", "message": "Unknown dataset"}}
    name, text, columns, form = SETS[number]
    if path.startswith("/data/v1/download"):
        return 200, text
    if "features" in path:
        rows = [
            {
                "index": str(k),
                "name": column,
                "data_type": "nominal" if column in ("kind", "sick", "y") else "numeric",
                "is_target": str(column == columns[-1]).lower(),
                "is_ignore": "false",
                "is_row_identifier": "false",
                "number_of_missing_values": "1" if column == "height" else "0",
            }
            for k, column in enumerate(columns)
        ]
        return 200, {"data_features": {"feature": rows}}
    md5 = hashlib.md5(text.encode()).hexdigest()
    about = {"id": str(number), "name": name, "version": "1", "format": form, "status": "active", "md5_checksum": md5}
    url = f"https://www.openml.org/data/v1/download/{number}/{name}.arff"
    return 200, {"data_set_description": about | {"file_id": str(number), "url": url, "description": name}}


@pytest.fixture
def openml(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[list[str]]:
    module = pytest.importorskip("sklearn.datasets._openml", reason="scikit-learn is not installed: burlab[data]")
    heard = list[str]()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            heard.append(self.path)
            status, content = answer(self.path)
            self.send_response(status)
            self.end_headers()
            self.wfile.write((content if isinstance(content, str) else json.dumps(content)).encode())

        def log_message(self, *_: Any) -> None:
            return

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        here, opened = f"http://127.0.0.1:{server.server_port}", module.urlopen

        def redirected(request: Any, *arguments: Any, **named: Any) -> Any:
            request.full_url = request.full_url.replace("https://www.openml.org", here)
            return opened(request, *arguments, **named)

        monkeypatch.setattr(module, "urlopen", redirected)
        monkeypatch.setenv("SCIKIT_LEARN_DATA", str(tmp_path))
        yield heard
        server.shutdown()
        thread.join()


@pytest.mark.parametrize("name", ["trees", 1])
def test_a_data_set_of_openml(openml: list[str], name: Any):
    data = bl.data.openml(name)
    assert data.feature_names == ("height", "kind=elm", "kind=oak")
    np.testing.assert_array_equal(data.features, [[3.5, 0, 1], [np.nan, 1, 0], [4, 0, 1]])
    assert [data.class_names[k] for k in data.targets] == ["yes", "no", "no"]
    assert data.source == "OpenML's trees, version 1, data set 1"
    questions = len(openml)
    assert bl.data.openml(name).targets.tolist() == data.targets.tolist()
    assert len(openml) == questions, "the second time nothing is downloaded"


def test_another_target_of_openml(openml: list[str]):
    data = bl.data.openml("trees", target="kind")
    assert (data.feature_names, data.class_names) == (("height", "sick=no", "sick=yes"), ("elm", "oak"))


def test_a_sparse_data_set_of_openml(openml: list[str]):
    data = bl.data.openml("words")
    assert isinstance(data.features, scipy.sparse.csr_matrix)
    assert (data.features.toarray().tolist(), data.features.nnz) == ([[2.5, 0, 0], [0, 1, -1]], 3)
    assert [data.class_names[k] for k in data.targets] == ["yes", "no"]
    assert data.feature_names == ("a", "b", "c")


@pytest.mark.parametrize(
    ("call", "kind", "words"),
    [
        (lambda: bl.data.openml("bushes"), ArgumentError, "OpenML's 'bushes': No active dataset bushes found"),
        (lambda: bl.data.openml(7), ArgumentError, "OpenML's 7: "),
        (lambda: bl.data.openml("trees", target="leaves"), ArgumentError, "OpenML's 'trees': .*leaves"),
        (lambda: bl.data.openml(""), ArgumentError, "name is '', expected the name of a data set"),
        (lambda: bl.data.openml(True), ArgumentError, "name is True, expected the name of a data set"),
    ],
)
def test_what_openml_has_not_is_refused(openml: list[str], call: Any, kind: Any, words: str):
    with pytest.raises(kind, match=words):
        call()


def test_no_network_is_reported(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    module = pytest.importorskip("sklearn.datasets._openml", reason="scikit-learn is not installed: burlab[data]")

    def unreachable(*_: Any, **__: Any) -> Any:
        raise URLError("no network")

    monkeypatch.setattr(module, "_open_openml_url", unreachable)
    with pytest.raises(FileError, match=r"OpenML's 'adult' cannot be downloaded \(URLError\)"):
        bl.data.openml("adult")


def test_a_column_of_dates_is_refused():
    from burlab.data.frame_columns import features_of

    frame = pandas.DataFrame({"day": pandas.to_datetime(["2020-01-01", "2020-01-02"])})
    with pytest.raises(DTypeError, match="the column 'day' has dtype datetime64"):
        features_of(frame, "a table")
