"""A step that touches the entries of one sparse row only: `cpp/burlab/run/step/lazy_step.hpp`."""

from dataclasses import dataclass

from burlab.compiler.executable import Executable
from burlab.graph import Graph
from burlab.optim.lazy_rule import LazyForm
from burlab.optim.rule import UpdateRule
from burlab.problems.kernels.loss import Loss
from burlab.problems.kernels.row_loss import RowLoss, row_loss
from burlab.problems.point import Point
from burlab.runtime.structs import CLazy

_SETTLE = 8  # times as many steps as rows that have as many entries as x
_FLOPS = 13  # of an entry: 5 to catch up, 4 for the norm and the product with x, 4 for the step
_MAX_LAG = 1 << 12  # steps that an entry lags behind


@dataclass(frozen=True)
class LazyStep:
    """form: of the update. rows: the loss. hypers: positions of lr, l1 and l2 among hyperparameters, -1 without.

    graph: of the update, which changes nothing.
    """

    form: LazyForm
    rows: RowLoss
    hypers: tuple[int, ...]
    dimension: int
    graph: Graph

    @staticmethod
    def of(rule: UpdateRule, loss: Loss, x: Point) -> "LazyStep":
        """The step of a rule that has a `lazy` form, for a loss that has rows."""
        rows, names = row_loss(loss, x.leaves), list(rule.hyper)
        assert rule.lazy is not None and rows is not None  # noqa: PT018 - one claim: `lazy_rule` has seen both
        hypers = tuple(names.index(name) if name in names else -1 for name in ("lr", "l1", "l2"))
        return LazyStep(rule.lazy, rows, hypers, x.leaves[0].size, rule.graph)

    @property
    def executable(self) -> Executable:
        """The kernel of a sample's value and gradient."""
        return self.rows.samples.executable

    @property
    def executables(self) -> tuple[Executable, ...]:
        """The kernels of a step."""
        return (self.executable,)

    @property
    def every(self) -> int:
        """Steps from one settlement to the next, which takes as long as some steps."""
        return min(max(_SETTLE * self.dimension // max(self.rows.entries, 1), 1), _MAX_LAG)

    @property
    def flops(self) -> int:
        """Floating-point operations of a step behind the evaluation of its sample: of the entries of a row."""
        return _FLOPS * self.rows.entries

    @property
    def struct(self) -> CLazy:
        """The struct for C++, valid as long as this."""
        rows, leaves = self.rows, self.form.leaves
        buffers = {
            name: 1 + leaves.index(name) if name in leaves else 0 for name in ("mean", "table", "last", "carried")
        }
        lr, l1, l2 = self.hypers
        return CLazy(
            on=1, correction=self.form.correction, refresh=self.form.refresh, every=self.every, lr=lr, l1=l1, l2=l2,
            weight=rows.ridge.weight, constant=rows.ridge.constant,
            values=rows.values.ctypes.data, columns=rows.columns.ctypes.data, column_bytes=rows.columns.itemsize,
            entries=len(rows.values), starts=rows.starts, ends=rows.ends, **buffers,
        )  # fmt: skip
