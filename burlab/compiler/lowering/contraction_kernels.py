"""The kernels of contractions, in `kernels/matrix`, with blocks that fit in the registers of each instruction set."""

from burlab.compiler.ir.library import LibraryKernel, kernel
from burlab.compiler.ir.spelling import C_TYPES, NAMES, RINGS
from burlab.graph import Node
from burlab.runtime.cpu import instruction_set

from .descriptors import SumOrder

# By instruction set: bytes of a register, rows and packets of a block of a product, and these for one or two rows.
_BLOCKS = {
    "avx512": (64, (8, 3), (2, 4)),
    "avx2": (32, (4, 3), (2, 4)),
    "neon": (16, (8, 3), (2, 4)),
    "plain": (16, (4, 2), (2, 3)),
}
# By instruction set: rows and columns of a block of packets that hold a number each of several products.
_STACKS = {"avx512": (4, 6), "avx2": (4, 3), "neon": (4, 6), "plain": (4, 2)}
# By instruction set and bytes of a number: rows that meet a vector at once.
_DOTS = {"avx512": {4: 8, 8: 4}, "avx2": {4: 4, 8: 2}, "neon": {4: 4, 8: 2}, "plain": {4: 2, 8: 1}}
# By instruction set: packets of columns whose sums of each phase fit in registers.
_COLUMNS = {"avx512": 4, "avx2": 2, "neon": 4, "plain": 2}
MAX_ROW_PACKETS = 8  # packets whose sums fit in registers with what is added to them


def general(n: Node, plain: bool, order: SumOrder) -> LibraryKernel:
    """For any strides. plain: integers, or floats whose products are rounded."""
    kind = "_strict" * (plain and n.dtype.kind == "f") or "_vector" * (order != SumOrder.IN_ORDER)
    arguments = {"": "false", "_strict": "true", "_vector": "false, true"}[kind]
    template = f"Contract<{RINGS[n.dtype]}, {arguments}>"
    return kernel(f"contract_{NAMES[n.dtype]}{kind}", template, "matrix/contraction")


def gemm(n: Node, few: bool) -> LibraryKernel:
    """For products of matrices. few: of one or two rows."""
    return _instance(n, f"gemm{'_few' * few}", f"Gemm<{{}}, {_block(few)}>", "gemm")


def gemm_axes(n: Node) -> LibraryKernel:
    """For products of matrices whose sums or rows run over several axes."""
    return _instance(n, "gemm_axes", f"GemmAxes<{{}}, {_block(few=False)}>", "gemm_axes")


def row_sums(n: Node) -> LibraryKernel:
    """For a vector and a matrix with contiguous rows, summed in order."""
    return _instance(n, "row_sums", f"RowSums<{{}}, {instruction_set().register}, {MAX_ROW_PACKETS}>", "row_sums")


def row_dots(n: Node) -> LibraryKernel:
    """For a vector and a matrix with contiguous columns, summed in order."""
    return _instance(n, "row_dots", f"RowDots<{{}}, {instruction_set().register}, {n.itemsize // 2}>", "row_dots")


def phases(n: Node) -> LibraryKernel:
    """For a vector and a matrix with contiguous rows, summed in phases."""
    isa = instruction_set()
    return _instance(n, "phases", f"Phases<{{}}, {isa.register}, {_COLUMNS[isa.name]}>", "phases")


def dots(n: Node) -> LibraryKernel:
    """For a vector and a matrix with contiguous columns, summed in lanes."""
    return _instance(n, "dots", f"Dots<{{}}, {_DOTS[instruction_set().name][n.itemsize]}>", "dots")


def stacked(n: Node) -> LibraryKernel:
    """For a stack of products, in packets across products."""
    isa = instruction_set()
    rows, columns = _STACKS[isa.name]
    return _instance(n, "stacked", f"Stacked<{{}}, {isa.register}, {rows}, {columns}>", "stacked")


def stacked_phases(n: Node) -> LibraryKernel:
    """For a stack of products of a vector and a matrix, summed in phases, in packets across products."""
    isa = instruction_set()
    template = f"StackedPhases<{{}}, {isa.register}, {_COLUMNS[isa.name]}>"
    return _instance(n, "stacked_phases", template, "stacked_phases")


def interleaved(n: Node) -> LibraryKernel:
    """For a stack of products, through copies of interleaved blocks."""
    return _instance(n, "interleaved", f"Interleaved<{{}}, {_block(few=False)}>", "interleaved")


def _instance(n: Node, name: str, template: str, header: str) -> LibraryKernel:
    """A kernel for the dtype of a node."""
    return kernel(f"{name}_{NAMES[n.dtype]}", template.format(C_TYPES[n.dtype]), f"matrix/{header}")


def _block(few: bool) -> str:
    size, *shapes = _BLOCKS[instruction_set().name]
    rows, packets = shapes[few]
    return f"{size}, {rows}, {packets}"
