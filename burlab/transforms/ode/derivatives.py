"""Solutions with derivatives: by the adjoint equation, or through the steps that were taken."""

import math
from typing import Any

import numpy as np

from burlab.graph import Node
from burlab.graph.autodiff import sweep
from burlab.graph.graph import Call, Later
from burlab.graph.linear_nodes import reshape
from burlab.graph.numpy_api.composites import stop_gradient
from burlab.graph.operation import make_node
from burlab.graph.substitute import inline
from burlab.graph.tracing.trace import trace
from burlab.transforms import tree
from burlab.transforms.control import cond
from burlab.transforms.scan import scan
from burlab.transforms.vectors import close, floating
from burlab.typing import Operand

from .steps import Field, Options, integrate, least, scheduled, step

_np: Any = np  # whose stubs know nothing of traced values


def direct(f: Field, y0: Operand, times: Operand, options: Options) -> Any:
    """y at the times, shape (T, n), through the steps that an integration without derivatives has accepted.

    A step is a fixed part of the way from one time to the next: derivatives by the times are those of the steps.
    """
    ys, schedule, counts = scheduled(f, stop_gradient(y0), stop_gradient(times), options)

    def advance(y: Operand, x: tuple[Any, ...]) -> Any:
        k, begin, end = x
        first, length = times[k], times[k + 1] - times[k]

        def forward(y: Operand) -> Any:
            t, h, last = first + length * begin, length * (end - begin), end == 1
            after = _np.where(last, times[k + 1], t + h)
            crowded = last & (_np.abs(h) <= 2 * least(first, times[k + 1]))  # 2: begin and end have been rounded
            return step(f, y, t, h, after, f(y, t), crowded, options).y

        def stay(y: Operand) -> Any:
            return y

        y = cond(end > begin, forward, stay, y)
        return y, y

    _, all_ys = scan(advance, y0, tuple(map(stop_gradient, schedule)))
    rows = _np.concatenate([y0[None], all_ys])[stop_gradient(counts)]
    return _np.where(_np.isnan(stop_gradient(ys)), _np.nan, rows)


def by_adjoint(f: Field, y0: Operand, times: Operand, options: Options) -> Any:
    """y at the times, shape (T, n), with a reverse rule that integrates backwards.

    Pontryagin et al. 1962; Chen, Rubanova, Bettencourt and Duvenaud 2018, Neural ordinary differential equations,
    Algorithm 2, except that y starts from its stored value at each time. The rule holds such solutions itself, so there
    is a rule of the rule.
    """
    captured, graph = close(f, y0, times[0])

    def field(values: tuple[Any, ...]) -> Field:
        return lambda y, t: inline(graph, (y, t, *values))[0]

    def forward(y0: Operand, times: Operand, values: tuple[Any, ...]) -> Any:
        return integrate(field(values), y0, times, options)

    def reverse(y0: Operand, times: Operand, values: tuple[Any, ...], ys: Operand, g: Operand) -> Any:
        return _pulled(field(values), y0, times, floating(values), ys, g, options)

    args = (y0, times, tuple(captured))
    solution = trace(forward, args).graph
    (ys,) = solution.outputs
    later = Later(lambda: trace(reverse, (*args, ys, ys)).graph)
    return make_node("call", Call("odeint", solution, later), y0, times, *captured)


def _pulled(
    f: Field, y0: Operand, times: Operand, by: list[Node], ys: Operand, g: Operand, options: Options
) -> list[Any]:
    """The cotangents of y0, of the times, and of what the field reads."""
    n, count = y0.size, sum(x.size for x in by)

    def backwards(z: Operand, t: Operand) -> Any:
        y, a = z[:n], z[n : 2 * n]
        slope = f(y, t)
        shares = sweep.vjp([slope], [y, *by], [a])
        return _np.concatenate([slope, -tree.ravel(shares)])

    def interval(carry: tuple[Any, ...], x: tuple[Any, ...]) -> Any:
        a, total = carry
        y, g, end, begin = x
        z = _np.concatenate([y, a + g, total])
        z = by_adjoint(backwards, z, _np.stack([end, begin]), options)[1]
        return (z[n : 2 * n], z[2 * n :]), _np.sum(g * f(y, end))

    start = (_np.zeros(n, y0.dtype), _np.zeros(count, y0.dtype))
    rows = (ys[1:], g[1:], times[1:], times[:-1])
    (a, total), speeds = scan(interval, start, rows, reverse=True)
    first = -_np.sum(a * f(y0, times[0]))
    shares: list[Any] = []
    at = 0
    for x in by:
        size = math.prod(x.shape)
        shares.append(reshape(total[at : at + size], x.shape).astype(x.dtype))
        at += size
    return [a + g[0], _np.concatenate([first[None], speeds]), *shares]
