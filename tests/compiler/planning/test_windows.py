"""Windows of arrays: no window is stored, and gradients are those of sums over offsets."""

import itertools

import numpy as np
import pytest

import burlab as bl
from burlab.compiler import build
from burlab.compiler.lowering import contraction
from burlab.compiler.planning.windows import even_index
from burlab.graph.linear_nodes import broadcast, contract, gather, scatter, transpose
from burlab.graph.node import constant
from tests.compiler.trace import traced

RNG = np.random.default_rng(8)
GEARS = ["compiled", "replay"]


def normal(*shape, dtype=np.float64):
    return RNG.normal(size=shape).astype(dtype)


def convolved(x, w, stride, dilation):
    """One product for each offset: x of shape (c, height, width), w (rows, columns, c, o)."""
    (s, t), (d, e) = stride, dilation
    height, width = ((n - f * (k - 1) - 1) // g + 1
                     for n, k, g, f in zip(x.shape[1:], w.shape[:2], stride, dilation, strict=True))  # fmt: skip
    total = 0.0
    for i, j in itertools.product(range(w.shape[0]), range(w.shape[1])):
        part = x[:, d * i : d * i + s * (height - 1) + 1 : s, e * j : e * j + t * (width - 1) + 1 : t]
        total = total + np.einsum("cpq,co->opq", part, w[i, j])
    return total


SHAPES = [
    ((3, 9, 8), (3, 3, 3, 4), (1, 1), (1, 1), 1),
    ((2, 11, 40), (2, 5, 2, 17), (1, 1), (1, 1), 0),
    ((4, 12, 13), (3, 2, 4, 5), (2, 3), (1, 1), 2),
    ((1, 13, 15), (3, 3, 1, 9), (1, 2), (3, 2), 1),
    ((5, 7, 6), (1, 1, 5, 3), (1, 1), (1, 1), 0),
    ((2, 7, 6), (7, 6, 2, 3), (1, 1), (1, 1), 0),
]


@pytest.mark.parametrize("gear", GEARS)
@pytest.mark.parametrize(("x", "w", "stride", "dilation", "padding"), SHAPES)
def test_a_convolution_and_its_gradients(x, w, stride, dilation, padding, gear):
    layer = bl.nn.Conv2d(
        w[2], w[3], w[:2], stride=stride, dilation=dilation, padding=padding, bias=False,
        key=bl.random.key(0), dtype=np.float64,
    )  # fmt: skip
    many = normal(3, *x)

    def loss(layer, many):
        return np.sum(np.sin(bl.vmap(layer)(many)))

    def direct(weight, many):
        wide = np.pad(many, ((0, 0), (0, 0), (padding, padding), (padding, padding)))
        return sum(np.sum(np.sin(convolved(wide[k], weight, stride, dilation))) for k in range(3))

    kernel = bl.compile(loss, layer, many, argnums=(0, 1), gear=gear)
    other = bl.compile(direct, layer.weight, many, argnums=(0, 1), gear="replay")
    value, (of_layer, of_data) = kernel.value_and_grad(layer, many)
    want, expected = other.value_and_grad(layer.weight, many)
    np.testing.assert_allclose(value, want, rtol=1e-12)
    for got, wanted in zip((of_layer.weight, of_data), expected, strict=True):
        np.testing.assert_allclose(got, wanted, rtol=0, atol=1e-12 * max(1, np.abs(wanted).max()))
    v = normal(*many.shape)
    np.testing.assert_allclose(
        bl.hvp(lambda x: loss(layer, x))(many, v), bl.hvp(lambda x: direct(layer.weight, x))(many, v), atol=1e-9
    )


def test_no_window_is_stored():
    """A layer of nine weights for each pair of channels keeps its input, not nine times that."""
    layers = [bl.nn.Conv2d(8, 8, 3, padding=1, key=bl.random.key(k)) for k in range(3)]
    many = normal(8, 8, 16, 16, dtype=np.float32)

    def loss(layers, many):
        def one(x):
            for layer in layers:
                x = np.tanh(layer(x))
            return np.sum(x)

        return np.sum(bl.vmap(one)(many))

    kernel = bl.compile(bl.value_and_grad(loss), layers, many)
    memory = kernel.memory
    assert memory["activations"] + memory["scratch"] < 10 * many.nbytes
    assert not any("gather" in line or "scatter" in line for line in str(kernel.profile(layers, many)).splitlines())


