"""Checks for an interrupt between steps, so that long work can be given up (`cpp/burlab/stop_token.hpp`).

A call that takes a moment checks between its steps too, where many short ones add up, and runs so that signals are
handled. A call that takes less does not check at all.
"""

from collections.abc import Iterable

from .library import kernel
from .plan import Execute, Invoke, LoopStep, Step
from .strides import elements

HALT_CHECK = kernel("check_halt", "CheckHalt", "kernel")
CALL = f"{HALT_CHECK.symbol}(nullptr, nullptr, nullptr)"
UNCHECKED_WORK = 1 << 24  # elements of work, some 10 ms, between two steps that check
PATIENCE = 1 << 19  # elements that a loop computes between two checks


def is_long(step: LoopStep) -> bool:
    """Return True if a generated loop is so long that it checks on its own."""
    return len(step.nodes) * elements(step.shape) >= UNCHECKED_WORK


def is_halt_check(step: Step) -> bool:
    """Return True if a step checks for an interrupt and computes nothing."""
    return isinstance(step, Invoke) and step.kernel is HALT_CHECK


def is_interruptible(steps: Iterable[Step]) -> bool:
    """Return True if a call takes so long, or may never end, that it has to handle signals."""
    return any(isinstance(step, Execute) or is_halt_check(step) for step in steps)
