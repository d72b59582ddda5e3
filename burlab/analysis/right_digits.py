"""`digits`: how many digits of the results of a function are right, and which operation lost the others."""

import math
from collections.abc import Callable, Sequence, Set as AbstractSet
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from burlab.errors import DTypeError
from burlab.graph import Node, tree
from burlab.graph.graph import topological
from burlab.graph.origin import short_place
from burlab.graph.tracing.trace import Spec, spec_of, trace
from burlab.runtime.checks.callable import check_function
from burlab.runtime.checks.numbers import whole
from burlab.runtime.plain import as_array
from burlab.transforms.call import name_of

from .digit_counts import most_digits
from .digits_report import LARGE_LOSS, DigitsReport, DigitsRow
from .graph_digits import NodeDigits, graph_digits


def digits(f: Callable[..., Any], seed: int = 0) -> Callable[..., DigitsReport]:
    """Return a function of f's arguments that tells how many decimal digits of each result of f are right.

    There are two counts: by a shadow, which follows each number with its error, and by random rounding.

    The shadow is double-double arithmetic (Dekker 1971; Knuth 1969; Hida, Li and Bailey 2001; Joldes, Muller and
    Popescu 2017): a number and its error have 32 digits together, those of functions about 30. So the right digits are
    those that the result has for these arguments, by luck, too. Masks, indices and branches are those of the computed
    numbers. Of functions without such a form, as erf and gamma, eigenvalues and Fourier transforms, errors pass through
    the derivative and their own are not known (`report.unknown`). float32 is followed in float64.

    In random rounding f is computed three times: each result of an operation is one of the two numbers next to the
    exact one, chosen at random; the third run rounds the other way than the second. Digits on which the runs agree are
    right. This is CADNA's method (Vignes 2004; Jezequel and Chesneaux 2008, CADNA: a library for estimating round-off
    error propagation): of numbers with mean m and deviation s, log10(sqrt(3) |m| / (4.303 s)) digits are right with a
    probability of 95 %.

    The shadow's count holds, but the lower one where the shadow does not know all errors, and where random rounding
    leaves no digit: then 16 or more were lost, and 32 may not have been enough. Both see rounding errors and nothing
    else: a wrong formula, or arguments that are wrong themselves, are not found. An operation that makes an inf or nan
    of finite numbers has no right digits.

    The table has a row for each line of the user's code, with the operation that loses most there; operations in a loop
    or a branch are seen as one. Digits of an array are relative to its largest entry; `report.digits` has those of each
    entry of the results. A line that loses four digits or more is in `report.losses` if a result behind it has lost as
    many: usually it subtracts nearly equal numbers, whose earlier errors it shows. `report.notes` says where the counts
    differ.

    Args:
        f: A function of arrays, numbers and trees of them: also a derivative, `bl.grad(f)`.
        seed: Of the random numbers of random rounding.

    Returns:
        A function with the arguments of f, which returns a report: `value`, what f returns; `digits`, a tree like it;
        `rows`, `lines`, `losses`, `unknown` and `notes`. It computes in replay: nothing is compiled.

    Raises:
        DTypeError: When called, if no result is floating.

    >>> import numpy as np, burlab as bl
    >>> report = bl.digits(lambda x: (1 - np.cos(x)) / x**2)(1e-7)
    >>> float(report.digits) < 4, [row.op for row in report.losses]
    (True, ['sub'])
    >>> bl.digits(lambda x: 2 * np.sin(x / 2) ** 2 / x**2)(1e-7).losses
    ()
    """
    check_function(f)
    seed = whole(seed, "seed", 0)

    def report(*args: Any, **kwargs: Any) -> DigitsReport:
        traced = trace(f, args, kwargs)
        leaves = [leaf for leaf in tree.flatten((args, kwargs))[0] if isinstance(spec_of(leaf), Spec)]
        inputs = traced.graph.inputs
        arrays = [np.asarray(as_array(x, "an argument"), n.dtype) for x, n in zip(leaves, inputs, strict=True)]
        if not any(y.dtype.kind == "f" for y in traced.graph.outputs):
            raise DTypeError(f"digits needs a floating result, but {name_of(f)} returned none.")
        found = graph_digits(traced.graph, arrays, seed)
        value, right = (tree.unflatten(traced.result, ys) for ys in (found.values, found.right))
        operations = [of for of in found.nodes if not of.node.row.leaf]
        pairs = zip(traced.graph.outputs, found.right, strict=True)
        losing = [y for y, right in pairs if right.size and np.min(right) < most_digits(y.dtype) - LARGE_LOSS]
        matters = frozenset(topological(losing))
        rows, lines = tuple(_row(of, of.node in matters) for of in operations), _lines(operations, matters)
        return DigitsReport(name_of(f), value, right, rows, lines, _unknown(operations))

    return report


def _row(of: NodeDigits, matters: bool) -> DigitsRow:
    n = of.node
    shadow = of.shadow if of.complete else math.nan
    return DigitsRow(n.op, short_place(n.origin), n.scope, n.shape, of.right, of.loss, shadow, of.rounding, matters)


def _unknown(operations: Sequence[NodeDigits]) -> tuple[str, ...]:
    """The operations whose own rounding errors are not known, with their lines."""
    complete = {of.node: of.complete for of in operations}
    first = (of.node for of in operations if not of.complete and all(complete.get(x, True) for x in of.node.inputs))
    return tuple(dict.fromkeys(f"{n.op} at {short_place(n.origin) or 'an unknown line'}" for n in first))


@dataclass
class _Line:
    """A line of the user's code. before: the least right digits of what it reads from other lines; least: its own."""

    worst: NodeDigits
    before: float = math.inf
    least: float = math.inf

    def row(self, most: float, matters: bool) -> DigitsRow:
        """Its worst operation, with all digits that the line loses, in a loop perhaps little by little."""
        return replace(_row(self.worst, matters), loss=max(0.0, min(self.before, most) - self.least))


def _lines(operations: Sequence[NodeDigits], matters: AbstractSet[Node]) -> tuple[DigitsRow, ...]:
    """A row for each line, in order; operations without one have rows of their own."""
    right = {of.node: of.right for of in operations}
    lines: dict[Any, _Line] = {}
    for of in operations:
        n = of.node
        line = lines.setdefault(n.origin or n, _Line(of))
        elsewhere = (right[x] for x in n.inputs if x in right and x.origin != n.origin)
        line.before, line.least = min(line.before, *elsewhere, math.inf), min(line.least, of.right)
        line.worst = max(line.worst, of, key=lambda one: one.loss)
    most = max((most_digits(n.dtype) for n in right if n.dtype.kind == "f"), default=0.0)
    return tuple(line.row(most, line.worst.node in matters) for line in lines.values())