def test_a_sum_over_windows_is_one_contraction():
    y, w = normal(2, 30, 4), normal(5, 4)
    index = constant(np.arange(30)[:, None] * 2 + np.arange(5), np.int64)

    def sums(y, w):
        terms = contract("bqo,jo->bqj", y, w)
        return scatter(terms, broadcast(index, (2, 30, 5), (1, 2)), 1, 64)

    exe = build(traced(sums, y, w), gear="replay")
    assert not any("scatter" in step.kernel.symbol for step in exe.plan.steps)
    want = np.zeros((2, 64))
    for q, j in itertools.product(range(30), range(5)):
        want[:, 2 * q + j] += y[:, q] @ w[j]
    np.testing.assert_allclose(exe(y, w)[0], want, atol=1e-13)


@pytest.mark.parametrize("rows", [[[0, 1], [2, 4]], [[0, 1], [1, 2]], [[3, 2], [1, 0]], [[0, 0], [0, 0]], [[2], [4]]])
def test_indices_that_are_even_or_not(rows):
    index = np.array(rows)
    table, w = normal(5, 3), normal(3, 2)

    def product(table, w):
        taken = transpose(gather(table, constant(index, np.int64)), (1, 0, 2))
        return np.einsum("ijk,kl->ijl", taken, w)

    want = table[index].transpose(1, 0, 2) @ w
    for gear in GEARS:
        np.testing.assert_allclose(build(traced(product, table, w), gear=gear)(table, w)[0], want, atol=1e-14)
    even = even_index(constant(index, np.int64))
    assert (even is None) == (rows == [[0, 1], [2, 4]])


def test_a_window_that_is_also_read_as_a_whole_is_stored():
    table, w = normal(9, 3), normal(3, 2)
    index = np.arange(7)[:, None] + np.arange(3)

    def both(table, w):
        taken = gather(table, constant(index, np.int64))
        return np.einsum("ijk,kl->ijl", taken, w), taken

    for gear in GEARS:
        product, taken = build(traced(both, table, w), gear=gear)(table, w)
        np.testing.assert_array_equal(taken, table[index])
        np.testing.assert_allclose(product, table[index] @ w, atol=1e-14)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_sums_and_rows_over_several_axes_have_the_bits_of_the_general_kernel(dtype, monkeypatch):
    used = set()
    specs = ("xyrk,xyks->rs", "rxky,kysx->rs", "xaybk,xyks->abs", "abk,sk->abs", "axby,syx->abs", "wxak,wxsk->was")
    sizes = ((2, 3, 9, 4, 17, 5, 3), (3, 1, 2, 130, 49, 4, 9), (70, 2, 3, 3, 5, 16, 2), (2, 5, 9, 40, 99, 7, 3))
    cases = [(spec, dict(zip("xyrksab", some, strict=True)) | {"w": 2}) for spec in specs for some in sizes]
    # Few columns, so that the other operand's axis takes their place.
    cases += [
        (spec, {"x": 3, "y": 3, "k": depth, "p": p, "o": o, "q": 2})
        for spec in ("xkyp,xyko->op", "xkyqp,oxky->oqp", "qxkyp,xyko->qop")
        for depth, p, o in ((9, 7, 64), (16, 5, 33), (20, 3, 50), (8, 2, 17))
    ]
    for spec, size in cases:
        terms = spec.partition("->")[0].split(",")
        a, b = (normal(*(size[c] for c in term), dtype=dtype) for term in terms)
        exe = build(traced(lambda a, b: np.einsum(spec, a, b), a, b), gear="replay")  # noqa: B023, called at once
        used |= {(step.kernel.symbol, step.descriptor[10] == 1) for step in exe.plan.steps}
        with monkeypatch.context() as patch:
            patch.setattr(contraction, "_MIN_TUNED_PRODUCTS", 10**18)
            other = build(traced(lambda a, b: np.einsum(spec, a, b), a, b), gear="replay")  # noqa: B023
        np.testing.assert_array_equal(exe(a, b)[0], other(a, b)[0])
        np.testing.assert_allclose(exe(a, b)[0], np.einsum(spec, a, b), rtol=0, atol=2e3 * np.finfo(dtype).eps)
    assert {(f"burlab_gemm_axes_{dtype}", contiguous) for contiguous in (True, False)} <= used
