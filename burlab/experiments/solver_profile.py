"""Performance profiles over many problems: the shares that an optimizer solves at a factor of the least cost."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from burlab import problems as library
from burlab.charts import Axis, Chart, Curve, Plot
from burlab.errors import ArgumentError, BurlabError
from burlab.optim import Optimizer, SciPy
from burlab.problems import TestFunction
from burlab.run import minimize
from burlab.run.record.recorder import COUNTERS
from burlab.runtime.checks.numbers import MAX_STEPS, real, shown, whole
from burlab.runtime.checks.text_table import columns
from burlab.runtime.displayed import Displayed
from burlab.typing import Numbers

_MEASURES = {"gradients": "samples", "steps": "step", "flops": "flops", "seconds": "time"}


@dataclass(frozen=True, slots=True, eq=False)
class PerformanceProfile(Displayed):
    """Result of `burlab.performance_profile`: solvers s on problems p (Dolan and Moré 2002, arXiv:cs/0102001).

    solvers, problems: names. cost: spent by a solver until it solved a problem, shape (solvers, problems), float64; inf
    where it did not. measure: its unit, "gradients", "steps", "flops" or "seconds". tau: the share of the way that may
    be left.
    """

    solvers: tuple[str, ...]
    problems: tuple[str, ...]
    cost: Numbers
    measure: str
    tau: float

    @property
    def ratios(self) -> Numbers:
        """r[s, p]: cost over the least cost of any solver on that problem; inf where it was not solved."""
        best: Any = self.cost.min(axis=0)
        least: Any = np.where(np.isfinite(best), best, 1.0)
        return self.cost / least

    def share(self, solver: str, factor: float = 1.0) -> float:
        """rho_s(factor): the share of problems that a solver solved at no more than so many times the least cost.

        At 1: how often it was the best one. For a large factor: how often it got there at all.
        """
        if solver not in self.solvers:
            raise ArgumentError(f"solver must be one of {', '.join(map(repr, self.solvers))}; got {shown(solver)}.")
        ratios: Any = self.ratios[self.solvers.index(solver)]
        solved = np.isfinite(ratios) & (ratios <= real(factor, "factor", 1.0))
        return np.count_nonzero(solved) / len(self.problems)

    def chart(self) -> Chart:
        """rho_s over the factor, a staircase for each solver."""
        ratios: Any = self.ratios
        solved: Numbers = ratios[np.isfinite(ratios)]
        end = 1.2 * float(np.max(solved, initial=2.0))
        curves = tuple(_stairs(name, k, ratios[k], end) for k, name in enumerate(self.solvers))
        x = Axis(f"times the least {self.measure}", log=True, low=1.0, high=end)
        note = f"of {len(self.problems)} problems, solved to {self.tau:g} of the way that any got"
        plot = Plot("profile", "share of problems solved", x, Axis(low=0.0, high=1.02), curves, note=note, tall=3.0)
        firsts = ", ".join(f"{name} {self.share(name):.0%}" for name in self.solvers)
        return Chart((plot,), about=f"how often each was the best: {firsts}")

    def __repr__(self) -> str:
        rows = [(s, f"{100 * self.share(s):.3g} %", f"{100 * self.share(s, np.inf):.3g} %") for s in self.solvers]
        head = ("solver", "was the best of", "solved")
        return "\n".join(
            [f"<PerformanceProfile: {len(self.problems)} problems, by {self.measure}>", *columns([head, *rows])]
        )


def performance_profile(
    optimizers: Mapping[str, Optimizer | SciPy],
    problems: Sequence[TestFunction] | None = None,
    *,
    measure: str = "gradients",
    tau: float = 1e-3,
    steps: int = 5000,
) -> PerformanceProfile:
    """Run optimizers on test functions from their usual starts, and compare what they spent to solve them.

    A problem is solved where f(x) - f_L <= tau (f(x_0) - f_L), and f_L is the least value that any of the optimizers
    found (Moré and Wild 2009, SIAM Journal on Optimization 20(1), eq. 2.2), so that a local minimum counts. An
    optimizer that fails or diverges has solved what it had solved before.

    Args:
        optimizers: The optimizers by name.
        problems: Test functions; None: those of `bl.problems` that are smooth and bounded below.
        measure: "gradients" (one for each gradient, value or product that a rule asks for), "steps", "flops" (see
            `Run.history`) or "seconds".
        tau: The tolerance, between 0 and 1.
        steps: The budget of each run.

    Returns:
        The cost of each optimizer on each problem.

    Raises:
        ArgumentError: if an argument is wrong.

    >>> import burlab as bl
    >>> solvers = {"GD": bl.optim.GD(1e-3), "BB": bl.optim.BarzilaiBorwein(1e-3), "LBFGS": bl.optim.LBFGS()}
    >>> bl.performance_profile(solvers, [bl.problems.booth(), bl.problems.rosenbrock()], measure="steps", steps=500)
    <PerformanceProfile: 2 problems, by steps>
    solver  was the best of  solved
    GD      0 %              50 %
    BB      50 %             100 %
    LBFGS   100 %            100 %
    """
    if not isinstance(optimizers, Mapping) or not optimizers:  # pyright: ignore[reportUnnecessaryIsInstance] - users
        raise ArgumentError(
            "optimizers must be a mapping from names to optimizers, such as {'Adam': bl.optim.Adam(1e-2)}."
        )
    for name, optimizer in optimizers.items():
        if not isinstance(optimizer, (Optimizer, SciPy)):  # pyright: ignore[reportUnnecessaryIsInstance] - users
            raise ArgumentError(
                f"{shown(name)} is {shown(optimizer)}, expected an optimizer. Pass bl.optim.Adam(lr=1e-3)."
            )
    if not isinstance(measure, str) or measure not in _MEASURES:  # pyright: ignore[reportUnnecessaryIsInstance] - users
        raise ArgumentError(f"measure must be one of {', '.join(map(repr, _MEASURES))}; got {shown(measure)}.")
    if not 0 < real(tau, "tau") < 1:
        raise ArgumentError(f"tau={shown(tau)} must be between 0 and 1: the share of the way that may be left.")
    steps = whole(steps, "steps", 1, MAX_STEPS)
    if problems is not None and not isinstance(problems, Sequence):  # pyright: ignore[reportUnnecessaryIsInstance] - users
        raise ArgumentError(f"problems must be a list such as [bl.problems.beale()], or None; got {shown(problems)}.")
    tried: list[Any] = standard_problems() if problems is None else list(problems)
    if not tried or not all(isinstance(problem, TestFunction) for problem in tried):
        raise ArgumentError("problems must hold test functions. Pass a list such as [bl.problems.beale()], or None.")
    cost = np.stack([costs(_tries(optimizers, problem, steps, measure), tau) for problem in tried], axis=1)
    return PerformanceProfile(tuple(optimizers), tuple(problem.name for problem in tried), cost, measure, float(tau))


def standard_problems() -> list[TestFunction]:
    """Return the test functions of the library that are smooth at their minima and bounded below.

    >>> len(standard_problems()) > 40
    True
    """
    return [f for f in library.suite() if f.smooth and math.isfinite(f.minimum)]


def costs(tries: Sequence[tuple[Numbers, Numbers]], tau: float) -> Numbers:
    """Return the cost of each solver until its value was low enough, shape (solvers,); inf where it never was.

    tries: for each solver the values of its steps and what it had spent by then; they begin at the same value.

    >>> costs([(np.array([8.0, 4.0, 0.0]), np.arange(3.0)), (np.array([8.0, 0.5, 0.4]), np.arange(3.0))], tau=0.1)
    array([2., 1.])
    """
    known = [values for values, _ in tries if values.size]
    if not known:
        return np.full(len(tries), np.inf)
    start = known[0][0]
    lowest = min(float(np.nanmin(values, initial=np.inf, where=np.isfinite(values))) for values in known)
    found: list[float] = []
    for values, spent in tries:
        solved = values - lowest <= tau * (start - lowest)
        found.append(float(spent[np.argmax(solved)]) if solved.any() else np.inf)
    return np.array(found)


def _tries(optimizers: Mapping[str, Any], problem: TestFunction, steps: int, measure: str) -> Any:
    """Return values and costs of each optimizer on a problem; empty arrays for one that could not start."""
    found: list[tuple[Numbers, Numbers]] = []
    for optimizer in optimizers.values():
        try:
            run = minimize(problem, problem.start, optimizer)
        except BurlabError:
            found.append((np.empty(0), np.empty(0)))
            continue
        run.start(steps)
        while not run.rests(1.0):
            pass  # an interrupt is raised here; one that fails or diverges has a record all the same
        history = run.history
        spent = history[_MEASURES[measure]] + (1 if measure == "steps" else 0)
        if measure == "gradients":
            spent = spent + sum(history[name] for name in COUNTERS[1:] if name in history)
        values = history["value"]
        if run.t == history.steps > 0:  # the last point has cost no more than the way to it
            values, spent = np.append(values, run.row_value()), np.append(spent, spent[-1])
        found.append((values, np.asarray(spent * (1e-9 if measure == "seconds" else 1.0), np.float64)))
    return found


def _stairs(name: str, k: int, ratios: Numbers, end: float) -> Curve:
    """Return the share of ratios that are at most x: flat, with a step at each of them."""
    steps = np.sort(ratios[np.isfinite(ratios)])
    x = np.concatenate([[1.0], np.repeat(steps, 2), [end]])
    y = np.repeat(np.arange(steps.size + 1), 2) / ratios.size
    return Curve(x, y.astype(np.float64), name, k)
