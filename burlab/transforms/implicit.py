"""Solutions of equations: `fixed_point` and `root`, with derivatives by the implicit function theorem.

A solution x of r(x, a) = 0 is found by a loop that no derivative enters. It is a node with a reverse rule of its own:
the share of a is -(dr/da)' w with (dr/dx)' w = g, at the solution. The rule reads the solution as a node, so that it
can be differentiated again: derivatives have every order, in both modes. Griewank and Walther 2008, Evaluating
Derivatives, section 15.
"""

from collections.abc import Callable
from typing import Any, cast

import numpy as np

from burlab.compiler.function import Function
from burlab.errors import ArgumentError
from burlab.graph import Graph, Node
from burlab.graph.autodiff import sweep
from burlab.graph.graph import Call
from burlab.graph.linear_nodes import zeros
from burlab.graph.node import constant
from burlab.graph.numpy_api.composites import stop_gradient
from burlab.graph.numpy_api.promotion import as_dtype
from burlab.graph.operation import make_node
from burlab.graph.origin import location
from burlab.graph.substitute import inline
from burlab.graph.tracing.trace import trace
from burlab.runtime.checks.numbers import real, shown, whole
from burlab.typing import Array, Tree

from . import tree_functions as tree
from .call import name_of
from .control import while_loop
from .forms import example
from .jacobians import jacobian
from .memo import remembered
from .vectors import close, floating, on_vectors, start_of

Vector = Any  # a node of shape (n,)


def fixed_point(
    g: Callable[..., Tree],
    start: Tree,
    *args: Any,
    tolerance: float | None = None,
    max_iterations: int = 1000,
) -> Tree:
    """Return the x with x = g(x, *args), by x = g(x) from `start`.

    Derivatives by args, and by what g reads from around it, are those of the solution: of every order, in both modes,
    by one linear system of n equations; by `start` they are zero.

    Args:
        g: a function of x and args that returns x's structure, shapes and dtypes.
        start: a floating array or number, or any tree of them, of n numbers.
        args: further arguments of g.
        tolerance: iterations end when no element changes by more than tolerance (1 + |x|); eps^(3/4) if not given,
            2e-12 in float64 and 6e-6 in float32.
        max_iterations: a solution that takes more is nan.

    Returns:
        A tree like `start`.

    Raises:
        TraceError, ShapeError, DTypeError: if g returns anything else.

    >>> import numpy as np, burlab as bl
    >>> root = lambda a: bl.fixed_point(lambda x, a: (x + a / x) / 2, 1.0, a)
    >>> float(root(9.0)), float(bl.grad(root)(9.0).round(12))
    (3.0, 0.166666666667)
    """
    limit = _known(tolerance, max_iterations)

    def rule(start: Tree, args: tuple[Any, ...]) -> Tree:
        step = on_vectors(g, args, start, "g of fixed_point")
        x: Any = stop_gradient(start_of(start, "fixed_point"))
        most = _tolerance(tolerance, x)

        def iterate(state: tuple[Any, ...]) -> Any:
            x, _, k = state
            new = step(x)
            return new, _relative_step(new - x, new), k + 1

        x, gap, _ = while_loop(lambda s: (s[1] > most) & (s[2] < limit), iterate, (x, _infinity(x), 0))
        solution = solved(lambda x: step(x) - x, np.where(gap <= most, x, np.nan))
        return tree.unravel(solution, start)

    return _called(rule, g, ("fixed_point", tolerance, limit))(start, args)


def root(
    f: Callable[..., Tree],
    start: Tree,
    *args: Any,
    bracket: tuple[Any, Any] | None = None,
    tolerance: float | None = None,
    max_iterations: int = 100,
) -> Tree:
    """Return the x with f(x, *args) = 0, from `start`: by Newton's method, or inside of a bracket.

    Newton's steps are halved until |f| falls. In a bracket no derivative is used to find the root: Chandrupatla 1997, A
    new hybrid quadratic/bisection algorithm for finding the zero of a nonlinear function. Derivatives are as for
    `fixed_point`.

    Args:
        f: a function of x and args that returns x's structure, shapes and dtypes.
        start: a floating array or number, or any tree of them, of n numbers.
        args: further arguments of f.
        bracket: two numbers at which a function of one number has different signs.
        tolerance: iterations end with a step of at most tolerance (1 + |x|); eps^(3/4) if not given.
        max_iterations: a solution that takes more is nan, as is one of a bracket without a change of sign.

    Returns:
        A tree like `start`.

    Raises:
        ArgumentError: for a bracket of anything but two numbers, or of a function of several.
        TraceError, ShapeError, DTypeError: if f returns anything else.

    >>> import numpy as np, burlab as bl
    >>> cube_root = lambda a: bl.root(lambda x, a: x**3 - a, 1.0, a)
    >>> float(cube_root(8.0)), float(bl.grad(cube_root)(8.0).round(12))
    (2.0, 0.083333333333)
    >>> float(bl.root(np.cos, 1.0, bracket=(0.0, 3.0)).round(9))
    1.570796327
    """
    limit = _known(tolerance, max_iterations)
    if bracket is not None and (not isinstance(bracket, (tuple, list, np.ndarray)) or len(bracket) != 2):  # pyright: ignore[reportUnnecessaryIsInstance] - users
        raise ArgumentError(f"{location()}bracket={shown(bracket)} must be two numbers. Pass bracket=(low, high).")

    def rule(start: Tree, args: tuple[Any, ...], ends: tuple[Any, Any] | None) -> Tree:
        residual = on_vectors(f, args, start, "f of root")
        x: Any = stop_gradient(start_of(start, "root"))
        most = _tolerance(tolerance, x)
        if ends is None:
            found = _newton(residual, x, most, limit)
        elif x.shape == (1,):
            found = _bracketed(lambda x: residual(x[None])[0], x[0], ends, most, limit)[None]
        else:
            raise ArgumentError(f"{location()}a bracket is for a function of one number, start has {x.size}.")
        return tree.unravel(solved(residual, found), start)

    return _called(rule, f, ("root", tolerance, limit))(start, args, bracket)


