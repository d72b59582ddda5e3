"""Fourier transforms: every kind of length against NumPy and against definitions, derivatives against JAX."""

import json
from typing import Any

import numpy as np
import pytest

import burlab as bl
from burlab.errors import ArgumentError, GraphError, ShapeError
from burlab.graph import Graph, fourier, vjp
from burlab.graph.rewrite.batching import batch
from tests.engines import GEARS, assert_close, inputs, jax_or_skip, run

RNG = np.random.default_rng(31)
LENGTHS = [*range(1, 68), 97, 121, 125, 128, 210, 243, 529, 1000, 1009, 1024, 2310]  # all factors, and chirps
WORDS = ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")
OF_REAL = ("rfft", "ihfft")
MANY = ("fft2", "ifft2", "fftn", "ifftn", "rfft2", "rfftn", "irfft2", "irfftn")
OPTIONS: list[dict[str, Any]] = [
    {}, {"norm": "ortho"}, {"norm": "forward"}, {"norm": "backward"}, {"n": 5}, {"n": 17}, {"n": 1}, {"axis": 0},
    {"n": 4, "axis": -2, "norm": "ortho"},
]  # fmt: skip
Z = RNG.normal(size=(6, 8)) + 1j * RNG.normal(size=(6, 8))
V = RNG.normal(size=(6, 8)) + 1j * RNG.normal(size=(6, 8))


