"""The C++ text of a loop nest whose rows are reduced: several passes over a block of rows, whose values stay at hand.

A block is a few rows, so that reductions and row values of one row need not wait for those of the row before. Where
rows that lie one behind the other are few, a block is several such strips. What a pass leaves for a later one lies in a
buffer on the stack, b..., unless it goes to memory anyway: there it is read again. Row values lie in arrays with one
element per row, r...
"""

from collections.abc import Callable, Iterable, Mapping, Sequence

from burlab.compiler.ir.iteration import IterationSpace, sweeps
from burlab.compiler.ir.library import register
from burlab.compiler.ir.spelling import C_TYPES, has_lanes, is_own
from burlab.compiler.ir.strides import Shape, View, dense_strides, grouped
from burlab.graph import Node
from burlab.graph.operation import operation

from .loops import ONE_BY_ONE, Array, LoopWriter, lanes_pragma, unfit

_BLOCK = 1024  # elements of the rows of a block, at most
_ROWS = 16  # rows of a block, at most
_STRIP_ROWS, _STRIPS = 32, 384  # where these lie in several strips: rows, and elements, of a block
_SHORT = 4  # turns of a loop that are worth lanes


class RowWriter(LoopWriter):
    """Writes one loop nest over the rows of a domain."""

    def lines(self) -> list[str]:
        """The nest."""
        step = self.step
        self.domain = IterationSpace(step.shape, step.reduced)
        self.number = {n: k for k, n in enumerate(step.nodes)}
        self.find_operands()
        for k, n in enumerate(step.stores):
            self.results[n] = Array(f"y{k}", self._over_domain(n.shape, dense_strides(n.shape)))
            self.point(f"{C_TYPES[n.dtype]}*", f"y{k}", self.plan.allocations[n].pointer)
        self._group()
        self._find_turns()
        self.flat = False  # whether what is written now walks over all rows of a block, or strip, as if they were one
        self.split = False  # whether what is written now goes through the strips of a block one by one
        self.spread: set[str] = set()  # row values that lie there once for each element
        return self.nest()

    def _over_domain(self, shape: Shape, strides: Iterable[int]) -> list[int]:
        """Strides along the axes of the domain, of an array with one element per element or per row."""
        if shape == self.domain.shape:
            return list(strides)
        steps = iter([s for s, size in zip(strides, shape, strict=True) if size != 1])
        return [0 if size == 1 else next(steps) for size in self.domain.kept] + [0] * self.domain.reduced

    def array(self, x: Node, ref: View, name: str) -> Array:
        """An operand from outside, of elements or of rows."""
        array = super().array(x, ref, name)
        array.strides = self._over_domain(x.shape, ref.strides)
        return array

    def _group(self) -> None:
        """As few axes as may be, those that are kept apart from those that are reduced; the indices of both."""
        arrays, shape, kept = self.everything(), self.step.shape, len(self.domain.kept)
        alone = {axis for a in arrays for axis in a.bounds}
        outer = grouped(shape[:kept], [tuple(a.strides[:kept]) for a in arrays], alone)
        inner = grouped(shape[kept:], [tuple(a.strides[kept:]) for a in arrays], {k - kept for k in alone})
        self.apply_groups([*outer, *([axis + kept for axis in group] for group in inner)])
        self.depth = len(outer)
        rows = self.sizes[self.depth - 1]
        self.rows = min(rows, _ROWS, max(_BLOCK // self.domain.row, 1))
        self.count = str(self.rows) if rows % self.rows == 0 else "m"  # rows in this block
        self.first_row = "0" if self.rows == rows else "b"
        self.outside = [*(f"i{k}" for k in range(self.depth - 1)), "r" if self.rows == rows else "(b + r)"]
        self.inside = [f"i{k}" for k in range(self.depth, len(self.sizes))]
        self.strips = self._strips() if self.rows == rows and self.depth > 1 else 1

    def _strips(self) -> int:
        """How many strips fit in a block, and divide those that there are; several where what waits is long."""
        if any(a.bounds for a in self.everything()) or not any(map(is_own, self.step.nodes)):
            return 1
        most = min(_STRIP_ROWS // self.rows, _STRIPS // (self.rows * self.domain.row))
        return max((k for k in range(1, most + 1) if self.sizes[self.depth - 2] % k == 0), default=1)

    def _is_full(self, n: Node) -> bool:
        """Whether a member has a value for each element, not for each row."""
        return n.shape == self.domain.shape

    def _find_turns(self) -> None:
        """In which pass each node is computed, and which values stay in a buffer for a later pass or a reduction."""
        self.turn = sweeps(self.step.nodes, self.domain, self.plan.views)
        self.buffered: set[Node] = set()
        for n in self.step.nodes:
            members = [base for x in n.inputs if (base := self.plan.views[x].base) in self.number]
            full = filter(self._is_full, members)
            self.buffered.update(base for base in full if not self._is_full(n) or self.turn[base] < self.turn[n])
        self.buffered.difference_update(self.results)

    def nest(self) -> list[str]:
        """Loops over blocks of rows around the passes over one."""
        rows = self.sizes[self.depth - 1]
        steps = [f"++i{k}" for k in range(self.depth - 1)]
        if self.strips > 1:
            steps[-1] = f"i{self.depth - 2} += {self.strips}"
        lines = [f"for (std::int64_t i{k} = 0; i{k} < {self.sizes[k]}; {step}) {{" for k, step in enumerate(steps)]
        if self.rows < rows:
            lines.append(f"for (std::int64_t b = 0; b < {rows}; b += {self.rows}) {{")
        blocks = len(lines)
        lines = [*self.counter, *lines, *self.counted(self.strips * self.rows * self.domain.row)]
        if self.count == "m":
            lines.append(f"const std::int64_t m = {rows} - b < {self.rows} ? {rows} - b : {self.rows};")
        for n in self.step.nodes:
            size = self.domain.row if n in self.buffered else 0 if self._is_full(n) else 1
            if size:
                lines.append(f"alignas(64) {C_TYPES[n.dtype]} {self._buffer(n)}[{self.strips * self.rows * size}];")
        for turn in range(max(self.turn.values()) + 1):
            nodes = [n for n in self.step.nodes if self.turn[n] == turn]
            for n in (n for n in nodes if operation(n).reduction):
                lines += self._written([n], self._reduction)
            others = [n for n in nodes if not self._is_full(n) and not operation(n).reduction]
            lines += self._written(others, self._row_values)
            lines += self._written([n for n in nodes if self._is_full(n)], self._pass)
        return [*lines, *["}"] * blocks]

    def _written(self, nodes: Sequence[Node], write: Callable[[Sequence[Node]], list[str]]) -> list[str]:
        """All strips of the block at once, if they lie one behind the other in every array that is touched."""
        if not nodes:
            return []
        touched = [self.arrays[x] for n in nodes for x in n.inputs if x in self.arrays]
        touched += [self.results[n] for n in nodes if n in self.results]
        dense = all(a.strides[self.depth - 2] == self.rows * a.strides[self.depth - 1] for a in touched)
        self.split = self.strips > 1 and not dense
        lines = write(nodes)
        if self.split:
            lines = [ONE_BY_ONE, f"for (std::int64_t q = 0; q < {self.strips}; ++q) {{", *lines, "}"]
        self.split = False
        return lines

    def _buffer(self, n: Node) -> str:
        return f"{'b' if self._is_full(n) else 'r'}{self.number[n]}"

    def _kept_at(self, n: Node) -> str:
        """Where a later pass finds a member."""
        if self._is_full(n) and n in self.results:
            return self._at(self.results[n])
        size = self.domain.row if self._is_full(n) else 1
        terms = [f"{self.rows * size} * q"] if self.split else []
        if size == 1 or self.flat:
            terms.append("i" if self._is_full(n) else "r")
        else:
            row = zip(self.inside, dense_strides(tuple(self.sizes[self.depth :])), strict=True)
            terms += [f"{size} * r", *(i if s == 1 else f"{s} * {i}" for i, s in row)]
        return f"{self._buffer(n)}[{' + '.join(terms)}]"

    def _indices(self, row: str, inside: Sequence[str]) -> list[str]:
        outside = self.outside[:-1]
        if self.split:
            outside[-1] = f"({outside[-1]} + q)"
        return [*outside, row, *inside]

    def _at(self, array: Array) -> str:
        row, inside = (self.first_row, ["i"]) if self.flat else (self.outside[-1], self.inside)
        return array.at(self._indices(row, inside), [(0, size) for size in self.sizes])

    @property
    def _count(self) -> str:
        """How many rows a pass goes through."""
        return self.count if self.split or self.strips == 1 else str(self._rows)

    @property
    def _rows(self) -> int:
        return self.rows * (1 if self.split else self.strips)

    def _for_rows(self, pragma: str = ONE_BY_ONE) -> list[str]:
        return [pragma, f"for (std::int64_t r = 0; r < {self._count}; ++r) {{"]

    def _reduction(self, nodes: Sequence[Node]) -> list[str]:
        """All rows of the block, by a function with the bits of the library's kernels."""
        (n,) = nodes
        (x,) = n.inputs
        base = self.plan.views[x].base
        at = f" + {self.rows} * q" if self.split else ""
        start, step = f"b{self.number.get(base)}{at and f'{at} * {self.domain.row}'}", self.domain.row
        if base not in self.buffered:
            array = self.results[base] if base in self.number else self.arrays[x]
            start = "&" + array.at(self._indices(self.first_row, ["0"] * len(self.inside)), [])
            step = array.strides[self.depth - 1]
        option = str(n.op == "reduce_max").lower() if n.op != "sum" else "" if self.plan.strict else register()
        name = "row_extremes" if n.op != "sum" else "row_sums_strict" if self.plan.strict else "row_sums"
        function = f"{name}<{option}{', ' * bool(option)}{self.domain.row}>"
        call = f"burlab::kernels::{function}({self._buffer(n)}{at}, {start}, {step}, {self._count});"
        lines = [*self._noted([n], {n: self._kept_at(n)})]
        lines += [f"  {self._at(self.results[n])} = {self._kept_at(n)};"] if n in self.results else []
        pragma = self._row_pragma([n], [self.results[n]] if n in self.results else [])
        return [call, *([*self._for_rows(pragma), *lines, "}"] if lines else [])]

    def _local(self, n: Node, names: dict[Node, str]) -> str:
        return names.setdefault(n, f"v{self.number[n]}")

    def _noted(self, nodes: Sequence[Node], names: dict[Node, str]) -> list[str]:
        return [f"  bad |= {unfit(names[n] for n in nodes if n.dtype.kind == 'f')};"] if self.plan.note else []

    def _stored(self, nodes: Sequence[Node], names: dict[Node, str]) -> list[str]:
        """Members go to their buffers, or to memory; row values to both."""
        kept = [n for n in nodes if n in self.buffered or not self._is_full(n)]
        lines = [f"  {self._kept_at(n)} = {names[n]};" for n in kept]
        return [*lines, *(f"  {self._at(self.results[n])} = {names[n]};" for n in nodes if n in self.results)]

    def _loads(
        self, nodes: Sequence[Node], names: dict[Node, str]
    ) -> tuple[dict[str, tuple[str, str]], list[str], list[Array]]:
        """What is read for a row (by name: type and element), and for an element; the arrays of the latter."""
        by_row, lines = dict[str, tuple[str, str]](), dict[str, None]()
        arrays: list[Array] = []
        members = set(nodes)
        for x in dict.fromkeys(x for n in nodes for x in n.inputs):
            base = self.plan.views[x].base
            if base in members:
                names[x] = f"v{self.number[base]}"
            elif base in self.number:
                names[x] = f"c{self.number[base]}"
                if self._is_full(base):
                    lines[f"  const {C_TYPES[x.dtype]} {names[x]} = {self._kept_at(base)};"] = None
                else:
                    by_row[names[x]] = C_TYPES[x.dtype], self._kept_at(base)
            elif x in self.arrays:
                array = self.arrays[x]
                names[x] = f"a{self.everything().index(array)}"
                if not any(array.strides[self.depth :]) and not array.bounds:
                    by_row[names[x]] = C_TYPES[x.dtype], array.at(self._indices(self.outside[-1], self.inside), [])
                else:
                    lines[f"  const {C_TYPES[x.dtype]} {names[x]} = {self._at(array)};"] = None
                    arrays.append(array)
        return by_row, list(lines), arrays

    def _formulas(self, nodes: Sequence[Node], names: dict[Node, str], lanes: bool) -> list[str]:
        lines: list[str] = []
        for n in nodes:
            text = self.spelled(n, [names[x] for x in n.inputs], lanes)
            lines.append(f"  const {C_TYPES[n.dtype]} {self._local(n, names)} = {text};")
        return [*lines, *self._noted(nodes, names), *self._stored(nodes, names)]

    def _row_values(self, nodes: Sequence[Node]) -> list[str]:
        """One loop over the rows of the block."""
        names = dict(self.values)
        by_row, loads, _ = self._loads(nodes, names)
        arrays = [a for a in self.everything() if f"a{self.everything().index(a)}" in names.values()]
        arrays += [self.results[n] for n in nodes if n in self.results]
        pragma = self._row_pragma(nodes, arrays)
        formulas = self._formulas(nodes, names, pragma != ONE_BY_ONE)
        return [*self._for_rows(pragma), *_read(by_row), *loads, *formulas, "}"]

    def _row_pragma(self, nodes: Sequence[Node], arrays: Sequence[Array]) -> str:
        """Lanes for a loop over the rows of the block, if they can be had."""
        steps = {a.strides[self.depth - 1] for a in arrays if not a.is_number}
        lanes = self._rows >= 2 * _SHORT and steps <= {0, 1} and not any(a.bounds for a in arrays)
        lanes = lanes and all(operation(n).reduction or has_lanes(n) for n in nodes)
        return lanes_pragma(self._rows, _widest(nodes)) if lanes else ONE_BY_ONE

    def _pass(self, nodes: Sequence[Node]) -> list[str]:
        """One walk over the elements of the block."""
        names = dict(self.values)
        by_row, loads, arrays = self._loads(nodes, names)
        arrays += [self.results[n] for n in nodes if n in self.results]
        lanes = all(a.strides[-1] in (0, 1) and not a.bounds for a in arrays) and all(map(has_lanes, nodes))
        worth = not by_row or any(map(is_own, nodes))
        if lanes and worth and self._may_be_flat(nodes, arrays):
            return self._flat_pass(nodes)
        last = self.sizes[-1]
        lanes = lanes and last >= _SHORT
        head = [*self._for_rows(), *_read(by_row)]
        for index, size in zip(self.inside, self.sizes[self.depth :], strict=True):
            pragma = lanes_pragma(last, _widest(nodes)) if lanes else ONE_BY_ONE
            head += [pragma] if index == self.inside[-1] else []
            head.append(f"for (std::int64_t {index} = 0; {index} < {size}; ++{index}) {{")
        return [*head, *loads, *self._formulas(nodes, names, lanes), *["}"] * len(self.inside), "}"]

    def _may_be_flat(self, nodes: Sequence[Node], arrays: Sequence[Array]) -> bool:
        """Whether rows that do not fill registers lie one behind the other in all that is read and written."""
        row, lanes = self.domain.row, register() // _widest(nodes)
        dense = all(a.strides[self.depth - 1] == row * a.strides[-1] == row for a in arrays if not a.is_number)
        several = self._rows > 1 and self._rows * row >= 2 * _SHORT
        return dense and several and len(self.inside) == 1 and row < 2 * lanes and row % lanes != 0

    def _flat_pass(self, nodes: Sequence[Node]) -> list[str]:
        """One walk over the elements of the block as if it had one row; values of rows are spread over it first."""
        self.flat = True
        names = dict(self.values)
        by_row, loads, _ = self._loads(nodes, names)
        row, lines = self.domain.row, list[str]()
        size = row * self._rows
        for name, (kind, element) in by_row.items():
            loads.append(f"  const {kind} {name} = {name}s[i];")
            if name not in self.spread:
                head = [
                    f"alignas(64) {kind} {name}s[{size}];",
                    *self._for_rows(),
                    f"  const {kind} x = {element};",
                ]
                walk = f"  for (std::int64_t i = 0; i < {row}; ++i) {name}s[{row} * r + i] = x;"
                lines += [*head, lanes_pragma(row, 4) if row >= _SHORT else ONE_BY_ONE, walk, "}"]
                self.spread.update([] if self.split else [name])
        count = f"{row} * m" if self._count == "m" else str(size)
        head = [lanes_pragma(size, _widest(nodes)), f"for (std::int64_t i = 0; i < {count}; ++i) {{"]
        lines += [*head, *loads, *self._formulas(nodes, names, True), "}"]
        self.flat = False
        return lines


def _read(by_row: Mapping[str, tuple[str, str]]) -> list[str]:
    return [f"  const {kind} {name} = {element};" for name, (kind, element) in by_row.items()]


def _widest(nodes: Iterable[Node]) -> int:
    """Bytes of the largest number that a loop reads or writes."""
    return max(x.itemsize for n in nodes for x in (n, *n.inputs))
