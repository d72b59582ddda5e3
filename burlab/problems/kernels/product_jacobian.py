"""Sparse Jacobians of residuals over sparse data: each row is a number times a row of the data."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from burlab.compiler.executable import Executable, build
from burlab.graph import Node
from burlab.graph.node import constant
from burlab.graph.tracing.trace import trace
from burlab.runtime.coerce import Array
from burlab.transforms import jacfwd, vmap

from .product_parts import ProductParts, csr_of_rows


@dataclass(frozen=True)
class ProductJacobian:
    """The Jacobian of residuals that read x by one product with a sparse row alone. parts: of these residuals."""

    parts: ProductParts

    def at(self, x: Array) -> Any:
        """Return the Jacobian at x as a CSR array: of k residuals of a sample one row after another."""
        slopes = self._slopes(x)[0]
        rows = self._rows[np.repeat(np.arange(len(slopes)), slopes.shape[1])]
        rows.data = rows.data * np.repeat(slopes.reshape(-1), np.diff(rows.indptr))
        return rows

    @cached_property
    def _rows(self) -> Any:
        return csr_of_rows(self.parts.matrix)

    @cached_property
    def _slopes(self) -> Executable:
        """The derivatives of residuals by the products, shape (n, k), as a compiled function of x."""
        matrix = self.parts.matrix
        x = Node("input", (), "x", (matrix.size_of_row,), matrix.values.dtype)

        def slopes(x: Any) -> Any:
            arrays = [constant(a) for a in self.parts.arrays]
            return vmap(jacfwd(self.parts.applied))(matrix.of_nodes() @ x, *arrays)

        return build(trace(slopes, (x,)).graph)
