"""Which steps of a plan several threads compute together, and how each is cut.

A section is a run of steps between two places where threads wait for each other. Inside of it, a thread goes on from
step to step: what it reads of an earlier one is its own part, or was there before the section.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from burlab.compiler.ir.interrupts import is_halt_check
from burlab.compiler.ir.options import Aliases
from burlab.compiler.ir.plan import KernelPlan, MemoryKind, Step
from burlab.compiler.ir.spill_hints import is_spill_hint

from .cuts import Cut, Touch, cuts_of

_WAITING = 1500.0  # nanoseconds that beginning and ending a section take
MIN_NANOSECONDS = 8000.0  # nanoseconds that a section takes on one thread, at least
MAX_SHARE = 0.8  # of the time of one thread, that two threads may take for the whole plan
MAX_SECTION_SHARE = 1.0  # of the time of one thread, that two threads may take for a section
_EXCHANGED = 10.0  # bytes in a nanosecond that a thread reads of what another one wrote
_CACHED_BYTES = 1 << 22  # bytes of an array that are still in the cache of the core that wrote them


class SharedSteps(NamedTuple):
    """Steps from number `first` on, and the cut of each; None: every thread does the whole step."""

    first: int
    cuts: tuple[Cut | None, ...]


@dataclass(slots=True)
class _Growing:
    """A section that may still grow. alone: nanoseconds on one thread. exchanged: bytes, see `_exchanged`."""

    first: int
    cuts: list[Cut | None] = field(default_factory=list[Cut | None])
    alone: float = 0.0
    exchanged: int = 0

    @property
    def is_cut(self) -> bool:
        """Return True if several threads share one of its steps."""
        return any(cut is not None and cut.units > 1 for cut in self.cuts)

    @property
    def on_two(self) -> float:
        """About how many nanoseconds it takes on two threads, which read half of what is exchanged of each other."""
        return self.alone / 2 + _WAITING + self.exchanged / 2 / _EXCHANGED

    @property
    def section(self) -> SharedSteps:
        return SharedSteps(self.first, tuple(self.cuts))


def sections(plan: KernelPlan) -> list[SharedSteps]:
    """The sections of a plan, in order; other steps are done by one thread.

    `options.shared` is the number of samples of a tile, whose values lie one behind the other.
    """
    found = list(_sections(plan))
    long = [one for one in found if one.is_cut and one.alone >= MIN_NANOSECONDS]
    worth = [one for one in long if one.on_two < MAX_SECTION_SHARE * one.alone]
    alone = sum(one.alone for one in found)
    saved = sum(one.alone - one.on_two for one in worth)
    return [one.section for one in worth] if alone - saved <= MAX_SHARE * alone else []


def _sections(plan: KernelPlan) -> Iterator[_Growing]:
    growing = _Growing(0)
    for k, step in enumerate(plan.steps):
        if is_halt_check(step) and growing.cuts:
            growing.cuts.append(None)
            continue
        found = None if is_spill_hint(step) else _best(plan, step, growing)
        if found is None:
            yield growing
            growing = _Growing(k + 1)
            continue
        cut, fits = found
        if not fits or not growing.cuts:
            yield growing
            growing = _Growing(k)
        growing.cuts.append(cut)
        growing.alone += cut.alone
        growing.exchanged += _exchanged(cut, plan.options.shared)
        if cut.leaves_sums:
            yield growing
            growing = _Growing(k + 1)
    yield growing


def _exchanged(cut: Cut, samples: int) -> int:
    """Number of bytes of a step that a thread writes and others read, or reads and others have written.

    A tile's values stay with the thread of their sample, until a sum over samples reads them. Of other steps all that
    they leave for later ones counts.
    """
    if samples == cut.units > 1:
        return 0
    inside = [t for t in cut.touches if t.place.kind is MemoryKind.WORKSPACE and (t.writes or samples > 1)]
    return sum(_bytes_of(t, cut.units) for t in inside)


def _bytes_of(touch: Touch, units: int) -> int:
    return min(max(touch.nbytes, touch.stride * units), _CACHED_BYTES)


def _best(plan: KernelPlan, step: Step, growing: _Growing) -> tuple[Cut, bool] | None:
    """The cheapest cut of a step, and whether it goes on with the section; None if it stands between sections.

    A cut of a tile that is not along samples will make others wait, because most steps are.
    """
    aliases, samples = plan.options.in_place, plan.options.shared
    cuts = [cut for cut in cuts_of(plan, step) if not _clashes_with_itself(cut, aliases)]
    if not cuts:
        return None
    fits = [not any(old and _clash(old, cut, aliases) for old in growing.cuts) for cut in cuts]
    waits = [(not fit) + (samples not in (1, cut.units)) for cut, fit in zip(cuts, fits, strict=True)]
    foreign = [_foreign(cut, plan.options.team) / _EXCHANGED for cut in cuts]
    k = min(range(len(cuts)), key=lambda k: cuts[k].nanoseconds + waits[k] * _WAITING + foreign[k])
    return cuts[k], fits[k]


def _foreign(cut: Cut, team: int) -> float:
    """About how many bytes one of the threads reads that others have written, or leaves for others.

    An operand that each thread needs as a whole is one, and so is a result of which it writes some columns: most steps
    read rows.
    """
    inside = [t for t in cut.touches if t.place.kind is MemoryKind.WORKSPACE]
    whole = sum(t.nbytes for t in inside if not t.writes and t.stride == 0)
    torn = sum(_bytes_of(t, cut.units) for t in inside if t.writes and t.nbytes > t.stride > 0)
    return (whole + torn / team) * (1 - 1 / team)


def _clashes_with_itself(cut: Cut, aliases: Aliases) -> bool:
    """Return True if a unit may write what another one reads; they never write the same."""
    written, read = ([t for t in cut.touches if t.writes is writes] for writes in (True, False))
    return any(_meet(s, t, cut.units, cut.units, aliases) for s in written for t in read)


def _clash(old: Cut, new: Cut, aliases: Aliases) -> bool:
    """Return True if a thread that does its part of one step after the other may meet what another thread does."""
    return any(
        (s.writes or t.writes) and _meet(s, t, old.units, new.units, aliases) for s in old.touches for t in new.touches
    )


def _meet(s: Touch, t: Touch, old: int, new: int, aliases: Aliases) -> bool:
    """Return True if a unit of one step touches bytes that another unit of the other step touches."""
    if _array(s, aliases) != _array(t, aliases):
        return False
    begins, ends = (s.place.offset, t.place.offset), (_end(s, old), _end(t, new))
    if max(begins) >= min(ends):
        return False
    if old != new or old == 1:
        return old != new
    together = max(s.place.offset + s.nbytes, t.place.offset + t.nbytes) - min(begins)
    return s.stride != t.stride or together > s.stride


def _end(touch: Touch, units: int) -> int:
    return touch.place.offset + touch.stride * (units - 1) + touch.nbytes


def _array(touch: Touch, aliases: Aliases) -> tuple[MemoryKind, int]:
    """The array in which it lies: an output may have the memory of an input."""
    kind, number, _ = touch.place
    shared = [x for x, y in aliases if y == number] if kind is MemoryKind.OUTPUT else []
    return (MemoryKind.INPUT, shared[0]) if shared else (kind, number)
