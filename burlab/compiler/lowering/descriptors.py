"""The integers that each kernel takes, by name and in the order in which it reads them.

Strides are in elements. A stride of 1 that a kernel takes for granted is not among them.
"""

import enum
from typing import NamedTuple


class Bytes(NamedTuple):
    """`Zero` of move/layout.hpp."""

    nbytes: int


class Elements(NamedTuple):
    """Kernels that map or add up a dense array: elementwise.hpp, reduce/squares.hpp, finite.hpp."""

    size: int


class Norms(NamedTuple):
    """`Norm` of reduce/norm.hpp: rows, their length and step, the bits of what sums of squares were divided by.

    centers: how many numbers come third, which are subtracted.
    """

    rows: int
    size: int
    step: int
    divisor: int
    centers: int


class StridedRows(NamedTuple):
    """`Copy` of move/layout.hpp and `Cumsum` of reduce/cumsum.hpp: rows, and the elements of one."""

    rows: int
    out: int
    a: int
    size: int
    out_step: int
    a_step: int


class UfuncLoop(NamedTuple):
    """`Special` of special.hpp: elements, addresses of the loop and of its data, how many arguments and results.

    Then bytes: the step of each argument, that of the results, and where each result begins.
    """

    size: int
    loop: int
    data: int
    arguments: int
    results: int


class DenseRows(NamedTuple):
    """`Sort` and `Argsort` of move/sort.hpp; places of rows follow for the kernels of move/select_rows.hpp."""

    rows: int
    size: int


class Matrices(NamedTuple):
    """Kernels of linalg: how many matrices, their rows and columns, and what the kernel makes of its option."""

    matrices: int
    rows: int
    columns: int
    option: int


class Eigenvalues(NamedTuple):
    """`Eig` of linalg/eig.hpp: as `Matrices`, and the address of LAPACK's routine."""

    matrices: int
    rows: int
    columns: int
    option: int
    routine: int


class Indexed(NamedTuple):
    """`Gather`, `Scatter` and `Put` of move/gather.hpp: a table in each batch, whose rows are numbered by indices."""

    batches: int
    rows: int
    indices: int
    width: int


class SparseEntries(NamedTuple):
    """`SparseProduct` of move/sparse_product.hpp: rows of result and x, entries, elements of a row; what wraps."""

    size: int
    rows: int
    entries: int
    width: int
    columns_wrap: int
    rows_wrap: int


class SampledEntries(NamedTuple):
    """`SampledProduct` of move/sparse_product.hpp: rows of x and y, entries, elements of a row that count, and all."""

    columns: int
    rows: int
    entries: int
    width: int
    stride: int
    columns_wrap: int
    rows_wrap: int


class RowEntries(NamedTuple):
    """Kernels of move/sparse_rows.hpp: rows; rows of x, or of the result; entries; elements of a row; apart or not."""

    rows: int
    size: int
    entries: int
    width: int
    apart: int


class Keys(NamedTuple):
    """`Uniform` and `FoldIn` of random.hpp: keys, and the elements, or the step between numbers, for each."""

    keys: int
    each: int


class Transforms(NamedTuple):
    """Kernels of fourier/fft.hpp: rows, their length, and whether angles are positive."""

    rows: int
    length: int
    inverse: int


class QueryCall(NamedTuple):
    """`OracleQuery` of oracle_query.hpp. chosen: samples that each is about, 0 where they are not chosen."""

    query: int
    rows: int
    numbers: int
    results: int
    itemsize: int
    chosen: int


class Reduced(NamedTuple):
    """`Sum` of reduce/reduce.hpp and `Extreme` of reduce/extreme.hpp: each result is of rows of numbers.

    add: whether what the result holds takes part.
    """

    results: int
    result_step: int
    rows: int
    row_step: int
    size: int
    step: int
    add: int


class SumColumns(NamedTuple):
    """`SumColumns` of reduce/reduce.hpp: `rows` groups of `size` rows, each of `width` columns."""

    width: int
    rows: int
    row_step: int
    size: int
    step: int


class ExtremeColumns(NamedTuple):
    """`ExtremeColumns` of reduce/extreme.hpp; add: whether what the result holds takes part."""

    width: int
    rows: int
    row_step: int
    size: int
    step: int
    add: int


class Blocks(NamedTuple):
    """Kernels of reduce/blocks.hpp: whole blocks, numbers of a column, columns, numbers of a column in a block."""

    blocks: int
    numbers: int
    width: int
    size: int


class SumAccumulate(NamedTuple):
    """`SumAccumulate` of reduce/reduce.hpp: a row of results, to which groups of rows are added."""

    width: int
    a: int
    out: int
    rows: int
    row_step: int
    size: int
    step: int


class Position(NamedTuple):
    """`Where` of reduce/where.hpp."""

    results: int
    result_step: int
    size: int
    step: int


class PositionColumns(NamedTuple):
    """`WhereColumns` of reduce/where.hpp."""

    width: int
    size: int
    step: int


class SumOrder(enum.IntEnum):
    """The order of the sums of a contraction; of matrix/contraction.hpp."""

    IN_ORDER = 0
    IN_LANES = 1
    IN_PHASES = 2


class Contraction(NamedTuple):
    """The struct of matrix/contraction.hpp: m rows of c, n columns, sums of k products; then an `OuterAxis` each."""

    m: int
    n: int
    k: int
    a_m: int
    a_n: int
    a_k: int
    b_m: int
    b_n: int
    b_k: int
    c_m: int
    c_n: int
    accumulate: int
    order: int  # a SumOrder
    rank: int


class OuterAxis(NamedTuple):
    """A further axis of a contraction: its size, and the strides of c, a and b along it."""

    size: int
    c: int
    a: int
    b: int


class Choices(NamedTuple):
    """`while` and `cond` of control/control.hpp; then the bytes of each result, and of a row of each operand."""

    rows: int
    results: int
    operands: int


class ScanCall(NamedTuple):
    """`scan` of control/scan.hpp.

    Then bytes: of each result of the body, of an element of each sequence, of what is stacked of each result; and for
    each carry whether its trail is stored.
    """

    length: int
    reverse: int
    carries: int
    sequences: int
    operands: int
    results: int


class BlocksCall(NamedTuple):
    """`blocks` of control/blocks.hpp.

    Then bytes: of a block of each sequence, of a block of each result, 0 for sums, and of each sum that starts from 0.
    """

    length: int
    sequences: int
    operands: int
    results: int
    sums: int
