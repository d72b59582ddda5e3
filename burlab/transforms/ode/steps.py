"""Steps of Dormand and Prince's method, or along Taylor polynomials, and how long they are.

Dormand and Prince 1980, A family of embedded Runge-Kutta formulae, 5(4), 7 stages, of which the last is the first
of the next step. Taylor polynomials: see `taylor_steps.py`. Step sizes: Hairer, Norsett and Wanner 1993, Solving
Ordinary Differential Equations I, section II.4.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from burlab.graph.buffers.buffer_functions import at_set
from burlab.transforms.control import while_loop
from burlab.transforms.scan import scan
from burlab.typing import Operand

from .taylor_steps import solution_coefficients

_np: Any = np  # whose stubs know nothing of traced values

Field = Callable[[Any, Any], Any]
"""dy/dt for y, shape (n,), and t."""

_NODES = (1 / 5, 3 / 10, 4 / 5, 8 / 9, 1.0, 1.0)
_STAGES = (
    (1 / 5,),
    (3 / 40, 9 / 40),
    (44 / 45, -56 / 15, 32 / 9),
    (19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729),
    (9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656),
    (35 / 384, 0.0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84),
)
_ERROR = (71 / 57600, 0.0, -71 / 16695, 71 / 1920, -17253 / 339200, 22 / 525, -1 / 40)
_SAFETY, MIN_GROWTH, MAX_GROWTH = 0.9, 0.2, 10.0  # of how a step may change from one to the next


class Options(NamedTuple):
    """Tolerances of the error of one step, and the number of attempts. order: of Taylor polynomials, if of these."""

    rtol: float
    atol: float
    max_steps: int
    order: int | None = None

    @property
    def error_order(self) -> int:
        """The power of the step size as which the estimated error of a step grows."""
        return self.order or 5


class Step(NamedTuple):
    """y after a step, the slope there (where the next step begins with it), and the estimated error."""

    y: Any
    slope: Any
    error: Any


class StepSchedule(NamedTuple):
    """The accepted steps, (max_steps,) of each: between which two times, and from where to where between them, 0 to 1.

    Those that were not needed go from 0 to 0.
    """

    interval: Any
    begin: Any
    end: Any


class _State(NamedTuple):
    t: Any
    y: Any
    slope: Any
    size: Any
    attempts: Any
    accepted: Any
    schedule: StepSchedule | None


def step(
    f: Field, y: Operand, t: Operand, h: Operand, end: Operand, slope: Operand, crowded: Operand, options: Options
) -> Step:
    """y after a step of size h from t, where the slope is known.

    end: t + h, but for rounding: no stage is later. crowded: whether all stages are to be at the time of the begin.
    """
    if options.order is not None:
        coefficients = solution_coefficients(f, y, t, options.order)
        powers = coefficients[::-1]
        after = powers[0]
        for c in powers[1:]:
            after = after * h + c
        return Step(after, slope, coefficients[-1] * h**options.order)
    slopes, new = [slope], y
    for row, node in zip(_STAGES, _NODES, strict=True):
        new = y + h * _sum(row, slopes)
        slopes.append(f(new, _np.where(crowded, t, end if node == 1 else t + node * h)))
    return Step(new, slopes[-1], h * _sum(_ERROR, slopes))


def least(begin: Operand, end: Operand) -> Any:
    """The shortest step to the end of an interval in which time has room for stages.

    A shorter one takes the field at its begin, so that one that is infinite at the end is integrated up to there.
    """
    return 8 * np.finfo(end.dtype).eps * _np.maximum(_np.abs(begin), _np.abs(end))


def integrate(f: Field, y0: Operand, times: Operand, options: Options) -> Any:
    """y at the times, shape (T, n); nan from where it was not reached."""
    return _integrated(f, y0, times, options, None)[0]


def scheduled(f: Field, y0: Operand, times: Operand, options: Options) -> tuple[Any, StepSchedule, Any]:
    """Integrate, and return also the accepted steps, with their number at each time."""
    most = options.max_steps
    nothing = StepSchedule(_np.zeros(most, _np.int64), _np.zeros(most, y0.dtype), _np.zeros(most, y0.dtype))
    ys, state, counts = _integrated(f, y0, times, options, nothing)
    return ys, state.schedule, counts


def _integrated(f: Field, y0: Operand, times: Operand, options: Options, schedule: StepSchedule | None) -> Any:
    slope = f(y0, times[0])
    size = _first_size(f, y0, times[0], times[-1] - times[0], slope, options)
    start = _State(times[0], y0, slope, size, 0, 0, schedule)

    def interval(state: _State, x: tuple[Any, ...]) -> Any:
        k, begin, end = x
        state = while_loop(
            lambda s: (s.t != end) & (s.attempts < options.max_steps),
            lambda s: _attempt(f, s, k, begin, end, options),
            state._replace(t=begin),
        )
        state = state._replace(y=_np.where(state.t == end, state.y, _np.nan))
        return state, (state.y, state.accepted)

    state, (ys, counts) = scan(interval, start, (_np.arange(times.shape[0] - 1), times[:-1], times[1:]))
    return _np.concatenate([y0[None], ys]), state, _np.concatenate([_np.zeros(1, _np.int64), counts])


def _attempt(f: Field, s: _State, k: int, begin: Operand, end: Operand, options: Options) -> _State:
    """One step, or, where its error is too large, only a shorter size."""
    rest = end - s.t
    last = s.size >= _np.abs(rest)
    h = _np.where(last, rest, _np.sign(rest) * s.size)
    after = _np.where(last, end, s.t + h)
    crowded = last & (_np.abs(rest) <= least(begin, end))
    y, slope, error = step(f, s.y, s.t, h, after, s.slope, crowded, options)
    error = _norm(error, _np.maximum(_np.abs(s.y), _np.abs(y)), options)
    good = error <= 1
    t = _np.where(good, after, s.t)
    schedule = s.schedule
    if schedule is not None:
        where = [k, (s.t - begin) / (end - begin), _np.where(last, 1.0, (t - begin) / (end - begin))]
        row = (_np.where(good, value, 0).astype(column.dtype) for value, column in zip(where, schedule, strict=True))
        schedule = StepSchedule(*(at_set(column, s.accepted, x) for column, x in zip(schedule, row, strict=True)))
    growth = _np.where(
        _np.isfinite(error), _np.clip(_SAFETY * error ** (-1 / options.error_order), MIN_GROWTH, MAX_GROWTH), MIN_GROWTH
    )
    proposed = _np.abs(h) * growth
    return _State(
        t,
        _np.where(good, y, s.y),
        _np.where(good, slope, s.slope),
        _np.where(good & last, _np.maximum(s.size, proposed), proposed),  # the last one was cut short
        s.attempts + 1,
        s.accepted + good.astype(_np.int64),
        schedule,
    )


def _first_size(f: Field, y: Operand, t: Operand, span: Operand, slope: Operand, options: Options) -> Any:
    """Hairer, Norsett and Wanner's estimate, from the slope and from how it changes, which is tried within the span."""
    sign, most = _np.sign(span), _np.where(span == 0, 1.0, 0.5 * _np.abs(span))
    size, speed = (_norm(x, _np.abs(y), options) for x in (y, slope))
    tiny = (size < 1e-5) | (speed < 1e-5)
    h = _np.minimum(_np.where(tiny, 1e-6, 0.01 * size / _np.where(tiny, 1.0, speed)), most)
    bend = _norm(f(y + sign * h * slope, t + sign * h) - slope, _np.abs(y), options) / h
    largest = _np.maximum(speed, bend)
    flat = largest <= 1e-15
    return _np.minimum(
        100 * h, _np.where(flat, _np.maximum(1e-6, h * 1e-3), (0.01 / _np.where(flat, 1.0, largest)) ** 0.2)
    )


def _norm(x: Operand, size: Operand, options: Options) -> Any:
    """The root mean square of x in units of the tolerance."""
    return _np.sqrt(_np.mean((x / (options.atol + options.rtol * size)) ** 2))


def _sum(weights: tuple[float, ...], slopes: list[Any]) -> Any:
    total = None
    for weight, slope in zip(weights, slopes, strict=True):
        if weight:
            total = weight * slope if total is None else total + weight * slope
    return total
