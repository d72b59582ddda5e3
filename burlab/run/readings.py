"""Properties of a run that can be read at any time, also while it does steps."""

import hashlib
import math
import os
from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numpy as np

from burlab.errors import StatusError
from burlab.graph import tree
from burlab.graph.query import PART_QUERIES, Question
from burlab.optim import Optimizer, SciPy
from burlab.problems.finite_sum import FiniteSum
from burlab.problems.functions_of_numbers import keywords_at
from burlab.problems.point import Point
from burlab.problems.trainable import Trainable
from burlab.run.file.save_run import identify, save
from burlab.run.record.digest import Digest
from burlab.run.record.drags import Drags
from burlab.run.record.engine import Engine
from burlab.run.record.history import Event, History, events
from burlab.run.record.live import RecordCursor, at, path, rows_since
from burlab.run.record.recorder import BITS, COUNTERS, FLOPS
from burlab.run.record.stop import Stopped
from burlab.run.record.traces import Traces
from burlab.runtime.checks.attributes import refuse_hyper
from burlab.runtime.coerce import Array
from burlab.runtime.displayed import Displayed
from burlab.transforms import random

from .step_profile import shares


class Readings(Displayed):
    """The part of a `Run` that only reads."""

    def __init__(self, engine: Engine, start: Point | Trainable, problem: FiniteSum | Callable[..., Any] | None,
                 optimizer: Optimizer | SciPy | None) -> None:  # fmt: skip
        """problem, optimizer: the arguments of `minimize`."""
        self._engine = engine
        self._drags = Drags()
        self._start = start
        self._known: tuple[bytes, float] = b"", math.nan  # a point, by its hash, and the value there
        self._shares = cache(partial(shares, engine))  # which takes a moment
        self.problem: Any = problem
        self.optimizer: Any = optimizer

    def __setattr__(self, name: str, value: object) -> None:
        if not name.startswith("_"):
            refuse_hyper(name, self._engine.hypers, "run")
        object.__setattr__(self, name, value)

    @property
    def engine(self) -> Engine:
        """The engine that does its steps, for code that steers many runs."""
        return self._engine

    @property
    def t(self) -> int:
        """Steps done at the current point."""
        return self._engine.view().step

    @property
    def length(self) -> int:
        """Rows of the record: one for each step ever done, and a last one where a criterion stopped the run."""
        return self._engine.view().length

    @property
    def can_seek(self) -> bool:
        """Return True if it can go back in its record: it stores keyframes."""
        return self._engine.can_seek

    @property
    def stopped(self) -> Stopped | None:
        """The reason why the run last stopped by itself; None after a pause and while it runs.

        >>> import numpy as np, burlab as bl
        >>> run = bl.minimize(lambda x: np.sum(x**2), np.ones(1), bl.optim.GD(0.25), stop=bl.Stop(value=0.1), steps=9)
        >>> run.stopped.message
        'Stopped at step 2: the value 0.0625 is at most 0.1.'
        """
        return self._engine.view().stopped

    @property
    def queries(self) -> tuple[str, ...]:
        """The rule's queries besides the gradient of each step, with how many samples it chooses; see `counts`.

        Those about losses of parts count once, whatever part they are about.

        >>> import numpy as np, burlab as bl
        >>> bl.minimize(lambda x: np.sum(x**2), np.ones(1), bl.optim.ArmijoGD()).queries
        ('value', 'grad')
        """
        asked = [Question.of(text) for text in self._engine.queries if text not in ("key", "indices", "rows")]
        return tuple(dict.fromkeys(str(q._replace(entries=0) if q.name in PART_QUERIES else q) for q in asked))

    @property
    def x(self) -> tree.Tree:
        """The point after `t` steps: a copy, with the start's structure, shapes and dtype.

        Where the optimizer has an `output`, such as an average, it is that point; `iterate` is the other one.
        """
        return self._start.with_numbers(self._engine.output()).tree

    @property
    def iterate(self) -> tree.Tree:
        """The point where the next gradient is taken, as `x` is: the same one, unless the optimizer has an `output`.

        With `state` it is what a run goes on from: `bl.minimize(problem, run.iterate, optimizer, state=run.state)`.
        """
        return self._start.with_numbers(self._engine.read()).tree

    @property
    def loss_state(self) -> tree.Tree:
        """The state of the loss, see `FiniteSum`: a copy of the tree that it returned last; None of one without.

        Raises StatusError while the run does steps.

        >>> import numpy as np, burlab as bl
        >>> def counted(x, a, state): return (x - a) ** 2, {"steps": state["steps"] + 1}
        >>> problem = bl.FiniteSum(counted, np.ones(3), loss_state={"steps": np.array(0)})
        >>> run = bl.minimize(problem, 0.0, bl.optim.GD(0.1), steps=5); run.loss_state
        {'steps': array(5)}
        >>> run.seek(2); run.loss_state
        {'steps': array(2)}
        """
        if not self._engine.view().rests:
            raise StatusError("the state of the loss changes with every step. Call run.pause() first.")
        return self._engine.loss_state()

    @property
    def value(self) -> float:
        """The value at `x`, over all samples, with the regularizer; while the run does steps, that of its newest row.

        It is evaluated at the first access at rest, and counts in no column. A loss that draws has the key 0, unless x
        is all that steps differ in.

        >>> import numpy as np, burlab as bl
        >>> bl.minimize(lambda x: np.sum(x**2), np.ones(1), bl.optim.GD(0.25), steps=2).value
        0.0625
        """
        engine = self._engine
        if engine.is_exact or not engine.view().rests:
            return self.row_value()
        return self._valued()

    def row_value(self, seconds: float = math.inf) -> float:
        """The value that the row of step `t` holds, or will hold: at `iterate`, of the step's batch if it draws one.

        Args:
            seconds: To wait for its evaluation.

        Returns:
            The value; NaN if it is not known in time. While the run does steps, the value of the newest row.

        >>> import numpy as np, burlab as bl
        >>> problem = bl.FiniteSum(lambda x, a: (x - a) ** 2, np.arange(10.0))
        >>> run = bl.minimize(problem, 0.0, bl.optim.GD(0.1), batch=2, steps=3)
        >>> value = run.row_value(); run.step(); value == float(run.history["value"][3])
        True
        """
        engine, view = self._engine, self._engine.view()
        if not view.rests:
            return engine.last_value()
        row = at(engine, view.step)
        if row is not None:
            return row["value"]
        found = engine.measured(seconds)
        if found is None:
            return engine.last_value() if math.isinf(seconds) else math.nan
        return found

    @property
    def value_name(self) -> str:
        """The name of the values of rows: "value", "batch value" or "value at the iterate".

        A rule such as `bl.optim.through` names another point: "batch value at T(x)".

        >>> import numpy as np, burlab as bl
        >>> problem = bl.FiniteSum(lambda x, a: (x - a) ** 2, np.arange(10.0))
        >>> [bl.minimize(problem, 0.0, bl.optim.GD(0.1), batch=batch).value_name for batch in (None, 2)]
        ['value', 'batch value']
        """
        if self._engine.value_at:
            return f"{'value' if self._engine.takes_all else 'batch value'} at {self._engine.value_at}"
        if not self._engine.takes_all:
            return "batch value"
        return "value" if self._engine.is_exact or not self._engine.averages else "value at the iterate"

    def _valued(self) -> float:
        """The value at the point that the optimizer gives, over all samples; the last one is cached."""
        read, state = self._engine.numbers(), self._engine.loss_state()
        seen = [leaf.tobytes() for leaf in tree.flatten(state)[0]]
        place = hashlib.blake2b(b"".join([self._engine.output().tobytes(), repr(read).encode(), *seen])).digest()
        known, value = self._known
        if known != place:
            value = self._engine.evaluated()
            if value is None and isinstance(self.problem, FiniteSum):
                key = random.key(0) if self.problem.oracle.keyed else None
                value = float(self.problem.value(self.x, key=key, **keywords_at(self.problem, read, state)))
            value = self.row_value() if value is None else value
            self._known = place, value
        return value

    @property
    def history(self) -> History:
        """Value, norms, hyperparameters and times of every step so far."""
        return History(self._engine)

    @property
    def counts(self) -> dict[str, int]:
        """The cost so far: sample gradients, values, Hessian-vector products, derivatives along vectors.

        Also partial derivatives, surrogates, bits sent, if the rule logs them, and floating-point operations, see
        `history`. One evaluation of one sample counts one; of partial derivatives, each entry.

        >>> import numpy as np, burlab as bl
        >>> problem = bl.FiniteSum(lambda x, a: (x - a) ** 2, np.arange(10.0))
        >>> bl.minimize(problem, 0.0, bl.optim.ArmijoGD(warm=False), batch=2, steps=3).counts
        {'samples': 12, 'values': 12, 'hvps': 0, 'jvps': 0, 'partials': 0, 'surrogates': 0, 'bits': 0, 'flops': 180}
        """
        rows = self.history
        return {name: int(rows[name][-1]) if name in rows and rows.steps else 0 for name in (*COUNTERS, BITS, FLOPS)}

    @property
    def traces(self) -> Traces:
        """Samples of the cost of steps: nanoseconds by part, bytes by kind.

        >>> import numpy as np, burlab as bl
        >>> run = bl.minimize(lambda x: np.sum(x**2), np.ones(2), bl.optim.GD(0.1), steps=100)
        >>> parts = [run.traces[name][-1] for name in ("data", "forward", "backward", "update", "other")]
        >>> bool(sum(parts) > 0), run.traces.at(run.t)["parameters"]
        (True, 128.0)
        """
        return Traces(self._engine.traces, self._shares)

    @property
    def events(self) -> list[Event]:
        """The changes of hyperparameters so far, in order; of those at one step the last, as only that was used."""
        return self._drags.marked(events(self._engine))

    @property
    def path(self) -> tuple[Array, Array] | None:
        """The points x_0, x_1, ... of a run in d = 1 or 2 dimensions: their steps, int64 (n,), and float64 (n, d).

        They cover the whole record, also ahead of `t`, and the current point of a run at its end: all points up to
        65,536; then the first 4,096, and later ones where a drawing shows the distance. None for more dimensions, and
        where only a part of x is trained.

        >>> import numpy as np, burlab as bl
        >>> bl.minimize(lambda x: np.sum(x**2), np.ones(1), bl.optim.GD(0.25), steps=2).path
        (array([0, 1, 2]), array([[1.  ],
               [0.5 ],
               [0.25]]))
        """
        if isinstance(self._start, Trainable):
            return None
        found, view = path(self._engine), self._engine.view()
        if found is None or not view.rests or view.step < view.length:
            return found
        current = self._engine.read().astype(np.float64)
        return np.append(found[0], view.step), np.concatenate([found[1], current[None]])

    def digest(self, column: str = "value") -> Digest:
        """Return a stored column in bounded memory, for charts of long runs: see `burlab.run.record.digest`."""
        return Digest(self._engine, column)

    def tail(
        self,
        cursor: RecordCursor | None = None,
        columns: tuple[str, ...] | None = None,
        *,
        most: int | None = None,
    ) -> tuple[dict[str, Array], RecordCursor, bool]:
        """Return the rows since `cursor`, for live views: see `burlab.run.record.live.rows_since`."""
        return rows_since(self._engine, cursor, columns, most=most)

    def at(self, step: int) -> dict[str, float] | None:
        """Return the stored columns at a step of the record.

        Args:
            step: From 0 to `length`.

        Returns:
            The numbers by column; None if the step has no row, or one that was merged.
        """
        return at(self._engine, step)

    @property
    def fingerprint(self) -> str:
        """A hash of problem, data, start, rule, first hyperparameters, batches and criteria, which determine its steps.

        Two runs of one fingerprint have the same bits, on one instruction set and with one version of burlab; a
        predicate (`Stop.when`) does not enter. Raises StatusError where the optimizer is SciPy's.

        >>> import numpy as np, burlab as bl
        >>> runs = [bl.minimize(lambda x: np.sum(x**2), np.ones(1), bl.optim.GD(lr)) for lr in (0.1, 0.1, 0.2)]
        >>> runs[0].fingerprint == runs[1].fingerprint, runs[0].fingerprint == runs[2].fingerprint
        (True, False)
        """
        return identify(self._engine)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the run to a file, whole or not at all; also while it runs. Example: `burlab.load_run`.

        Args:
            path: The file: history, keyframes, state of the optimizer, kernels as graphs, and a checksum of the data.

        Raises:
            FileError: It cannot be written; an older file there is then unchanged.
        """
        save(self._engine, path)

    @property
    def memory(self) -> dict[str, int]:
        """Bytes that the run holds, by purpose, their "total", and the "peak", the largest total so far.

        All memory of a step is allocated when the run is opened, so at step 0 the total says what steps will take; only
        the record and keyframes grow.

        parameters, optimizer_state: twice, because a step reads one and writes the other; once where x has 65,536
        entries or more, the update treats them alike, and the gradient is computed before the update. The state of a
        loss counts as the optimizer's. gradients: the sums over the batch, one for each open level of a thread's slots,
        and their mean. activations: for each thread the values of the kernel and the samples of its tile; and, once,
        what needs no sample. scratch: the memory of the update, and tables. history, events, keyframes, path, traces:
        the record. A keyframe takes the bytes of x and the states, once.

        >>> import numpy as np, burlab as bl
        >>> run = bl.minimize(lambda x: np.sum(x**2), np.ones(1000), bl.optim.Momentum(0.1))
        >>> run.memory["parameters"], run.memory["optimizer_state"]  # each twice: a step reads one and writes the other
        (16000, 16000)
        """
        return self._engine.nbytes()

    def _name(self) -> str:
        """Return optimizer and problem, such as "Adam on rosenbrock"."""
        problem = getattr(self.problem, "name", "") or getattr(self.problem, "__name__", "")
        name = type(self.optimizer).__name__ if self.optimizer is not None else "a run"
        return f"{name} on {problem}" if problem and problem != "<lambda>" else name
