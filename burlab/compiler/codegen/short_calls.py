"""Kernel calls that would take longer than their work: a few lines of C++ in their place, with the same bits."""

from burlab.compiler.ir.plan import Invoke
from burlab.compiler.ir.spelling import C_TYPES, NAMES
from burlab.compiler.lowering.descriptors import Reduced, StridedRows

_MAX_COPY_BYTES = 256  # bytes of a copy
_MAX_SUMS = 4  # results


def written_out(step: Invoke) -> str:
    """The text of a short call, "" for any other."""
    if step.box or step.samples is not None:
        return ""
    if step.kernel.symbol.startswith("burlab_copy_"):
        return _move(step)
    sums = f"burlab_sum_{NAMES[step.node.dtype]}"
    return _sums_of_two(step) if step.kernel.symbol in (sums, f"{sums}_strict") else ""


def _move(step: Invoke) -> str:
    """A copy of few numbers that follow each other on both sides."""
    row = StridedRows(*step.descriptor)
    size = row.size * step.node.itemsize
    together = row.size == 1 or row.out_step == row.a_step == 1
    if row.rows != 1 or not together or size > _MAX_COPY_BYTES:
        return ""
    return f"__builtin_memcpy({step.result.pointer}, {step.operands[0].pointer}, {size});"


def _sums_of_two(step: Invoke) -> str:
    """Few sums of two numbers, which round alike in every order and with every error term. -0 becomes 0."""
    d, kind = Reduced(*step.descriptor), C_TYPES[step.node.dtype]
    if step.node.dtype.kind != "f" or d.rows * d.size != 2 or d.results > _MAX_SUMS or d.add:
        return ""
    other = d.row_step if d.rows == 2 else d.step
    x, y = f"((const {kind}*)({step.operands[0].pointer}))", f"(({kind}*)({step.result.pointer}))"
    sums = (f"{y}[{k}] = ({x}[{k * d.result_step}] + {x}[{k * d.result_step + other}]) + 0;" for k in range(d.results))
    return f"{{ {' '.join(sums)} }}"
