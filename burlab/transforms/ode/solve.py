"""`odeint`: initial value problems."""

from collections.abc import Callable
from typing import Any

import numpy as np

from burlab.compiler.function import Function
from burlab.errors import ShapeError
from burlab.graph import Node
from burlab.graph.node import as_node
from burlab.graph.numpy_api.promotion import as_dtype
from burlab.graph.origin import location
from burlab.runtime.checks.numbers import flag, real, whole
from burlab.runtime.plain import as_array
from burlab.transforms import tree
from burlab.transforms.call import name_of
from burlab.transforms.memo import remembered
from burlab.transforms.vectors import on_vectors, start_of
from burlab.transforms.vmap import vmap
from burlab.typing import ArrayLike, Operand, Tree

from .derivatives import by_adjoint, direct
from .steps import Options

_MAX_ORDER = 100  # of Taylor steps: the graph of one grows as its square


def odeint(
    f: Callable[..., Any],
    y0: Tree,
    t: ArrayLike,
    *args: Tree,
    rtol: float = 1.4e-8,
    atol: float = 1.4e-8,
    adjoint: bool = True,
    max_steps: int = 10_000,
    order: int | None = None,
) -> Tree:
    """Return the solution of dy/dt = f(y, t, *args) with y = y0 at t[0], at the times t: JAX's odeint.

    The steps are those of Dormand and Prince 1980, 5(4), or along Taylor polynomials, and end at each time. f is
    evaluated at no time outside of t; at the last one it may be infinite, if its integral is not. Derivatives by y0, t,
    args and what f reads from around it are of every order, in both modes.

    Args:
        f: a function of y, t and args that returns y's structure, shapes and dtypes.
        y0: a floating array or number, or any tree of them.
        t: times, shape (T,), in order, upwards or downwards.
        args: further arguments of f.
        rtol: bound of the relative error of one step, as a root mean square over all numbers.
        atol: bound of the absolute error.
        adjoint: derivatives are those of the solution, by an integration backwards that stores y at the times alone;
            they are as exact as the tolerances. False: they are those of the steps that were taken, exact for these,
            which are stored: faster for few numbers and many orders, with memory for max_steps of them.
        max_steps: attempts; times that they do not reach get nan.
        order: from 2 to 100, of steps along Taylor polynomials of the solution (`bl.taylor`), whose last term estimates
            the error: at tolerances below 1e-10 orders of 10 to 30 need far fewer steps. None: Dormand and Prince's.

    Returns:
        A tree like y0 with a leading axis of T times, the first of them y0.

    Raises:
        ShapeError, DTypeError, TraceError: if f returns another form, or t has another shape.
        ArgumentError: if a tolerance is negative, or max_steps or the order is no whole number, or the order above 100.

    >>> import numpy as np, burlab as bl
    >>> decay = lambda rate: bl.odeint(lambda y, t, rate: -rate * y, 1.0, np.array([0.0, 1.0, 2.0]), rate)
    >>> decay(0.5).round(6)
    array([1.      , 0.606531, 0.367879])
    >>> bl.jacobian(decay)(0.5).round(6)
    array([ 0.      , -0.606531, -0.735759])
    """
    options = Options(
        real(rtol, "rtol", 0.0),
        real(atol, "atol", 0.0),
        whole(max_steps, "max_steps", 1),
        None if order is None else whole(order, "order of odeint", 2, _MAX_ORDER),
    )
    t = t if isinstance(t, Node) else as_array(t, "t of odeint")
    if t.ndim != 1 or not t.shape[0]:
        raise ShapeError(f"{location()}t of odeint has shape {t.shape}, expected times of shape (T,), T at least 1.")
    adjoint = flag(adjoint, "adjoint of odeint")
    solver = by_adjoint if adjoint else direct

    def rule(y0: Tree, t: ArrayLike, args: tuple[Any, ...]) -> Any:
        start: Any = start_of(y0, "odeint")
        times: Any = as_dtype(as_node(t), start.dtype)
        field = on_vectors(f, args, y0, "f of odeint")
        trivial = not start.size or times.shape == (1,)
        ys = np.broadcast_to(start, (*times.shape, start.size)) if trivial else solver(field, start, times, options)

        def state(y: Operand) -> Any:
            return tree.unravel(y, y0)

        return vmap(state)(ys)

    key = ("odeint", options, bool(adjoint))
    name = f"odeint({name_of(f)})"
    return remembered(f, key, lambda: Function(rule, name=name, reads=(f,)))(y0, t, args)
