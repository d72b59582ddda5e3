"""The C++ text of a loop that ends in sums: of a loss's terms, of a gradient's squares, or of a matrix times a vector.

What is added up is never stored. The loop goes block by block. Terms of a sum go through a buffer, which the library
adds, to the bits of its own sum. Squares of floats are added as floats in lanes, and the lanes of a block in double;
where these are too large or too small for floats, the nest runs once more and adds in double from the start.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from burlab.compiler.ir.library import LibraryKernel, register
from burlab.compiler.ir.spelling import C_TYPES, NAMES
from burlab.compiler.ir.strides import dense_strides, elements
from burlab.graph import Node
from burlab.graph.operation import operation

from .loops import ONE_BY_ONE, LoopWriter, lanes_pragma, unfit
from .nest import LoopNest, Span
from .strip_loops import fits_packets, strip_nest

_BLOCK = 512  # numbers that a buffer takes at a time
_FEW = 4  # lanes that are worth it


def epilogue_of(n: Node) -> LibraryKernel:
    """The library's part in an epilogue reduction: for a sum, functions that take its blocks and give its value."""
    if n.op != "sum":
        return LibraryKernel("burlab_strips", "", "burlab/kernels/reduce/strips.hpp")
    name, kind = f"burlab_sum_epilogue_{NAMES[n.dtype]}", C_TYPES[n.dtype]
    head = 'extern "C" BURLAB_WIDE'
    text = (
        f"using {name}_type = burlab::kernels::SumEpilogue<{kind}>;\n"
        f"{head} void {name}({name}_type* sum, std::int64_t n) noexcept {{ sum->added(n); }}\n"
        f"{head} {kind} {name}_value({name}_type* sum) noexcept {{ return sum->value(); }}\n"
    )
    return LibraryKernel(name, text, "burlab/kernels/reduce/epilogue.hpp")


