"""The C++ text of a loop nest whose rows are reduced: several sweeps over a block of rows, whose values stay at hand.

A block is a few rows, so that reductions and row values of one row need not wait for those of the row before. Where
rows that lie one behind the other are few, a block is several such strips. What a sweep leaves for a later one lies in
a buffer on the stack, b..., unless it goes to memory anyway: there it is read again. Row values lie in arrays with one
element per row, r...
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from burlab.compiler.ir.iteration import IterationSpace, sweeps
from burlab.compiler.ir.library import register
from burlab.compiler.ir.spelling import C_TYPES, fits, has_common_lanes, has_lanes, is_own, spelled
from burlab.compiler.ir.strides import dense_strides
from burlab.graph import Node
from burlab.graph.operation import Operation

from .loops import MAX_WRITTEN_TERMS, block, for_loop, unfit
from .nest import Array, LoopNest
from .row_blocks import MAX_NARROW_ROW, MIN_SPARED, buffered, pitch_of_block, rows_of_block, strips_of_block
from .row_reads import Reads, RowValue
from .simd import ONE_BY_ONE, WRITTEN_OUT, lane_steps, lanes_pragma, widest_of

_MIN_LANE_ITERATIONS = 4  # iterations of a loop that are worth lanes
_MIN_OWN_PACKED = 2  # long functions for each array whose rows are packed for them
_MAX_UNROLLED = 16  # elements of a nest that is written out, so that its buffers become registers


def row_loop(nest: LoopNest) -> list[str]:
    """The text of a loop whose rows are reduced."""
    step = nest.step
    space = IterationSpace(step.shape, step.reduced)
    number = {n: k for k, n in enumerate(step.nodes)}
    sweep = sweeps(step.nodes, space, nest.plan.views)
    rows, strips = rows_of_block(nest, space.row), strips_of_block(nest, space.row)
    pitch = pitch_of_block(nest, space) if strips == 1 else space.row
    return _RowLoop(nest, space, number, sweep, buffered(nest, space, sweep), rows, strips, pitch).lines()


@dataclass(frozen=True, slots=True)
class _RowLoop:
    """Writes the sweeps over each block of rows.

    number: of each node, in the names of its variables. sweep: in which each is computed; buffered: those that a later
    sweep or a reduction reads from a buffer, where rows begin at multiples of pitch. rows, strips: of a block. split:
    whether what is written goes through the strips of a block one by one. flat: whether it walks over all rows of a
    block, or strip, as if they were one. column: the element of each row that is written, where these are written out.
    packed: the arrays that a flat walk reads from buffers.
    """

    nest: LoopNest
    space: IterationSpace
    number: dict[Node, int]
    sweep: dict[Node, int]
    buffered: set[Node]
    rows: int
    strips: int
    pitch: int
    split: bool = False
    flat: bool = False
    column: int | None = None
    packed: tuple[Array, ...] = ()

    @property
    def _axis(self) -> int:
        return self.nest.depth - 1

    @property
    def _all_rows(self) -> int:
        """Along the last axis that is not reduced, in all blocks."""
        return self.nest.sizes[self._axis]

    @property
    def _one_block(self) -> bool:
        return self.rows == self._all_rows and not self._is_cut

    @property
    def _is_cut(self) -> bool:
        """Return True if several threads share the blocks."""
        return self.nest.each > 0 and self._axis == 0

    @property
    def _block_rows(self) -> str:
        """Rows in this block."""
        whole = self.nest.each if self._is_cut else self._all_rows
        return str(self.rows) if whole % self.rows == 0 else "m"

    @property
    def _first_row(self) -> str:
        """The index of the first row in this block."""
        return "0" if self._one_block else "b"

    @property
    def _row(self) -> str:
        """The index of a row."""
        return "r" if self._one_block else "(b + r)"

    @property
    def _columns(self) -> list[str]:
        """The indices that are reduced."""
        if self.column is not None:
            return [str(self.column)]
        return [f"i{k}" for k in range(self.nest.depth, len(self.nest.sizes))]

    def _is_full(self, n: Node) -> bool:
        """Return True if a member has a value for each element, not for each row."""
        return n.shape == self.space.shape

    def lines(self) -> list[str]:
        """Loops over blocks of rows around the sweeps over one."""
        nest = self.nest
        first, rows = nest.ends(self._axis, (0, self._all_rows))
        lines = nest.counted(self.strips * self.rows * self.space.row)
        if self._block_rows == "m":
            lines.append(f"const std::int64_t m = {rows} - b < {self.rows} ? {rows} - b : {self.rows};")
        for n in nest.step.nodes:
            size = self.pitch if n in self.buffered else 0 if self._is_full(n) else 1
            if size:
                lines.append(f"alignas(64) {C_TYPES[n.dtype]} {self._buffer(n)}[{self.strips * self.rows * size}];")
        spread: set[str] = set()
        for sweep in range(max(self.sweep.values()) + 1):
            lines += self._sweep([n for n in nest.step.nodes if self.sweep[n] == sweep], spread)
        lines = lines if self._one_block else for_loop("b", first, rows, lines, step=self.rows)
        for axis in reversed(range(self._axis)):
            step = self.strips if axis == self._axis - 1 else 1
            first, last = nest.ends(axis, (0, nest.sizes[axis]))
            lines = for_loop(f"i{axis}", first, last, lines, step=step)
        return [*nest.counter, *lines]

    def _sweep(self, nodes: Sequence[Node], spread: set[str]) -> list[str]:
        """Reductions, then values of rows, then those of elements. spread: row values that are spread over a block."""
        lines: list[str] = []
        for n in (n for n in nodes if n.row.reduction):
            lines += self._written([n], _RowLoop._reduction)
        others = [n for n in nodes if not self._is_full(n) and not n.row.reduction]
        lines += self._written(others, _RowLoop._row_values)
        kinds = {n: 1 + has_common_lanes(n) if self.space.apart(n) else 0 for n in nodes if self._is_full(n)}
        for kind in range(3):
            full = [n for n in kinds if kinds[n] == kind]
            lines += self._written(full, lambda writer, nodes: writer.elements(nodes, spread))
        return lines

    def _written(self, nodes: Sequence[Node], write: Callable[["_RowLoop", Sequence[Node]], list[str]]) -> list[str]:
        """All strips of the block at once, if they lie one behind the other in every array that is touched."""
        if not nodes:
            return []
        touched = [self.nest.arrays[x] for n in nodes for x in n.inputs if x in self.nest.arrays]
        touched += self._results(nodes)
        dense = all(a.strides[self._axis - 1] == self.rows * a.strides[self._axis] for a in touched)
        if self.strips == 1 or dense:
            return write(self, nodes)
        return for_loop("q", 0, self.strips, write(replace(self, split=True), nodes), pragma=ONE_BY_ONE)

    def _results(self, nodes: Iterable[Node]) -> list[Array]:
        """The arrays of those nodes that are stored."""
        return [self.nest.results[n] for n in nodes if n in self.nest.results]

    def _buffer(self, n: Node) -> str:
        return f"{'b' if self._is_full(n) else 'r'}{self.number[n]}"

    def _place_of(self, n: Node) -> str:
        """Return the place of a member for a later sweep."""
        if self._is_full(n) and n in self.nest.results:
            return self._at(self.nest.results[n])
        size = self.pitch if self._is_full(n) else 1
        terms = [f"{self.rows * size} * q"] if self.split else []
        if size == 1 or self.flat:
            terms.append("i" if self._is_full(n) else "r")
        else:
            row = zip(self._columns, dense_strides(tuple(self.nest.sizes[self.nest.depth :])), strict=True)
            terms += [f"{size} * r", *(i if s == 1 else f"{s} * {i}" for i, s in row)]
        return f"{self._buffer(n)}[{' + '.join(terms)}]"

    def _indices(self, row: str, columns: Sequence[str]) -> list[str]:
        outer = [f"i{k}" for k in range(self._axis)]
        if self.split:
            outer[-1] = f"({outer[-1]} + q)"
        return [*outer, row, *columns]

    def _at(self, array: Array) -> str:
        row, columns = (self._first_row, ["i"]) if self.flat else (self._row, self._columns)
        spans = self.nest.spans
        if self.column is not None:
            spans[-1] = (self.column, self.column + 1)
        return array.at(self._indices(row, columns), spans)

    @property
    def _rows(self) -> int:
        """The largest number of rows that are walked at a time."""
        return self.rows * (1 if self.split else self.strips)

    @property
    def _count(self) -> str:
        """That number in this block."""
        return self._block_rows if self.split or self.strips == 1 else str(self._rows)

    @property
    def _one_by_one(self) -> str:
        """The pragma of a loop without lanes."""
        return WRITTEN_OUT if self._one_block and self._rows * self.space.row <= _MAX_UNROLLED else ONE_BY_ONE

    def _for_rows(self, body: Iterable[str], lanes: str = "") -> list[str]:
        """A loop over the rows of the block. lanes: its pragma, if it has lanes."""
        return for_loop("r", 0, self._count, body, pragma=lanes or self._one_by_one)

    def _reduction(self, nodes: Sequence[Node]) -> list[str]:
        """All rows of the block, by a function with the bits of the library's kernels."""
        (n,) = nodes
        (x,) = n.inputs
        base = self.nest.plan.views[x].base
        at = f" + {self.rows} * q" if self.split else ""
        start, step = f"b{self.number.get(base)}{at and f'{at} * {self.space.row}'}", self.pitch
        if base not in self.buffered:
            array = self.nest.results[base] if base in self.number else self.nest.arrays[x]
            start = "&" + array.at(self._indices(self._first_row, ["0"] * len(self._columns)), [])
            step = array.strides[self._axis]
        name, option = self._library(n.row)
        function = f"{name}<{option}{', ' * bool(option)}{self.space.row}>"
        lines = [f"burlab::kernels::{function}({self._buffer(n)}{at}, {start}, {step}, {self._count});"]
        if name == "row_sums" and self.space.row <= MAX_WRITTEN_TERMS and self._one_by_one == WRITTEN_OUT:
            few = f"burlab::kernels::sum_of_few<{self.space.row}>({start} + {step} * r)"
            lines = self._for_rows([f"{self._place_of(n)} = {few};"])
        place = self._place_of(n)
        after = [*self._checked([n], {n: place}), *(f"{self._at(y)} = {place};" for y in self._results([n]))]
        return [*lines, *(self._for_rows(after, self._row_lanes([n], self._results([n]))) if after else [])]

    def _library(self, row: Operation) -> tuple[str, str]:
        """The function that reduces rows, and its first argument."""
        if not row.adds_up:
            return "row_extremes", str(row.largest).lower()
        return ("row_sums_strict", "") if self.nest.plan.options.strict else ("row_sums", str(register()))

    def _variable(self, kind: str, number: int) -> str:
        return f"{kind}{number}" if self.column is None else f"{kind}{number}_{self.column}"

    def _checked(self, nodes: Sequence[Node], names: Mapping[Node, str]) -> list[str]:
        return [f"bad |= {unfit(names[n] for n in nodes if n.dtype.kind == 'f')};"] if self.nest.plan.note else []

    def reads(self, nodes: Sequence[Node]) -> Reads:
        """Return the operands of nodes that are not computed with them."""
        by_row, lines, names = dict[RowValue, None](), dict[str, None](), dict(self.nest.values)
        arrays, members = list[Array](), set(nodes)
        for x in dict.fromkeys(x for n in nodes for x in n.inputs):
            base, kind = self.nest.plan.views[x].base, C_TYPES[x.dtype]
            if base in members:
                names[x] = self._variable("v", self.number[base])
            elif base in self.number and not self._is_full(base):
                names[x] = f"c{self.number[base]}"
                by_row[RowValue(names[x], kind, self._place_of(base))] = None
            elif base in self.number:
                names[x] = self._variable("c", self.number[base])
                lines[f"const {kind} {names[x]} = {self._place_of(base)};"] = None
            elif x in self.nest.arrays:
                array = self.nest.arrays[x]
                number = self.nest.all_arrays.index(array)
                if not any(array.strides[self.nest.depth :]) and not array.bounds:
                    names[x] = f"a{number}"
                    by_row[RowValue(names[x], kind, array.at(self._indices(self._row, self._columns), []))] = None
                else:
                    names[x] = self._variable("a", number)
                    place = f"{names[x]}s[i]" if array in self.packed else self._at(array)
                    lines[f"const {kind} {names[x]} = {place};"] = None
                arrays.append(array)
        return Reads(list(by_row), list(lines), arrays, names)

    def computed(self, nodes: Sequence[Node], names: dict[Node, str], lanes: bool) -> list[str]:
        lines: list[str] = []
        for n in nodes:
            text = spelled(n, [names[x] for x in n.inputs], lanes)
            names[n] = self._variable("v", self.number[n])
            lines.append(f"const {C_TYPES[n.dtype]} {names[n]} = {text};")
            if lanes and has_common_lanes(n):
                arguments = ", ".join(names[x] for x in (*n.inputs, n))
                lines.append(f"rare{self.number[nodes[0]]} |= {fits(n).symbol}({arguments}) ? 0 : 1;")
        return [*lines, *self._checked(nodes, names)]

    def stored(self, nodes: Sequence[Node], names: Mapping[Node, str]) -> list[str]:
        """Members go to their buffers, or to memory; row values to both."""
        later = [n for n in nodes if n in self.buffered or not self._is_full(n)]
        lines = [f"{self._place_of(n)} = {names[n]};" for n in later]
        return [*lines, *(f"{self._at(self.nest.results[n])} = {names[n]};" for n in nodes if n in self.nest.results)]

    def _formulas(self, nodes: Sequence[Node], names: dict[Node, str], lanes: bool) -> list[str]:
        return [*self.computed(nodes, names, lanes), *self.stored(nodes, names)]

    def _row_values(self, nodes: Sequence[Node]) -> list[str]:
        """One loop over the rows of the block."""
        reads = self.reads(nodes)
        lanes = self._row_lanes(nodes, [*reads.arrays, *self._results(nodes)])
        formulas = self._formulas(nodes, reads.names, bool(lanes))
        return self._for_rows([*(x.line for x in reads.by_row), *reads.lines, *formulas], lanes)

    def _row_lanes(self, nodes: Sequence[Node], arrays: Sequence[Array]) -> str:
        """The pragma that makes lanes of a loop over the rows of the block, "" if it can have none."""
        steps = {a.strides[self._axis] for a in arrays if not a.is_number}
        lanes = self._rows >= 2 * _MIN_LANE_ITERATIONS and steps <= {0, 1} and not any(a.bounds for a in arrays)
        lanes = lanes and all(n.row.reduction or has_lanes(n) for n in nodes)
        return lanes_pragma(self._rows, widest_of(nodes)) if lanes else ""

    def elements(self, nodes: Sequence[Node], spread: set[str]) -> list[str]:
        """One walk over the elements of the block, and another where lanes have met arguments that are rare."""
        walk = self._walk(nodes, spread, has_lanes)
        if not has_common_lanes(nodes[0]) or self.nest.plan.note:
            return walk
        rare, walk = f"rare{self.number[nodes[0]]}", self._walk(nodes, spread, has_common_lanes)
        return [f"std::int64_t {rare} = 0;", *walk, *block(f"if ({rare})", self._walk(nodes, spread, has_lanes))]

    def _walk(self, nodes: Sequence[Node], spread: set[str], fits_lanes: Callable[[Node], bool]) -> list[str]:
        reads, last = self.reads(nodes), self.nest.sizes[-1]
        arrays = [a for a in reads.arrays if any(a.strides[self.nest.depth :]) or a.bounds] + self._results(nodes)
        lanes = all(a.strides[-1] in (0, 1) and not a.bounds for a in arrays) and all(map(fits_lanes, nodes))
        worth = not reads.by_row or any(map(is_own, nodes))
        packed = tuple([a for a in reads.arrays if a in arrays and not self._is_dense(a)])
        if lanes and worth and self._may_be_flat(nodes, arrays, packed):
            return replace(self, flat=True, packed=packed).flat_elements(nodes, spread)
        if self._is_narrow(nodes):
            return self.by_column(nodes)
        lanes = lanes and last >= _MIN_LANE_ITERATIONS
        pragma = lanes_pragma(last, widest_of(nodes)) if lanes else self._one_by_one
        lines = [*reads.lines, *self._formulas(nodes, reads.names, lanes)]
        for index, size in zip(self._columns[::-1], self.nest.sizes[::-1], strict=False):
            lines, pragma = for_loop(index, 0, size, lines, pragma=pragma), ""
        return self._for_rows([*(x.line for x in reads.by_row), *lines])

    def _is_narrow(self, nodes: Sequence[Node]) -> bool:
        """Return True if rows are short, and many enough for lanes."""
        last = len(self.nest.sizes) - 1
        bounded = any(axis != last for a in self.nest.all_arrays for axis in a.bounds)
        short = len(self._columns) == 1 and self.space.row <= MAX_NARROW_ROW and self._rows >= 2 * _MIN_LANE_ITERATIONS
        return short and not bounded and all(map(has_lanes, nodes))

    def by_column(self, nodes: Sequence[Node]) -> list[str]:
        """One walk over the rows of the block in lanes: all loads of a row, its values, then its stores."""
        by_row, loads, formulas, ends = dict[RowValue, None](), list[str](), list[str](), list[str]()
        for column in range(self.space.row):
            writer = replace(self, column=column)
            reads = writer.reads(nodes)
            by_row |= dict.fromkeys(reads.by_row)
            loads += reads.lines
            formulas += writer.computed(nodes, reads.names, True)
            ends += writer.stored(nodes, reads.names)
        lines = [*(x.line for x in by_row), *loads, *formulas, *ends]
        return self._for_rows(lines, lanes_pragma(self._rows, widest_of(nodes)))

    def _is_dense(self, array: Array) -> bool:
        """Return True if the rows of an array lie as in buffers."""
        return array.is_number or array.strides[self._axis] == self.pitch * array.strides[-1] == self.pitch

    def _may_be_flat(self, nodes: Sequence[Node], arrays: Sequence[Array], packed: Sequence[Array]) -> bool:
        """Return True if rows that do not fill registers lie as in buffers, or are worth packing there."""
        row, lanes = self.space.row, register() // widest_of(nodes)
        dense = all(a in packed or self._is_dense(a) for a in arrays) and all(a.strides[-1] == 1 for a in packed)
        several = self._rows > 1 and self._rows * row >= 2 * _MIN_LANE_ITERATIONS
        costly = lane_steps(row, lanes) * lanes >= MIN_SPARED * row
        costly = costly and sum(map(is_own, nodes)) > _MIN_OWN_PACKED * len(packed)
        worth = costly or (row < 2 * lanes and not packed)
        return dense and several and len(self._columns) == 1 and row % lanes != 0 and worth

    def flat_elements(self, nodes: Sequence[Node], spread: set[str]) -> list[str]:
        """One walk over the elements of the block as if it had one row; values of rows are spread over it first."""
        reads = self.reads(nodes)
        row, lines, size = self.pitch, list[str](), self.pitch * self._rows
        lines += self._packed_rows(spread)
        for x in (x for x in reads.by_row if x.name not in spread):
            lines.append(f"alignas(64) {x.kind} {x.name}s[{size}];")
            pragma = lanes_pragma(row, 4) if row >= _MIN_LANE_ITERATIONS else ONE_BY_ONE
            walk = f"for (std::int64_t i = 0; i < {row}; ++i) {x.name}s[{row} * r + i] = x;"
            lines += self._for_rows([f"const {x.kind} x = {x.place};", pragma, walk])
            spread.update([] if self.split else [x.name])
        spread_out = (f"const {x.kind} {x.name} = {x.name}s[i];" for x in reads.by_row)
        inner = [*reads.lines, *spread_out, *self._formulas(nodes, reads.names, True)]
        count = f"{row} * m" if self._count == "m" else str(size)
        if rest := row - self.space.row:  # behind the last of all rows is nothing to read
            count += f" - {rest}" if self._one_block else f" - (b + {self.rows} < {self._all_rows} ? 0 : {rest})"
        return [*lines, *for_loop("i", 0, count, inner, pragma=lanes_pragma(size, widest_of(nodes)))]

    def _packed_rows(self, spread: set[str]) -> list[str]:
        """Copies of the rows that a flat walk reads from buffers."""
        lines, row = list[str](), self.space.row
        kinds = {self.nest.all_arrays.index(a): x.dtype for x, a in self.nest.arrays.items() if a in self.packed}
        for number, dtype in kinds.items():
            name, (column,) = f"a{number}s", self._columns
            if name in spread:
                continue
            lines.append(f"alignas(64) {C_TYPES[dtype]} {name}[{self.pitch * self._rows}];")
            place = self.nest.all_arrays[number].at(self._indices(self._row, [column]), self.nest.spans)
            copy = f"{name}[{self.pitch} * r + {column}] = {place};"
            lines += self._for_rows(for_loop(column, 0, row, [copy], pragma=lanes_pragma(row, dtype.itemsize)))
            spread.update([] if self.split else [name])
        return lines
