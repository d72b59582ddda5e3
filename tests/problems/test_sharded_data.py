"""Data in several files: the bits of the same rows in one array, whatever asks for them, and flat memory."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import burlab as bl
from burlab.data import ShardedArray
from burlab.errors import ArgumentError, DTypeError, FileError, LayoutError, ShapeError

RNG = np.random.default_rng(0)
N, D = 1000, 5
A, Y = RNG.normal(size=(N, D)), RNG.normal(size=N)
X = RNG.normal(size=D)
CUTS = [3, 4, 150, 151, 600, 999]  # shards of 1 to 449 rows


def loss(x: Any, a: Any, y: Any) -> Any:
    return np.log(1 + np.exp(-y * (a @ x)))


def cut(array: np.ndarray, cuts: Any = CUTS) -> ShardedArray:
    return ShardedArray([part.copy() for part in np.split(array, cuts)])  # copies, so that none follows another


WHOLE = bl.FiniteSum(loss, (A, Y))
FORMS = {
    "both": (cut(A), cut(Y)),
    "one": (cut(A), Y),
    "other cuts": (cut(A, [500]), cut(Y, [7, 77, 777])),
    "one shard": (cut(A, []), cut(Y, [])),
    "rows": (cut(A, range(1, N)), cut(Y, range(1, N))),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("indices", [None, [0], [999, 3, 3, 2, 4], np.arange(140, 170), RNG.permutation(N)])
def test_queries_have_the_bits_of_one_array(form: str, indices: Any):
    sharded, v = bl.FiniteSum(loss, FORMS[form]), np.ones(D)
    for ask in (
        lambda f: f.value(X, indices),
        lambda f: f.grad(X, indices),
        lambda f: f.hvp(X, v, indices),
        lambda f: f.per_sample_grads(X, indices),
        lambda f: f.per_sample_values(X, indices),
        lambda f: f.grad_difference(X, v, indices),
        lambda f: f.partial_grad(X, [1, 3], indices),
    ):
        np.testing.assert_array_equal(ask(sharded), ask(WHOLE))


def test_the_gradient_is_numpys():
    residual = -Y / (1 + np.exp(Y * (A @ X)))
    np.testing.assert_allclose(bl.FiniteSum(loss, FORMS["both"]).grad(X), A.T @ residual / N, rtol=1e-12)


@pytest.mark.parametrize("sampler", ["reshuffle", "sequential", "uniform", "nice", bl.BlockShuffle(64)])
@pytest.mark.parametrize("batch", [None, 1, 48])
@pytest.mark.parametrize("threads", [1, 3])
def test_runs_have_the_bits_of_one_array(sampler: Any, batch: Any, threads: int):
    runs = [
        bl.minimize(f, X, bl.optim.GD(0.1), batch=batch, sampler=sampler, threads=threads, steps=60)
        for f in (bl.FiniteSum(loss, FORMS["both"]), WHOLE)
    ]
    np.testing.assert_array_equal(runs[0].x, runs[1].x)
    np.testing.assert_array_equal(runs[0].history["value"], runs[1].history["value"])


@pytest.mark.parametrize(
    "rule", [bl.optim.SAGA(0.1), bl.optim.SVRG(0.1), bl.optim.LBFGS()], ids=lambda r: type(r).__name__
)
def test_rules_that_ask_for_more_have_the_bits_of_one_array(rule: Any):
    batch = None if isinstance(rule, bl.optim.LBFGS) else 8
    runs = [bl.minimize(f, X, rule, batch=batch, steps=20) for f in (bl.FiniteSum(loss, FORMS["both"]), WHOLE)]
    np.testing.assert_array_equal(runs[0].x, runs[1].x)


@pytest.mark.parametrize("indices", [np.arange(100), np.arange(3, 1000, 7), [5, 999, 0], np.arange(150, 152)])
def test_subsets(indices: Any):
    sharded = bl.FiniteSum(loss, FORMS["both"])
    np.testing.assert_array_equal(sharded.subset(indices).grad(X), WHOLE.subset(indices).grad(X))


def test_a_saved_run_takes_the_same_rows_in_any_form(tmp_path: Path):
    run = bl.minimize(bl.FiniteSum(loss, FORMS["both"]), X, bl.optim.GD(0.1), batch=8, steps=5)
    run.save(tmp_path / "run")
    run.step(20)
    for data in ((A, Y), FORMS["other cuts"]):
        loaded = bl.load_run(tmp_path / "run", data)
        loaded.step(20)
        np.testing.assert_array_equal(loaded.x, run.x)
    with pytest.raises(FileError, match=r"data\[1\] has the right form.* but other numbers"):
        bl.load_run(tmp_path / "run", (cut(A), cut(Y + 1)))


def test_the_sample_of_a_step_is_the_one_that_is_nan():
    y = Y.copy()
    y[601] = np.nan
    problem = bl.FiniteSum(loss, (cut(A), cut(y)))
    run = bl.minimize(problem, X, bl.optim.GD(0.1), batch=1, sampler="sequential", stop=bl.Stop(non_finite=True))
    with pytest.warns(RuntimeWarning, match="Stopped at step 601"):
        run.step(700)


# The array itself.


def test_indexing_is_numpys():
    sharded = cut(A)
    assert (sharded.shape, len(sharded), sharded.nbytes, sharded.ndim) == (A.shape, N, A.nbytes, 2)
    for rows in (0, 3, 999, -1, np.int64(150), np.array([5, -1, 150, 5]), np.array([], int)):
        np.testing.assert_array_equal(sharded[rows], A[rows])
    for a in (None, 0, 3, 4, 149, 150, 700, -300):
        for b in (None, 5, 151, 999, 1000, 5000, -1):
            for step in (1, 2, 3, 151, 2000):
                if len(A[a:b:step]):
                    np.testing.assert_array_equal(np.asarray(sharded[a:b:step]), A[a:b:step])
    assert np.asarray(sharded, np.float32).dtype == np.float32
    assert "6 shards" not in repr(sharded)
    assert repr(sharded) == "<ShardedArray of 7 shards: float64[1000, 5]>"


@pytest.mark.parametrize(
    ("call", "kind", "words"),
    [
        (lambda: ShardedArray([]), ShapeError, "there are no shards"),
        (lambda: ShardedArray([A, Y]), ShapeError, r"shard 1 has shape \(1000,\), expected one row at least, of shape"),
        (lambda: ShardedArray([A, A[:0]]), ShapeError, "shard 1 has shape"),
        (lambda: ShardedArray([A, A.astype("f")]), DTypeError, "shard 1 has dtype float32, expected float64"),
        (lambda: cut(A)[::-1], ShapeError, "positive step"),
        (lambda: cut(A)[1000], IndexError, "outside of the 1000 rows"),
        (lambda: cut(A)[np.array([0, -1001])], IndexError, "outside"),
        (lambda: cut(A)[A > 0], DTypeError, "takes an integer, a slice"),
        (lambda: cut(A)[0.5], DTypeError, "takes an integer, a slice"),
        (lambda: bl.FiniteSum(loss, (cut(A), Y[:5])), ShapeError, "arrays of 1000, 5 samples"),
        (
            lambda: bl.FiniteSum(lambda x, k: x, ShardedArray([np.ones(9, "complex")])),
            DTypeError,
            "data has dtype complex128",
        ),
    ],
)
def test_what_does_not_fit_is_refused(call: Any, kind: Any, words: str):
    with pytest.raises(kind, match=words):
        call()


# Folders.


def test_a_folder_of_shards(tmp_path: Path):
    for k, part in enumerate(np.split(A, 12 * [0] + CUTS)):
        np.save(tmp_path / f"x_{k}.npy", part)  # x_10 comes after x_9; the first ones are empty
    np.save(tmp_path / "y.npy", Y)
    features, targets = bl.data.shards(tmp_path, "x_*.npy"), bl.data.shards(tmp_path, "y.npy")
    np.testing.assert_array_equal(np.asarray(features), A)
    problem = bl.FiniteSum(loss, (features, targets))
    np.testing.assert_array_equal(problem.grad(X), WHOLE.grad(X))
    assert not features.parts[0].flags.writeable


@pytest.mark.parametrize(
    ("write", "kind", "words"),
    [
        (lambda p: None, FileError, "has no file"),
        (lambda p: np.save(p, np.ones((0, 3))), FileError, "no file .* has a row"),
        (lambda p: np.save(p, np.float64(3)), ShapeError, r"shard 0 has shape \(\)"),
        (lambda p: np.save(p, np.asfortranarray(A)), LayoutError, "is in Fortran's order"),
        (lambda p: np.save(p, A.astype(">f8")), DTypeError, "byte order"),
        (lambda p: np.save(p, np.array([{}, 3]), allow_pickle=True), DTypeError, "dtype object"),
        (lambda p: np.save(p, np.zeros(3, [("a", "f8")])), DTypeError, "expected numbers"),
        (lambda p: p.write_bytes(b"1 1:3\n"), FileError, "is not an .npy file"),
        (lambda p: p.write_bytes(b""), FileError, "is not an .npy file"),
        (lambda p: (np.save(p, A), p.write_bytes(p.read_bytes()[:-8])), FileError, "is shorter than the array"),
        (lambda p: p.mkdir(), FileError, "it is a folder"),
    ],
)
def test_a_folder_that_is_none_is_refused(tmp_path: Path, write: Any, kind: Any, words: str):
    write(tmp_path / "a.npy")
    with pytest.raises(kind, match=words):
        bl.data.shards(tmp_path)


@pytest.mark.parametrize("pattern", ["", 3, "../*.npy", "a/b.npy"])
def test_a_pattern_is_of_names(tmp_path: Path, pattern: Any):
    with pytest.raises(ArgumentError, match="pattern="):
        bl.data.shards(tmp_path, pattern)


# Memory.

PROGRAM = """
import sys, pathlib
import numpy as np, burlab as bl

