"""Numbers whose derivatives by their parameters are those of the numbers themselves: exponential, laplace, gamma."""

from typing import Any, cast

import numpy as np

from burlab.compiler.function import Function
from burlab.errors import DTypeError
from burlab.graph import Graph, Node
from burlab.graph.faults import no_derivative
from burlab.graph.graph import Call, Later
from burlab.graph.linear_nodes import convert
from burlab.graph.node import as_node
from burlab.graph.numpy_api.composites import stop_gradient
from burlab.graph.numpy_api.elementwise import digamma, log1p
from burlab.graph.operation import make_node
from burlab.graph.origin import location
from burlab.graph.tracing.trace import trace
from burlab.runtime.checks.numbers import real
from burlab.transforms.control import while_loop
from burlab.transforms.forms import example
from burlab.typing import ArrayLike, DTypeLike, Key, Operand, Shape

from .fixed_distributions import halves, normal, uniform, uniform_node
from .keys import check_broadcasts, fold_in, known_dtype, known_shape

_ROUNDS = 64  # of rejection, in each of which more than 95 of 100 numbers are accepted


def exponential(k: Key, shape: int | Shape = (), dtype: DTypeLike = "float64") -> Any:
    """Return numbers with the density exp(-x) for x >= 0. For a rate multiply by 1 / rate.

    Args:
        k: a key, shape (2,), uint64.
        shape: of the result.
        dtype: float64 or float32.

    Returns:
        an array of this shape and dtype.

    >>> import burlab as bl
    >>> bool(bl.random.exponential(bl.random.key(1)) >= 0)
    True
    """
    return _exponential_function(k, known_shape(shape), known_dtype(dtype))


def laplace(k: Key, shape: int | Shape = (), dtype: DTypeLike = "float64") -> Any:
    """Return numbers with the density exp(-|x|) / 2. For another scale multiply by it, then add the location.

    Args:
        k: a key, shape (2,), uint64.
        shape: of the result.
        dtype: float64 or float32.

    Returns:
        an array of this shape and dtype.

    >>> import burlab as bl
    >>> bl.random.laplace(bl.random.key(1), (2, 3)).shape
    (2, 3)
    """
    return _laplace_function(k, known_shape(shape), known_dtype(dtype))


def gamma(k: Key, a: ArrayLike, shape: int | Shape | None = None, dtype: DTypeLike = "float64") -> Any:
    """Return numbers with the density x^(a - 1) exp(-x) / Gamma(a) for x > 0. For a rate divide by it.

    Marsaglia and Tsang 2000, A simple method for generating gamma variables. The derivative by a is that of the
    quantile at the probability of the number, of first order: Figurnov, Mohamed and Mnih 2018, Implicit
    reparameterization gradients.

    Args:
        k: a key, shape (2,), uint64.
        a: a number or an array of them, which broadcasts to the shape; it may be traced. One that is not positive gives
            nan.
        shape: of the result; that of a, if not given.
        dtype: float64 or float32.

    Returns:
        an array of this shape and dtype.

    Raises:
        ShapeError: if a does not broadcast.
        DTypeError: if a is not floating.

    >>> import numpy as np, burlab as bl
    >>> samples = bl.random.gamma(bl.random.key(1), 3.0, 100_000)
    >>> round(float(np.mean(samples)), 1), round(float(np.var(samples)), 1)
    (3.0, 3.0)
    """
    size = None if shape is None else known_shape(shape)
    return _gamma_function(k, real(a, "a of gamma") if isinstance(a, int) else a, size, known_dtype(dtype))


def _exponential(k: Key, shape: Shape, dtype: str) -> Node:
    return -log1p(-uniform_node(k, shape, dtype))


def _laplace(k: Key, shape: Shape, dtype: str) -> Any:
    """Two uniform numbers for each: the size and the sign. One alone would give infinity, or no size near 0."""
    pair = uniform_node(k, (2, *shape), dtype)
    lead = pair.ndim - len(shape) - 1
    size, side = (np.squeeze(half, lead) for half in halves(pair, lead))
    size = -np.log1p(-size)
    return np.where(side < 0.5, -size, size)