@dataclass(frozen=True, slots=True)
class EpilogueWriter(LoopWriter):
    """Writes a loop nest and the sums that end it.

    axis: which is cut into blocks; length: of a block. width: of the lanes that numbers are added in. rests: endings of
    the names of lanes: those of whole strips, and of what fills none, which has lanes of its own, since a number stored
    into lanes delays the next that reads them all. ending: of the strip that is written. exact: whether squares are
    added in double, and nothing else is done.
    """

    axis: int
    length: int
    width: int
    rests: tuple[str, ...]
    ending: str = ""
    exact: bool = False

    @property
    def _names(self) -> dict[Node, str]:
        return _epilogues(self.nest)

    @property
    def _sums(self) -> dict[Node, str]:
        return {} if self.exact else _of("sum", self.nest)

    @property
    def _squares(self) -> dict[Node, str]:
        return _of("squares", self.nest)

    @property
    def _rows(self) -> dict[Node, str]:
        return {} if self.exact else _of("matvec", self.nest)

    def lines(self) -> list[str]:
        """The nest, then the values; perhaps the nest again."""
        lines = [*self.nest.counter, *(f"{epilogue_of(n).symbol}_type {t};" for n, t in self._sums.items())]
        lines += [f"double {t}_value = 0;" for t in self._squares.values()]
        lines += self.walk()
        lines += [
            f"const {C_TYPES[n.dtype]} {t}_value = {epilogue_of(n).symbol}_value(&{t});" for n, t in self._sums.items()
        ]
        floats = [
            f"({t}_value > 1e-20 && {t}_value < 1e30)" for n, t in self._squares.items() if n.inputs[0].itemsize == 4
        ]
        if floats:
            lines += [f"if (!({' && '.join(floats)})) {{", *replace(self, exact=True).walk(), "}"]
        whole = {n: t for n, t in self._names.items() if not n.shape}
        lines += [f"*y{k} = {whole[n]}_value;" for k, n in enumerate(self.nest.step.stores) if n in whole]
        if self.nest.plan.note:
            lines.append(f"bad |= {unfit(f'{t}_value' for t in whole.values())};")
        return lines

    def walk(self) -> list[str]:
        """The loops, and the squares that they add up."""
        lines = self._lanes("double", self._squares.values())
        lines += self.loops([])
        for t in self._squares.values():
            lines += [f"{t}_value = 0;", ONE_BY_ONE]
            lines.append(f"for (std::int64_t l = 0; l < {self.width}; ++l) {t}_value += {self._added(t)};")
        return ["{", *lines, "}"]

    def _lanes(self, kind: str, names: Iterable[str]) -> list[str]:
        return [f"alignas(64) {kind} {t}{end}[{self.width}] = {{}};" for t in names for end in self.rests]

    def _added(self, t: str) -> str:
        return " + ".join(f"{t}{end}[l]" for end in self.rests)

    def loops(self, spans: list[Span]) -> list[str]:
        """The nest inside of the loops with these spans."""
        last = len(spans) == len(self.nest.sizes) - 1
        inner = self._strips(spans) if last and (self._squares or self._rows) else LoopWriter.loops(self, spans)
        inner = inner if len(spans) != self.axis else self._blocks(inner)
        return self._row(inner, spans) if last else inner

    def _row(self, inner: list[str], spans: list[Span]) -> list[str]:
        """The last axis, with the products of its numbers added in lanes."""
        indices = [*(f"i{axis}" for axis in range(len(spans))), "0"]
        begin = [line for n, t in self._rows.items() for line in self._lanes(C_TYPES[n.dtype], [t])]
        end: list[str] = []
        for n, t in self._rows.items():
            sums = (f"burlab::kernels::add_lanes<{self.width}>({t}{end})" for end in self.rests)
            end.append(f"{self.nest.results[n].at(indices, [*spans, (0, 1)])} = {' + '.join(sums)};")
        return [*begin, *inner, *end]

    def _blocks(self, inner: list[str]) -> list[str]:
        """A loop over blocks, with what takes the numbers of each."""
        size, row, step = self.nest.sizes[self.axis], elements(self.nest.sizes[self.axis + 1 :]), self.length
        lanes = {} if self.exact else {n: t for n, t in self._squares.items() if n.inputs[0].itemsize == 4}
        lines = [
            f"for (std::int64_t b = 0; b < {size}; b += {step}) {{",
            *self.nest.counted(row * step),
            f"const std::int64_t e = {f'b + {step} < {size} ? b + {step} : {size}' if size % step else f'b + {step}'};",
            *(f"{C_TYPES[n.inputs[0].dtype]}* const {t}_next = {t}.next();" for n, t in self._sums.items()),
            *self._lanes("float", (f"{t}_lanes" for t in lanes.values())),
            *inner,
            *(f"{epilogue_of(n).symbol}(&{t}, {row} * (e - b));" for n, t in self._sums.items()),
        ]
        for t in lanes.values():
            lines.append(lanes_pragma(self.width, 8) if self.width >= _FEW else ONE_BY_ONE)
            lines.append(f"for (std::int64_t l = 0; l < {self.width}; ++l) {t}[l] += {self._added(f'{t}_lanes')};")
        return [*lines, "}"]

    def chunk(self, axis: int) -> int:  # noqa: ARG002
        """0, since blocks are counted."""
        return 0

    def head(self, axis: int, low: int, high: int) -> str:
        """The head of a loop along an axis; along the axis that is cut, the part inside of the block."""
        if axis == 0 < self.axis and self._rows and not self._sums:
            # Backwards: the product of the forward sweep left the last rows of a large matrix in cache.
            return f"for (std::int64_t i0 = {high}; i0-- > {low};) {{"
        first, end = self._limits(axis, low, high)
        return f"for (std::int64_t i{axis} = {first}; i{axis} < {end}; ++i{axis}) {{"

    def _limits(self, axis: int, low: int, high: int) -> tuple[str, str]:
        if axis != self.axis:
            return str(low), str(high)
        end = f"(e < {high} ? e : {high})" if high < self.nest.sizes[axis] else "e"
        return f"(b > {low} ? b : {low})" if low else "b", end

    def _strips(self, spans: list[Span]) -> list[str]:
        """The last axis in strips as wide as the lanes that squares are added in, and the rest of it."""
        k, width, lines = len(spans), self.width, list[str]()
        for low, high in self.nest.pieces(k):
            inside = [*spans, (low, high)]
            lanes = self.has_lanes(inside)
            first, end = self._limits(k, low, high)
            uneven = any(x % width for x in (low, high, self.length))  # a block may have iterations that fill no strip
            rest = (high - low) % width if k != self.axis else int(uneven)
            lines += [f"for (std::int64_t j = {first}; j + {width} <= {end}; j += {width}) {{"]
            lines += [*self.strip(inside, str(width), width if lanes else 0), "}"]
            if rest:
                lines += [f"{{ const std::int64_t j = {end} - ({end} - {first}) % {width};"]
                count, few = f"{end} - j", rest if lanes and k != self.axis else 0
                lines += [*replace(self, ending="_rest").strip(inside, count, few), "}"]
        return lines

    def strip(self, spans: list[Span], count: str, lanes: int) -> list[str]:
        """One strip of `count` iterations, in lanes if these are enough."""
        indices = [f"i{axis}" for axis in range(len(spans))]
        pragma = lanes_pragma(lanes, self.nest.widest) if lanes >= _FEW else ONE_BY_ONE
        head = f"for (std::int64_t l = 0; l < {count}; ++l) {{ const std::int64_t {indices[-1]} = j + l;"
        return [pragma, head, *(f"  {line}" for line in self.body(indices, spans, lanes >= _FEW)), "}"]

    def stores(self, indices: list[str], spans: list[Span], names: dict[Node, str]) -> list[str]:
        """The stores and reduction updates of one element."""
        inside = [f"({indices[self.axis]} - b)", *indices[self.axis + 1 :]]
        steps = dense_strides(tuple(self.nest.sizes[self.axis :]))
        at = " + ".join(i if step == 1 else f"{step} * {i}" for i, step in zip(inside, steps, strict=True))
        lines = [] if self.exact else LoopWriter.stores(self, indices, spans, names)
        lines += [f"{t}_next[{at}] = {self.nest.named(n.inputs[0], names)};" for n, t in self._sums.items()]
        end = self.ending
        for n, t in self._rows.items():
            a, b = (self.nest.named(x, names) for x in n.inputs)
            lines.append(f"{t}{end}[l] += {a} * {b};")
        for n, t in self._squares.items():
            x = self.nest.named(n.inputs[0], names)
            if self.exact or n.inputs[0].itemsize == 8:
                lines.append(f"{t}{end}[l] += (double){x} * (double){x};")
            else:
                lines.append(f"{t}_lanes{end}[l] += {x} * {x};")
        return lines