def anonymous():
    rows = dict(line.split(":", 1) for line in open("/proc/self/status"))
    return int(rows["RssAnon"].split()[0]) / 1024

def use(X, steps):
    problem = bl.FiniteSum(lambda w, x: np.sum(np.tanh(x @ w)), X)
    w = np.zeros((256, 4), np.float32)
    highest = 0
    for sampler in ("sequential", bl.BlockShuffle(1024)):
        run = bl.minimize(problem, w, bl.optim.GD(0.1), batch=256, sampler=sampler, history_bytes=1 << 16)
        for _ in range(4):
            run.step(steps // 4)
            highest = max(highest, anonymous())
        assert np.isfinite(run.x).all() and run.x.any()
    assert problem.grad(w).any()
    return max(highest, anonymous())

before = use(np.ones((4096, 256), np.float32), 16)
X = {data}
print(use(X, len(X) // 256) - before, X.nbytes / 2**20)
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="memory is read from /proc")
@pytest.mark.parametrize("form", ["shards", "memmap"])
def test_memory_is_flat(tmp_path: Path, form: str):
    rows = np.full((65_536, 256), 0.5, np.float32)  # 64 MB a shard
    for k in range(2):
        np.save(tmp_path / f"{k}.npy", rows)
    data = {"shards": "bl.data.shards(sys.argv[1])", "memmap": "np.load(sys.argv[1] + '/0.npy', mmap_mode='r')"}[form]
    command = [sys.executable, "-c", PROGRAM.replace("{data}", data), str(tmp_path)]
    done = subprocess.run(command, text=True, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    grown, megabytes = map(float, done.stdout.split())
    assert megabytes >= 64
    assert grown < 8, "megabytes of the process's own, while files of 64 or 128 were read"
