"""The array API standard on traced arrays, einops by it and by its own backends, and arrays by DLPack."""

import numpy as np
import pytest

import burlab as bl
from burlab.errors import ArgumentError, TraceError
from burlab.graph.complex.array_namespace import NAMES, NAMESPACE

X = np.random.default_rng(0).uniform(0.2, 0.8, (2, 3, 4))


def test_the_namespace_has_the_names_of_the_standard_that_numpy_has():
    for name in NAMES:
        assert getattr(NAMESPACE, name) is getattr(np, name)
    # what NumPy states of itself as a namespace of the standard is here too
    kinds = set(np.__array_namespace_info__().dtypes())
    assert kinds <= NAMES
    with pytest.raises(AttributeError, match="no name 'vectorize'"):
        NAMESPACE.vectorize  # noqa: B018


def test_a_function_of_the_standard_is_traced_and_derived():
    def softmax(x):
        xp = x.__array_namespace__(api_version="2024.12")
        assert x.device == "cpu"
        x = xp.asarray(x.to_device("cpu"), copy=True)
        e = xp.exp(x - xp.max(x, axis=-1, keepdims=True))
        rows = xp.permute_dims(e / xp.sum(e, axis=-1, keepdims=True), (2, 0, 1))
        return xp.concat([rows, xp.zeros_like(rows)], axis=0)

    np.testing.assert_allclose(bl.jit(softmax)(X), softmax(X), rtol=1e-14)
    bl.check_grads(softmax, X)


def test_asarray_takes_traced_arrays_lists_of_them_and_numbers():
    def f(x):
        xp = x.__array_namespace__()
        assert xp.asarray(x) is x
        both = xp.asarray([x[0, 0, 0], 2.0])
        return xp.sum(xp.asarray(x, dtype=xp.float32)), both, xp.asarray([1.0, 2.0]) * xp.from_dlpack(x)[0, 0, :2]

    total, both, product = bl.jit(f)(X)
    assert total.dtype == np.float32
    np.testing.assert_array_equal(both, [X[0, 0, 0], 2.0])
    np.testing.assert_array_equal(product, X[0, 0, :2] * [1.0, 2.0])


def test_complex_arrays_have_the_namespace_too():
    def f(x):
        z = np.fft.fft(x)
        xp = z.__array_namespace__()
        return xp.abs(xp.conj(z.to_device("cpu")))

    np.testing.assert_allclose(bl.jit(f)(X), np.abs(np.fft.fft(X)), rtol=1e-14)


def test_another_version_and_another_device_are_refused():
    with pytest.raises(ArgumentError, match="api_version of the array API must be one of"):
        bl.jit(lambda x: x.__array_namespace__(api_version="1999.1").sin(x))(X)
    with pytest.raises(ArgumentError, match="device must be 'cpu'"):
        bl.jit(lambda x: x.to_device("cuda"))(X)
    with pytest.raises(TraceError, match="how many entries there are"):
        bl.jit(lambda x: x.__array_namespace__().unique_values(x))(X)


EINOPS = {
    "rearrange": lambda e, x: e.rearrange(x, "a (b c) d -> d (a b) c", c=3),
    "reduce": lambda e, x: e.reduce(x, "a b (c d) -> c b", "mean", d=2),
    "max": lambda e, x: e.reduce(x, "a b c -> b", "max"),
    "prod": lambda e, x: e.reduce(x, "a b c -> a c", "prod"),
    "repeat": lambda e, x: e.repeat(x, "a b c -> (a r) b c s", r=2, s=3),
    "list": lambda e, x: e.rearrange([x[0], 2 * x[1]], "n b c -> c (n b)"),
    "pack": lambda e, x: e.pack([x, x[:, 0]], "a * c")[0],
    "unpack": lambda e, x: e.unpack(x, [(2,), ()], "a * c")[0],
}


@pytest.mark.parametrize("module", ["einops", "einops.array_api"])
@pytest.mark.parametrize("name", EINOPS)
def test_einops_differentiates(name, module):
    e = pytest.importorskip(module, reason="einops, a peer, is not installed: make peers")

    def f(x):
        return EINOPS[name](e, x) ** 3

    np.testing.assert_allclose(bl.jit(f)(X), f(X), rtol=1e-14)
    bl.check_grads(f, X)
    jax = pytest.importorskip("jax", reason="jax, a peer, is not installed: make peers")
    ours, theirs = (np.asarray(g(lambda x: f(x).sum())(X)) for g in (bl.grad, jax.grad))
    np.testing.assert_allclose(ours, theirs, rtol=1e-5)


def test_einsum_of_einops_and_complex_arrays():
    e = pytest.importorskip("einops", reason="einops, a peer, is not installed: make peers")
    bl.check_grads(lambda x: e.einsum(x, x, "a b c, a d c -> b d"), X)

    def f(x):
        return np.abs(e.rearrange(np.fft.fft(x), "a b c -> c (a b)"))

    np.testing.assert_allclose(bl.jit(f)(X), f(X), rtol=1e-14)
    with pytest.raises(TraceError, match=r"einops\.asnumpy asked for the numbers of a traced array"):
        bl.jit(e.asnumpy)(X)


class Lent:
    """An array of a library that knows DLPack only."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


def test_arrays_come_by_dlpack():
    x = X[0]

    def f(x):
        return np.sum(np.sin(x) ** 2)

    np.testing.assert_array_equal(bl.grad(f)(Lent(x)), bl.grad(f)(x))
    lent = Lent(x)
    np.testing.assert_array_equal(bl.grad(lambda x: np.sum(x * lent))(x), x)
    np.testing.assert_array_equal(bl.grad(lambda x: np.sum(lent * x))(x), x)
    run = bl.minimize(f, Lent(x.copy()), bl.optim.GD(0.1), steps=3)
    np.testing.assert_array_equal(run.x, bl.minimize(f, x, bl.optim.GD(0.1), steps=3).x)


def test_a_captured_array_that_came_by_dlpack_is_read_again_when_it_changes():
    lent = Lent(np.ones(3))
    g = bl.grad(lambda x: np.sum(x * lent))
    np.testing.assert_array_equal(g(np.zeros(3)), np.ones(3))
    lent.array[:] = 2.0
    np.testing.assert_array_equal(g(np.zeros(3)), np.full(3, 2.0))


def test_results_go_by_dlpack():
    g = bl.grad(lambda x: np.sum(x**2))(X)
    run = bl.minimize(lambda x: np.sum(x**2), np.ones(3), bl.optim.GD(0.1), steps=3)
    for array in (g, run.x, run.history["value"]):
        np.testing.assert_array_equal(np.from_dlpack(array), array)


def test_tensors_go_in_and_come_out():
    torch = pytest.importorskip("torch", reason="torch, a peer, is not installed: make peers")
    x = torch.tensor(X[0])
    g = torch.from_dlpack(bl.grad(lambda x: np.sum(np.sin(x) ** 2))(x))
    x.requires_grad_()
    (torch.sin(x) ** 2).sum().backward()
    torch.testing.assert_close(g, x.grad, rtol=1e-14, atol=0.0)