def solved(residual: Callable[[Vector], Vector], x: Vector) -> Vector:
    """The solution x of residual(x) = 0, shape (n,), with its derivatives by what the residual reads from around it."""
    captured, graph = close(residual, x)

    def reverse(captured: tuple[Node, ...], y: Node, g: Node) -> tuple[Node, ...]:
        def at(y: Node) -> Node:
            return inline(graph, (y, *captured))[0]

        w: Any = np.linalg.solve(np.transpose(jacobian(at)(y)), g)
        shares = sweep.vjp([at(y)], floating(captured), [-w])
        return (zeros(y.shape, y.dtype), *shares)

    rule = trace(reverse, (tuple(captured), x, x)).graph
    held, backward = example(x), Graph((example(x), *rule.inputs), rule.outputs)
    inputs = (held, *map(example, captured))
    return make_node("call", Call("solution", Graph(inputs, (held,)), backward), stop_gradient(x), *captured)


# How a solution is found.


def _newton(residual: Callable[[Vector], Vector], x: Vector, most: float, limit: int) -> Vector:
    """Solve by Newton's steps, each as long as it makes the residual smaller."""

    def iterate(state: tuple[Any, ...]) -> Any:
        x, r, _, k = state
        step = cast("Any", np.linalg.solve(jacobian(residual)(x), -r))
        gap, before = _relative_step(step, x + step), np.sum(r * r)
        end = gap <= most  # so near that rounding decides whether the residual falls

        def too_long(length: Array) -> Any:
            return ~(end | (np.sum(residual(x + length * step) ** 2) < before)) & (length > 1e-9)

        length = while_loop(too_long, lambda length: length / 2, 1.0)
        new: Any = x + length * step
        return new, residual(new), gap, k + 1

    start = (x, residual(x), _infinity(x), 0)
    x, _, gap, _ = while_loop(lambda s: (s[2] > most) & (s[3] < limit), iterate, start)
    return np.where(gap <= most, x, np.nan)


def _bracketed(f: Callable[[Any], Any], x: Node, ends: tuple[Any, Any], most: float, limit: int) -> Any:
    """Solve by Chandrupatla's method: inverse quadratic interpolation where it can be trusted, else bisection.

    The root is between a, the newest point, and b; c is the point before.
    """
    low, high = (cast("Any", as_dtype(stop_gradient(end), x.dtype)) for end in ends)
    where: Any = np.where

    def iterate(state: tuple[Any, ...]) -> Any:
        a, b, c, fa, fb, fc, t, _, _, k = state
        new = a + t * (b - a)
        f_new = f(new)
        same = np.sign(f_new) == np.sign(fa)
        c, fc = where(same, a, b), where(same, fa, fb)
        b, fb = where(same, b, a), where(same, fb, fa)
        a, fa = new, f_new
        nearer = np.abs(fa) < np.abs(fb)
        best = where(nearer, a, b)
        least = most * (1 + np.abs(best)) / np.abs(b - a)
        done = (least > 0.5) | (where(nearer, fa, fb) == 0)
        place, slope = (a - b) / (c - b), (fa - fb) / (fc - fb)
        trusted = (slope**2 < place) & ((1 - slope) ** 2 < 1 - place)
        t = fa / (fb - fa) * fc / (fb - fc) + (c - a) / (b - a) * fa / (fc - fa) * fb / (fc - fb)
        t = where(trusted, np.clip(t, least, 1 - least), 0.5)
        return a, b, c, fa, fb, fc, t, best, done, k + 1

    f_low, f_high = f(low), f(high)
    first = np.clip((x - low) / (high - low), 0, 1)
    state = (low, high, low, f_low, f_high, f_low, first, x, np.array(False), 0)
    *_, best, done, _ = while_loop(lambda s: ~s[8] & (s[9] < limit), iterate, state)
    return np.where(done & (np.sign(f_low) * np.sign(f_high) <= 0), best, np.nan)


def _relative_step(step: Vector, x: Vector) -> Any:
    """The largest change of an element, relative to 1 + |x|."""
    return np.max(np.abs(step) / (1 + np.abs(x)), initial=0.0)


def _infinity(x: Vector) -> Any:
    return constant(np.inf, x.dtype)


def _tolerance(tolerance: float | None, x: Node) -> float:
    return float(np.finfo(x.dtype).eps) ** 0.75 if tolerance is None else tolerance


def _known(tolerance: float | None, max_iterations: int) -> int:
    """The number of iterations. Raises ArgumentError."""
    if tolerance is not None:
        real(tolerance, "tolerance", 0.0)
    return whole(max_iterations, "max_iterations", 1)


def _called(rule: Callable[..., Any], f: Callable[..., Any], key: tuple[Any, ...]) -> Callable[..., Any]:
    return remembered(f, key, lambda: Function(rule, name=f"{key[0]}({name_of(f)})", reads=(f,)))
