"""The C++ text of a loop that ends in sums: of a loss's terms, of a gradient's squares, or of a matrix times a vector.

What is added up is never stored. The loop goes block by block. Terms of a sum go through a buffer, which the library
adds, to the bits of its own sum. Squares of floats are added as floats in lanes, and the lanes of a block in double;
where these are too large or too small for floats, the nest runs once more and adds in double from the start.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from burlab.compiler.ir.library import LibraryKernel, register
from burlab.compiler.ir.spelling import C_TYPES, NAMES, RINGS
from burlab.compiler.ir.strides import dense_strides, elements
from burlab.graph import Node
from burlab.graph.operation import Ending

from .loops import FEW_TERMS, ONE_BY_ONE, WRITTEN_OUT, in_lanes, innermost_pragma, lanes_pragma, stores, unfit, values
from .nest import LoopNest, Span
from .strip_loops import fits_packets, strip_nest

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


@dataclass(frozen=True, slots=True)
class SumNest:
    """A loop nest that ends in sums, with their C++ names: of everything, of squares, and of each row.

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
    def is_tiny(self) -> bool:
        """Return True if it is written out, and with it its sums."""
        return 1 < elements(self.nest.sizes) <= FEW_TERMS


def epilogue_loop(nest: LoopNest) -> list[str]:
    """The text of a loop that ends in sums: in packets where these can do it."""
    sums, squares, rows = (_named(nest, ending) for ending in (Ending.SUM, Ending.SQUARES, Ending.ROWS))
    if not sums and fits_packets(nest, rows):
        return strip_nest(nest, rows, squares).lines()
    *_, last = nest.sizes
    axis = max(len(nest.sizes) - (1 if 2 * last > _BLOCK else 2), 0)
    length = min(max(_BLOCK // elements(nest.sizes[axis + 1 :]), 1), nest.sizes[axis])
    narrowest = min((n.inputs[0].itemsize for n in (*squares, *rows)), default=register())
    width = min(register() // narrowest, 1 << (last.bit_length() - 1))
    uneven = (last if axis == len(nest.sizes) - 2 else length) % width or last % width
    rests = ("", "_rest") if uneven or len(nest.pieces(len(nest.sizes) - 1)) > 1 else ("",)
    return _lines(SumNest(nest, sums, squares, rows, axis, length, width, rests))


def _named(nest: LoopNest, ending: Ending) -> dict[Node, str]:
    """The sums of one kind that end a loop, by their C++ names."""
    ends = [n for n in nest.step.nodes if n.row.epilogue]
    return {n: f"t{k}" for k, n in enumerate(ends) if n.row.epilogue is ending}


def _lines(loop: SumNest) -> list[str]:
    """The nest, then the values; perhaps the nest again."""
    nest, sums, squares = loop.nest, loop.sums, loop.squares
    lines = [*nest.counter, *(_terms(loop, n, t) for n, t in sums.items())]
    lines += [f"double {t}_value = 0;" for t in squares.values()]
    lines += _walk(loop)
    lines += [f"const {C_TYPES[n.dtype]} {t}_value = {_sum(loop, n, t)};" for n, t in sums.items()]
    floats = [f"({t}_value > 1e-20 && {t}_value < 1e30)" for n, t in squares.items() if n.inputs[0].itemsize == 4]
    if floats:
        again = replace(loop, sums={}, rows={}, exact=True)
        lines += [f"if (!({' && '.join(floats)})) {{", *_walk(again), "}"]
    names = sums | squares
    whole = {n: names[n] for n in nest.step.nodes if n in names}
    lines += [f"*y{k} = {whole[n]}_value;" for k, n in enumerate(nest.step.stores) if n in whole]
    if nest.plan.note:
        lines.append(f"bad |= {unfit(f'{t}_value' for t in whole.values())};")
    return lines


def _terms(loop: SumNest, n: Node, t: str) -> str:
    """The accumulator of a sum."""
    return f"{RINGS[n.dtype]} {t}_next[{FEW_TERMS}];" if loop.is_tiny else f"{epilogue_of(n).symbol}_type {t};"


def _sum(loop: SumNest, n: Node, t: str) -> str:
    """Its value."""
    few = f"burlab::kernels::sum_of_few<{elements(loop.nest.sizes)}>({t}_next)"
    return few if loop.is_tiny else f"{epilogue_of(n).symbol}_value(&{t})"


def _walk(loop: SumNest) -> list[str]:
    """The loops, and the squares that they add up."""
    lines = [*_lanes(loop, "double", loop.squares.values()), *_loops(loop, [])]
    for t in loop.squares.values():
        lines += [f"{t}_value = 0;", ONE_BY_ONE]
        lines.append(f"for (std::int64_t l = 0; l < {loop.width}; ++l) {t}_value += {_added(loop, t)};")
    return ["{", *lines, "}"]


def _lanes(loop: SumNest, kind: str, names: Iterable[str]) -> list[str]:
    return [f"alignas(64) {kind} {t}{end}[{loop.width}] = {{}};" for t in names for end in loop.rests]


def _added(loop: SumNest, t: str) -> str:
    return " + ".join(f"{t}{end}[l]" for end in loop.rests)


def _loops(loop: SumNest, spans: list[Span]) -> list[str]:
    """The nest inside of the loops with these spans."""
    nest, axis = loop.nest, len(spans)
    if axis == len(nest.sizes):
        return _element(loop, [f"i{k}" for k in range(axis)], spans, in_lanes(nest, spans), "")
    last = axis == len(nest.sizes) - 1
    inner = _strips(loop, spans) if last and (loop.squares or loop.rows) else _one_by_one(loop, spans)
    inner = _blocks(loop, inner) if axis == loop.axis else inner
    return _row(loop, inner, spans) if last else inner


def _one_by_one(loop: SumNest, spans: list[Span]) -> list[str]:
    """An axis whose iterations are those of the nest."""
    lines: list[str] = []
    for span in loop.nest.pieces(len(spans)):
        inside = [*spans, span]
        pragma = (
            [WRITTEN_OUT] if loop.is_tiny and not in_lanes(loop.nest, inside) else innermost_pragma(loop.nest, inside)
        )
        lines += [*pragma, _head(loop, len(spans), span)]
        lines += [*(f"  {line}" for line in _loops(loop, inside)), "}"]
    return lines


def _row(loop: SumNest, inner: list[str], spans: list[Span]) -> list[str]:
    """The last axis, with the products of its numbers added in lanes."""
    indices = [*(f"i{axis}" for axis in range(len(spans))), "0"]
    begin = [line for n, t in loop.rows.items() for line in _lanes(loop, C_TYPES[n.dtype], [t])]
    end: list[str] = []
    for n, t in loop.rows.items():
        sums = (f"burlab::kernels::add_lanes<{loop.width}>({t}{rest})" for rest in loop.rests)
        end.append(f"{loop.nest.results[n].at(indices, [*spans, (0, 1)])} = {' + '.join(sums)};")
    return [*begin, *inner, *end]


def _blocks(loop: SumNest, inner: list[str]) -> list[str]:
    """A loop over blocks, with what takes the numbers of each."""
    sizes, step, width = loop.nest.sizes, loop.length, loop.width
    sums = {} if loop.is_tiny else loop.sums
    size, row = sizes[loop.axis], elements(sizes[loop.axis + 1 :])
    floats = {} if loop.exact else {n: t for n, t in loop.squares.items() if n.inputs[0].itemsize == 4}
    lines = [
        f"for (std::int64_t b = 0; b < {size}; b += {step}) {{",
        *loop.nest.counted(row * step),
        f"const std::int64_t e = {f'b + {step} < {size} ? b + {step} : {size}' if size % step else f'b + {step}'};",
        *(f"{RINGS[n.inputs[0].dtype]}* const {t}_next = {t}.next();" for n, t in sums.items()),
        *_lanes(loop, "float", (f"{t}_lanes" for t in floats.values())),
        *inner,
        *(f"{epilogue_of(n).symbol}(&{t}, {row} * (e - b));" for n, t in sums.items()),
    ]
    for t in floats.values():
        lines.append(lanes_pragma(width, 8) if width >= _MIN_LANES else ONE_BY_ONE)
        lines.append(f"for (std::int64_t l = 0; l < {width}; ++l) {t}[l] += {_added(loop, f'{t}_lanes')};")
    return [*lines, "}"]


def _head(loop: SumNest, axis: int, span: Span) -> str:
    """The head of a loop along an axis; along the axis that is cut, the part inside of the block."""
    if axis == 0 < loop.axis and loop.rows and not loop.sums:
        # Backwards: the product of the forward sweep left the last rows of a large matrix in cache.
        return f"for (std::int64_t i0 = {span[1]}; i0-- > {span[0]};) {{"
    first, end = _limits(loop, axis, span)
    return f"for (std::int64_t i{axis} = {first}; i{axis} < {end}; ++i{axis}) {{"


def _limits(loop: SumNest, axis: int, span: Span) -> tuple[str, str]:
    low, high = span
    if axis != loop.axis:
        return str(low), str(high)
    end = f"(e < {high} ? e : {high})" if high < loop.nest.sizes[axis] else "e"
    return f"(b > {low} ? b : {low})" if low else "b", end


def _strips(loop: SumNest, spans: list[Span]) -> list[str]:
    """The last axis in strips as wide as the lanes that squares are added in, and the rest of it."""
    k, width, lines = len(spans), loop.width, list[str]()
    for low, high in loop.nest.pieces(k):
        inside = [*spans, (low, high)]
        lanes = in_lanes(loop.nest, inside)
        first, end = _limits(loop, k, (low, high))
        uneven = any(x % width for x in (low, high, loop.length))  # a block may have iterations that fill no strip
        rest = (high - low) % width if k != loop.axis else int(uneven)
        lines += [f"for (std::int64_t j = {first}; j + {width} <= {end}; j += {width}) {{"]
        lines += [*_strip(loop, inside, str(width), width if lanes else 0, ""), "}"]
        if rest:
            lines += [f"{{ const std::int64_t j = {end} - ({end} - {first}) % {width};"]
            count, few = f"{end} - j", rest if lanes and k != loop.axis else 0
            lines += [*_strip(loop, inside, count, few, "_rest"), "}"]
    return lines


def _strip(loop: SumNest, spans: list[Span], count: str, lanes: int, ending: str) -> list[str]:
    """One strip of `count` iterations, in lanes if these are enough. ending: of the names of what it is added to."""
    indices = [f"i{axis}" for axis in range(len(spans))]
    pragma = lanes_pragma(lanes, loop.nest.widest) if lanes >= _MIN_LANES else ONE_BY_ONE
    head = f"for (std::int64_t l = 0; l < {count}; ++l) {{ const std::int64_t {indices[-1]} = j + l;"
    return [pragma, head, *(f"  {line}" for line in _element(loop, indices, spans, lanes >= _MIN_LANES, ending)), "}"]


def _element(loop: SumNest, indices: list[str], spans: list[Span], lanes: bool, ending: str) -> list[str]:
    """One element: its values, its stores, and what it adds to the sums."""
    lines, names = values(loop.nest, indices, spans, lanes)
    stored = [] if loop.exact else stores(loop.nest, indices, spans, names)
    return [*lines, *stored, *_updates(loop, indices, names, ending)]


def _updates(loop: SumNest, indices: list[str], names: dict[Node, str], ending: str) -> list[str]:
    """The reduction updates of one element."""
    nest = loop.nest
    inside = [f"({indices[loop.axis]} - b)", *indices[loop.axis + 1 :]]
    steps = dense_strides(tuple(nest.sizes[loop.axis :]))
    at = " + ".join(i if step == 1 else f"{step} * {i}" for i, step in zip(inside, steps, strict=True))
    lines = [f"{t}_next[{at}] = {nest.named(n.inputs[0], names)};" for n, t in loop.sums.items()]
    for n, t in loop.rows.items():
        a, b = (nest.named(x, names) for x in n.inputs)
        lines.append(f"{t}{ending}[l] += {a} * {b};")
    for n, t in loop.squares.items():
        x = nest.named(n.inputs[0], names)
        if loop.exact or n.inputs[0].itemsize == 8:
            lines.append(f"{t}{ending}[l] += (double){x} * (double){x};")
        else:
            lines.append(f"{t}_lanes{ending}[l] += {x} * {x};")
    return lines
