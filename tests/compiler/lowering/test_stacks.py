"""Stacks of products in all orders of axes: each kernel against the general one, bit for bit, and against NumPy."""

import itertools

import numpy as np
import pytest

import burlab as bl
from burlab.compiler import build
from burlab.compiler.lowering import contraction, contraction_kernels, stacks
from burlab.runtime.cpu import instruction_set
from tests.compiler.trace import traced

RNG = np.random.default_rng(5)
DTYPES = ["float32", "float64"]
ORDERS = ["".join(p) for p in itertools.permutations("tij")]
# products, rows, sum, columns
SIZES = [
    (3, 5, 7, 9),
    (8, 16, 12, 16),
    (17, 3, 40, 2),
    (33, 1, 5, 13),
    (21, 13, 33, 50),
    (16, 40, 65, 12),
    (2, 35, 4, 70),
]
CHOICES = {
    "chosen": None,
    "stacked": contraction_kernels.stacked,
    "interleaved": contraction_kernels.interleaved,
}


def choose(monkeypatch, choice):
    """Every stack by one kernel, also where another is chosen."""
    made = CHOICES[choice]
    monkeypatch.setattr(contraction, "_MIN_TUNED_PRODUCTS", 0)
    if made:
        monkeypatch.setattr(stacks, "_for_interleaved", lambda n, *_: made(n))
        monkeypatch.setattr(stacks, "_for_interleaved_operands", lambda n, *_: made(n))


def arrays(spec, dtype, sizes):
    terms = spec.partition("->")[0].split(",")
    return [RNG.normal(size=[sizes[c] for c in term]).astype(dtype) for term in terms]


def product(spec, a, b):
    exe = build(traced(lambda a, b: np.einsum(spec, a, b), a, b), gear="replay")
    return exe(a, b)[0], {step.kernel.symbol for step in exe.plan.steps}


def checked(monkeypatch, spec, a, b, choice):
    """The kernels of a product, after its result has been compared with the general kernel's and NumPy's."""
    with monkeypatch.context() as patch:
        choose(patch, choice)
        got, symbols = product(spec, a, b)
    with monkeypatch.context() as patch:
        patch.setattr(contraction, "_MIN_TUNED_PRODUCTS", 10**18)
        np.testing.assert_array_equal(got, product(spec, a, b)[0])
    want, size = np.einsum(spec, a.astype(float), b.astype(float)), np.einsum(spec, abs(a), abs(b))
    assert (np.abs(got - want) <= 50 * np.finfo(a.dtype).eps * size).all()
    return symbols


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("choice", CHOICES)
@pytest.mark.parametrize("result", ORDERS)
def test_all_orders_of_axes(result, choice, dtype, monkeypatch):
    used = set()
    for n, (left, right) in enumerate(itertools.product(itertools.permutations("tik"), itertools.permutations("tkj"))):
        spec = f"{''.join(left)},{''.join(right)}->{result}"
        sizes = dict(zip("tikj", SIZES[n % len(SIZES)], strict=True))
        used |= checked(monkeypatch, spec, *arrays(spec, dtype, sizes), choice)
    if choice != "chosen":
        assert f"burlab_{choice}_{dtype}" in used


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("choice", CHOICES)
def test_random_sizes(choice, dtype, monkeypatch):
    """With a second stack, and with axes that one array lacks."""
    rng = np.random.default_rng(6)
    for _ in range(40):
        letters = {c: [c for c in "tuijk" if rng.random() < p] for c, p in (("a", 0.9), ("b", 0.9))}
        left, right = ("".join(rng.permutation(letters[x])) for x in "ab")
        out = "".join(rng.permutation([c for c in "tuij" if c in left + right]))
        if not left or not right:
            continue
        spec = f"{left},{right}->{out}"
        sizes = {c: int(rng.integers(1, 24 if c in "tk" else 12)) for c in "tuijk"}
        checked(monkeypatch, spec, *arrays(spec, dtype, sizes), choice)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    ("spec", "sizes", "kernel"),
    [
        ("ikt,tkj->tij", (256, 8, 8, 8), "interleaved"),  # lines of a that share a few sets of the first cache
        ("ikt,tkj->tij", (250, 8, 8, 8), "gemm"),  # and which do not
        ("ikt,tkj->tij", (256, 4, 16, 4), "stacked"),
        ("ikt,tkj->tij", (256, 1, 16, 16), "gemm_few"),
        ("tik,kjt->tij", (256, 16, 4, 4), "interleaved"),
        ("tik,tkj->ijt", (250, 8, 8, 8), "interleaved"),
    ],
)
def test_which_kernel_small_products_take(spec, sizes, kernel, dtype, monkeypatch):
    used = checked(monkeypatch, spec, *arrays(spec, dtype, dict(zip("tikj", sizes, strict=True))), "chosen")
    if instruction_set().name != "avx2":
        assert used == {f"burlab_{kernel}_{dtype}"}


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("depth", [3, 63, 64, 70, 257, 600])
def test_vectors_and_matrices(depth, dtype, monkeypatch):
    """Sums in order, in lanes and in phases."""
    used = set()
    for products, columns in ((2, 9), (16, 1), (19, 70), (33, 4)):
        sizes = {"t": products, "k": depth, "j": columns}
        for left, right in itertools.product(("tk", "kt"), itertools.permutations("tkj")):
            for result in ("tj", "jt"):
                spec = f"{left},{''.join(right)}->{result}"
                used |= checked(monkeypatch, spec, *arrays(spec, dtype, sizes), "chosen")
        for spec in ("tk,tk->t", "kt,kt->t", "tk,kt->t", "kt,tk->t", "ktj,tk->jt", "stk,sktj->jt"):
            used |= checked(monkeypatch, spec, *arrays(spec, dtype, sizes | {"s": 3}), "chosen")
    kinds = ("dots", "phases", "stacked_phases") if depth >= 64 else ("stacked",)
    assert used.issuperset(f"burlab_{kind}_{dtype}" for kind in kinds)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("spec", ["stik,stkj->ijt", "iskt,kjst->tij", "sikt,stkj->jit", "tsik,skjt->itj"])
