"""The upper part of a bilevel problem: gradients through what the lower part would answer."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from burlab.errors import ArgumentError
from burlab.graph.origin import location
from burlab.runtime.checks.numbers import shown, whole
from burlab.transforms import while_loop

from .arithmetic import number, ratio, where
from .optimizer import Hyper, State, Vector
from .part_loss import PartLoss
from .queries import Queries
from .wrappers import Wrapper


@dataclass(frozen=True)
class _Upper(Wrapper):
    """A wrapper whose optimizer gets a hypergradient in place of the gradient. Abstract."""

    lower: str

    def init(self, x: Vector, *, f: Any = None) -> State:
        """The state of the optimizer inside."""
        if f is not None:
            self._losses(f)
        return super().init(x, f=f)

    def _losses(self, f: Any) -> tuple[PartLoss, PartLoss]:
        """The losses of the upper and of the lower part."""
        upper, lower = f.part(), f.part(self.lower)
        if upper.name == lower.name:
            raise ArgumentError(
                f"{location()}lower of {type(self).__name__} is {shown(self.lower)}, the part that it is the optimizer "
                "of. Name the other part, whose solution the loss of this one depends on."
            )
        return upper, lower

    def _advance(
        self, value: Any, hypergradient: Vector, state: State, x: Vector, t: int, f: Queries
    ) -> tuple[Vector, State]:
        """The step inside; its value is that of F, unless the optimizer inside has one of its own."""
        f.log_gradient(hypergradient)
        result = self.advance(hypergradient, state, x, t, f)
        f.log_value(value, "F")
        return result


@dataclass(frozen=True)
class bilevel(_Upper):
    """The hypergradient by implicit differentiation, for the upper part of `bl.optim.alternating`.

    The part in turn, a, has the loss F(w, a); the part `lower`, w, has G(w, a). Where w minimizes G, F as a function of
    a alone has the gradient

        dF/da - (d2G/da dw) q,   (d2G/dw2) q = dF/dw,

    which the optimizer inside gets at the current w. q is found by conjugate gradients (Pedregosa 2016,
    arXiv:1602.02355), for G convex in w; with eta by the Neumann series q = eta sum of (I - eta d2G/dw2)^j dF/dw,
    j = 0 ... terms (Lorraine, Vicol and Duvenaud 2020, Algorithm 3, arXiv:1911.02590), eta below 2 over the largest
    eigenvalue. All products are exact. The value of its steps is F, the gradient norm that of the hypergradient.
    Cost: one gradient, of F by both parts, and terms + 1 Hessian-vector products of G, fewer once q is found.

    Args:
        inner: The optimizer of the upper part, which sees F with w constant if it asks for more.
        lower: Name of the lower part.
        terms: Products that q takes, at most.
        eta: Of the Neumann series; None: conjugate gradients.

    Raises:
        ArgumentError: Outside of `alternating`, or for a lower part that is none.

    >>> import numpy as np, burlab as bl
    >>> losses = {"w": lambda x: (x["w"] - x["a"]) ** 2, "a": lambda x: (x["w"] - 3.0) ** 2}
    >>> rule = {"w": bl.optim.GD(0.5), "a": bl.optim.bilevel(bl.optim.GD(0.5), "w")}
    >>> bl.minimize(bl.problems.Alternating(losses), {"w": 0.0, "a": 1.0}, bl.optim.alternating(rule), steps=3).x
    {'w': array(3.), 'a': array(3.)}
    """

    terms: int = 10
    eta: Hyper | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        whole(self.terms, "terms", 0 if self.eta is not None else 1)

    def update(self, g: Vector, state: State, x: Vector, t: int, *, f: Queries) -> tuple[Vector, State]:  # noqa: ARG002
        """The step along the hypergradient."""
        upper, lower = self._losses(f)
        value, slopes = upper.value_and_grad(by=(upper.name, lower.name))

        def product(v: Vector) -> Vector:
            return lower.hvp(None, {lower.name: v})

        q = (
            self._series(product, slopes[lower.name])
            if self.eta is not None
            else self._solved(product, slopes[lower.name])
        )
        mixed = lower.hvp(None, {lower.name: q}, by=upper.name)
        return self._advance(value, slopes[upper.name] - mixed, state, x, t, f)

    def _series(self, product: Any, b: Vector) -> Vector:
        def more(s: dict[str, Any]) -> Any:
            term = s["term"] - self.eta * product(s["term"])
            return {"count": s["count"] + 1, "term": term, "sum": s["sum"] + term}

        start = {"count": np.asarray(0), "term": b, "sum": b}
        return self.eta * while_loop(lambda s: s["count"] < self.terms, more, start)["sum"]

    def _solved(self, product: Any, b: Vector) -> Vector:
        """Conjugate gradients from 0: Nocedal and Wright 2006, Algorithm 5.2; until the residual is rounding."""
        least = number(b, np.finfo(b.dtype).eps) ** 2 * (b @ b)

        def pending(s: dict[str, Any]) -> Any:
            return (s["count"] < self.terms) & (s["rr"] > least) & ~s["bent"]

        def step(s: dict[str, Any]) -> Any:
            h = product(s["d"])
            curvature = s["d"] @ h
            bent = ~(curvature > 0)
            alpha = where(bent, number(b, 0.0), ratio(s["rr"], curvature))
            r = s["r"] - alpha * h
            rr = r @ r
            return {
                "count": s["count"] + 1,
                "q": s["q"] + alpha * s["d"],
                "r": r,
                "rr": rr,
                "d": r + ratio(rr, s["rr"]) * s["d"],
                "bent": bent,
            }

        zero, start = np.zeros_like(b), {"count": np.asarray(0), "bent": np.asarray(False)}
        return while_loop(pending, step, {**start, "q": zero, "r": b, "rr": b @ b, "d": b})["q"]


@dataclass(frozen=True)
class unrolled(_Upper):
    """The hypergradient through one step of the lower part, for the upper part of `bl.optim.alternating`.

    Second-order DARTS (Liu, Simonyan and Yang 2019, equations 6 and 7, arXiv:1806.09055): the part in turn, a, has the
    loss F(w, a), the part `lower`, w, has G(w, a); the optimizer inside gets the gradient of F(w - xi dG/dw, a) by a,

        dF/da - xi (d2G/da dw) dF/dw'   at   w' = w - xi dG/dw,

    with the mixed product at w exact, where the paper takes a difference of two gradients. w itself stays; xi is the
    learning rate of w as a rule. The value of its steps is F(w', a), the gradient norm that of the hypergradient.
    Cost: two gradients and a Hessian-vector product.

    Args:
        inner: The optimizer of the upper part.
        lower: Name of the lower part.
        xi: Length of the step that is looked through.

    Raises:
        ArgumentError: Outside of `alternating`, or for a lower part that is none.

    >>> import numpy as np, burlab as bl
    >>> losses = {"w": lambda x: (x["w"] - x["a"]) ** 2, "a": lambda x: (x["w"] - 3.0) ** 2}
    >>> rule = {"w": bl.optim.GD(0.5), "a": bl.optim.unrolled(bl.optim.GD(0.5), "w", xi=0.5)}
    >>> bl.minimize(bl.problems.Alternating(losses), {"w": 0.0, "a": 1.0}, bl.optim.alternating(rule), steps=3).x
    {'w': array(3.), 'a': array(3.)}
    """

    xi: Hyper

    def update(self, g: Vector, state: State, x: Vector, t: int, *, f: Queries) -> tuple[Vector, State]:  # noqa: ARG002
        """The step along the hypergradient."""
        upper, lower = self._losses(f)
        ahead = {lower.name: lower.x - self.xi * lower.grad()}
        value, slopes = upper.value_and_grad(ahead, by=(upper.name, lower.name))
        mixed = lower.hvp(None, {lower.name: slopes[lower.name]}, by=upper.name)
        return self._advance(value, slopes[upper.name] - self.xi * mixed, state, x, t, f)
