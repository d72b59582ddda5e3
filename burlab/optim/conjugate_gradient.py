"""Nonlinear conjugate gradients."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from burlab.errors import ArgumentError
from burlab.runtime.checks.numbers import shown, whole

from .arithmetic import number, ratio, unit_of, where
from .descent import trial_like
from .line_search import wolfe
from .optimizer import Hyper, Optimizer, State, Vector
from .queries import Queries
from .search_line import SearchLine

FORMS = ("PR+", "FR", "HS", "DY")


@dataclass(frozen=True)
class NonlinearCG(Optimizer):
    """Nonlinear conjugate gradients: Nocedal and Wright 2006, Algorithm 5.4, with a strong Wolfe search.

    p <- -g + beta p; x <- x + a p. With y = g - g_before, beta is
    "PR+": max(0, g.y / g_before.g_before), Polak and Ribiere 1969, in the form of Gilbert and Nocedal 1992 (5.45);
    "FR": g.g / g_before.g_before, Fletcher and Reeves 1964 (5.41a);
    "HS": g.y / y.p, Hestenes and Stiefel 1952 (5.46); "DY": g.g / y.p, Dai and Yuan 1999 (5.49).
    It begins again with -g where |g.g_before| >= restart g.g (Powell 1977, (5.52)), where p is no descent direction,
    and after a search that failed. The first trial promises the last step's change; at step 0 it is min(1, 1 / |g|).
    c1, c2: constants of the search, 0 < c1 < c2 < 1/2. restart: 1e30 for never. trials: at most so many per step.
    Cost: a value and gradient per trial, and the one at x; keeps 2 d + 1 numbers.

    >>> import numpy as np, burlab as bl
    >>> run = bl.minimize(lambda x: x[0] ** 2 + 9 * x[1] ** 2, np.ones(2), bl.optim.NonlinearCG(c2=1e-3), steps=2)
    >>> bool(np.linalg.norm(run.x) < 1e-8)
    True
    """

    c1: Hyper = 1e-4
    c2: Hyper = 0.1
    restart: Hyper = 0.2
    form: str = "PR+"
    trials: int = 20

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.form, str) or self.form not in FORMS:  # pyright: ignore[reportUnnecessaryIsInstance] - users pass anything
            raise ArgumentError(f"form is {shown(self.form)}, expected one of {', '.join(FORMS)}.")
        whole(self.trials, "trials", 1)

    def init(self, x: Vector) -> State:
        """No direction, so the first one is -g."""
        return {"p": np.zeros_like(x), "g": np.zeros_like(x), "promise": number(x, 0.0)}

    def update(self, g: Vector, state: State, x: Vector, t: int, *, f: Queries) -> tuple[Vector, State]:  # noqa: ARG002
        """One search along the next conjugate direction."""
        unit = unit_of(g, state["g"], state["p"])
        now, before = unit * g, {"g": unit * state["g"], "p": unit * state["p"]}
        known = (state["promise"] < 0) & (np.abs(now @ before["g"]) < self.restart * (now @ now))
        direction = self._beta(now, before) * state["p"] - g
        downhill = known & (now @ (unit * direction) < 0)
        p = where(downhill, direction, -g)
        line = SearchLine.through(f, x, g, p)
        first = trial_like(state["promise"], line, g)
        end = wolfe(line, g, first, self.c1, self.c2, self.trials)
        promise = end["step"] * line.slope
        return line.to(end["step"]), {"p": p, "g": g, "promise": promise}

    def _beta(self, g: Vector, state: State) -> Any:
        y = g - state["g"]
        if self.form == "PR+":
            return np.maximum(ratio(g @ y, state["g"] @ state["g"]), 0)
        if self.form == "FR":
            return ratio(g @ g, state["g"] @ state["g"])
        return ratio(g @ y if self.form == "HS" else g @ g, y @ state["p"])
