"""The C++ text of a loop that ends in sums: of a loss's terms, of a gradient's squares, or of a matrix times a vector.

What is added up is never stored. The loop goes block by block. Terms of a sum go through a buffer, which the library
adds, to the bits of its own sum. Squares of floats are added as floats in lanes, and the lanes of a block in double;
where these are too large or too small for floats, the nest runs once more and adds in double from the start.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from burlab.compiler.ir.library import LibraryKernel, register
from burlab.compiler.ir.partials import BLOCK
from burlab.compiler.ir.spelling import C_TYPES, NAMES, RINGS
from burlab.compiler.ir.strides import dense_strides, elements
from burlab.graph import Node
from burlab.graph.operation import Ending

from .lane_sums import sums_in_lanes
from .loops import MAX_WRITTEN_TERMS, block, for_loop, stores, unfit, values
from .nest import LoopNest, Span
from .partial_sums import block_sums_of, left_at, sums_of_blocks, whole_blocks
from .simd import ONE_BY_ONE, WRITTEN_OUT, in_lanes, innermost_pragma, lane_pieces, lanes_pragma
from .stages import Walk, has_stages, staged
from .strip_loops import StripLoop, fits_packets, squares_again, strip_loop

_BLOCK = 512  # numbers that a buffer takes at a time
_MIN_LANES = 4  # lanes that are worth it


def epilogue_of(n: Node) -> LibraryKernel:
    """The library's part in an epilogue reduction: for a sum, functions that take its blocks and give its value."""
    if n.row.epilogue is not Ending.SUM:
        return LibraryKernel("burlab_strips", "", "burlab/kernels/reduce/strips.hpp")
    name, kind = f"burlab_sum_epilogue_{NAMES[n.dtype]}", RINGS[n.dtype]
    head = 'extern "C" BURLAB_WIDE'
    text = (
        f"using {name}_type = burlab::kernels::SumEpilogue<{kind}>;\n"
        f"{head} void {name}({name}_type* sum, std::int64_t n) noexcept {{ sum->added(n); }}\n"
        f"{head} {kind} {name}_value({name}_type* sum) noexcept {{ return sum->value(); }}\n"
    )
    return LibraryKernel(name, text, "burlab/kernels/reduce/epilogue.hpp")


