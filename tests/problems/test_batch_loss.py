"""Losses of whole batches, against the same functions of arrays."""

import subprocess
import sys

import numpy as np
import pytest
from scipy import sparse

import burlab as bl
from burlab import optim
from burlab.errors import ArgumentError, DTypeError

N, D, E, B = 48, 7, 5, 16
RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(2, N, D))
LABELS = RNG.integers(0, 4, N)
W = {"u": RNG.normal(size=(E, D)), "v": RNG.normal(size=(E, D))}
CHOSEN = RNG.permutation(N)[:B]
STEPS = np.stack([RNG.permutation(N)[:B] for _ in range(20)])


def unit(z):
    return z / np.sqrt(np.sum(z**2, axis=1, keepdims=True))


def contrast(w, z, a, b):
    """InfoNCE in both directions."""
    u, v = z
    scores = unit(u) @ unit(v).T / 0.2
    both = bl.logsumexp(scores, axis=1) + bl.logsumexp(scores, axis=0)
    return np.mean(both) / 2 - np.mean(np.diagonal(scores))


def embed(w, a, b):
    return np.tanh(w["u"] @ a), np.tanh(w["v"] @ b)


def direct(w, a, b):
    return contrast(w, (np.tanh(a @ w["u"].T), np.tanh(b @ w["v"].T)), a, b)


def ridge(w):
    return 0.1 * np.sum(w["u"] ** 2)


WAYS = {
    "direct": bl.BatchLoss(direct, (X, Y)),
    "embedded": bl.BatchLoss(contrast, (X, Y), embed=embed),
    "chunks": bl.BatchLoss(contrast, (X, Y), embed=embed, chunks=4),
    "uneven": bl.BatchLoss(contrast, (X, Y), embed=embed, chunks=5),
    "threads": bl.BatchLoss(contrast, (X, Y), embed=embed, chunks=4, threads=2),
}


def close(found, wanted, rtol=1e-12):
    for a, b in zip(bl.tree.leaves(found), bl.tree.leaves(wanted), strict=True):
        np.testing.assert_allclose(a, b, rtol=rtol, atol=rtol)


@pytest.mark.parametrize("name", WAYS)
def test_queries_are_those_of_the_function(name):
    problem = WAYS[name]
    v = {"u": np.ones((E, D)), "v": RNG.normal(size=(E, D))}
    for chosen in (None, CHOSEN, np.array([3, 3, 8])):
        rows = np.arange(N) if chosen is None else chosen

        def f(w, a=X[rows], b=Y[rows]):
            return direct(w, a, b)

        close(problem.value_and_grad(W, chosen), bl.value_and_grad(f)(W))
        if chosen is not CHOSEN:
            continue
        close(problem.value(W, chosen), f(W))
        close(problem.grad(W, chosen), bl.grad(f)(W))
        close(problem.hvp(W, v, chosen), bl.hvp(f)(W, v))
        close(problem.jvp(W, v, chosen), bl.jvp(f, (W,), (v,))[1])
        flat = np.concatenate([g.ravel() for g in bl.tree.leaves(bl.grad(f)(W))])
        close(problem.partial_grad(W, [0, 69, 3], chosen), flat[[0, 69, 3]])
    again = [problem.grad(W, CHOSEN) for _ in range(3)]  # by the gate
    close(again[2], again[0], 0)


