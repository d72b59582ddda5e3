"""The C++ text of a loop nest whose rows are reduced: several sweeps over a block of rows, whose values stay at hand.

A block is a few rows, so that reductions and row values of one row need not wait for those of the row before. Where
rows that lie one behind the other are few, a block is several such strips. What a sweep leaves for a later one lies in
a buffer on the stack, b..., unless it goes to memory anyway: there it is read again. Row values lie in arrays with one
element per row, r...
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from burlab.compiler.ir.iteration import IterationSpace, sweeps
from burlab.compiler.ir.library import register
from burlab.compiler.ir.spelling import C_TYPES, has_lanes, is_own, spelled
from burlab.compiler.ir.strides import dense_strides
from burlab.graph import Node
from burlab.graph.operation import Operation

from .loops import FEW_TERMS, ONE_BY_ONE, WRITTEN_OUT, lanes_pragma, unfit, widest_of
from .nest import Array, LoopNest

_BLOCK = 1024  # elements of the rows of a block, at most
_ROWS = 16  # rows of a block, at most
_STRIP_ROWS, _STRIPS = 32, 384  # where these lie in several strips: rows, and elements, of a block
_MIN_LANE_ITERATIONS = 4  # iterations of a loop that are worth lanes
_MAX_UNROLLED = 16  # elements of a nest that is written out, so that its buffers become registers
_MAX_NARROW_ROW = 4  # elements of rows that are written out, in lanes over rows
_NARROW_BLOCK_ROWS = 64  # rows of a block of them


class _Parts(NamedTuple):
    """The text of one element: what is read for its row, its loads, values and stores."""

    by_row: dict[str, tuple[str, str]]
    loads: list[str]
    formulas: list[str]
    stores: list[str]


@dataclass(frozen=True, slots=True)
class RowWriter:
    """Writes one loop nest over blocks of rows.

    number: of each node, in the names of its variables. sweep: in which each is computed; buffered: those that a later
    sweep or a reduction reads from a buffer. rows, strips: of a block. split: whether what is written goes through the
    strips of a block one by one. flat: whether it walks over all rows of a block, or strip, as if they were one.
    column: the element of each row that is written, where these are written out.
    """

    nest: LoopNest
    space: IterationSpace
    number: dict[Node, int]
    sweep: dict[Node, int]
    buffered: set[Node]
    rows: int
    strips: int
    split: bool = False
    flat: bool = False
    column: int | None = None

    @property
    def all_rows(self) -> int:
        """Along the last axis that is not reduced, in all blocks."""
        return self.nest.sizes[self.nest.depth - 1]

    @property
    def count(self) -> str:
        """Rows in this block."""
        return str(self.rows) if self.all_rows % self.rows == 0 else "m"

    @property
    def first_row(self) -> str:
        """The index of the first row in this block."""
        return "0" if self.rows == self.all_rows else "b"

    @property
    def outside(self) -> list[str]:
        """The indices that are not reduced."""
        return [*(f"i{k}" for k in range(self.nest.depth - 1)), "r" if self.rows == self.all_rows else "(b + r)"]

    @property
    def inside(self) -> list[str]:
        """The indices that are reduced."""
        if self.column is not None:
            return [str(self.column)]
        return [f"i{k}" for k in range(self.nest.depth, len(self.nest.sizes))]

    def _is_full(self, n: Node) -> bool:
        """Return True if a member has a value for each element, not for each row."""
        return n.shape == self.space.shape

    def lines(self) -> list[str]:
        """Loops over blocks of rows around the sweeps over one."""
        nest, rows = self.nest, self.all_rows
        steps = [f"++i{k}" for k in range(nest.depth - 1)]
        if self.strips > 1:
            steps[-1] = f"i{nest.depth - 2} += {self.strips}"
        lines = [f"for (std::int64_t i{k} = 0; i{k} < {nest.sizes[k]}; {step}) {{" for k, step in enumerate(steps)]
        if self.rows < rows:
            lines.append(f"for (std::int64_t b = 0; b < {rows}; b += {self.rows}) {{")
        blocks = len(lines)
        lines = [*nest.counter, *lines, *nest.counted(self.strips * self.rows * self.space.row)]
        if self.count == "m":
            lines.append(f"const std::int64_t m = {rows} - b < {self.rows} ? {rows} - b : {self.rows};")
        for n in nest.step.nodes:
            size = self.space.row if n in self.buffered else 0 if self._is_full(n) else 1
            if size:
                lines.append(f"alignas(64) {C_TYPES[n.dtype]} {self._buffer(n)}[{self.strips * self.rows * size}];")
        spread: set[str] = set()
        for sweep in range(max(self.sweep.values()) + 1):
            lines += self._sweep([n for n in nest.step.nodes if self.sweep[n] == sweep], spread)
        return [*lines, *["}"] * blocks]

    def _sweep(self, nodes: Sequence[Node], spread: set[str]) -> list[str]:
        """Reductions, then values of rows, then those of elements. spread: row values that are spread over a block."""
        lines: list[str] = []
        for n in (n for n in nodes if n.row.reduction):
            lines += self._written([n], RowWriter._reduction)
        others = [n for n in nodes if not self._is_full(n) and not n.row.reduction]
        lines += self._written(others, RowWriter._row_values)
        full = [n for n in nodes if self._is_full(n)]
        return [*lines, *self._written(full, lambda writer, nodes: writer.elements(nodes, spread))]

    def _written(self, nodes: Sequence[Node], write: Callable[["RowWriter", Sequence[Node]], list[str]]) -> list[str]:
        """All strips of the block at once, if they lie one behind the other in every array that is touched."""
        if not nodes:
            return []
        touched = [self.nest.arrays[x] for n in nodes for x in n.inputs if x in self.nest.arrays]
        touched += [self.nest.results[n] for n in nodes if n in self.nest.results]
        dense = all(a.strides[self.nest.depth - 2] == self.rows * a.strides[self.nest.depth - 1] for a in touched)
        if self.strips == 1 or dense:
            return write(self, nodes)
        lines = write(replace(self, split=True), nodes)
        return [ONE_BY_ONE, f"for (std::int64_t q = 0; q < {self.strips}; ++q) {{", *lines, "}"]

    def _buffer(self, n: Node) -> str:
        return f"{'b' if self._is_full(n) else 'r'}{self.number[n]}"

    def _place_of(self, n: Node) -> str:
        """Where a later sweep finds a member."""
        if self._is_full(n) and n in self.nest.results:
            return self._at(self.nest.results[n])
        size = self.space.row if self._is_full(n) else 1
        terms = [f"{self.rows * size} * q"] if self.split else []
        if size == 1 or self.flat:
            terms.append("i" if self._is_full(n) else "r")
        else:
            row = zip(self.inside, dense_strides(tuple(self.nest.sizes[self.nest.depth :])), strict=True)
            terms += [f"{size} * r", *(i if s == 1 else f"{s} * {i}" for i, s in row)]
        return f"{self._buffer(n)}[{' + '.join(terms)}]"

    def _indices(self, row: str, inside: Sequence[str]) -> list[str]:
        outside = self.outside[:-1]
        if self.split:
            outside[-1] = f"({outside[-1]} + q)"
        return [*outside, row, *inside]

    def _at(self, array: Array) -> str:
        row, inside = (self.first_row, ["i"]) if self.flat else (self.outside[-1], self.inside)
        spans = [(0, size) for size in self.nest.sizes]
        if self.column is not None:
            spans[-1] = (self.column, self.column + 1)
        return array.at(self._indices(row, inside), spans)

    @property
    def _count(self) -> str:
        """The number of rows that are walked."""
        return self.count if self.split or self.strips == 1 else str(self._rows)

    @property
    def _rows(self) -> int:
        return self.rows * (1 if self.split else self.strips)

    @property
    def _one_by_one(self) -> str:
        """The text before a loop without lanes."""
        tiny = self.rows == self.all_rows and self._rows * self.space.row <= _MAX_UNROLLED
        return WRITTEN_OUT if tiny else ONE_BY_ONE

    def _for_rows(self, pragma: str = ONE_BY_ONE) -> list[str]:
        pragma = self._one_by_one if pragma == ONE_BY_ONE else pragma
        return [pragma, f"for (std::int64_t r = 0; r < {self._count}; ++r) {{"]

    def _reduction(self, nodes: Sequence[Node]) -> list[str]:
        """All rows of the block, by a function with the bits of the library's kernels."""
        (n,) = nodes
        (x,) = n.inputs
        base = self.nest.plan.views[x].base
        at = f" + {self.rows} * q" if self.split else ""
        start, step = f"b{self.number.get(base)}{at and f'{at} * {self.space.row}'}", self.space.row
        if base not in self.buffered:
            array = self.nest.results[base] if base in self.number else self.nest.arrays[x]
            start = "&" + array.at(self._indices(self.first_row, ["0"] * len(self.inside)), [])
            step = array.strides[self.nest.depth - 1]
        name, option = self._library(n.row)
        function = f"{name}<{option}{', ' * bool(option)}{self.space.row}>"
        call = [f"burlab::kernels::{function}({self._buffer(n)}{at}, {start}, {step}, {self._count});"]
        if name == "row_sums" and self.space.row <= FEW_TERMS and self._one_by_one == WRITTEN_OUT:
            few = f"burlab::kernels::sum_of_few<{self.space.row}>({start} + {step} * r)"
            call = [*self._for_rows(), f"  {self._place_of(n)} = {few};", "}"]
        lines = [*self._checked([n], {n: self._place_of(n)})]
        lines += [f"  {self._at(self.nest.results[n])} = {self._place_of(n)};"] if n in self.nest.results else []
        pragma = self._row_pragma([n], [self.nest.results[n]] if n in self.nest.results else [])
        return [*call, *([*self._for_rows(pragma), *lines, "}"] if lines else [])]

    def _library(self, row: Operation) -> tuple[str, str]:
        """The function that reduces rows, and its first argument."""
        if not row.adds_up:
            return "row_extremes", str(row.largest).lower()
        return ("row_sums_strict", "") if self.nest.plan.options.strict else ("row_sums", str(register()))

    def _variable(self, kind: str, number: int) -> str:
        return f"{kind}{number}" if self.column is None else f"{kind}{number}_{self.column}"

    def _local(self, n: Node, names: dict[Node, str]) -> str:
        return names.setdefault(n, self._variable("v", self.number[n]))

    def _checked(self, nodes: Sequence[Node], names: dict[Node, str]) -> list[str]:
        return [f"  bad |= {unfit(names[n] for n in nodes if n.dtype.kind == 'f')};"] if self.nest.plan.note else []

    def _stored(self, nodes: Sequence[Node], names: dict[Node, str]) -> list[str]:
        """Members go to their buffers, or to memory; row values to both."""
        later = [n for n in nodes if n in self.buffered or not self._is_full(n)]
        lines = [f"  {self._place_of(n)} = {names[n]};" for n in later]
        return [*lines, *(f"  {self._at(self.nest.results[n])} = {names[n]};" for n in nodes if n in self.nest.results)]

    def _loads(
        self, nodes: Sequence[Node], names: dict[Node, str]
    ) -> tuple[dict[str, tuple[str, str]], list[str], list[Array]]:
        """Reads for a row (by name: type and element), and for an element; the arrays of the latter."""
        by_row, lines = dict[str, tuple[str, str]](), dict[str, None]()
        arrays: list[Array] = []
        members = set(nodes)
        for x in dict.fromkeys(x for n in nodes for x in n.inputs):
            base = self.nest.plan.views[x].base
            if base in members:
                names[x] = self._variable("v", self.number[base])
            elif base in self.number:
                names[x] = f"c{self.number[base]}"
                if self._is_full(base):
                    names[x] = self._variable("c", self.number[base])
                    lines[f"  const {C_TYPES[x.dtype]} {names[x]} = {self._place_of(base)};"] = None
                else:
                    by_row[names[x]] = C_TYPES[x.dtype], self._place_of(base)
            elif x in self.nest.arrays:
                array = self.nest.arrays[x]
                names[x] = f"a{self.nest.all_arrays.index(array)}"
                if not any(array.strides[self.nest.depth :]) and not array.bounds:
                    by_row[names[x]] = C_TYPES[x.dtype], array.at(self._indices(self.outside[-1], self.inside), [])
                else:
                    names[x] = self._variable("a", self.nest.all_arrays.index(array))
                    lines[f"  const {C_TYPES[x.dtype]} {names[x]} = {self._at(array)};"] = None
                    arrays.append(array)
        return by_row, list(lines), arrays

    def _computed(self, nodes: Sequence[Node], names: dict[Node, str], lanes: bool) -> list[str]:
        lines: list[str] = []
        for n in nodes:
            text = spelled(n, [names[x] for x in n.inputs], lanes)
            lines.append(f"  const {C_TYPES[n.dtype]} {self._local(n, names)} = {text};")
        return [*lines, *self._checked(nodes, names)]

    def _formulas(self, nodes: Sequence[Node], names: dict[Node, str], lanes: bool) -> list[str]:
        return [*self._computed(nodes, names, lanes), *self._stored(nodes, names)]

    def _row_values(self, nodes: Sequence[Node]) -> list[str]:
        """One loop over the rows of the block."""
        names = dict(self.nest.values)
        by_row, loads, _ = self._loads(nodes, names)
        arrays = [a for a in self.nest.all_arrays if f"a{self.nest.all_arrays.index(a)}" in names.values()]
        arrays += [self.nest.results[n] for n in nodes if n in self.nest.results]
        pragma = self._row_pragma(nodes, arrays)
        formulas = self._formulas(nodes, names, pragma != ONE_BY_ONE)
        return [*self._for_rows(pragma), *_read(by_row), *loads, *formulas, "}"]

    def _row_pragma(self, nodes: Sequence[Node], arrays: Sequence[Array]) -> str:
        """Lanes for a loop over the rows of the block, if they can be had."""
        steps = {a.strides[self.nest.depth - 1] for a in arrays if not a.is_number}
        lanes = self._rows >= 2 * _MIN_LANE_ITERATIONS and steps <= {0, 1} and not any(a.bounds for a in arrays)
        lanes = lanes and all(n.row.reduction or has_lanes(n) for n in nodes)
        return lanes_pragma(self._rows, widest_of(nodes)) if lanes else ONE_BY_ONE

    def elements(self, nodes: Sequence[Node], spread: set[str]) -> list[str]:
        """One walk over the elements of the block."""
        names = dict(self.nest.values)
        by_row, loads, arrays = self._loads(nodes, names)
        arrays += [self.nest.results[n] for n in nodes if n in self.nest.results]
        lanes = all(a.strides[-1] in (0, 1) and not a.bounds for a in arrays) and all(map(has_lanes, nodes))
        worth = not by_row or any(map(is_own, nodes))
        if lanes and worth and self._may_be_flat(nodes, arrays):
            return replace(self, flat=True).flat_elements(nodes, spread)
        last = self.nest.sizes[-1]
        if self._is_narrow(nodes):
            return self.columns(nodes)
        lanes = lanes and last >= _MIN_LANE_ITERATIONS
        head = [*self._for_rows(), *_read(by_row)]
        for index, size in zip(self.inside, self.nest.sizes[self.nest.depth :], strict=True):
            pragma = lanes_pragma(last, widest_of(nodes)) if lanes else self._one_by_one
            head += [pragma] if index == self.inside[-1] else []
            head.append(f"for (std::int64_t {index} = 0; {index} < {size}; ++{index}) {{")
        return [*head, *loads, *self._formulas(nodes, names, lanes), *["}"] * len(self.inside), "}"]

    def _is_narrow(self, nodes: Sequence[Node]) -> bool:
        """Return True if rows are short, and many enough for lanes."""
        last = len(self.nest.sizes) - 1
        bounded = any(axis != last for a in self.nest.all_arrays for axis in a.bounds)
        short = len(self.inside) == 1 and self.space.row <= _MAX_NARROW_ROW and self._rows >= 2 * _MIN_LANE_ITERATIONS
        return short and not bounded and all(map(has_lanes, nodes))

    def parts(self, nodes: Sequence[Node]) -> "_Parts":
        """The element of a row at `column`."""
        names = dict(self.nest.values)
        by_row, loads, _ = self._loads(nodes, names)
        return _Parts(by_row, loads, self._computed(nodes, names, True), self._stored(nodes, names))

    def columns(self, nodes: Sequence[Node]) -> list[str]:
        """One walk over the rows of the block in lanes: all loads of a row, its values, then its stores."""
        by_row, loads, formulas, ends = dict[str, tuple[str, str]](), list[str](), list[str](), list[str]()
        for column in range(self.space.row):
            parts = replace(self, column=column).parts(nodes)
            by_row |= parts.by_row
            loads += parts.loads
            formulas += parts.formulas
            ends += parts.stores
        head = self._for_rows(lanes_pragma(self._rows, widest_of(nodes)))
        return [*head, *_read(by_row), *loads, *formulas, *ends, "}"]

    def _may_be_flat(self, nodes: Sequence[Node], arrays: Sequence[Array]) -> bool:
        """Return True if rows that do not fill registers lie one behind the other in all that is read and written."""
        row, lanes = self.space.row, register() // widest_of(nodes)
        dense = all(a.strides[self.nest.depth - 1] == row * a.strides[-1] == row for a in arrays if not a.is_number)
        several = self._rows > 1 and self._rows * row >= 2 * _MIN_LANE_ITERATIONS
        return dense and several and len(self.inside) == 1 and row < 2 * lanes and row % lanes != 0

    def flat_elements(self, nodes: Sequence[Node], spread: set[str]) -> list[str]:
        """One walk over the elements of the block as if it had one row; values of rows are spread over it first."""
        names = dict(self.nest.values)
        by_row, loads, _ = self._loads(nodes, names)
        row, lines = self.space.row, list[str]()
        size = row * self._rows
        for name, (kind, element) in by_row.items():
            loads.append(f"  const {kind} {name} = {name}s[i];")
            if name not in spread:
                head = [
                    f"alignas(64) {kind} {name}s[{size}];",
                    *self._for_rows(),
                    f"  const {kind} x = {element};",
                ]
                walk = f"  for (std::int64_t i = 0; i < {row}; ++i) {name}s[{row} * r + i] = x;"
                lines += [*head, lanes_pragma(row, 4) if row >= _MIN_LANE_ITERATIONS else ONE_BY_ONE, walk, "}"]
                spread.update([] if self.split else [name])
        count = f"{row} * m" if self._count == "m" else str(size)
        head = [lanes_pragma(size, widest_of(nodes)), f"for (std::int64_t i = 0; i < {count}; ++i) {{"]
        lines += [*head, *loads, *self._formulas(nodes, names, True), "}"]
        return lines


