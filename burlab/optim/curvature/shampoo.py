"""Shampoo, and Adam in its eigenbasis."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from burlab.optim.arithmetic import root_of_squares
from burlab.optim.by_leaf import ByLeaf, Draw, adam_init, adam_step
from burlab.optim.optimizer import Hyper, State, Vector
from burlab.runtime.checks.numbers import whole
from burlab.transforms import cond


def inverse_fourth_root(a: Vector) -> Vector:
    """A^(-1/4) of a positive definite matrix, by its eigenvectors."""
    values, vectors = np.linalg.eigh(a)
    return (vectors * values**-0.25) @ vectors.T


@dataclass(frozen=True)
class Shampoo(ByLeaf):
    """Gupta, Koren and Singer 2018, Algorithm 1, arXiv:1802.09568: AdaGrad with a matrix for each side of a matrix.

    L <- L + g g';  R <- R + g' g;  x <- x - lr L^(-1/4) g R^(-1/4), from L = R = eps I. All other leaves: diagonal
    AdaGrad, the paper's sum for tensors of order one without its matrix.
    lr: step size. eps: the two matrices at the start. every: the roots are made anew at every so-many-th step.
    Cost: one gradient, and per matrix m x n two products and, at some steps, O(m^3 + n^3) for the roots; keeps
    2 m^2 + 2 n^2 numbers per matrix and d for the rest.

    >>> import numpy as np, burlab as bl
    >>> run = bl.minimize(lambda w: np.sum((w - np.eye(3)) ** 2), np.zeros((3, 3)), bl.optim.Shampoo(1.0), steps=30)
    >>> bool(np.abs(run.x - np.eye(3)).max() < 0.01)
    True
    """

    lr: Hyper = 0.1
    eps: float = 1e-4
    every: int = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        whole(self.every, "every", 1)

    def init_leaf(self, x: Vector) -> State:
        """Multiples of the identity."""
        if len(x.shape) != 2:
            return {"v": np.full_like(x, self.eps)}
        left, right = (np.eye(n, dtype=x.dtype) for n in x.shape)
        return {"L": self.eps * left, "R": self.eps * right, "left": left, "right": right}

    def update_leaf(self, g: Vector, state: State, x: Vector, t: int, draw: Draw) -> tuple[Vector, State]:  # noqa: ARG002
        """A step with the roots of both sides."""
        if len(x.shape) != 2:
            v = state["v"] + g**2
            return x - self.lr * g / root_of_squares(v, g), {"v": v}
        rows, columns = state["L"] + g @ g.T, state["R"] + g.T @ g
        before: Any = (state["left"], state["right"])
        left, right = cond(
            t % self.every == 0, lambda: (inverse_fourth_root(rows), inverse_fourth_root(columns)), lambda: before
        )
        return x - self.lr * left @ g @ right, {"L": rows, "R": columns, "left": left, "right": right}


def largest_first(a: Vector) -> Vector:
    """Eigenvectors of a symmetric matrix as columns, by falling eigenvalue."""
    return np.linalg.eigh(a)[1][:, ::-1]


def iterated(a: Vector, basis: Vector) -> tuple[Vector, Any]:
    """One step of orthogonal iteration from basis to the eigenvectors of a, largest first, and the order of the old."""
    moved = a @ basis
    order = np.argsort(-np.sum(basis * moved, axis=0), kind="stable")
    return np.linalg.qr(np.take(moved, order, axis=1))[0], order


@dataclass(frozen=True)
class SOAP(ByLeaf):
    """Vyas et al. 2024, Algorithms 3 and 4, arXiv:2409.11321: Adam in the eigenbasis of Shampoo's two matrices.

    Of a matrix, with bases P and Q: m <- b1 m + (1 - b1) g;  v <- b2 v + (1 - b2) (P'g Q)^2;
    x <- x - lr P (P'm^ Q / (sqrt(v^) + eps)) Q';  L <- b3 L + (1 - b3) g g', R likewise with g' g; at every so-many-th
    step P <- qr(L P), Q <- qr(R Q). As in the authors' code the first step only makes L, R and, as their eigenvectors,
    P and Q; x stays, and Adam counts from the second. Columns of P, Q and slots of v go by falling p_i'L p_i, as there:
    qr keeps the first column as it is, so that the largest has to lead. All other leaves: Adam from the first step on.
    lr: step size. b1, b2, eps: of Adam. b3: decay of L and R. every: steps between two bases.
    Cost: one gradient and 8 products per matrix m x n, at some steps also O(m^3 + n^3); keeps 2 (mn + m^2 + n^2)
    numbers per matrix and 2 d for the rest.

    >>> import numpy as np, burlab as bl
    >>> run = bl.minimize(lambda w: np.sum((w - np.eye(3)) ** 2), np.zeros((3, 3)), bl.optim.SOAP(0.1), steps=200)
    >>> bool(np.abs(run.x - np.eye(3)).max() < 0.01)
    True
    """

    lr: Hyper = 3e-3
    b1: Hyper = 0.95
    b2: Hyper = 0.95
    b3: Hyper = 0.95
    eps: Hyper = 1e-8
    every: int = 10

    def __post_init__(self) -> None:
        super().__post_init__()
        whole(self.every, "every", 1)

    def init_leaf(self, x: Vector) -> State:
        """No gradient, and no basis."""
        if len(x.shape) != 2:
            return adam_init(x)
        left, right = (np.zeros((n, n), x.dtype) for n in x.shape)
        return {**adam_init(x), "L": left, "R": right, "P": left, "Q": right}

    def update_leaf(self, g: Vector, state: State, x: Vector, t: int, draw: Draw) -> tuple[Vector, State]:  # noqa: ARG002
        """A step of Adam in the basis, and the basis after it."""
        if len(x.shape) != 2:
            step, state = adam_step(g, state, t, self.b1, self.b2, self.eps)
            return x - self.lr * step, state
        rows = self.b3 * state["L"] + (1 - self.b3) * (g @ g.T)
        columns = self.b3 * state["R"] + (1 - self.b3) * (g.T @ g)
        sides = {"L": rows, "R": columns}
        first = {**adam_init(x), **sides}

        def begin() -> Any:
            return x, {**first, "P": largest_first(rows), "Q": largest_first(columns)}

        def follow() -> Any:
            left, right = state["P"], state["Q"]
            m = self.b1 * state["m"] + (1 - self.b1) * g
            v = self.b2 * state["v"] + (1 - self.b2) * (left.T @ g @ right) ** 2
            rotated = left.T @ (m / (1 - self.b1**t)) @ right
            step = left @ (rotated / (np.sqrt(v / (1 - self.b2**t)) + self.eps)) @ right.T

            def anew() -> Any:
                (p, down), (q, across) = iterated(rows, left), iterated(columns, right)
                return p, q, np.take(np.take(v, down, axis=0), across, axis=1)

            left, right, v = cond(t % self.every == 0, anew, lambda: (left, right, v))
            return x - self.lr * step, {"m": m, "v": v, **sides, "P": left, "Q": right}

        return cond(t == 0, begin, follow)
