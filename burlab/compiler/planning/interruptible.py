"""Long work hears interrupts: its kernels and loops ask now and then whether to give up (`cpp/burlab/halt.hpp`).

A plan that takes a moment asks between its steps too, where many short ones add up, and is called so that signals are
heard. What takes less neither asks nor looks at what its kernels answer.
"""

from collections.abc import Callable, Iterable, Iterator

from burlab.compiler.ir.library import kernel
from burlab.compiler.ir.plan import Execute, Invoke, Kind, Loop, Place, Step
from burlab.compiler.ir.strides import elements

HALT = kernel("ask_halt", "AskHalt", "kernel")
LONG = 1 << 24  # elements of work, some 10 ms, between two steps that ask
_PATIENT = 1 << 18  # elements of work below which no kernel asks: a fourth of its patience
_CALLS = 32  # calls of a kernel by `each`, below which that does not ask: half of its patience
LOOP = 1 << 19  # elements that a loop computes between two looks
CALL = f"{HALT.symbol}(nullptr, nullptr, nullptr)"


def asks(step: Loop) -> bool:
    """Whether a generated loop is so long that it asks."""
    return len(step.nodes) * elements(step.shape) >= LONG


def heard(steps: Iterable[Step], work: Callable[[Step], int]) -> Iterator[Step]:
    """The steps, with questions between them; what a kernel answers counts where it may give up."""
    done = 0
    for step in steps:
        own = 0 if isinstance(step, Execute) else work(step)  # that asks in every turn
        if isinstance(step, Invoke) and (own >= _PATIENT or elements(step.box[1 : 1 + _rank(step)]) >= _CALLS):
            step = step._replace(may_fail=True)  # noqa: PLW2901 - the same step
        yield step
        done += own
        if done >= LONG:
            done = 0
            node = step.node if isinstance(step, Invoke) else step.nodes[0]
            yield Invoke(node, HALT, (), (), Place(Kind.WORKSPACE, 0), (), may_fail=True)


def hears(steps: Iterable[Step]) -> bool:
    """Whether a call takes so long, or may never end, that it has to hear signals."""
    return any(isinstance(step, Execute) or is_question(step) for step in steps)


def _rank(step: Invoke) -> int:
    return step.box[0] if step.box else 0


def is_question(step: Step) -> bool:
    """Whether a step computes nothing."""
    return isinstance(step, Invoke) and step.kernel is HALT