def epilogue_loop(nest: LoopNest) -> "SumLoop | StripLoop":
    """The writer of a loop that ends in sums: in packets where these can do it."""
    sums, squares, rows = (_named(nest, ending) for ending in (Ending.SUM, Ending.SQUARES, Ending.ROWS))
    if not sums and fits_packets(nest, rows):
        return strip_loop(nest, rows, squares)
    *_, last = nest.sizes
    axis = max(len(nest.sizes) - (1 if 2 * last > _BLOCK else 2), 0)
    length = min(max(_BLOCK // elements(nest.sizes[axis + 1 :]), 1), nest.sizes[axis])
    narrowest = min((n.inputs[0].itemsize for n in (*squares, *rows)), default=register())
    width = min(register() // narrowest, 1 << (last.bit_length() - 1))
    uneven = (last if axis == len(nest.sizes) - 2 else length) % width or last % width
    rests = ("", "_rest") if uneven or len(nest.pieces(len(nest.sizes) - 1)) > 1 else ("",)
    return SumLoop(nest, sums, squares, rows, axis, length, width, rests)


def unit_of_sums(nest: LoopNest) -> int:
    """Number of indices of the outermost axis that a thread takes at once of a loop with sums; 0: one does all."""
    numbers = [x for n in nest.step.nodes if n.row.epilogue for x in (n, *n.inputs)]
    if any(n.shape for n in numbers if n.row.epilogue) or any(x.dtype.kind != "f" for x in numbers):
        return 0
    return BLOCK if sums_in_lanes(nest) else epilogue_loop(nest).unit


def ending_of_sums(nest: LoopNest) -> list[str]:
    """The text that comes after the parts of all threads: the values of the sums."""
    if sums_in_lanes(nest):
        return sums_of_blocks(nest, (n for n in nest.step.nodes if n.row.epilogue))
    return epilogue_loop(replace(nest, each=0)).ending()


def _named(nest: LoopNest, ending: Ending) -> dict[Node, str]:
    """The sums of one kind that end a loop, by their C++ names."""
    ends = [n for n in nest.step.nodes if n.row.epilogue]
    return {n: f"t{k}" for k, n in enumerate(ends) if n.row.epilogue is ending}


@dataclass(frozen=True, slots=True)
class SumLoop:
    """Writes a loop nest that ends in sums, with their C++ names: of everything, of squares, and of each row.

    axis: which is cut into blocks; length: of a block. width: of the lanes that numbers are added in. rests: endings of
    the names of lanes: those of whole strips, and of what fills none, which has lanes of its own, since a number stored
    into lanes delays the next that reads them all. exact: whether squares are added in double, and nothing else is
    done.
    """

    nest: LoopNest
    sums: dict[Node, str]
    squares: dict[Node, str]
    rows: dict[Node, str]
    axis: int
    length: int
    width: int
    rests: tuple[str, ...]
    exact: bool = False

    @property
    def _is_tiny(self) -> bool:
        """Return True if it is written out, and with it its sums."""
        return 1 < elements(self.nest.sizes) <= MAX_WRITTEN_TERMS

    @property
    def _last(self) -> int:
        """The number of the last axis."""
        return len(self.nest.sizes) - 1

    def lines(self) -> list[str]:
        """The nest, then the values; perhaps the nest again. Of a thread's part the nest alone."""
        nest, sums, squares = self.nest, self.sums, self.squares
        lines = [*nest.counter, *(self._accumulator(n, t) for n, t in sums.items())]
        if nest.each:
            return [*lines, *self._loops([]), *(f"{block_sums_of(n).symbol}_end(&{t});" for n, t in sums.items())]
        lines += [f"double {t}_value = 0;" for t in squares.values()]
        lines += self.added_up()
        lines += [f"const {C_TYPES[n.dtype]} {t}_value = {self._sum(n, t)};" for n, t in sums.items()]
        lines += self._again()
        names = sums | squares
        whole = {n: names[n] for n in nest.step.nodes if n in names}
        lines += [f"*y{k} = {whole[n]}_value;" for k, n in enumerate(nest.step.stores) if n in whole]
        if nest.plan.note:
            lines.append(f"bad |= {unfit(f'{t}_value' for t in whole.values())};")
        return lines

    @property
    def unit(self) -> int:
        """Number of indices of the outermost axis that threads may take at once; 0 if they cannot share the loop."""
        shared = not self.rows and len(self.nest.pieces(0)) == 1 and (not self.squares or len(self.nest.sizes) == 1)
        return whole_blocks(self.nest) if shared and not self._is_tiny else 0

    def ending(self) -> list[str]:
        """The values, from what the parts of threads have left."""
        squares, width, lines = self.squares, self.width, [*self.nest.counter]
        for n, t in squares.items():
            lines += [f"double {t}_value = 0;", f"double {t}[{width}] = {{}};"]
            at, count = f"{self._left(n)}[{width} * k + l]", -(-elements(self.nest.sizes) // _BLOCK)
            lanes = for_loop("l", 0, width, [f"{t}[l] += {at};"])
            lines += for_loop("k", 0, count, lanes, pragma=ONE_BY_ONE)
            lines += for_loop("l", 0, width, [f"{t}_value += {t}[l];"], pragma=ONE_BY_ONE)
        lines += self._again()
        lines += [f"*y{k} = {squares[n]}_value;" for k, n in enumerate(self.nest.step.stores) if n in squares]
        return [*lines, *sums_of_blocks(self.nest, self.sums)]

    def _left(self, n: Node) -> str:
        """Place where blocks leave their sums, of so many numbers in all; of squares each its lanes."""
        return left_at(self.nest, n, C_TYPES[n.inputs[0].dtype] if n in self.squares else "double")

    def _again(self) -> list[str]:
        return squares_again(self.squares, lambda: replace(self, sums={}, rows={}, exact=True).added_up())

    def _accumulator(self, n: Node, t: str) -> str:
        if self.nest.each:
            row = elements(self.nest.sizes[1:])
            return f"{block_sums_of(n).symbol}_type {t}({self._left(n)} + {row} * first / {_BLOCK});"
        few = f"{RINGS[n.dtype]} {t}_next[{MAX_WRITTEN_TERMS}];"
        return few if self._is_tiny else f"{epilogue_of(n).symbol}_type {t};"

    def _sum(self, n: Node, t: str) -> str:
        few = f"burlab::kernels::sum_of_few<{elements(self.nest.sizes)}>({t}_next)"
        return few if self._is_tiny else f"{epilogue_of(n).symbol}_value(&{t})"

    def added_up(self) -> list[str]:
        """The loops, and the squares that they add up."""
        lines = [*self._lanes("double", self.squares.values()), *self._loops([])]
        for t in self.squares.values():
            lines += [f"{t}_value = 0;", ONE_BY_ONE]
            lines.append(f"for (std::int64_t l = 0; l < {self.width}; ++l) {t}_value += {self._lane_of(t)};")
        return ["{", *lines, "}"]

    def _lanes(self, kind: str, names: Iterable[str]) -> list[str]:
        return [f"alignas(64) {kind} {t}{end}[{self.width}] = {{}};" for t in names for end in self.rests]

    def _lane_of(self, t: str) -> str:
        return " + ".join(f"{t}{end}[l]" for end in self.rests)

    def _loops(self, spans: Sequence[Span]) -> list[str]:
        """The nest inside of the loops with these spans."""
        axis = len(spans)
        if axis > self._last:
            return self._element(spans, in_lanes(self.nest, spans), "")
        strips = self.squares or self.rows
        pieces = self.nest.pieces(axis) if strips else lane_pieces(self.nest, spans)
        lines = [line for span in pieces for line in self._loop([*spans, span])]
        lines = self._blocks(lines) if axis == self.axis else lines
        return self._row(lines, spans) if axis == self._last else lines

    def _loop(self, spans: Sequence[Span]) -> list[str]:
        """The last of the loops with these spans."""
        axis, span = len(spans) - 1, spans[-1]
        if axis == self._last and (self.squares or self.rows):
            return self._strips(spans)
        first, end = self._limits(axis, span)
        if axis == self._last and has_stages(self.nest, spans):
            most = self.length if axis == self.axis else span[1] - span[0]
            return self._staged(spans, Walk(f"i{axis}", first, end, most, start=first), "")
        written_out = self._is_tiny and not in_lanes(self.nest, spans)
        body, pragma = self._loops(spans), WRITTEN_OUT if written_out else innermost_pragma(self.nest, spans)
        if axis == 0 < self.axis and self.rows and not self.sums:
            # Backwards: the product of the forward sweep left the last rows of a large matrix in cache.
            return block(f"for (std::int64_t i0 = {span[1]}; i0-- > {span[0]};)", body, pragma)
        return for_loop(f"i{axis}", first, end, body, pragma=pragma)

    def _row(self, inner: list[str], spans: Sequence[Span]) -> list[str]:
        """The last axis, with the products of its numbers added in lanes."""
        indices = [*(f"i{axis}" for axis in range(len(spans))), "0"]
        begin = [line for n, t in self.rows.items() for line in self._lanes(C_TYPES[n.dtype], [t])]
        end: list[str] = []
        for n, t in self.rows.items():
            sums = (f"burlab::kernels::add_lanes<{self.width}>({t}{rest})" for rest in self.rests)
            end.append(f"{self.nest.results[n].at(indices, [*spans, (0, 1)])} = {' + '.join(sums)};")
        return [*begin, *inner, *end]

    def _blocks(self, inner: list[str]) -> list[str]:
        """A loop over blocks, with the consumer of each block's numbers, or of the lanes of its squares."""
        sizes, step, width = self.nest.sizes, self.length, self.width
        sums = {} if self._is_tiny else self.sums
        size, row = sizes[self.axis], elements(sizes[self.axis + 1 :])
        blocked = {} if self.exact else self.squares
        low, high = self.nest.ends(self.axis, (0, size))
        uneven = size % step or (self.nest.each and self.axis == 0)
        library = block_sums_of if self.nest.each else epilogue_of
        lines = [
            *self.nest.counted(row * step),
            f"const std::int64_t e = {f'b + {step} < {high} ? b + {step} : {high}' if uneven else f'b + {step}'};",
            *(f"{RINGS[n.inputs[0].dtype]}* const {t}_next = {t}.next();" for n, t in sums.items()),
            *(x for n, t in blocked.items() for x in self._lanes(C_TYPES[n.inputs[0].dtype], [f"{t}_lanes"])),
            *inner,
            *(f"{library(n).symbol}(&{t}, {row} * (e - b));" for n, t in sums.items()),
        ]
        for n, t in blocked.items():
            lane = f"{self._left(n)}[b / {step} * {width} + l] =" if self.nest.each else f"{t}[l] +="
            lines.append(lanes_pragma(width, 8) if width >= _MIN_LANES else ONE_BY_ONE)
            lines.append(f"for (std::int64_t l = 0; l < {width}; ++l) {lane} {self._lane_of(f'{t}_lanes')};")
        return for_loop("b", low, high, lines, step=step)

    def _limits(self, axis: int, span: Span) -> tuple[int | str, int | str]:
        """The first and the last index of a loop; along the axis that is cut, of the part inside of the block."""
        low, high = span
        if axis != self.axis:
            return self.nest.ends(axis, span)
        end = f"(e < {high} ? e : {high})" if high < self.nest.sizes[axis] else "e"
        return f"(b > {low} ? b : {low})" if low else "b", end

    def _strips(self, spans: Sequence[Span]) -> list[str]:
        """A piece of the last axis in strips as wide as the lanes that squares are added in, and the rest of it."""
        axis, width, (low, high) = self._last, self.width, spans[-1]
        lanes = in_lanes(self.nest, spans) or has_stages(self.nest, spans)
        first, end = self._limits(axis, spans[-1])
        uneven = any(x % width for x in (low, high, self.length))  # a block may have iterations that fill no strip
        rest = (high - low) % width if axis != self.axis else int(uneven)
        head = f"for (std::int64_t j = {first}; j + {width} <= {end}; j += {width})"
        lines = block(head, self._strip(spans, str(width), width if lanes else 0, ""))
        if rest:
            lines += [f"{{ const std::int64_t j = {end} - ({end} - {first}) % {width};"]
            few = rest if lanes and axis != self.axis else 0
            lines += [*self._strip(spans, f"{end} - j", few, "_rest"), "}"]
        return lines

    def _strip(self, spans: Sequence[Span], count: str, lanes: int, ending: str) -> list[str]:
        """One strip of `count` iterations, in lanes if these suffice. ending: the suffix of the names of its sums."""
        worth = lanes >= _MIN_LANES
        index = f"const std::int64_t i{self._last} = j + l;"
        if worth and has_stages(self.nest, spans):
            return self._staged(spans, Walk("l", 0, count, lanes, (index,), "j"), ending)
        pragma = lanes_pragma(lanes, self.nest.widest) if worth else ONE_BY_ONE
        return for_loop("l", 0, count, [index, *self._element(spans, worth, ending)], pragma=pragma)

    def _element(self, spans: Sequence[Span], lanes: bool, ending: str) -> list[str]:
        """One element: its values, its stores, and its terms of the sums."""
        indices = [f"i{axis}" for axis in range(len(spans))]
        lines, names = values(self.nest, indices, spans, lanes)
        return [*lines, *self._ended(indices, spans, names, ending)]

    def _staged(self, spans: Sequence[Span], walk: Walk, ending: str) -> list[str]:
        """Elements along the last axis, in stages."""
        indices = [f"i{axis}" for axis in range(len(spans))]
        return staged(self.nest, spans, walk, lambda names: self._ended(indices, spans, names, ending))

    def _ended(self, indices: list[str], spans: Sequence[Span], names: Mapping[Node, str], ending: str) -> list[str]:
        """The stores of one element, and its terms of the sums."""
        stored = [] if self.exact else stores(self.nest, indices, spans, names)
        return [*stored, *self._updates(indices, names, ending)]

    def _updates(self, indices: list[str], names: Mapping[Node, str], ending: str) -> list[str]:
        """The reduction updates of one element."""
        nest = self.nest
        inside = [f"({indices[self.axis]} - b)", *indices[self.axis + 1 :]]
        steps = dense_strides(tuple(nest.sizes[self.axis :]))
        at = " + ".join(i if step == 1 else f"{step} * {i}" for i, step in zip(inside, steps, strict=True))
        lines = [f"{t}_next[{at}] = {nest.named(n.inputs[0], names)};" for n, t in self.sums.items()]
        for n, t in self.rows.items():
            a, b = (nest.named(x, names) for x in n.inputs)
            lines.append(f"{t}{ending}[l] += {a} * {b};")
        for n, t in self.squares.items():
            x = nest.named(n.inputs[0], names)
            if self.exact:
                lines.append(f"{t}{ending}[l] += (double){x} * (double){x};")
            else:
                lines.append(f"{t}_lanes{ending}[l] += {x} * {x};")
        return lines
