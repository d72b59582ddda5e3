"""Ranges of the numbers of burlab's own optimizers, schedules, sets and penalties, by field name."""

import numpy as np

from burlab.runtime.ranges import (
    ABOVE_ONE,
    BETWEEN,
    BOUND,
    DECAY,
    FINITE,
    NOT_NEGATIVE,
    POSITIVE,
    PROBABILITY,
    SHARE,
    Range,
    number_in,
)

__all__ = ["check_numbers", "range_of"]

_RANGES: dict[str, Range] = {
    **dict.fromkeys(("b1", "b2", "b3", "rho"), DECAY),
    **dict.fromkeys(("mu", "dampening", "density", "k", "a"), SHARE),
    "p": PROBABILITY,
    **dict.fromkeys(("c1", "c2", "shrink", "eta_minus"), BETWEEN),
    **dict.fromkeys(("lr", "eps", "weight_decay", "lr_decay", "initial_accumulator_value", "momentum_decay", "lambd",
                     "t0", "damping", "restart", "step_min", "gamma", "slack", "decay", "l1", "l2", "scale", "r",
                     "outer", "floor"), NOT_NEGATIVE),
    **dict.fromkeys(("first", "radius", "total", "steps", "every", "power", "start_factor", "end_factor"), POSITIVE),
    **dict.fromkeys(("max_radius", "step_max", "max_norm", "max_value", "clip"), BOUND),
    **dict.fromkeys(("start", "end", "value", "factor", "peak", "rise", "f_min"), FINITE),
    "eta_plus": ABOVE_ONE,
    "growth": Range(1.0, np.inf, infinite=True),
}  # fmt: skip
_ZEROTH_ORDER = (
    "MeZO", "ZOSignSGD", "ZOConservative", "CoordinateZO", "ZOBlockwise", "zeroth_order", "sparse_zeroth_order",
    "hybrid_zeroth_order", "QZO",
)  # fmt: skip
_OF_ONE: dict[tuple[str, str], Range] = {
    ("RMSProp", "alpha"): SHARE,
    ("ASGD", "alpha"): NOT_NEGATIVE,
    ("COCOB", "alpha"): POSITIVE,
    ("FedProx", "mu"): NOT_NEGATIVE,
    ("MFAC", "damping"): POSITIVE,
    ("STORM", "k"): NOT_NEGATIVE,
    ("STORM", "w"): POSITIVE,
    ("STORM", "c"): NOT_NEGATIVE,
    **{(kind, "eps"): POSITIVE for kind in _ZEROTH_ORDER},
    ("sparse_zeroth_order", "density"): PROBABILITY,
    ("NaturalGaLore", "damping"): POSITIVE,
    ("SAM", "rho"): NOT_NEGATIVE,
    ("Adafactor", "decay"): FINITE,
    ("TrustRegion", "eta"): Range(0.0, 0.25, open_high=True),
    ("gradient_noise", "eta"): NOT_NEGATIVE,
    ("AdAdaGrad", "eta"): POSITIVE,
    ("SSO", "eta"): POSITIVE,
    ("LevenbergMarquardt", "factor"): POSITIVE,
}


def range_of(kind: type, name: str) -> Range | None:
    """The range of a field; None where none is declared, as for classes of users."""
    for one in kind.__mro__:
        if one.__module__.startswith("burlab.") and name in vars(one).get("__annotations__", {}):
            return _OF_ONE.get((one.__name__, name), _RANGES.get(name))
    return None


def check_numbers(part: object, *, every: bool = False) -> None:
    """Raise ArgumentError for a number among the fields that is not in its range.

    every: also for values that are not numbers; else schedules, and what a run refuses, are left to the run.
    """
    for name, value in vars(part).items():
        allowed = range_of(type(part), name)
        if allowed is not None and not callable(value) and (every or _is_real(value)):
            number_in(allowed, value, f"{name} of {type(part).__name__}")


def _is_real(value: object) -> bool:
    """Return True if a value is a number that a float can hold; a run checks all others."""
    if isinstance(value, bool) or not isinstance(value, (int, float, np.integer, np.floating)):
        return False
    return not isinstance(value, int) or value.bit_length() <= 1024