@pytest.mark.parametrize(
    ("name", "regularizer"), [("direct", ridge), ("direct", None), ("embedded", None), ("uneven", None)]
)
def test_steps_are_those_of_a_loop(name, regularizer):
    problem = bl.BatchLoss(direct, (X, Y), regularizer) if regularizer else WAYS[name]
    run = bl.minimize(problem, W, optim.Momentum(0.05, 0.9), batch=B, sampler=STEPS, steps=20)
    w, m, values = W, bl.tree.map(np.zeros_like, W), []
    for rows in STEPS:

        def f(w, a=X[rows], b=Y[rows]):
            return direct(w, a, b) + (regularizer(w) if regularizer else 0.0)

        value, g = bl.value_and_grad(f)(w)
        values.append(value)
        m = bl.tree.map(lambda p, q: 0.9 * p + q, m, g)
        w = bl.tree.map(lambda p, q: p - 0.05 * q, w, m)
    close(run.x, w, 1e-11)
    np.testing.assert_allclose(run.history["value"], values, rtol=1e-12)
    assert run.history["samples"][-1] == 20 * B
    batches = [np.arange(k, k + B) for k in range(0, N, B)]
    close(run.value, np.mean([problem.value(run.x, rows) for rows in batches]))


def test_a_rule_may_ask_more_about_its_batch():
    run = bl.minimize(WAYS["chunks"], W, optim.ArmijoGD(), batch=B, sampler=STEPS, steps=5)
    other = [bl.minimize(lambda w, r=r: direct(w, X[r], Y[r]), W, optim.ArmijoGD(), steps=1) for r in STEPS[:1]]
    assert run.history["value"][0] == pytest.approx(other[0].history["value"][0], rel=1e-12)
    assert run.history["values"][-1] >= 5 * B
    full = bl.minimize(WAYS["embedded"], W, optim.LBFGS(), steps=6)
    plain = bl.minimize(lambda w: direct(w, X, Y), W, optim.LBFGS(), steps=6)
    close(full.x, plain.x, 1e-9)


def test_metrics_and_keys():
    def noisy(w, a, *, key):
        noise = bl.random.normal(key, a.shape)
        return np.var((a + noise) @ w), {"size": np.mean(a)}

    problem = bl.BatchLoss(noisy, X, has_aux=True)
    run = bl.minimize(problem, np.ones(D), optim.GD(0.01), batch=B, steps=3, seed=4)
    assert run.history["size"].shape == (3,)
    key = bl.random.key(3)
    batch_key = bl.random.fold_in(key, 0)

    def fixed(w):
        return noisy(w, X, key=batch_key)[0]

    close(problem.grad(np.ones(D), key=key), bl.grad(fixed)(np.ones(D)))


def test_ranks_and_labels_of_other_dtypes():
    def ranked(w, a, label):
        order = np.argsort(a @ w)
        return np.sum((a @ w) * (label == label[order])) / len(label)

    data = X.astype(np.float32), LABELS
    w = np.ones(D, np.float32)
    problem = bl.BatchLoss(ranked, data)
    rows = CHOSEN
    close(problem.grad(w, rows), bl.grad(ranked)(w, data[0][rows], LABELS[rows]), 1e-5)
    run = bl.minimize(problem, w, optim.Adam(0.01), batch=1, steps=3)
    assert run.x.dtype == np.float32


def test_time_travel_files_and_sweeps(tmp_path):
    problem = WAYS["uneven"]
    run = bl.minimize(problem, W, optim.Adam(0.01), batch=B, steps=40, seed=2)
    end = run.x
    run.seek(17)
    fork = run.fork()
    run.save(tmp_path / "a.burlab")
    loaded = bl.load_run(tmp_path / "a.burlab", (X, Y))
    for one in (run, fork, loaded):
        one.step(23)
        close(one.x, end, 0)
    assert loaded.value == run.value
    sweep = bl.sweep(problem, W, optim.Adam(), {"lr": [0.01, 0.02]}, batch=B, steps=40, seeds=[2])
    (same,) = (other for other in sweep.runs if other.hyper["lr"] == 0.01)
    close(same.x, end, 0)


def test_more_threads_change_no_bit():
    one, two = (bl.minimize(WAYS[name], W, optim.GD(0.1), batch=B, steps=5) for name in ("chunks", "threads"))
    close(one.x, two.x, 0)


