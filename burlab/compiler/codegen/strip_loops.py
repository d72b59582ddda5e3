"""The C++ text of a loop of plain arithmetic that ends in squares, or in rows of a matrix times a vector: in packets.

A strip is as many numbers of a row as fill a register. Four rows go abreast, or four strips of a single one, each with
sums of its own: so no sum waits for another. Squares of floats are added as floats, and what some rows have
in all, in double; where these are too large or too small for floats, the nest runs once more in double.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from burlab.compiler.ir.library import register
from burlab.compiler.ir.spelling import C_TYPES, is_arithmetic, spelled
from burlab.graph import Node

from .loops import block, for_loop
from .nest import LoopNest
from .partial_sums import left_at
from .simd import ONE_BY_ONE

_CONCURRENT_ROWS = 4  # rows, or strips
_MAX_UNROLLED = 2  # iterations that are written out
_MAX_FLOAT_TERMS = 32  # squares that are added in a lane of floats
_MIN_PACKET_BYTES = 32  # bytes of a packet: four doubles
_KERNELS = "burlab::kernels::"
_UNROLLED = '_Pragma("unroll")'


def fits_packets(nest: LoopNest, products: dict[Node, str]) -> bool:
    """Return True if packets can do it: floats of one type, which follow each other in a row, or are one number."""
    dtypes = {x.dtype for n in nest.step.nodes for x in n.inputs} | {n.dtype for n in nest.members}
    vectors = (nest.arrays.get(n.inputs[1]) for n in products)
    return (
        len(dtypes) == 1
        and _dtype(nest).kind == "f"
        and not nest.plan.note
        and all(map(is_arithmetic, nest.members))
        and all(a.strides[-1] in (0, 1) for a in nest.all_arrays if not a.is_number)
        and not any(a.bounds for a in nest.all_arrays)
        and all(v is not None and v.strides[-1] == 1 for v in vectors)
    )


def _dtype(nest: LoopNest) -> "np.dtype[Any]":
    return nest.step.nodes[0].inputs[0].dtype


def squares_again(squares: Mapping[Node, str], exact: Callable[[], list[str]]) -> list[str]:
    """The text that adds squares in double if their sum as floats was too large or too small."""
    fits = [f"({t}_value > 1e-20 && {t}_value < 1e30)" for n, t in squares.items() if n.inputs[0].itemsize == 4]
    return block(f"if (!({' && '.join(fits)}))", exact()) if fits else []


def strip_loop(nest: LoopNest, products: dict[Node, str], squares: dict[Node, str]) -> "StripLoop":
    """The writer of a nest that packets can do. products, squares: the C++ names of sums, of rows and of everything."""
    dtype, last = _dtype(nest), nest.sizes[-1]
    width = min(max(register(), _MIN_PACKET_BYTES) // dtype.itemsize, max(4, 1 << (last - 1).bit_length()))
    return StripLoop(nest, products, squares, dtype, width)


@dataclass(frozen=True, slots=True)
class StripLoop:
    """Writes a loop nest in packets of `width` numbers, and the sums that end it.

    products: the sums of each row that are wanted now. exact: whether squares are added in double, and nothing else is
    done.
    """

    nest: LoopNest
    products: dict[Node, str]
    squares: dict[Node, str]
    dtype: "np.dtype[Any]"
    width: int
    exact: bool = False

    @property
    def _row(self) -> int:
        """The numbers of a row."""
        return self.nest.sizes[-1]

    def lines(self) -> list[str]:
        """The nest, then the values; perhaps the nest again. Of a thread's part the nest alone."""
        if self.nest.each:
            return [*self._head, *self._one_row()]
        return [*self._head, *self._squared(self.added_up())]

    @property
    def unit(self) -> int:
        """Number of indices of the outermost axis that threads may take at once; 0 if they cannot share the loop."""
        shared = len(self.nest.sizes) == 1 and not self.products and self._is_long(1)
        return self._piece(1) if shared else 0

    def ending(self) -> list[str]:
        """The values, from what the parts of threads have left."""
        lines, count = list[str](), -(-self._row // self._piece(1))
        for n, t in self.squares.items():
            left = left_at(self.nest, n, f"const {C_TYPES[self.dtype]}")
            lines += [f"D {t} = {{}};", f"{_KERNELS}take_packets<P>({t}, {left}, {count});"]
        return [*self._head, *self._squared(["{", *lines, *self._totals(), "}"])]

    @property
    def _head(self) -> list[str]:
        lines = [*self.nest.counter, f"using P = burlab::Packet<{C_TYPES[self.dtype]}, {self.width}>;"]
        return [*lines, *([f"using D = burlab::Packet<double, {self.width}>;"] if self.squares else [])]

    def _squared(self, added_up: list[str]) -> list[str]:
        """The squares, which these lines add up; perhaps the nest again."""
        lines = [*(f"double {t}_value = 0;" for t in self.squares.values()), *added_up]
        lines += squares_again(self.squares, lambda: replace(self, products={}, exact=True).added_up())
        results = {n: f"y{k}" for k, n in enumerate(self.nest.step.stores)}
        return [*lines, *(f"*{results[n]} = {t}_value;" for n, t in self.squares.items())]

    def _totals(self) -> list[str]:
        return [f"{t}_value = {_KERNELS}add_lanes<{self.width}, double>({t});" for t in self.squares.values()]

    def added_up(self) -> list[str]:
        """The loops, and the squares that they add up."""
        sizes = self.nest.sizes
        lines = self._all_rows() if len(sizes) > 1 else self._one_row()
        for axis in reversed(range(len(sizes) - 2)):
            lines = for_loop(f"i{axis}", 0, sizes[axis], lines, pragma=ONE_BY_ONE)
        begin = [f"D {t} = {{}};" for t in self.squares.values()]
        return ["{", *begin, *lines, *self._totals(), "}"]

    def _one_row(self) -> list[str]:
        row = self._group(1)
        return row if self._is_long(1) else self._summed(row, 1)

    def _all_rows(self) -> list[str]:
        """From the last to the first: the product of the forward sweep left the last of a large matrix in cache."""
        count, i = self.nest.sizes[-2], f"i{len(self.nest.sizes) - 2}"
        whole, lines = count // _CONCURRENT_ROWS * _CONCURRENT_ROWS, list[str]()
        for low, high, rows in ((whole, count, count - whole), (0, whole, _CONCURRENT_ROWS)):
            if low == high:
                continue
            group = self._group(rows)
            if self._is_long(rows) or not self.squares:
                lines += block(_downward(i, high - rows, f">= {low}", rows), group, ONE_BY_ONE)
                continue
            size = self._piece(rows) // self._row * rows
            end = f"const std::int64_t e = b - {low} > {size} ? b - {size} : {low};"
            inside = block(_downward(i, f"b - {rows}", ">= e", rows), group, ONE_BY_ONE)
            lines += block(_downward("b", high, f"> {low}", size), [end, *self._summed(inside, rows)], ONE_BY_ONE)
        return lines

    def _strips(self, rows: int) -> int:
        """The number of strips that go abreast."""
        return min(_CONCURRENT_ROWS, max(self._row // self.width, 1)) if rows == 1 else 1

    def _piece(self, rows: int) -> int:
        """The numbers of each row that are squared and added as floats."""
        return _MAX_FLOAT_TERMS * self.width * self._strips(rows)

    def _is_long(self, rows: int) -> bool:
        """Return True if these are not all of a row."""
        return bool(self.squares) and self._row > self._piece(rows)

    def _summed(self, lines: Sequence[str], rows: int) -> list[str]:
        """With the squares of these lines added up."""
        abreast = max(rows, self._strips(rows))
        begin = [f"{'D' if self.exact else 'P'} {t}_parts[{abreast}] = {{}};" for t in self.squares.values()]
        if not self.nest.each:
            return [*begin, *lines, *(f"{_KERNELS}add_packets({t}, {t}_parts);" for t in self.squares.values())]
        number, kind = f"c / {self._piece(rows)} * {self.width}", C_TYPES[self.dtype]
        left = [f"{left_at(self.nest, n, kind)} + {number}, {t}_parts" for n, t in self.squares.items()]
        return [*begin, *lines, *(f"{_KERNELS}put_packets({text});" for text in left)]

    def _group(self, rows: int) -> list[str]:
        """Rows abreast, from their first number to the last."""
        last, lines = self._row, [f"P {t}[{rows}] = {{}};" for t in self.products.values()]
        if self._is_long(rows):
            piece = self._piece(rows)
            end = f"const std::int64_t d = c + {piece} < {last} ? c + {piece} : {last};"
            inside = [*self.nest.counted(piece * rows), end, *self._summed(self._columns("c", "d", rows), rows)]
            low, high = self.nest.ends(len(self.nest.sizes) - 1, (0, last))
            lines += for_loop("c", low, high, inside, step=piece, pragma=ONE_BY_ONE)
        else:
            lines += [*self.nest.counted(last * rows), *self._columns("0", str(last), rows)]
        indices = [*(f"i{k}" for k in range(len(self.nest.sizes) - 1)), "0"]
        for n, t in self.products.items():
            lines.append(f"{_KERNELS}store_sums(&{self.nest.results[n].at(indices, self.nest.spans)}, {t});")
        return lines

    def _columns(self, first: str, end: str, rows: int) -> list[str]:
        """The strips of some rows, and their tails."""
        last, width, strips = self._row, self.width, self._strips(rows)
        lines = [f"std::int64_t j = {first};"]
        for count in dict.fromkeys((strips, 1)):
            left = last if count == strips else last % (strips * width)
            if left >= count * width:
                head = f"for (; j + {count * width} <= {end}; j += {count * width})"
                few = left // (count * width) <= _MAX_UNROLLED
                lines += block(head, self._strip(rows, count, width), _UNROLLED if few else ONE_BY_ONE)
        if last % width:
            lines += block(f"if (j < {end})", self._strip(rows, 1, last % width))
        return ["{", *lines, "}"]

    def _strip(self, rows: int, strips: int, numbers: int) -> list[str]:
        """Rows or strips abreast: what all of them read, then each with its loads, values, stores and sums."""
        abreast = max(rows, strips)
        indices = [f"i{k}" for k in range(len(self.nest.sizes))]
        indices[-1] = f"(j + {self.width} * k)" if strips > 1 else "j"
        if rows > 1:
            indices[-2] = f"({indices[-2]} + k)"
        before, inside, names, packets = list[str](), list[str](), dict(self.nest.values), set[str]()
        for number, array in enumerate(dict.fromkeys(self.nest.arrays.values())):
            name, at = f"a{number}", array.at(indices, self.nest.spans)
            names |= {x: name for x, other in self.nest.arrays.items() if other is array}
            if array.strides[-1] == 0:
                inside.append(f"const auto {name} = {at};")
                continue
            packets.add(name)
            same = rows > 1 and array.strides[-2] == 0
            (before if same else inside).append(f"P {name}; {_KERNELS}load_first<{numbers}>({name}, &{at});")
        for number, n in enumerate(self.nest.members):
            arguments = [names[x] for x in n.inputs]
            text, names[n] = spelled(n, arguments, True), f"v{number}"
            inside.append(f"const P {names[n]} = {text if packets.intersection(arguments) else f'({text}) - P{{}}'};")
            packets.add(names[n])
        inside += self._updates(indices, names, numbers, "k" if rows > 1 else "0")
        if abreast == 1:
            return ["{", *before, "{ const int k = 0;", *inside, "}", "}"]
        return ["{", *before, *block(f"for (int k = 0; k < {abreast}; ++k)", inside, _UNROLLED), "}"]

    def _updates(self, indices: list[str], names: dict[Node, str], numbers: int, row: str) -> list[str]:
        """The stores and reduction updates of one strip."""
        lines: list[str] = []
        if not self.exact:
            stores = [(n, a.at(indices, self.nest.spans)) for n, a in self.nest.results.items() if n in names]
            lines += [f"{_KERNELS}store_first<{numbers}>(&{at}, {names[n]});" for n, at in stores]
        for n, t in self.products.items():
            matrix, vector = (names[x] for x in n.inputs)
            lines.append(f"{_KERNELS}add_product<false>({t}[{row}], {matrix}, {vector});")
        for n, t in self.squares.items():
            lines.append(f"{_KERNELS}add_squares_of<{numbers}>({t}_parts[k], {names[n.inputs[0]]});")
        return lines


def _downward(index: str, first: int | str, condition: str, step: int) -> str:
    """The head of a loop whose index falls, while it meets a condition."""
    return f"for (std::int64_t {index} = {first}; {index} {condition}; {index} -= {step})"