def _read(by_row: Mapping[str, tuple[str, str]]) -> list[str]:
    return [f"  const {kind} {name} = {element};" for name, (kind, element) in by_row.items()]


def row_loop(nest: LoopNest) -> list[str]:
    """The text of a loop whose rows are reduced."""
    step = nest.step
    space = IterationSpace(step.shape, step.reduced)
    number = {n: k for k, n in enumerate(step.nodes)}
    sweep = sweeps(step.nodes, space, nest.plan.views)
    all_rows = nest.sizes[nest.depth - 1]
    most = _NARROW_BLOCK_ROWS if space.row <= _MAX_NARROW_ROW else _ROWS
    rows = min(all_rows, most, max(_BLOCK // space.row, 1))
    strips = _strips(nest, rows, space.row) if rows == all_rows and nest.depth > 1 else 1
    return RowWriter(nest, space, number, sweep, _buffered(nest, space, sweep), rows, strips).lines()


def _strips(nest: LoopNest, rows: int, row: int) -> int:
    """Return the strips that fit in a block and divide those that there are; several where what waits is long."""
    if any(a.bounds for a in nest.all_arrays) or not any(map(is_own, nest.step.nodes)):
        return 1
    most = min(_STRIP_ROWS // rows, _STRIPS // (rows * row))
    return max((k for k in range(1, most + 1) if nest.sizes[nest.depth - 2] % k == 0), default=1)


def _buffered(nest: LoopNest, space: IterationSpace, sweep: dict[Node, int]) -> set[Node]:
    """Values of elements that stay in a buffer for a later sweep or a reduction."""
    found: set[Node] = set()
    for n in nest.step.nodes:
        members = [base for x in n.inputs if (base := nest.plan.views[x].base) in sweep]
        full = (base for base in members if base.shape == space.shape)
        found.update(base for base in full if n.shape != space.shape or sweep[base] < sweep[n])
    return found.difference(nest.results)
