"""`late_sums`: sums over samples that nothing reads are computed one after the other, as late as memory allows.

The gradient of a weight reads all samples, so threads that share samples wait for each other before it and after it.
Several of them in a row need two waits in all.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

from burlab.compiler.ir.plan import KernelCall
from burlab.graph import Node

from .drafts import Draft, Lowered

_MAX_BYTES = 1 << 19  # of what waiting sums read, which they may find in the cache of a core


def late_sums(lowered: Lowered) -> Lowered:
    """Move the sums that are added to outputs behind steps that do not depend on them."""
    located, waiting, kept, ordered = lowered.located, list[Draft](), set[Node](), list[Draft]()
    touched = Counter(n for draft in lowered.drafts for n in {*draft.reads, *draft.writes})
    for draft in lowered.drafts:
        if not _is_late(draft, lowered, touched):
            ordered.append(draft)
            continue
        waiting.append(draft)
        kept |= {x for x in draft.reads if not x.row.leaf and x not in located.homes}
        if sum(x.nbytes for x in kept) > _MAX_BYTES:
            ordered += waiting
            waiting, kept = [], set[Node]()
    return replace(lowered, drafts=(*ordered, *waiting))


def _is_late(draft: Draft, lowered: Lowered, touched: Mapping[Node, int]) -> bool:
    """Return True if a step adds to an output, cannot fail, and no other step touches that."""
    work, n = draft.work, draft.node
    if not isinstance(work, KernelCall) or work.may_fail or draft.result is not None or draft.extra_stores:
        return False
    return lowered.located.is_added(n) and draft.writes == (n,) and touched[n] == 1
