"""One row of a table: every variant opened, judged, and only then timed."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

import burlab as bl

from .clock import Effort, Timing, race
from .namespace import BURLAB, PLAIN
from .problem import (
    Answer,
    Array,
    ArrayObjective,
    BatchObjective,
    Method,
    Problem,
    Scalar,
    Size,
    SparseTraining,
    Start,
    Task,
    Training,
    Transfer,
    Unavailable,
)
from .verdict import Verdict, check_differences, check_displacements, check_visits, compare

# Points in this order: a gradient that stays from the point before is wrong at the second or at the third.
POINTS = (0, 1, 0)
# Who is asked first for a second opinion; nobody judges itself.
REFEREES = (
    "jax",
    "optax",
    "torch",
    "autograd",
    "micrograd",
    "complex step",
    "golden",
    "numpy",
    "mpmath",
    "pychop",
    "burlab",
)
_UNSEEN = "the timed steps cannot be looked at"
_ALONE = "no second engine here to compare with. Install one: pip install 'burlab[bench]'"


@dataclass(frozen=True, slots=True)
class Entrant:
    """One variant of one engine. open: makes the task, or raises Unavailable. timed: False for one that only judges."""

    engine: str
    variant: str
    open: Callable[[], Task]
    timed: bool = True


@dataclass(frozen=True, slots=True)
class VariantResult:
    """The results of one variant at one size. gap: why there are none. seconds is None unless the gate was passed."""

    case: str
    size: Size
    engine: str
    variant: str
    gap: str = ""
    verdict: Verdict | None = None
    timing: Timing | None = None
    facts: Mapping[str, float] = field(default_factory=dict[str, float])

    @property
    def seconds(self) -> float | None:
        """Seconds of one gradient or step."""
        return self.timing.seconds if self.timing else None


@dataclass(slots=True)
class _Opened:
    entrant: Entrant
    line: VariantResult
    task: Task | None = None
    answers: dict[str, list[Answer]] = field(default_factory=dict[str, list[Answer]])
    displacements: Mapping[str, Array] | None = None


def measure(
    case: str, size: Size, problem: Problem, dtype: str, entrants: Sequence[Entrant], effort: Effort
) -> list[VariantResult]:
    """Open, judge and time all entrants on one problem. dtype: of what is timed; float64 is judged in any case."""
    opened = [_open(case, size, entrant, dtype) for entrant in entrants]
    for one in opened:
        if one.task is not None:
            one.line = replace(one.line, verdict=_judge(one, opened, problem))
    runners = [_Runner(one, one.task) for one in opened if one.task and _fit(one)]
    for runner, timing in zip(runners, race([runner.repeat for runner in runners], effort), strict=True):
        runner.finish(timing)
    return [one.line for one in opened if one.entrant.timed]


@dataclass(slots=True)
class _Runner:
    """One that is timed. If it fails it has no time, and the others go on."""

    one: _Opened
    task: Task
    failure: Exception | None = None

    def repeat(self, count: int) -> float:
        """See Task; one that has failed takes for ever."""
        try:
            return self.task.repeat(count) if self.failure is None else math.inf
        except Exception as error:
            self.failure = error
            return math.inf

    def finish(self, timing: Timing) -> None:
        """Write down what came out, if the task is as right as it was."""
        try:
            if self.failure is not None:
                raise self.failure
            verdict = _still_right(self.one, self.task, timing)
            facts = dict(self.task.facts()) if verdict.passed else {}
        except Exception as error:
            self.one.line = replace(self.one.line, gap=f"failed while it was timed: {error}")
        else:
            shown = timing if verdict.passed else None
            self.one.line = replace(self.one.line, verdict=verdict, timing=shown, facts=facts)


def _open(case: str, size: Size, entrant: Entrant, dtype: str) -> _Opened:
    one = _Opened(entrant, VariantResult(case, size, entrant.engine, entrant.variant))
    try:
        task = entrant.open()
        for kind in dict.fromkeys(("float64", dtype)):
            one.answers[kind] = [task.answer(point, kind) for point in POINTS]
        one.displacements = task.displacements()
        one.task = task
    except Unavailable as gap:
        one.line = replace(one.line, gap=str(gap))
    except Exception as error:
        one.line = replace(one.line, gap=f"failed: {error}")
    return one


def _fit(one: _Opened) -> bool:
    return one.entrant.timed and one.line.verdict is not None and one.line.verdict.passed


def _judge(one: _Opened, opened: Sequence[_Opened], problem: Problem) -> Verdict:
    if isinstance(problem, Transfer):
        return _same_bits(one.answers["float64"], problem)
    others = {o.entrant.engine: o for o in opened if o.task is not None and o.entrant.engine != one.entrant.engine}
    referee = next((others[name] for name in REFEREES if name in others), None)
    if referee is None:
        return Verdict((_ALONE,))
    complaints, errors = list[str](), dict[str, float]()
    truth = referee.answers["float64"]
    for kind, answers in one.answers.items():
        errors[kind], wrong = compare(answers, truth, kind)
        complaints += [f"{text}, against {referee.entrant.engine}, {kind}" for text in wrong]
    complaints += check_visits(one.answers["float64"])
    visited = one.answers["float64"][0].visited
    if complaints:  # tensors of wrong names or shapes cannot be looked at more closely
        return Verdict(tuple(complaints), referee.entrant.engine, errors, None, visited)
    difference, wrong = _differences(problem, one.answers["float64"][0])
    complaints = wrong + _movement(one, opened, problem)
    return Verdict(tuple(complaints), referee.entrant.engine, errors, difference, visited)


def _still_right(one: _Opened, task: Task, timing: Timing) -> Verdict:
    """The verdict, once more after the task was timed: what it computes must not have changed."""
    verdict = one.line.verdict or Verdict(())
    complaints = list[str]()
    if not 0 < timing.seconds < math.inf:
        complaints.append(f"{timing.count} repetitions take {timing.seconds * timing.count} s")
    for kind, answers in one.answers.items():
        complaints += compare([task.answer(POINTS[0], kind)], answers[:1], kind)[1]
    return replace(verdict, complaints=tuple(f"after it was timed, {text}" for text in complaints))


def _same_bits(answers: Sequence[Answer], problem: Transfer) -> Verdict:
    wanted = [problem.at(point).tobytes() for point in POINTS]
    got = [np.asarray(a.gradients.get("numbers", ())).tobytes() for a in answers]
    same = got == wanted
    complaints = () if same else ("what comes back is not what was saved",)
    return Verdict(complaints, "the numbers themselves")


def _differences(problem: Problem, answer: Answer) -> tuple[float | None, list[str]]:
    if isinstance(problem, Start):
        problem = problem.scalar
    if isinstance(problem, Scalar):
        function, point = problem.function, problem.points[POINTS[0]]
        x = dict(zip(problem.names, point, strict=True))
        return check_differences(lambda x: float(function(PLAIN, *x.values())), x, answer.gradients)
    if isinstance(problem, Training):
        loss, batch = problem.loss, problem.batch_of(POINTS[0])
        data = problem.inputs[batch], problem.targets[batch]

        def mean(x: Mapping[str, Array]) -> float:
            return float(loss(PLAIN, x, *data).mean())

        return check_differences(mean, problem.parameters, answer.gradients, problem.difference)
    if isinstance(problem, Method):
        method, x = problem, {"x": problem.points[POINTS[0]]}
        return check_differences(lambda x: method.value(x["x"]), x, answer.gradients)
    if isinstance(problem, SparseTraining):
        return check_differences(problem.value, problem.by_links(problem.parameters), answer.gradients)
    if isinstance(problem, (ArrayObjective, BatchObjective)):
        function, data = bl.jit(partial(problem.function, BURLAB)), problem.data
        return check_differences(lambda x: float(function(dict(x), dict(data))), problem.points[0], answer.gradients)
    return None, []


def _movement(one: _Opened, opened: Sequence[_Opened], problem: Problem) -> list[str]:
    if not isinstance(problem, (Training, SparseTraining, Method)):
        return []
    if one.displacements is None:
        return [_UNSEEN]
    alike = sorted(opened, key=lambda o: o.entrant.variant == one.entrant.variant)  # of an engine the last one counts
    others = {o.entrant.engine: o.displacements for o in alike if o.displacements is not None}
    wanted = next((others[name] for name in REFEREES if name in others and name != one.entrant.engine), None)
    return (
        [f"{_UNSEEN} by a second engine"]
        if wanted is None
        else check_displacements(one.displacements, wanted, problem.parameters, problem.dtype)
    )
