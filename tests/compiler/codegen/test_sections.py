"""Kernels whose steps several threads share: the bits of one thread, for every number of threads."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import burlab as bl
from burlab.compiler.codegen import sections
from burlab.compiler.ir.plan import Invoke
from burlab.errors import ArgumentError, ConfigurationError
from burlab.problems.kernels import tiles, tiling
from burlab.runtime import thread_limit

pytestmark = pytest.mark.usefixtures("everything_is_shared")
THREADS = (2, 3, 5, 8, 16)
rng = np.random.default_rng(0)


def normal(*shape: int) -> np.ndarray[Any, Any]:
    return rng.normal(size=shape)


def attention(q: Any, k: Any, v: Any) -> Any:
    scores = np.einsum("bhid,bhjd->bhij", q, k) / 8.0
    mask = np.tril(np.ones((scores.shape[-1], scores.shape[-1]), bool))
    weights = bl.softmax(np.where(mask, scores, -1e9))
    return np.sum(np.tanh(np.einsum("bhij,bhjd->bihd", weights, v)))


def layer_norm(x: Any, w: Any, b: Any) -> Any:
    centred = x - np.mean(x, -1, keepdims=True)
    return np.sum(np.sin(centred / np.sqrt(np.mean(centred**2, -1, keepdims=True) + 1e-5) * w + b) ** 2)


def convolution(x: Any, w: Any) -> Any:
    windows = np.stack([x[..., i : i + x.shape[-1] - 4] for i in range(5)], -1)
    return np.sum(np.tanh(np.einsum("bcik,ock->boi", windows, w)) ** 2)


FUNCTIONS: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "matrix product": (lambda a, b: np.sum(np.tanh(a @ b)), (normal(70, 33), normal(33, 45))),
    "vector product": (lambda a, x: np.sum(np.cos(a @ x) * (a @ x)), (normal(90, 130), normal(130))),
    "attention": (attention, (normal(3, 4, 12, 8), normal(3, 4, 12, 8), normal(3, 4, 12, 8))),
    "layer norm": (layer_norm, (normal(5, 20, 33), normal(33), normal(33))),
    "convolution": (convolution, (normal(3, 4, 40), normal(6, 4, 5))),
    "gather and scatter": (
        lambda table, i: np.sum(np.exp(table[i]) * table[i[::-1]]),
        (normal(40, 7), rng.integers(0, 40, 90)),
    ),
    "sums over axes": (
        lambda x: sum(np.sum(np.sum(x, a) ** 2) for a in (0, 1, 2, (0, 2))) + np.sum(np.max(x, 1) * np.min(x, 1)),
        (normal(24, 30, 17),),
    ),
    "sums along few rows": (lambda x: np.sum(np.sin(np.sum(x, 1))), (normal(3, 30, 40),)),
    "windows": (
        lambda x: np.sum(np.concatenate([x[1:] * x[:-1], x[:3]]) * np.pad(x, ((0, 2), (1, 0)))[:, :-1][: len(x) + 2]),
        (normal(37, 9),),
    ),
    "copies": (lambda x: np.sum(np.sort(np.transpose(x, (2, 0, 1)).reshape(9, -1), -1) ** 3), (normal(8, 5, 9),)),
    "one row": (lambda x: bl.logsumexp(x) + np.sum(x * np.cumsum(x)), (normal(1000),)),
}


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_threads_change_no_bit(name: str, dtype: Any):
    f, arguments = FUNCTIONS[name]
    arguments = tuple(a.astype(dtype) if a.dtype.kind == "f" else a for a in arguments)
    floating = tuple(k for k, a in enumerate(arguments) if a.dtype.kind == "f")
    value, gradients = bl.value_and_grad(f, argnums=floating)(*arguments)
    for threads in THREADS:
        again = bl.value_and_grad(f, argnums=floating, threads=threads)(*arguments)
        assert again[0] == value
        for g, h in zip(gradients, again[1], strict=True):
            np.testing.assert_array_equal(g, h)


SUMS: dict[str, Callable[[Any], Any]] = {
    "of a function": lambda x: np.sum(np.exp(x)),
    "of arithmetic": lambda x: np.sum(x * x * x + x),
    "of squares": lambda x: np.linalg.norm(2 * x + 1),
    "of squares of a function": lambda x: np.linalg.norm(np.exp(x)),
    "of squares that floats do not hold": lambda x: np.linalg.norm(x * x.dtype.type(1e-22)),
    "of squares of a function that floats do not hold": lambda x: np.linalg.norm(np.exp(x) * x.dtype.type(1e-22)),
    "two of them": lambda x: np.sum(np.sin(x)) * np.sum(np.exp(x) * np.abs(x)),
    "of rows that fill no block": lambda x: np.sum(np.exp(x[:9000].reshape(300, 30) - x[:30])),
    "of rows of a block": lambda x: np.sum(np.exp(x[:9216].reshape(18, 512) - x[:512])),
}


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name", SUMS)
def test_a_long_sum_is_shared_by_blocks(name: str, dtype: Any):
    """Each thread leaves the sums of its blocks of 512, and one thread adds them in the order of one thread."""
    f, x = SUMS[name], normal(9973).astype(dtype)
    value, gradient = bl.value_and_grad(f)(x)
    np.testing.assert_allclose(value, f(x.astype(np.float64)), rtol=1e-6 if dtype is np.float32 else 1e-13)
    for threads in THREADS:
        again = bl.value_and_grad(f, threads=threads)(x)
        assert again[0] == value
        np.testing.assert_array_equal(again[1], gradient)
    kernel = bl.compile(f, x, threads=2)
    kernel(x)
    found = [cut for section in sections.sections(plan_of(kernel)) for cut in section.cuts]
    assert any(cut is not None and cut.leaves_sums for cut in found)


def test_copies_to_outputs_wait_for_what_they_copy():
    def f(x: Any) -> Any:
        y = np.tanh(x) @ x.T
        return y.T, y[::2], x.T, np.sort(y, -1), y

    x = normal(48, 30)
    alone = bl.jit(f)(x)
    for threads in THREADS:
        for a, b in zip(alone, bl.jit(f, threads=threads)(x), strict=True):
            np.testing.assert_array_equal(a, b)


def perceptron(p: Any, x: Any, y: Any) -> Any:
    z = np.tanh(x @ p["a"] + p["b"]) @ p["c"]
    return bl.nn.cross_entropy(z, y)


def test_threads_change_no_bit_of_a_run():
    """Samples of a tile on several threads, or slots of samples: the record and x are those of one thread."""
    x, y = normal(96, 20).astype(np.float32), rng.integers(0, 7, 96)
    start = {"a": normal(20, 30), "b": normal(30), "c": normal(30, 7)}
    start = {name: leaf.astype(np.float32) for name, leaf in start.items()}
    seen = []
    for threads in (1, *THREADS):
        run = bl.minimize(
            bl.FiniteSum(perceptron, (x, y)), start, bl.optim.Adam(1e-2), batch=48, steps=7, threads=threads
        )
        seen.append((run.history["value"], *(run.x[name] for name in start)))
    for other in seen[1:]:
        for a, b in zip(seen[0], other, strict=True):
            np.testing.assert_array_equal(a, b)


def plan_of(kernel: Any, program: str = "value") -> Any:
    return kernel._program(program, kernel._examples).executable.plan


def test_the_kernel_of_a_model_is_shared_and_waits_seldom():
    model = bl.nn.GPT(9, block=16, width=48, heads=2, layers=2, key=bl.random.key(0))
    tokens = rng.integers(0, 9, (64, 16))
    loss = bl.vmap(lambda m, t: bl.nn.cross_entropy(m(t), t), in_axes=(None, 0))
    plan = plan_of(bl.compile(lambda m, t: np.mean(loss(m, t)), model, tokens, threads=16), "value_and_grad")
    found = sections.sections(plan)
    shared = sum(len(section.cuts) for section in found)
    assert shared > 0.7 * len(plan.steps)
    assert len(found) < 0.5 * len(plan.steps), "neighbouring steps with the same cut do not wait"


def test_a_tile_has_few_sections(monkeypatch: pytest.MonkeyPatch):
    """Its steps are cut along samples, and the gradients of weights, which read all of them, come in a row."""
    made = list[tiles.Tile]()

    def tile(*arguments: Any) -> tiles.Tile:
        made.append(tiles.Tile(*arguments))
        return made[-1]

    monkeypatch.setattr(tiling, "Tile", tile)
    monkeypatch.setattr(tiling, "MIN_INSIDE_WORK", 0)
    model = bl.nn.GPT(9, block=8, width=24, heads=6, layers=3, key=bl.random.key(0))
    tokens, seen = rng.integers(0, 9, (8, 8)), list[Any]()
    for threads in (1, *THREADS):
        problem = bl.FiniteSum(lambda m, t: bl.nn.cross_entropy(m(t), t), (tokens,))
        run = bl.minimize(problem, model, bl.optim.GD(lr=0.1), batch=8, steps=3, threads=threads)
        seen.append(run.history["value"])
    for other in seen[1:]:
        np.testing.assert_array_equal(seen[0], other)
    plan = next(tile.executable.plan for tile in made if tile.inside)
    sums = [
        k for k, step in enumerate(plan.steps) if isinstance(step, Invoke) and "sum_accumulate" in step.kernel.symbol
    ]
    assert sums[0] > 0.6 * len(plan.steps)
    found = sections.sections(plan)
    assert sum(len(section.cuts) for section in found) > 0.9 * len(plan.steps)
    assert len(found) < 10


def test_a_step_that_reads_what_another_thread_writes_waits():
    """The columns of a product are read by all rows of the next one."""
    f = bl.compile(lambda a: a @ (a @ a), normal(64, 64), threads=4)
    plan = f._program("value", f._examples).executable.plan
    assert [len(section.cuts) for section in sections.sections(plan)] == [1, 1]


def test_few_threads_go_on_by_rows_and_many_share_the_weights():
    """A thread of two reads all weights, and waits for nobody; one of sixteen would take too long to read them."""
    x, a, b = (normal(*shape).astype(np.float32) for shape in ((64, 128), (128, 512), (512, 128)))
    found = {}
    for threads in (2, 16):
        f = bl.compile(lambda x, a, b: np.tanh(x @ a) @ b, x, a, b, threads=threads)
        found[threads] = [len(section.cuts) for section in sections.sections(plan_of(f))]
    assert found[2] == [3]
    assert len(found[16]) > 1


def product_of(plan: Any) -> tuple[int, Any]:
    """The number of the only product of a plan, and its cut."""
    (k,) = (k for k, s in enumerate(plan.steps) if isinstance(s, Invoke) and "gemm" in s.kernel.symbol)
    return k, next(s.cuts[k - s.first] for s in sections.sections(plan) if 0 <= k - s.first < len(s.cuts))


@pytest.mark.parametrize("sizes", [(512, 128), (128, 512)])
def test_of_what_other_threads_write_the_smaller_operand_is_read_as_a_whole(sizes: tuple[int, int]):
    """As in the gradient of a weight, which reads all samples."""
    a, b = (normal(64, size).astype(np.float32) for size in sizes)
    plan = plan_of(bl.compile(lambda a, b: np.tanh(a).T @ np.tanh(b), a, b, threads=2))
    _, cut = product_of(plan)
    assert min(t.nbytes for t in cut.touches if not t.writes and t.stride == 0) == 64 * 128 * 4


def test_a_gradient_that_an_update_reads_is_cut_by_rows():
    """The thread that has written some entries updates them, without waiting."""
    x, a, b = (normal(*shape).astype(np.float32) for shape in ((128, 512), (64, 128), (64, 512)))
    plan = plan_of(bl.compile(lambda x, a, b: x - 0.1 * np.sin(np.tanh(a).T @ np.tanh(b)), x, a, b, threads=2))
    k, cut = product_of(plan)
    assert cut.position == 0
    assert any(section.first + len(section.cuts) > k + 1 for section in sections.sections(plan) if section.first <= k)


def test_a_number_that_one_thread_has_read_is_read_again_by_all():
    def f(x: Any, y: Any, z: Any, s: Any) -> Any:
        return np.exp(x), np.sum(np.sin(y) * s), np.sin(z) * s

    arguments = normal(64, 64), normal(3), normal(500), normal(1)
    kernel = bl.compile(f, *arguments, threads=3)
    assert "if (part + 1 == parts)" in kernel.source
    for one, other in zip(kernel(*arguments), bl.jit(f)(*arguments), strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_fault_names_its_node_whoever_meets_it():
    table = normal(5, 8)
    index = np.zeros(64, np.int64)
    index[50] = 9
    messages = set[str]()
    for threads in (1, 8):
        with pytest.raises(IndexError) as caught:
            bl.jit(lambda t, i: np.sum(t[i] ** 2), threads=threads)(table, index)
        messages.add(str(caught.value))
    assert len(messages) == 1


def test_units_of_a_cut_share_the_work_evenly():
    plan = bl.compile(np.tanh, normal(640, 100), threads=4)
    plan(normal(640, 100))
    (section,) = sections.sections(plan._program("value", plan._examples).executable.plan)
    (cut,) = section.cuts
    assert cut is not None
    assert cut.units % 16 == 0


@pytest.mark.parametrize("threads", [0, -1, 1.5, True, "many", None])
def test_a_wrong_number_of_threads_is_refused(threads: Any):
    for call in (
        lambda: bl.set_threads(threads),
        lambda: bl.jit(np.sum, threads=threads),
        lambda: bl.compile(np.sum, np.ones(3), threads=threads),
    ):
        with pytest.raises(ArgumentError, match=r'threads must be a positive integer or "auto"'):
            call()


def test_a_wrong_variable_is_refused(monkeypatch: pytest.MonkeyPatch):
    bl.set_threads("auto")
    monkeypatch.setenv("BURLAB_THREADS", "three")
    with pytest.raises(ConfigurationError, match="BURLAB_THREADS is 'three'"):
        thread_limit.most_threads()
    monkeypatch.setenv("BURLAB_THREADS", "3")
    assert thread_limit.most_threads() == 3