def _gamma(k: Key, a: ArrayLike, shape: Shape | None, dtype: str) -> Any:
    a = as_node(a)
    if a.dtype.kind != "f":
        raise DTypeError(f"{location()}gamma needs a floating a, got {a.dtype}. Convert it with .astype(float).")
    size = a.shape if shape is None else shape
    check_broadcasts(a.shape, size, "a of gamma")
    wide: Any = np.broadcast_to(convert(a, np.dtype(np.float64)), size)
    return convert(_with_derivative(_sampled(k, stop_gradient(wide)), wide), np.dtype(dtype))


def _sampled(k: Key, a: Operand) -> Any:
    """Sample by rejection; where a < 1 a number of a + 1 times U^(1/a)."""
    valid = (a > 0) & np.isfinite(a)
    d = np.where(a < 1, a + 1, np.where(valid, a, 1.0)) - 1 / 3
    c = 1 / np.sqrt(9 * d)

    def iteration(state: tuple[Any, ...]) -> Any:
        x, done, i = state
        z, u = normal(fold_in(k, 2 * i), a.shape), uniform(fold_in(k, 2 * i + 1), a.shape)
        v = (1 + c * z) ** 3
        accepted = (v > 0) & (np.log(u) < z * z / 2 + d - d * v + d * np.log(np.where(v > 0, v, 1.0)))
        return np.where(accepted & ~done, d * v, x), done | accepted, i + 1

    start = (np.full(a.shape, np.nan), ~valid, np.array(0))
    x, _, _ = while_loop(lambda s: ~np.all(s[1]) & (s[2] < _ROUNDS), iteration, start)
    small = np.exp(np.log1p(-uniform(fold_in(k, -1), a.shape)) / np.where(a < 1, a, 1.0))
    return cast("Any", np.where)(a < 1, x * small, x)


def _with_derivative(x: Node, a: Node) -> Node:
    """Numbers x, functions of a."""

    def reverse(_: object, a: Operand, x: Operand, g: Operand) -> Any:
        return g * 0, g * _first_order(x, a)

    rule = trace(reverse, (x, a, x, x)).graph
    inputs = (example(x), example(a))
    return make_node("call", Call("gamma", Graph(inputs, (inputs[0],)), rule), stop_gradient(x), a)


def _first_order(x: Node, a: Node) -> Node:
    """dx/da, which cannot be differentiated again."""
    origin = x.origin

    def refuse() -> Graph:
        raise no_derivative(origin, "the derivative of bl.random.gamma", "first derivatives by its a, no second ones")

    inputs = (example(x), example(x), example(a))
    call = Call("gamma derivative", Graph(inputs, (inputs[0],)), Later(refuse))
    return make_node("call", call, stop_gradient(_slope(stop_gradient(x), stop_gradient(a))), x, a)


def _slope(x: Operand, a: Operand) -> Any:
    """dx/da = -(dP/da) / (dP/dx) for the distribution function P(a, x) = x^a exp(-x) sum_n x^n / Gamma(a + n + 1).

    Term by term: x sum_n t_n (digamma(a + n + 1) - log x) with t_n = x^n / (a (a + 1) ... (a + n)).
    """
    x, log_x = np.where(x > 0, x, 1.0), np.log(np.where(x > 0, x, 1.0))
    t = 1 / a
    first = t * (digamma(a) + 1 / a - log_x)

    def iteration(state: tuple[Any, ...]) -> Any:
        n, t, psi, total, _ = state
        t, psi = t * x / (a + n), psi + 1 / (a + n)
        term = t * (psi - log_x)
        going = (a + n < x) | (np.abs(term) > 1e-17 * np.abs(total))
        return n + 1, t, psi, total + term, np.any(going)

    start = (np.array(1.0), t, digamma(a) + 1 / a, first, np.array(True))
    *_, total, _ = while_loop(lambda s: s[4] & (s[0] < 1e6), iteration, start)
    return x * total


_exponential_function: Any = Function(_exponential, name="exponential", reads=())
_laplace_function: Any = Function(_laplace, name="laplace", reads=())
_gamma_function: Any = Function(_gamma, name="gamma", reads=())
