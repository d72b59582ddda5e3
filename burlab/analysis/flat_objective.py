"""The subject of an analysis: a function or a finite sum near a point, as functions of one flat vector."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from burlab.errors import ArgumentError, ShapeError
from burlab.graph import tree
from burlab.problems import FiniteSum
from burlab.problems.point import Point, as_point
from burlab.run import Run
from burlab.transforms import grad, hvp, vmap
from burlab.typing import ArrayLike, Numbers, Tree

_MAX_POINTS, _MAX_NUMBERS = 1024, 2**22  # computed at once

Problem = FiniteSum | Callable[[Any], Any]
Subject = Problem | Run
"""What can be analysed: a problem, near a point, or a run, at its own."""


@dataclass(frozen=True)
class FlatObjective:
    """A problem near a point. Vectors are flat, float64, shape (d,): all leaves of the point in order.

    indices: of a finite sum, the samples that count; None for all.
    """

    problem: Problem
    point: Point
    indices: ArrayLike | None = None

    @classmethod
    def of(cls, problem: Subject, x: Tree, indices: ArrayLike | None = None) -> "FlatObjective":
        """A problem at x; a run stands for its problem, and, where x is None, for its point."""
        if isinstance(problem, Run):
            problem, x = problem.problem, problem.x if x is None else x
        if not (isinstance(problem, FiniteSum) or callable(problem)):
            raise ArgumentError(
                f"the problem is a {type(problem).__name__}, expected a function of x, a bl.FiniteSum or a run."
            )
        if x is None:
            raise ArgumentError("x is missing: pass a point, or a run in place of the problem.")
        if indices is not None and not isinstance(problem, FiniteSum):
            raise ArgumentError("indices choose samples of a bl.FiniteSum; this problem is a function. Leave them out.")
        return cls(problem, as_point(x, "x"), indices)

    @property
    def finite_sum(self) -> FiniteSum:
        """The problem. Raises ArgumentError if it is a function, which has no samples."""
        if not isinstance(self.problem, FiniteSum):
            raise ArgumentError(
                "the problem is a function, which has no samples. Pass a bl.FiniteSum, or a run of one."
            )
        return self.problem

    @cached_property
    def x(self) -> Numbers:
        """The point as one vector."""
        return self.flat(self.point.tree)

    @cached_property
    def sizes(self) -> list[int]:
        """The number of entries of each leaf."""
        return [leaf.size for leaf in self.point.leaves]

    def flat(self, value: tree.Tree) -> Numbers:
        """A tree with the point's structure as one vector."""
        leaves = tree.flatten(value)[0]
        return np.concatenate([np.asarray(leaf, np.float64).ravel() for leaf in leaves])

    def tree(self, vector: Any) -> tree.Tree:
        """A vector as a tree with the point's structure, shapes and dtypes; it may be traced."""
        return self.point.with_numbers(vector).tree

    def value(self, vector: Numbers) -> float:
        """f at a vector. What is not finite is given as it is."""
        x = self.tree(vector)
        with np.errstate(all="ignore"):  # also for the points of a run that diverged
            return float(
                self.problem.value(x, self.indices) if isinstance(self.problem, FiniteSum) else self.problem(x)
            )

    def values_on(self, origin: Numbers, directions: Numbers, at: Numbers) -> Numbers:
        """f at `origin + p @ directions` for each row p of `at`, shape (n, k); directions: shape (k, d).

        A function is computed for many points at once, in one kernel that other planes use too. What is not finite is
        given as it is.
        """
        with np.errstate(all="ignore"):  # also for a pole
            if isinstance(self.problem, FiniteSum):
                return np.array([self.value(origin + p @ directions) for p in at])
            many = min(_MAX_POINTS, max(_MAX_NUMBERS // self.x.size, 1), len(at))
            found = np.empty(len(at))
            for first in range(0, len(at), many):
                rows = np.minimum(np.arange(first, first + many), len(at) - 1)  # as many each time: one kernel
                values = np.asarray(self._batched(at[rows], origin, directions), np.float64)
                if values.shape != (many,):
                    raise ShapeError(
                        f"the problem gave shape {values.shape[1:]} at a point, expected one number. Return a scalar."
                    )
                found[rows] = values
            return found

    @cached_property
    def _batched(self) -> Callable[..., Any]:
        """(rows of p, origin, directions) -> values."""
        problem: Any = self.problem

        def at(p: Any, origin: Any, directions: Any) -> Any:
            return problem(self.tree(origin + p @ directions))

        return vmap(at, in_axes=(0, None, None))

    def grad(self, vector: Numbers) -> Numbers:
        """The gradient of f at a vector."""
        x = self.tree(vector)
        problem = self.problem
        return self.flat(problem.grad(x, self.indices) if isinstance(problem, FiniteSum) else grad(problem)(x))

    def hvp(self, v: Numbers) -> Numbers:
        """The Hessian of f at the point, times a vector."""
        x, tangent, problem = self.point.tree, self.tree(v), self.problem
        product = problem.hvp(x, tangent, self.indices) if isinstance(problem, FiniteSum) else hvp(problem)(x, tangent)
        return self.flat(product)
