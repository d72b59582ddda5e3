"""Steps that tell the operating system which arrays are not needed for a while, or soon (`kernels/spill.hpp`)."""

from .library import kernel
from .plan import Invoke, Step

RETIRE = kernel("retire", "Retire", "spill")
RECALL = kernel("recall", "Recall", "spill")


def is_spill_hint(step: Step) -> bool:
    """Return True if a step computes nothing but gives such advice."""
    return isinstance(step, Invoke) and step.kernel in (RETIRE, RECALL)