def test_further_sums_add_to_the_result(spec, dtype, monkeypatch):
    for sizes in SIZES:
        checked(monkeypatch, spec, *arrays(spec, dtype, dict(zip("tikj", sizes, strict=True)) | {"s": 3}), "chosen")


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("spec", ["ikt,ijt->kjt", "ki,ijt->kjt"])
def test_sums_over_samples_have_the_same_bits_in_tiles_of_any_size(spec, dtype):
    samples, sizes = 13, {"t": 20, "i": 5, "k": 6, "j": 7}
    _, w = arrays(spec, dtype, sizes)
    (data,) = arrays(f"s{spec.partition(',')[0]},->", dtype, sizes | {"s": samples})[:1]

    def loss(w, x):
        return np.sum(np.einsum(spec, x, w) ** 2)

    found = [bl.FiniteSum(loss, data, tile=tile).grad(w) for tile in (1, 2, 5, 13)]
    for other in found[1:]:
        np.testing.assert_array_equal(other, found[0])
    left, right, out = spec.replace("->", ",").split(",")
    y = np.einsum(f"s{left},{right}->s{out}", data.astype(float), w)
    want = 2 / samples * np.einsum(f"s{left},s{out}->{right}", data, y)
    np.testing.assert_allclose(found[0], want, rtol=0, atol=50 * np.finfo(dtype).eps * np.abs(want).max())


@pytest.mark.parametrize("spec", ["bk,bx->bxk", "bk,bx->kxb", "bk,bx->xkb"])
def test_an_axis_that_an_operand_repeats_is_walked_once(spec):
    a, b = RNG.normal(size=16), RNG.normal(size=(16, 64))
    exe = build(traced(lambda a, b: np.einsum(spec, np.broadcast_to(a[:, None], (16, 66)), b), a, b), gear="replay")
    want = np.einsum(spec, np.broadcast_to(a[:, None], (16, 66)), b)
    memory = np.full(2 * want.size, 7.0)
    exe(a, b, out=(memory[: want.size].reshape(want.shape),))
    np.testing.assert_array_equal(memory[: want.size].reshape(want.shape), want)
    assert (memory[want.size :] == 7.0).all()


def test_an_axis_that_both_operands_repeat_is_walked_once():
    """It is neither one of rows nor one of columns: taken as both, a result was written behind its end."""
    rng = np.random.default_rng(0)
    a, x = rng.normal(size=(1, 4)), rng.normal(size=(1, 4, 4))
    f = lambda a, x: np.einsum("kab,abx->kxba", np.broadcast_to(a, (258, 1, 4)), x)  # noqa: E731
    wanted = f(a, x)
    around = np.full(wanted.size + 200, 7.0)
    kernel = bl.compile(f, a, x, gear="replay")
    kernel(a, x, out=around[100:-100].reshape(wanted.shape))
    np.testing.assert_allclose(around[100:-100].reshape(wanted.shape), wanted, rtol=1e-14)
    assert (around[:100] == 7).all()
    assert (around[-100:] == 7).all()
