"""Help for a run that has come to inf or nan: what made it first, and a way back with a smaller learning rate."""

import math
import threading
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from burlab.compiler.faults.culprit import culprit
from burlab.graph import tree
from burlab.problems import BatchLoss, FiniteSum
from burlab.problems.functions_of_numbers import keywords_at
from burlab.widgets.graph_view.graph_widget import GraphView
from burlab.widgets.graph_view.viewed_graph import TracedGraph
from burlab.widgets.live import readable

from .background_work import in_background
from .curves_of_run import RunCurves
from .scales import RATES

_MAX_NUMBERS = 6  # of a point that are written out
_ROWS = 64  # samples of a batch in which a fault is looked for
_SMALLER = 10.0  # times the learning rate of the way back


class Recovery(NamedTuple):
    """The step of the lowest value, and a hyperparameter with the value that it gets there."""

    step: int
    name: str
    value: float

    @property
    def text(self) -> str:
        """Label of the button."""
        return f"Back to step {readable.count(self.step)} with {self.name} / 10 = {readable.exact(self.value)}"


class PanelCliff:
    """State of a run that was stopped by inf or nan, as a panel shows it.

    `refresh` is quick: the cause is found in a thread.

    dead: whether the run rests there. cause: which operation made the first inf or nan, "" as long as that is not
    known. back: the way back, None if there is none.
    """

    def __init__(self) -> None:
        self.dead = False
        self.cause = ""
        self.back: Recovery | None = None
        self._seen: Any = None
        self._call: tuple[Callable[..., Any], tuple[Any, ...]] | None = None  # the function, and arguments at fault
        self._thread: threading.Thread | None = None

    def refresh(self, run: Any, lines: RunCurves) -> None:
        """Look whether the run has died."""
        stopped = None if run.running else run.stopped
        self.dead = stopped is not None and stopped.reason == "non_finite"
        self.back = _recovery(run, lines) if self.dead else None  # anew, because curves are read behind the run
        state = (run.t, run.length, id(run.parent)) if self.dead else None
        if state == self._seen:
            return
        self._seen = state
        self.cause, self._call = "", None
        if self.dead and getattr(run, "problem", None) is not None:
            self._thread = in_background(lambda: self._find(run, state), "cause")

    @property
    def offers_graph(self) -> bool:
        """Return True if there is a graph to look into."""
        return self._call is not None

    def graph(self) -> GraphView:
        """Return the graph of the function, at the operation where inf or nan begins."""
        assert self._call is not None
        function, arguments = self._call
        view = GraphView(function, *arguments)
        view.show_fault()
        return view

    def wait(self) -> None:
        """Wait for a cause that is being found."""
        if self._thread is not None:
            self._thread.join()

    def _find(self, run: Any, state: Any) -> None:
        try:
            told = keywords_at(run.problem, run.engine.numbers(), run.engine.loss_state())
            call, cause = _cause(run.problem, run.iterate, told)
        except Exception as error:  # whatever the user's function raises: then nothing is said about it
            call, cause = None, f"It is not known which operation made it ({type(error).__name__}: {error})."
        if self._seen == state:
            self._call, self.cause = call, cause


def _recovery(run: Any, lines: RunCurves) -> Recovery | None:
    value, rate = lines.curves.get("value"), next((name for name in run.hyper if name.startswith(RATES)), None)
    if not run.can_seek or rate is None or value is None or math.isnan(step := value.lowest):
        return None
    now = float(run.hyper[rate])
    return Recovery(int(step), rate, float(f"{now / _SMALLER:.6g}")) if math.isfinite(now) and now > 0 else None


def _cause(problem: Any, x: tree.Tree, at_step: dict[str, Any]) -> tuple[Any, str]:
    """Return a call of the loss at fault, None where there is none, and the cause in words.

    at_step: what the loss reads at the step, as keywords of queries to the problem.
    """
    if not all(np.isfinite(leaf).all() for leaf in tree.flatten(x)[0]):
        return None, f"The step before went to x = {_text(x)}."
    sample: tuple[Any, ...] = ()
    function, of = problem, ""
    if isinstance(problem, BatchLoss):
        function, sample, of = _in_batch(problem, x, at_step)
    elif isinstance(problem, FiniteSum):
        values = np.asarray(problem.per_sample_values(x, **at_step))
        k = int(np.argmin(np.isfinite(values)))
        sample, of = (*_inputs(problem, at_step), *problem.oracle.data.sample(k)), f" of sample {readable.count(k)}"
        function = problem.oracle.loss
    view = GraphView(function, x, *sample)
    subject = view.model.subject
    view.close()
    assert isinstance(subject, TracedGraph)
    error = culprit(subject.graph, subject.arrays or (), strict=False)
    if error is None:  # the value is finite: it is in the gradient
        return None, f"The value{of} is finite for x = {_text(x)}, and the gradient is not."
    return (function, (x, *sample)), f"The value{of} is not finite for x = {_text(x)}. {error}"


def _inputs(problem: FiniteSum, at_step: dict[str, Any]) -> tuple[Any, ...]:
    """Return the argument of the loss behind x that the numbers of a step are; () for a loss that reads none."""
    numbers = problem.oracle.numbers
    return () if numbers is None else (numbers.point(**at_step).tree,)


def _in_batch(
    problem: BatchLoss, x: tree.Tree, at_step: dict[str, Any]
) -> tuple[Callable[..., Any], tuple[Any, ...], str]:
    """Return the function at fault, the arguments behind x, and its name: a sample's embedding, or a batch."""
    arrays = problem.oracle.data.arrays
    k = problem.faulty_sample(x)
    if k is not None and problem.embed is not None:
        return problem.embed, problem.oracle.data.sample(k), f" of the embedding of sample {readable.count(k)}"
    size = min(len(problem), _ROWS)
    starts = range(0, len(problem) - size + 1, size)
    first = next((k for k in starts if not np.isfinite(problem.value(x, np.arange(k, k + size), **at_step))), 0)
    rows = *_inputs(problem, at_step), *(array[first : first + size] for array in arrays)
    return problem.oracle.loss, rows, f" of samples {first} to {first + size - 1} as one batch"


def _text(x: tree.Tree) -> str:
    """Return a point in short."""
    leaves = [np.ravel(np.asarray(leaf, np.float64)) for leaf in tree.flatten(x)[0]]
    numbers = np.concatenate([*leaves, np.empty(0)])
    shown = ", ".join(readable.number(float(v)) for v in numbers[:_MAX_NUMBERS])
    return f"[{shown}{', …' if numbers.size > _MAX_NUMBERS else ''}]"
