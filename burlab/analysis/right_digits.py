"""`digits`: how many digits of the results of a function are right, and which operation lost the others."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from burlab.errors import DTypeError
from burlab.graph import tree
from burlab.graph.origin import short_place
from burlab.graph.tracing.trace import Spec, spec_of, trace
from burlab.runtime.checks.callable import check_function
from burlab.runtime.checks.numbers import whole
from burlab.runtime.plain import as_array
from burlab.transforms.call import name_of

from .digits_report import DigitsReport, DigitsRow
from .graph_digits import NodeDigits, graph_digits, most_digits


def digits(f: Callable[..., Any], seed: int = 0) -> Callable[..., DigitsReport]:
    """Return a function of f's arguments that tells how many decimal digits of each result of f are right.

    f is computed three times in random rounding: each result of an operation is one of the two numbers next to the
    exact one, chosen at random; the third run rounds the other way than the second. Digits on which the runs agree are
    right. This is CADNA's method (Vignes 2004; Jezequel and Chesneaux 2008, CADNA: a library for estimating round-off
    error propagation): of numbers with mean m and deviation s, log10(sqrt(3) |m| / (4.303 s)) digits are right with a
    probability of 95 %. It sees rounding errors, those of sums by the size of what they add, and nothing else: a wrong
    formula, or arguments that are wrong themselves, are not found. An operation that makes an inf or nan of finite
    numbers has no right digits.

    The table has a row for each line of the user's code, with the operation that loses most there; operations in a loop
    or a branch are seen as one. Digits of an array are relative to its largest entry; `report.digits` has those of each
    entry of the results. A line that loses four digits or more is in `report.losses`: usually it subtracts nearly equal
    numbers, whose earlier errors it shows.

    Args:
        f: A function of arrays, numbers and trees of them: also a derivative, `bl.grad(f)`.
        seed: Of the random numbers.

    Returns:
        A function with the arguments of f, which returns a report: `value`, what f returns; `digits`, a tree like it;
        `rows`, `lines` and `losses`. It computes in replay: nothing is compiled.

    Raises:
        DTypeError: When called, if no result is floating.

    >>> import numpy as np, burlab as bl
    >>> report = bl.digits(lambda x: (1 - np.cos(x)) / x**2)(1e-7)
    >>> float(report.digits) < 3, [row.op for row in report.losses]
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
        return DigitsReport(name_of(f), value, right, tuple(map(_row, operations)), _lines(operations))

    return report


def _row(of: NodeDigits) -> DigitsRow:
    n = of.node
    return DigitsRow(n.op, short_place(n.origin), n.scope, n.shape, of.right, of.loss)


@dataclass
class _Line:
    """A line of the user's code. before: the least right digits of what it reads from other lines; least: its own."""

    worst: NodeDigits
    before: float = math.inf
    least: float = math.inf

    def row(self, most: float) -> DigitsRow:
        """Its worst operation, with all digits that the line loses, in a loop perhaps little by little."""
        return replace(_row(self.worst), loss=max(0.0, min(self.before, most) - self.least))


def _lines(operations: Sequence[NodeDigits]) -> tuple[DigitsRow, ...]:
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
    return tuple(line.row(most) for line in lines.values())
