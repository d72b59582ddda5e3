"""The lines of the generated C++ that belong to each step of a plan."""

import re
from itertools import accumulate

from burlab.compiler.codegen.emit import emit
from burlab.compiler.ir.plan import KernelPlan

_CALLED = re.compile(r"\bloop\d+(?=\()")


def step_lines(plan: KernelPlan) -> list[tuple[str, ...]]:
    """For each step the C++ lines that compute it, those of the loop that it calls after the call.

    >>> import numpy as np, burlab as bl
    >>> plan = bl.compile(lambda x: np.tanh(x) * 2, 0.5).executable.plan
    >>> [line for lines in step_lines(plan) for line in lines if "tanh" in line]  # doctest: +ELLIPSIS
    ['const double v... = ...tanh...]
    """
    source = emit(plan)
    lines = source.text.splitlines()
    loops = _loops(lines)
    return [
        tuple(
            part
            for line in lines[first:end]
            for part in (line.strip(), *(row for name in _CALLED.findall(line) for row in loops[name]))
        )
        for first, end in source.spans
    ]


def _loops(lines: list[str]) -> dict[str, list[str]]:
    """The functions above that hold loops, by name: from the line of the name to that of the last brace."""
    found: dict[str, list[str]] = {}
    for k, line in enumerate(lines):
        if name := _DEFINED.match(line):
            depth = accumulate(row.count("{") - row.count("}") for row in lines[k:])
            length = next(n for n, open_braces in enumerate(depth, 1) if open_braces == 0)
            found[name[1]] = lines[k : k + length]
    return found


_DEFINED = re.compile(r"__attribute__.* (loop\d+)\(")