def _epilogues(nest: LoopNest) -> dict[Node, str]:
    """The sums that end a loop, by their C++ names."""
    return {n: f"t{k}" for k, n in enumerate(n for n in nest.step.nodes if operation(n).epilogue)}


def _of(op: str, nest: LoopNest) -> dict[Node, str]:
    return {n: t for n, t in _epilogues(nest).items() if n.op == op}


def epilogue_loop(nest: LoopNest) -> list[str]:
    """The text of a loop that ends in sums: in packets where these can do it."""
    rows, squares = _of("matvec", nest), _of("squares", nest)
    if not _of("sum", nest) and fits_packets(nest, rows):
        return strip_nest(nest, rows, squares).lines()
    *_, last = nest.sizes
    axis = max(len(nest.sizes) - (1 if 2 * last > _BLOCK else 2), 0)
    length = min(max(_BLOCK // elements(nest.sizes[axis + 1 :]), 1), nest.sizes[axis])
    narrowest = min((n.inputs[0].itemsize for n in (*squares, *rows)), default=register())
    width = min(register() // narrowest, 1 << (last.bit_length() - 1))
    uneven = (last if axis == len(nest.sizes) - 2 else length) % width or last % width
    rests = ("", "_rest") if uneven or len(nest.pieces(len(nest.sizes) - 1)) > 1 else ("",)
    return EpilogueWriter(nest, axis, length, width, rests).lines()