def test_a_subset_has_its_own_batches():
    part = WAYS["direct"].subset(np.arange(0, N, 2))
    close(part.value(W), direct(W, X[::2], Y[::2]))
    assert type(part) is bl.BatchLoss


@pytest.mark.parametrize(
    ("optimizer", "options", "message"),
    [
        (optim.SAGA(0.1), {}, "per_sample_grads"),
        (optim.SVRG(0.1), {}, "full_grad"),
        (optim.SophiaG(), {}, "resampled_grad"),
        (optim.GD(0.1), {"batch": bl.Batch(4, 8)}, "batches of one size"),
        (optim.GD(0.1), {"sampler": np.full(N, 1 / N)}, "batches of one size"),
        (optim.GD(0.1), {"stop": bl.Stop(grad_norm=1e-3, of="full")}, "another function"),
    ],
    ids=repr,
)
def test_what_needs_losses_of_samples_is_refused_before_the_first_step(optimizer, options, message):
    with pytest.raises(ArgumentError, match=message):
        bl.minimize(WAYS["direct"], W, optimizer, **{"batch": B} | options)


def test_errors_name_the_argument():
    with pytest.raises(DTypeError, match="sparse matrix"):
        bl.BatchLoss(lambda w, a: np.sum(a @ w), sparse.csr_array(X))
    with pytest.raises(ArgumentError, match="chunks= cuts a batch"):
        bl.BatchLoss(direct, (X, Y), chunks=4)
    with pytest.raises(ArgumentError, match="chunks"):
        bl.BatchLoss(contrast, (X, Y), embed=embed, chunks=0)
    with pytest.raises(ArgumentError, match="embed"):
        bl.BatchLoss(contrast, (X, Y), embed=lambda w, a: a)
    with pytest.raises(ArgumentError, match="loss"):
        bl.BatchLoss(lambda w: 0.0, (X, Y))
    for name in ("per_sample_grads", "per_sample_values", "resampled_grad"):
        with pytest.raises(ArgumentError, match=f"{name} needs the loss of each sample"):
            getattr(WAYS["direct"], name)(W)
    with pytest.raises(Exception, match=r"shape"):
        bl.BatchLoss(lambda w, a: a @ w, X).grad(np.ones(D))


MEMORY = """
import numpy as np, burlab as bl
from burlab.problems.point import as_point
rng = np.random.default_rng(0)
n, d, h = 4096, 32, 256
x = rng.normal(size=(n, d)).astype(np.float32)
w = [rng.normal(size=s).astype(np.float32) / 16 for s in ((h, d), (h, h), (h, h), (16, h))]
def embed(w, a):
    for layer in w[:-1]:
        a = np.tanh(layer @ a)
    return w[-1] @ a
def spread(w, z, a):
    return np.mean(bl.logsumexp(z @ z.T, axis=1))
problem = bl.BatchLoss(spread, x, embed=embed, chunks={chunks})
def kilobytes(name):
    return int([line for line in open("/proc/self/status") if line.startswith(name)][0].split()[1])
bl.minimize(lambda w: np.sum(w[0] ** 2), w, bl.optim.GD(0.01), steps=1)
problem.oracle.of_batch(n).kernels("training", [as_point(w, "w")]).samples.executable  # compiles it
before = kilobytes("VmRSS")
open("/proc/self/clear_refs", "w").write("5")  # the peak begins anew
bl.minimize(problem, w, bl.optim.GD(0.01), batch=n, steps=2, keyframe_bytes=0)
print(kilobytes("VmHWM") - before)
"""


def peak(chunks):
    """Kilobytes that a run adds to its process, at most."""
    command = [sys.executable, "-W", "error", "-c", MEMORY.format(chunks=chunks)]
    return int(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def test_chunks_keep_less_in_memory():
    all_at_once, chunks = peak(None), peak(64)
    assert all_at_once - chunks > 2 * 4096 * 256 * 4 / 1024, "kilobytes of two of three layers of activations"
