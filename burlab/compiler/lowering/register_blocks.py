"""Blocks of sums that fit in the registers of each instruction set, as arguments of templates."""

from burlab.runtime.cpu import instruction_set

# Bytes of a register, rows and packets of a block of one product, and these for one or two rows.
_PRODUCT = {
    "avx512": (64, (8, 3), (2, 4)),
    "avx2": (32, (4, 3), (2, 4)),
    "neon": (16, (8, 3), (2, 4)),
    "plain": (16, (4, 2), (2, 3)),
}
# Rows and columns of a block of packets that hold a number each of several products.
_STACK = {"avx512": (4, 6), "avx2": (4, 3), "neon": (4, 6), "plain": (4, 2)}


def product_block(few: bool = False) -> str:
    """Bytes of a register, rows and packets of a block of a product; few: if it has one row or two.

    >>> len(product_block().split(", "))
    3
    """
    size, *shapes = _PRODUCT[instruction_set().name]
    rows, packets = shapes[few]
    return f"{size}, {rows}, {packets}"


def stack_block() -> str:
    """Bytes of a register, rows and columns of a block of packets."""
    isa = instruction_set()
    rows, columns = _STACK[isa.name]
    return f"{isa.register}, {rows}, {columns}"
