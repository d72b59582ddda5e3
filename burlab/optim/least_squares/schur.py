"""Damped least squares for two tables of unknowns, each residual being of a row of each: the Schur complement."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from burlab.graph.buffers.buffer_functions import at_add
from burlab.graph.node import constant
from burlab.graph.numpy_api.indexing import take
from burlab.optim.arithmetic import Scalar, ratio, solve, where
from burlab.optim.batches import PairedRows
from burlab.optim.optimizer import Vector
from burlab.optim.queries import Queries
from burlab.runtime.memory import check_fits

from .step_domain import StepDomain

einsum: Any = np.einsum  # NumPy's, whose types know no traced values
transpose: Any = np.transpose
inv: Any = np.linalg.inv


@dataclass(frozen=True, slots=True)
class PairedModel:
    """The residuals of a step's samples as linear functions around x, with J'J by blocks.

    i, j: rows of both tables for each sample. first, second: blocks of J, shapes (b, k, v) and (b, k, w). diagonal:
    blocks of J'J, shapes (p, v, v) and (q, w, w). cross: the other blocks, by row of the second table, (q, p v, w).
    slope: J'r. free: which unknowns may move; diagonal and cross are without the others. scale: the diagonal of D,
    shape (d,). cosine: the largest between the residuals and a column of J that may move.
    """

    f: Queries
    x: Vector
    tables: PairedRows
    i: Any
    j: Any
    first: Any
    second: Any
    diagonal: tuple[Any, Any]
    cross: Any
    slope: Vector
    free: Any
    scale: Vector
    cosine: Scalar

    @classmethod
    def around(cls, f: Queries, x: Vector, tables: PairedRows, before: Vector, domain: StepDomain) -> "PairedModel":
        """before: the largest norms of columns so far, shape (d,)."""
        (p, v), (q, w) = tables.first_shape, tables.second_shape
        check_fits(p * v * q * w * x.dtype.itemsize, f"the products of {p} and {q} blocks of unknowns")
        i, j = (take(constant(numbers), f.indices) for numbers in tables[:2])
        r, a, b = f.residual_blocks(x)
        left = at_add(np.zeros((p, v, v), x.dtype), i, einsum("nki,nkj->nij", a, a))
        right = at_add(np.zeros((q, w, w), x.dtype), j, einsum("nki,nkj->nij", b, b))
        cross = at_add(np.zeros((q * p, v, w), x.dtype), j * p + i, einsum("nki,nkj->nij", a, b))
        slope = [
            at_add(np.zeros(shape, x.dtype), numbers, einsum("nki,nk->ni", rows, r)).reshape(-1)
            for shape, numbers, rows in (((p, v), i, a), ((q, w), j, b))
        ]
        squares = [np.sum(block * np.eye(block.shape[1]), axis=2).reshape(-1) for block in (left, right)]
        norms, whole = np.sqrt(np.concatenate(squares)), np.concatenate(slope)
        free, scale, blocks = domain.free(x, whole), np.maximum(before, norms), cross.reshape(q, p * v, w)
        cosine = ratio(np.max(where(free, np.abs(ratio(whole, norms)), 0.0)), np.sqrt(np.sum(r * r)))
        if domain.bounds is not None:
            first, second = free[: p * v].reshape(p, v), free[p * v :].reshape(q, w)
            left = where(first[:, :, None] & first[:, None, :], left, 0.0)
            right = where(second[:, :, None] & second[:, None, :], right, 0.0)
            blocks = where(free[None, : p * v, None] & second[:, None, :], blocks, 0.0)
        return cls(f, x, tables, i, j, a, b, (left, right), blocks, whole, free, scale, cosine)

    @property
    def weights(self) -> Vector:
        """The scale, 1 where it is 0."""
        return where(self.scale > 0, self.scale, np.ones_like(self.scale))

    def step(self, damping: Scalar) -> Vector:
        """The p of what is free that minimizes |r + J p|^2 + damping |D p|^2: Triggs et al. 2000, section 6.1."""
        (p, v), (q, w) = self.tables.first_shape, self.tables.second_shape
        squares = damping * self.weights**2
        left = self.diagonal[0] + squares[: p * v].reshape(p, v)[:, :, None] * np.eye(v)
        right = self.diagonal[1] + squares[p * v :].reshape(q, w)[:, :, None] * np.eye(w)
        inverses = inv(right)
        weighted = transpose(self.cross @ inverses, (1, 0, 2)).reshape(p * v, q * w)
        cross = transpose(self.cross, (1, 0, 2)).reshape(p * v, q * w)
        complement = (np.eye(p)[:, None, :, None] * left[:, :, None, :]).reshape(p * v, p * v) - weighted @ cross.T
        slope = where(self.free, self.slope, 0.0)
        a, b = slope[: p * v], slope[p * v :]
        first = solve(complement, weighted @ b - a)
        second = einsum("jkl,jl->jk", inverses, (-b - first @ cross).reshape(q, w))
        return np.concatenate([first, second.reshape(-1)])

    def squared_length(self, step: Vector) -> Scalar:
        """|J p|^2."""
        (p, v), (q, w) = self.tables.first_shape, self.tables.second_shape
        a, b = step[: p * v].reshape(p, v)[self.i], step[p * v :].reshape(q, w)[self.j]
        across = einsum("nki,ni->nk", self.first, a) + einsum("nki,ni->nk", self.second, b)
        return np.sum(across * across)
