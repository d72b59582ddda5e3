"""Problems for optimizers, in the words that NumPy, PyTorch and jax.numpy share, and the paths of other libraries."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

import burlab as bl
from tests.engines import jax_or_skip, torch_or_skip

Array = np.ndarray[Any, Any]
STEPS = 200
_rng = np.random.default_rng(0)
SPECTRUM = np.linalg.qr(_rng.normal(size=(5, 5)))[0] * np.geomspace(1e-1, 1e1, 5)  # condition number 1e4 when squared
A, LABELS = _rng.normal(size=(20, 5)), np.sign(_rng.normal(size=20))


def quadratic(m: Any, x: Any, spectrum: Any, _a: Any, _labels: Any) -> Any:
    return 0.5 * m.sum((spectrum @ (x - 0.3)) ** 2)


def rosenbrock(m: Any, x: Any, *_: Any) -> Any:
    return m.sum(10 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def logistic(m: Any, x: Any, _spectrum: Any, a: Any, labels: Any) -> Any:
    return m.mean(m.log1p(m.exp(-labels * (a @ x)))) + 0.01 * m.sum(x**2)


PROBLEMS: dict[str, tuple[Callable[..., Any], Array]] = {
    "quadratic": (quadratic, np.array([1.0, -0.5, 2.0, 0.7, -1.3])),
    "rosenbrock": (rosenbrock, np.array([-1.2, 0.8, 0.5, -0.7, 0.3])),
    "logistic": (logistic, np.array([0.5, -0.2, 0.1, 1.0, -0.7])),
}


def data(dtype: Any) -> list[Array]:
    return [v.astype(dtype) for v in (SPECTRUM, A, LABELS)]


def burlab_path(optimizer: Any, problem: str, dtype: Any, steps: int = STEPS) -> Array:
    """The points after each step."""
    f, x0 = PROBLEMS[problem]
    known = data(dtype)
    run = bl.minimize(lambda x: f(np, x, *known), x0.astype(dtype), optimizer)
    path = []
    for _ in range(steps):
        run.step()
        path.append(run.x)
    return np.array(path)


@contextmanager
def wide_torch() -> Iterator[Any]:
    """PyTorch keeping the scalars of optimizers in float64, which it does in its default dtype."""
    torch = torch_or_skip()
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        yield torch
    finally:
        torch.set_default_dtype(before)


def torch_path(
    make: Callable[[Any], Callable[[Any], Any]],
    problem: str,
    dtype: Any,
    before: Callable[[Any, Any, int], None] = lambda _torch, _x, _t: None,
    after: Callable[[Any, int], None] = lambda _optimizer, _t: None,
) -> Array:
    """The points after each step. before: done between gradient and step; after: between two steps."""
    with wide_torch() as torch:
        f, x0 = PROBLEMS[problem]
        known = [torch.tensor(v) for v in data(dtype)]
        x = torch.tensor(x0.astype(dtype), requires_grad=True)
        optimizer = make(torch.optim)([x])
        path = []
        for t in range(STEPS):
            optimizer.zero_grad()
            f(torch, x, *known).backward()
            before(torch, x, t)
            optimizer.step()
            after(optimizer, t)
            path.append(x.detach().numpy().copy())
    return np.array(path)


def optax_path(make: Callable[[Any], Any], problem: str, dtype: Any) -> Array:
    """The points after each step."""
    jax = jax_or_skip()
    import optax

    f, x0 = PROBLEMS[problem]
    known = data(dtype)
    rule = optax.with_extra_args_support(make(optax))

    def loss(x: Any) -> Any:
        return f(jax.numpy, x, *known)

    @jax.jit
    def step(x: Any, state: Any) -> Any:
        value, g = jax.value_and_grad(loss)(x)
        updates, state = rule.update(g, state, x, value=value)
        return optax.apply_updates(x, updates), state

    x = jax.numpy.asarray(x0.astype(dtype))
    state, path = rule.init(x), []
    for _ in range(STEPS):
        x, state = step(x, state)
        path.append(np.asarray(x))
    return np.array(path)


def assert_same_path(got: Array, wanted: Array, dtype: Any) -> None:
    """Equal at every step: within 1e-12 of the path's size in float64, 1e-5 in float32."""
    assert got.dtype == dtype
    assert np.isfinite(wanted).all()
    tolerance = 1e-12 if dtype == np.float64 else 1e-5
    np.testing.assert_allclose(got, wanted, rtol=tolerance, atol=tolerance * np.abs(wanted).max())
