"""The instruction set of threaded code, as `kernels/replay/opcodes.hpp` lists it; tests hold the two lists together."""

from enum import StrEnum


class Opcode(StrEnum):
    """An operation that threaded code carries out itself. Its codes begin with its value, see `CODES`."""

    MUL, ADD, SUB = "mul", "add", "sub"  # x y, x + y, x - y

    # two at a time: the first on x and y, the second on its result and z; MUL_FROM is z - x y
    MUL_ADD, MUL_SUB, MUL_FROM, MUL_MUL = "mul_add", "mul_sub", "mul_from", "mul_mul"
    ADD_ADD, ADD_SUB, ADD_MUL = "add_add", "add_sub", "add_mul"
    SUB_ADD, SUB_SUB, SUB_MUL = "sub_add", "sub_sub", "sub_mul"

    # from an array: lanes that lie together, one number for all lanes, lanes with a stride; and to an array
    LOAD, BROADCAST, GATHER = "load", "broadcast", "gather"
    STORE, SCATTER = "store", "scatter"


MOVES = {Opcode.LOAD, Opcode.BROADCAST, Opcode.GATHER, Opcode.STORE, Opcode.SCATTER}

# Two operations as one, where nothing else reads the first: by the second, and by which of its operands the first is.
PAIRS = {
    (first, second, k): Opcode(f"{first}_{name}")
    for first in (Opcode.MUL, Opcode.ADD, Opcode.SUB)
    for second, k, name in [
        *((Opcode.ADD, k, "add") for k in (0, 1)),
        *((Opcode.MUL, k, "mul") for k in (0, 1)),
        (Opcode.SUB, 0, "sub"),
        *([(Opcode.SUB, 1, "from")] if first is Opcode.MUL else []),
    ]
}

# In the order of the header. What follows an opcode states where its operands are: m in memory, l the last result.
CODES = tuple(
    """
    end literals call load broadcast gather store scatter mul_mm mul_lm mul_ll add_mm add_lm add_ll sub_mm sub_lm
    sub_ml mul_add_mmm mul_add_lmm mul_add_mml mul_sub_mmm mul_sub_lmm mul_from_mmm mul_from_lmm mul_mul_mmm
    mul_mul_lmm add_mul_mmm add_mul_lmm add_mul_llm sub_mul_mmm sub_mul_lmm add_add_mmm add_add_lmm add_sub_mmm
    add_sub_lmm sub_add_mmm sub_add_lmm sub_sub_mmm sub_sub_lmm
    """.split()
)
