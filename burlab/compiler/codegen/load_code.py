"""`load`: the C++ text of a plan becomes a function of this process."""

import ctypes
from typing import Any

from burlab import runtime
from burlab.compiler.ir import library
from burlab.compiler.ir.descriptor_table import Contexts, Descriptor, table_of
from burlab.compiler.ir.interrupts import is_interruptible
from burlab.compiler.ir.plan import Runnable
from burlab.compiler.ir.poison import poisoned
from burlab.runtime.gate import NativeFunction, pointers

from .emit import GeneratedSource


def load(source: GeneratedSource) -> Runnable:
    """Compile generated C++, once per text, and bind the function to the plan's descriptors and constants."""
    plan = source.plan
    unit = library.unit(source.bare, source.calls)
    constants, ticks = plan.tables, plan.options.ticks
    table = pointers(constants)

    def bind(addresses: dict[Descriptor, int]) -> tuple[int, Any]:
        shapes = table_of([addresses[d] for d in source.descriptors])
        third = plan.options.threads if ticks is None else ticks.ctypes.data
        context = table_of([ctypes.addressof(shapes), ctypes.addressof(table), third])
        return ctypes.addressof(context), (context, shapes)

    function = NativeFunction(
        runtime.address(f"{unit}_run"),
        Contexts(source.descriptors, bind),
        plan.workspace_bytes,
        (table, constants, plan.linked, ticks),
        is_interruptible(plan.steps),
    )
    texts = (*(part.source for part in plan.linked), source.text.replace("@unit", unit))
    return Runnable(poisoned(plan, function), "\n".join(texts))
