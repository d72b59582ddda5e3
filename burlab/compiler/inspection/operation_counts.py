"""The result of `bl.counts` and `Kernel.counts`: elementary operations of a function, from the shapes of its values."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from burlab.graph import Graph
from burlab.graph.graph_tally import graph_tally
from burlab.graph.rewrite.simplify import simplify
from burlab.graph.tally import NOTHING, Tally
from burlab.runtime.checks.text_table import columns
from burlab.runtime.displayed import Pictured

HEAD = ("flops", "%", "multiply", "add", "transcendental", "logic", "copies", "bytes read", "bytes written")
SIDES = "<" + ">" * len(HEAD)
OUTSIDE = "(outside)"  # of all scopes


@dataclass(frozen=True, slots=True)
class Counts(Pictured):
    """Elementary operations of one call: `flops`, its parts, and the same by operation and by module.

    total, by_operation, by_module: tallies. Each has multiplications (and quotients), additions (and differences;
    a sum of n numbers has n, as it starts at 0) and transcendental operations (roots, powers, exp, tanh, special
    functions, 1 each), all of floating-point numbers; logic (comparisons, choices, roundings, sorting, arithmetic of
    whole numbers); copies (elements copied, gathered, put, padded or converted); bytes_read and bytes_written.

    flops: multiplications + additions + transcendental operations, so that a fused multiply-add has 2 and a product of
    matrices m x k and k x n has 2 m k n. by_operation: most flops first. by_module: by the names of `bl.scope`, "" for
    what is outside of all. notes: what is assumed of loops and choices.

    Formulas are counted as they stand after simplification. Loops that fuse operations read and write fewer bytes, see
    `Kernel.profile`, and values that `remat` or a loop computes twice count once.
    """

    name: str
    total: Tally
    by_operation: Mapping[str, Tally]
    by_module: Mapping[str, Tally]
    notes: tuple[str, ...] = ()

    @property
    def flops(self) -> int:
        """Floating-point operations."""
        return self.total.flops

    @property
    def multiplications(self) -> int:
        """Products and quotients."""
        return self.total.multiplications

    @property
    def additions(self) -> int:
        """Sums, differences and changes of sign."""
        return self.total.additions

    @property
    def transcendental(self) -> int:
        """Roots, powers, exponentials and other functions."""
        return self.total.transcendental

    @property
    def logic(self) -> int:
        """Comparisons, choices, roundings, and arithmetic of whole numbers."""
        return self.total.logic

    @property
    def copies(self) -> int:
        """Elements that are copied, gathered, put, padded or converted."""
        return self.total.copies

    @property
    def bytes_read(self) -> int:
        """Bytes of the operands of all operations."""
        return self.total.bytes_read

    @property
    def bytes_written(self) -> int:
        """Bytes of the results of all operations."""
        return self.total.bytes_written

    def tables(self) -> list[list[tuple[str, ...]]]:
        """The tables by operation and, where there are modules, by module, as cells: a head, rows, the total."""
        named = {name or OUTSIDE: tally for name, tally in self.by_module.items()}
        tables = [self._table("operation", self.by_operation)]
        return tables if named.keys() <= {OUTSIDE} else [*tables, self._table("module", named)]

    def _table(self, title: str, rows: Mapping[str, Tally]) -> list[tuple[str, ...]]:
        body = [self._cells(name, tally) for name, tally in rows.items()]
        return [(title, *HEAD), *body, self._cells("total", self.total)]

    def _cells(self, name: str, tally: Tally) -> tuple[str, ...]:
        share = 100 * tally.flops / max(self.flops, 1)
        return (name, f"{tally.flops:,}", f"{share:.1f}", *(f"{number:,}" for number in tally))

    def __str__(self) -> str:
        parts = ["\n".join(columns(table, SIDES)) for table in self.tables()]
        return "\n\n".join([self.title, *parts, *self.notes])

    __repr__ = __str__

    @property
    def title(self) -> str:
        """The name, and all floating-point operations."""
        return f"{self.name}: {self.flops:,} floating-point operations"


def counts_of(graph: Graph, name: str) -> Counts:
    """Count the operations of a graph, after its simplification."""
    found = graph_tally(simplify(graph))
    places = found.by_place.items()
    by_operation = _summed((op, tally) for (op, _), tally in places)
    by_module = _summed((scope, tally) for (_, scope), tally in places)
    return Counts(name, found.total, by_operation, by_module, found.notes)


def _summed(tallies: Iterable[tuple[str, Tally]]) -> dict[str, Tally]:
    """Return sums by name, those with the most flops first."""
    found: dict[str, Tally] = {}
    for name, tally in tallies:
        found[name] = found.get(name, NOTHING) + tally
    return dict(sorted(found.items(), key=lambda item: (-item[1].flops, -item[1].copies, -item[1].logic)))