def halves(z: Any) -> Any:
    return np.stack([z.real, z.imag])


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("gear", GEARS)
def test_every_length(dtype: Any, gear: str) -> None:
    """The error is of rounding: some units in the last place, times the logarithm of the length."""
    outputs, nodes, arrays, wanted = [], [], [], []
    for n in LENGTHS if gear == "replay" else LENGTHS[::7]:
        z = RNG.normal(size=(2, 3, n)).astype(dtype)
        half = RNG.normal(size=(2, n // 2 + 1)).astype(dtype)
        xs = inputs(z, half)
        outputs += [fourier.fft(xs[0]), fourier.fft(xs[0], inverse=True), fourier.rfft(xs[0]), fourier.irfft(xs[1], n)]
        wide = z.astype(float)
        wanted += [halves(np.fft.fft(wide[0] + 1j * wide[1])), halves(np.fft.ifft(wide[0] + 1j * wide[1]) * n)]
        wanted += [halves(np.fft.rfft(wide)), direct_irfft(half.astype(float), n)]
        nodes += xs
        arrays += [z, half]
    for y, got, value in zip(outputs, run(outputs, nodes, arrays, gear), wanted, strict=True):
        error = np.linalg.norm(got - value) / max(np.linalg.norm(value), 1.0)
        assert got.dtype == dtype
        assert got.shape == value.shape
        assert error < 3 * np.finfo(dtype).eps * (2 + np.log2(value.shape[-1])), (y.op, value.shape)


def direct_irfft(x: Any, n: int) -> Any:
    turns = np.outer(np.arange(n // 2 + 1), np.arange(n)) % n / n
    return x[0] @ np.cos(2 * np.pi * turns) - x[1] @ np.sin(2 * np.pi * turns)


def test_transposes_are_transposes() -> None:
    """<g, A x> = <A' g, x>, and the rules for batches are loops."""
    for n in (1, 2, 5, 8, 31):
        for make, shape in (
            (fourier.fft, (2, 4, n)), (lambda x: fourier.fft(x, inverse=True), (2, n)), (fourier.rfft, (4, n)),
            (lambda x, n=n: fourier.irfft(x, n), (2, 3, n // 2 + 1)),
        ):  # fmt: skip
            x = RNG.normal(size=shape)
            (node,) = inputs(x)
            y = make(node)
            g = RNG.normal(size=y.shape)
            (cotangent,) = inputs(g)
            back = vjp([y], [node], [cotangent])[0]
            value, share = run([y, back], [node, cotangent], [x, g])
            np.testing.assert_allclose(np.sum(value * g), np.sum(share * x), rtol=1e-12)
            rows = RNG.normal(size=(3, *shape))
            many = batch(Graph((node,), (y,)), [True], 3)
            (got,) = run(many.outputs, many.inputs, [rows])
            each = [run([y], [node], [row])[0] for row in rows]
            np.testing.assert_array_equal(got, each)


@pytest.mark.parametrize("name", WORDS)
@pytest.mark.parametrize("strict", [False, True])
def test_words_are_numpys(name: str, strict: bool) -> None:
    f = getattr(np.fft, name)
    for kind in (Z.real,) if name in OF_REAL else (Z, Z.real):
        for z in (kind, kind.astype(np.complex64 if kind.dtype.kind == "c" else np.float32), kind[:0]):
            options = [o for o in OPTIONS if z.size or o.get("axis", -1) == -1]

            def all_of(z: Any, options: Any = options) -> Any:
                return [f(z, **option) for option in options]

            got = bl.compile(all_of, z, strict=strict, gear="replay")(z)
            for y, wanted in zip(got, all_of(z), strict=True):
                assert (y.shape, y.dtype) == (wanted.shape, wanted.dtype)
                assert_close(y, wanted, rtol=1e-12 if z.dtype.itemsize >= 8 and z.dtype != np.complex64 else 1e-5)
    integers = np.arange(12).reshape(3, 4)
    assert_close(bl.jit(f)(integers), f(integers))


@pytest.mark.parametrize("name", MANY)
def test_several_axes_are_numpys(name: str) -> None:
    f = getattr(np.fft, name)
    z = np.stack([Z, V, Z * V])
    z = z.real if name.startswith("r") else z

    def all_of(z: Any) -> Any:
        own = [{}, {"norm": "ortho"}, {"s": (3, 4)}, {"axes": (0, 2)}, {"s": (4, 5), "axes": (2, 0), "norm": "forward"}]
        return [f(z, **{"axes": (-2, -1), **options} if "s" in options else options) for options in own]

    for got, wanted in zip(bl.jit(all_of)(z), all_of(z), strict=True):
        assert_close(got, wanted)


def test_shifts_and_frequencies() -> None:
    def f(np: Any, z: Any) -> Any:
        return np.fft.ifftshift(np.fft.fftshift(z) * np.fft.fftfreq(8, 0.5)) + np.fft.fftshift(z, axes=0)

    assert_close(bl.jit(lambda z: f(np, z))(Z), f(np, Z))


def power(module: Any, z: Any) -> Any:
    """A number of complex transforms, not quadratic."""
    y = module.fft.fft(z, norm="ortho") * module.fft.ifft(module.exp(z), n=8, axis=-1)
    y = y + module.fft.fft2(z) / (2 + module.abs(module.fft.fftn(z)) ** 2)
    return module.sum(module.abs(y) ** 2) + module.sum(module.fft.irfft(z, n=11) ** 3)


def spectrum(module: Any, x: Any) -> Any:
    """A number of transforms of real rows."""
    y = module.fft.rfft(module.tanh(x), n=13) * module.exp(1j * module.fft.rfft(x, 13).real)
    return module.sum(module.fft.irfft(y, n=13, norm="ortho") ** 3) + module.sum(module.abs(module.fft.fft(x, axis=0)))


def test_fourier_derivatives_equal_jax() -> None:
    jax = jax_or_skip()
    for f, x, v in ((power, Z, V), (spectrum, Z.real, V.real)):
        theirs = jax.jit(lambda x, v, f=f: jax.jvp(jax.grad(lambda x: f(jax.numpy, x)), (x,), (v,)))(x, v)
        ours = bl.jvp(bl.grad(lambda x, f=f: f(np, x)), (x,), (v,))
        assert_close(ours, theirs, rtol=1e-10)
        bl.check_grads(lambda x, f=f: f(np, x), x, order=2)


def test_batches_are_loops() -> None:
    rows = np.stack([Z, V, Z + V])
    for axes in (0, 1, 2):
        got = bl.vmap(lambda z: np.fft.fft(np.fft.rfft(z.real), axis=0), in_axes=axes)(rows)
        assert_close(got, np.stack([np.fft.fft(np.fft.rfft(z.real), axis=0) for z in np.moveaxis(rows, axes, 0)]))


def test_graphs_in_files() -> None:
    k = bl.compile(lambda z: np.fft.irfft(np.fft.rfft(np.fft.ifft(z).real), n=8), Z)
    again = Graph.from_json(k.graph.to_json())
    assert again.key == k.graph.key
    assert {"fft", "rfft", "irfft"} <= {n.op for n in again.nodes}
    for op, wrong in (("fft", 1), ("irfft", 9), ("irfft", 0), ("irfft", True), ("rfft", 3)):
        data = json.loads(k.graph.to_json())
        next(node for node in data["nodes"] if node["op"] == op)["params"] = wrong
        with pytest.raises(GraphError):
            Graph.from_json(json.dumps(data))


@pytest.mark.parametrize(
    ("error", "call", "said"),
    [
        (ArgumentError, lambda: bl.jit(np.fft.rfft)(Z), "takes real numbers.*np.fft.fft"),
        (ShapeError, lambda: bl.jit(np.fft.fft)(np.zeros((3, 0))), "n >= 1.*0 entries.*Pass n"),
        (ShapeError, lambda: bl.jit(lambda x: np.fft.fft(x, n=-2))(Z), "-2 entries"),
        (ShapeError, lambda: bl.jit(np.fft.irfft)(np.ones(1, complex)), "0 entries"),
        (ShapeError, lambda: bl.jit(np.fft.fft)(2.0), "needs an array of one axis or more"),
        (ShapeError, lambda: bl.jit(np.fft.fft2)(np.ones(3)), "out of bounds"),
        (ArgumentError, lambda: bl.jit(lambda x: np.fft.fft(x, norm="unit"))(Z), "one of .*'ortho'.*; got 'unit'"),
        (ShapeError, lambda: bl.jit(lambda x: np.fft.fftn(x, s=(2,), axes=(0, 1)))(Z), "1 sizes for 2 axes"),
    ],
)
def test_a_transform_that_is_not_defined_raises_with_a_remedy(error: Any, call: Any, said: str) -> None:
    with pytest.raises(error, match=said):
        call()
