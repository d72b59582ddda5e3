"""The C++ text of sections: the part of a thread as a function, and calls of kernels for a part of their outputs."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from burlab.compiler.ir.library import LibraryKernel
from burlab.compiler.ir.plan import Invoke

from .cuts import Cut
from .sections import SharedSteps

_HEADER = "burlab/kernels/share.hpp"
SHARE = LibraryKernel(
    "burlab_share",
    'extern "C" std::int64_t burlab_share(std::int64_t (*section)(void*, std::int64_t, std::int64_t) noexcept,'
    " void* frame, std::int64_t most) noexcept { return burlab::kernels::share(section, frame, most); }\n",
    _HEADER,
)
CALL_CUT = LibraryKernel(
    "burlab_call_cut",
    'extern "C" burlab::Status burlab_call_cut(burlab::kernels::Kernel kernel, const std::int64_t* d,'
    " std::int64_t size, std::int64_t position, std::int64_t value, const std::int64_t* box, void* out, const void* a,"
    " const void* b) noexcept {"
    " return burlab::kernels::call_cut(kernel, d, size, position, value, box, out, a, b); }\n",
    _HEADER,
)
EACH_CUT = LibraryKernel(
    "burlab_each_cut",
    'extern "C" burlab::Status burlab_each_cut(burlab::kernels::Kernel kernel, const std::int64_t* box,'
    " std::int64_t size, std::int64_t position, std::int64_t value, const std::int64_t* d, void* out, const void* a,"
    " const void* b) noexcept {"
    " return burlab::kernels::each_cut(kernel, box, size, position, value, d, out, a, b); }\n",
    _HEADER,
)
_WRAP = (
    "[](void* work, std::int64_t part, std::int64_t parts) noexcept"
    " {{ return (*(decltype({name})*)work)(part, parts); }}"
)


class Membership(NamedTuple):
    """The place of a step in a section. cut: None if every thread does the whole step."""

    section: SharedSteps
    position: int
    cut: Cut | None

    @property
    def is_first(self) -> bool:
        """Return True if the section begins with this step."""
        return self.position == 0

    @property
    def is_alone(self) -> bool:
        """Return True if one thread does the step, in a block of its own: no other step sees its variables."""
        return self.cut is not None and self.cut.units == 1

    @property
    def is_last(self) -> bool:
        """Return True if the section ends with this step."""
        return self.position == len(self.section.cuts) - 1


def memberships(sections: Sequence[SharedSteps]) -> dict[int, Membership]:
    """The steps that are in sections, by their numbers."""
    return {s.first + k: Membership(s, k, cut) for s in sections for k, cut in enumerate(s.cuts)}


def wrapped(lines: Sequence[str], member: Membership, ending: Sequence[str] = ()) -> list[str]:
    """The lines of a step, with the beginning and the end of its section. ending: what one thread does after it."""
    name = f"section{member.section.first}"
    own = ["if (part + 1 == parts) {", *(f"  {line}" for line in lines), "}"] if member.is_alone else [*lines]
    body = [f"    {line}" for line in own]
    if member.is_first:
        units = dict.fromkeys(c.units for c in member.section.cuts if c and c.units > 1)
        ranges = (f"f{u} = {u} * part / parts, l{u} = {u} * (part + 1) / parts" for u in units)
        head = [
            "{",
            f"  auto {name} = [&](std::int64_t part, std::int64_t parts) noexcept -> std::int64_t {{",
            *(f"    const std::int64_t {text};" for text in ranges),
        ]
        body = [*head, *body]
    if member.is_last:
        call = f"{SHARE.symbol}({_WRAP.format(name=name)}, &{name}, ((const std::int64_t*)context)[2])"
        body += ["    return 0;", "  };", f"  if (const std::int64_t s = {call}) return s;"]
        body += [*(f"  {line}" for line in ending), "}"]
    return body


def loop_range(cut: Cut) -> list[str]:
    """The last arguments of a loop's function: its first index, and the one behind the last, or behind the end."""
    return [f"{cut.each} * f{cut.units}", f"{cut.each} * l{cut.units}"]


def cut_call(step: Invoke, cut: Cut, shapes: Mapping[str, str], places: Sequence[str]) -> tuple[str, LibraryKernel]:
    """The call of a kernel for units f to l, and the function that makes it. shapes: of "descriptor" and "box"."""
    first, last = f"f{cut.units}", f"l{cut.units}"
    steps = (*cut.steps, *[0] * (len(places) - len(cut.steps)))  # a call without operands names its result again
    moved = [f"(char*)({p}) + {s} * {first}" if s else p for p, s in zip(places, steps, strict=True)]
    moved += ["nullptr"] * (3 - len(moved))
    value = f"{cut.each} * ({last} - {first})"
    if cut.in_box:
        size = len(step.box)
        arguments = [shapes["box"], str(size), str(cut.position), value, shapes["descriptor"], *moved]
        return f"{EACH_CUT.symbol}({', '.join([step.kernel.symbol, *arguments])})", EACH_CUT
    box = shapes.get("box", "nullptr")
    arguments = [shapes["descriptor"], str(len(step.descriptor)), str(cut.position), value, box, *moved]
    return f"{CALL_CUT.symbol}({', '.join([step.kernel.symbol, *arguments])})", CALL_CUT
