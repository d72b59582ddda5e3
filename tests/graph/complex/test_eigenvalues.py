"""np.linalg.eig and eigvals: values as NumPy's, derivatives against differences, JAX and PyTorch."""

import numpy as np
import pytest

import burlab as bl
from burlab.errors import CompileError, ShapeError
from tests.engines import GEARS, jax_or_skip

RNG = np.random.default_rng(0)
A, B = RNG.normal(size=(2, 4, 4))  # no two entries of a vector are nearly as large
MATRICES = [
    *(RNG.normal(size=(n, n)) for n in (0, 1, 2, 3, 7, 33)),
    RNG.normal(size=(2, 3, 5, 5)),
    A + 1j * B,
    RNG.normal(size=(3, 6, 6)) + 1j * RNG.normal(size=(3, 6, 6)),
    np.array([[0.0, 1.0], [-1.0, 0.0]]),
    np.diag([3.0, 3.0, 1.0]),
]


@pytest.mark.parametrize("gear", GEARS)
def test_values_and_vectors_are_numpys(gear):
    for a in MATRICES:
        values, vectors, alone = bl.compile(lambda a: (*np.linalg.eig(a), np.linalg.eigvals(a)), a, gear=gear)(a)
        wanted, basis = np.linalg.eig(a)
        assert values.dtype == vectors.dtype == alone.dtype == np.complex128
        np.testing.assert_allclose(values, wanted, rtol=1e-13, atol=1e-13)
        np.testing.assert_allclose(vectors, basis, rtol=1e-11, atol=1e-12)
        np.testing.assert_allclose(
            np.sort_complex(alone), np.sort_complex(np.linalg.eigvals(a)), rtol=1e-12, atol=1e-13
        )


def test_single_precision():
    for a in (A.astype(np.float32), (A + 1j * B).astype(np.complex64)):
        values, vectors = bl.jit(lambda a: tuple(np.linalg.eig(a)))(a)
        assert values.dtype == vectors.dtype == np.complex64
        np.testing.assert_allclose(a @ vectors, vectors * values, rtol=1e-5, atol=1e-5)
        np.testing.assert_allclose(np.linalg.norm(vectors, axis=0), 1.0, rtol=1e-6)
        assert all(column[np.abs(column).argmax()].imag == 0 for column in vectors.T)


def test_what_is_not_finite_gives_nan():
    a = np.stack([A, np.full((4, 4), np.inf), A.T])
    a[1, 0, 0] = np.nan
    values, vectors = bl.jit(lambda a: tuple(np.linalg.eig(a)))(a)
    assert np.isnan(values[1]).all()
    assert np.isnan(vectors[1]).all()
    np.testing.assert_allclose(values[[0, 2]], np.linalg.eigvals(a[[0, 2]]))


def numbers(*arrays):
    return np.concatenate([np.ravel(part) for z in arrays for part in (z.real, z.imag)])


def system(a):
    """Eigenvalues and vectors of one sign: LAPACK's signs jump from matrix to matrix."""
    w, v = np.linalg.eig(a)
    return numbers(w, v * np.sign(np.sum(v.real, axis=-2)))


def test_derivatives_of_values_and_vectors_to_the_second_order():
    bl.check_grads(system, A, order=2)
    bl.check_grads(lambda a: numbers(np.linalg.eigvals(a)), A, order=2)
    bl.check_grads(lambda a, b: system(a + 1j * b), (A, B), order=2)


def test_batches_are_loops_over_matrices():
    jacobian = bl.jacobian(system)
    np.testing.assert_allclose(bl.vmap(jacobian)(np.stack([A, B])), [jacobian(A), jacobian(B)], rtol=1e-12)
    both = bl.jit(lambda a: tuple(np.linalg.eig(a)))(np.stack([A, B]))
    for k, one in enumerate((A, B)):
        np.testing.assert_array_equal(both[0][k], bl.jit(np.linalg.eigvals)(one))


def test_gradients_of_eigenvalues_equal_jax():
    jax = jax_or_skip()

    def loss(np, a):
        w = np.linalg.eigvals(a)
        return np.sum(np.abs(w) ** 3) + np.sum(np.real(w) ** 2)

    np.testing.assert_allclose(
        bl.grad(lambda a: loss(np, a))(A), jax.grad(lambda a: loss(jax.numpy, a))(A), rtol=1e-10, atol=1e-12
    )


def test_gradients_of_eigenvectors_equal_torch():
    """Of what depends on no phase: all that PyTorch derives."""
    torch = pytest.importorskip("torch", reason="torch, a peer, is not installed: make peers")

    def loss(np, a):
        w, v = np.linalg.eig(a)
        weights = np.abs(w)[None, :]
        return (np.abs(v) ** 4 * weights).sum()

    x = torch.tensor(A, requires_grad=True)
    loss(torch, x).backward()
    np.testing.assert_allclose(bl.grad(lambda a: loss(np, a))(A), x.grad.numpy(), rtol=1e-10, atol=1e-12)


def test_a_spectral_abscissa_is_minimized():
    """The largest real part of a closed loop: max Re eig(A + B k), which a plain descent makes smaller."""
    loop = np.array([[0.0, 1.0], [1.0, 0.3]])

    def abscissa(k):
        return np.max(np.linalg.eigvals(loop - np.outer(np.array([0.0, 1.0]), k)).real)

    start = np.zeros(2)
    run = bl.minimize(abscissa, start, bl.optim.GD(0.05), steps=60)
    assert np.linalg.eigvals(loop).real.max() > 1.1
    assert float(bl.jit(abscissa)(run.x)) < 0.2


def test_repeated_values_with_as_many_vectors():
    gradient = bl.grad(lambda a: np.sum(np.linalg.eigvals(a).real))(np.diag([3.0, 3.0, 1.0]))
    np.testing.assert_allclose(gradient, np.eye(3), atol=1e-12)  # that of the trace


def test_a_matrix_that_is_not_square_is_refused():
    for shape in ((2, 3), (3,)):
        with pytest.raises(ShapeError, match=r"np\.linalg\.eigvals needs square matrices, got an array of shape"):
            bl.jit(np.linalg.eigvals)(np.ones(shape))
    with pytest.raises(np.linalg.LinAlgError):
        bl.jit(np.linalg.eig)(np.ones((2, 3)))


def test_a_program_without_python_cannot_have_it():
    kernel = bl.compile(lambda a: np.sum(np.linalg.eigvals(a).real), A)
    with pytest.raises(CompileError, match="calls SciPy"):
        kernel.to_cpp()
