"""The gradient method of Barzilai and Borwein."""

from dataclasses import dataclass, replace

import numpy as np

from burlab.errors import ArgumentError
from burlab.runtime.checks.numbers import shown, whole

from .arithmetic import number, ratio, unit_of, where
from .line_search import armijo
from .optimizer import Hyper, Optimizer, State, Vector
from .queries import Queries
from .search_line import SearchLine, first_step

FORMS = ("long", "short", "alternate")
LONGEST = 1e30


@dataclass(frozen=True)
class BarzilaiBorwein(Optimizer):
    """Barzilai and Borwein 1988, made global as in Raydan 1997 (GBB): x <- x - a g, a from the last two gradients.

    With s = x - x_before and y = g - g_before the step is s.s / s.y ("long"), s.y / y.y ("short"), or long and short
    alternating ("alternate"). Safeguards: at step 0 it is first min(1, 1 / |g|); where s.y <= 0 it is ten times the
    last one; and it is halved until f(x - a g) <= the largest of the last `window` values - c1 a |g|^2 (Grippo,
    Lampariello and Lucidi 1986), so values may rise for a while. Raydan interpolates where this halves. window=0 is the
    method of 1988, without a search: it need not converge.
    form: which step. first: scale of the first step. trials: at most so many halvings; then x stays.
    Cost: one gradient and a value per trial; keeps 2 d + window + 2 numbers.

    >>> import numpy as np, burlab as bl
    >>> run = bl.minimize(lambda x: x[0] ** 2 + 9 * x[1] ** 2, np.ones(2), bl.optim.BarzilaiBorwein(), steps=30)
    >>> bool(np.linalg.norm(run.x) < 1e-8)
    True
    """

    first: Hyper = 1.0
    c1: Hyper = 1e-4
    form: str = "long"
    window: int = 10
    trials: int = 60

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.form, str) or self.form not in FORMS:  # pyright: ignore[reportUnnecessaryIsInstance] - users pass anything
            raise ArgumentError(f"form is {shown(self.form)}, expected one of {', '.join(FORMS)}.")
        whole(self.window, "window", 0)
        whole(self.trials, "trials", 1)

    def init(self, x: Vector) -> State:
        """No point came before; no value is known."""
        past = np.full(self.window, -np.inf, x.dtype)
        return {
            "x": np.zeros_like(x),
            "g": np.zeros_like(x),
            "past": past,
            "odd": np.asarray(False),
            "step": number(x, 0.0),
        }

    def update(self, g: Vector, state: State, x: Vector, t: int, *, f: Queries) -> tuple[Vector, State]:  # noqa: ARG002
        """One step against the gradient, whose length comes from the last step."""
        s, y = x - state["x"], g - state["g"]
        curvature, last = s @ y, state["step"]
        unit = unit_of(y)
        long, short = ratio(s @ s, curvature), ratio(s @ (unit * y), (unit * y) @ (unit * y)) * unit
        step = {"long": long, "short": short, "alternate": where(state["odd"], short, long)}[self.form]
        step = where((curvature > 0) & np.isfinite(step), step, 10 * last)
        step = where(last > 0, np.minimum(step, LONGEST), self.first * first_step(g))
        after = {"x": x, "g": g, "odd": ~state["odd"]}
        if not self.window:
            return x - step * g, {**after, "step": step, "past": state["past"]}
        line = SearchLine.through(f, x, g, -g)
        past = np.concatenate([state["past"][1:], np.reshape(line.value, (1,))])
        ceiling = np.max(past) + 2 * line.noise  # what only rounding lifts over the largest value is not refused
        step = armijo(replace(line, value=ceiling), step, 0.5, self.c1, self.trials)
        return line.to(step), {**after, "step": step * line.unit, "past": past}
