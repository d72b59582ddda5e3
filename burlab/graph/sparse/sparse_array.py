"""A traced sparse row or matrix: rows in CSR form, with the protocols by which NumPy's functions take it.

No operation of a graph has a sparse value: a sparse array is a few nodes, and a product with it is one node
(`row_operations.py`). Scalings are kept beside the entries and applied to results, so that no entry is touched.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, NoReturn

import numpy as np

from burlab.graph.faults import fault, public_name, unsupported
from burlab.graph.node import as_node
from burlab.graph.numpy_api.promotion import common_dtype
from burlab.graph.operators import STRONGER
from burlab.graph.rules import Rule, Rules

UFUNCS: Rules[str] = Rules()
"""Name of a NumPy ufunc -> its rule for arguments of which one is sparse."""
FUNCTIONS: Rules[Callable[..., Any]] = Rules()
"""NumPy function -> its rule for arguments of which one is sparse."""
METHODS: Rules[str] = Rules()
"""Method of an array -> its rule for a sparse one."""

ADVICE = "a.toarray(), which is as long as a dense row"


def refused(what: str) -> Exception:
    """The error for a word that a sparse array does not know."""
    return fault(
        f"{what} met a sparse row or matrix, which takes part in products (a @ x, X @ a, np.dot), sums, norms, scaling "
        "and functions with f(0) = 0",
        f"one of these, or {ADVICE}",
    )


def _unknown(what: str) -> Callable[..., NoReturn]:
    """Return a method that is refused by name."""

    def method(*_: Any) -> NoReturn:
        raise refused(what)

    return method


class SparseArray:
    """A sparse row of shape (d,), or a matrix of shape (n, d), or its transpose. Immutable.

    values, columns: of all entries, shape (k,). starts, ends: the places of the entries of the row or rows, integers of
    shape () or (n,). size: d. entries: of a row, about. factor: a number, or one for each row, of all entries; weights:
    one for each column, shape (d,); None for ones. flipped: whether it is the transpose of a matrix.
    """

    __slots__ = ("columns", "ends", "entries", "factor", "flipped", "size_of_row", "starts", "values", "weights")
    __array_priority__ = 1001

    def __init__(  # noqa: PLR0913, PLR0917 - what a sparse matrix consists of
        self,
        values: Any,
        columns: Any,
        starts: Any,
        ends: Any,
        size: int,
        entries: int,
        factor: Any = None,
        weights: Any = None,
        flipped: bool = False,
    ) -> None:
        self.values, self.columns, self.starts, self.ends = values, columns, starts, ends
        self.size_of_row, self.entries = size, entries
        self.factor, self.weights, self.flipped = factor, weights, flipped

    def replaced(self, **fields: Any) -> "SparseArray":
        """Return the array with other fields."""
        given: dict[str, Any] = {
            "values": self.values, "columns": self.columns, "starts": self.starts, "ends": self.ends,
            "size": self.size_of_row, "entries": self.entries, "factor": self.factor, "weights": self.weights,
            "flipped": self.flipped,
        }  # fmt: skip
        return SparseArray(**given | fields)

    def of_nodes(self) -> "SparseArray":
        """Return the same with nodes for arrays."""
        arrays = self.values, self.columns, self.starts, self.ends
        values, columns, starts, ends = map(as_node, arrays)
        return self.replaced(values=values, columns=columns, starts=starts, ends=ends)

    @property
    def shape(self) -> tuple[int, ...]:
        """Sizes of the axes."""
        shape = (*self.starts.shape, self.size_of_row)
        return shape[::-1] if self.flipped else shape

    @property
    def dtype(self) -> "np.dtype[Any]":
        """The dtype of its entries."""
        parts = [as_node(x) for x in (self.values, self.factor, self.weights) if x is not None]
        return common_dtype(parts)

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """Number of elements, zeros too."""
        return int(np.prod(self.shape))

    @property
    def real(self) -> "SparseArray":
        """Itself: entries are real."""
        return self

    @property
    def T(self) -> "SparseArray":
        """The transpose."""
        return self.replaced(flipped=not self.flipped) if self.ndim > 1 else self

    def __repr__(self) -> str:
        return f"SparseArray(shape={self.shape}, {self.dtype})"

    def __len__(self) -> int:
        return self.shape[0]

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        rule = UFUNCS.get(ufunc.__name__) if method == "__call__" else None
        if method == "reduce" and ufunc.__name__ == "add":
            rule = FUNCTIONS[np.sum]
        if rule is None:
            raise refused(f"np.{ufunc.__name__}" if method == "__call__" else f"np.{ufunc.__name__}.{method}")
        if any(value is not None for key, value in kwargs.items() if key != "axis"):
            raise unsupported(f"np.{ufunc.__name__}({next(iter(kwargs))}=...) of a sparse array", "leave it out")
        return rule(*inputs, **kwargs)

    def __array_function__(self, func: Rule, types: object, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        rule = FUNCTIONS.get(func)
        if rule is None:
            raise refused(public_name(func))
        return rule(*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        if name in METHODS:
            return partial(METHODS[name], self)
        if not name.startswith("__") and hasattr(np.ndarray, name):
            raise refused(f".{name}")
        raise AttributeError(f"a traced sparse array has no attribute {name!r}")

    def __matmul__(self, x: Any) -> Any:
        return UFUNCS["matmul"](self, x)

    def __rmatmul__(self, x: Any) -> Any:
        return UFUNCS["matmul"](x, self)

    def __mul__(self, x: Any) -> Any:
        return UFUNCS["multiply"](self, x)

    __rmul__ = __mul__

    def __truediv__(self, x: Any) -> Any:
        return UFUNCS["divide"](self, x)

    def __neg__(self) -> Any:
        return UFUNCS["negative"](self)

    def __pos__(self) -> Any:
        return self

    def __abs__(self) -> Any:
        return UFUNCS["absolute"](self)

    def __pow__(self, exponent: Any) -> Any:
        return UFUNCS["power"](self, exponent)

    __add__, __sub__, __rtruediv__ = _unknown("+"), _unknown("-"), _unknown("a division by it")
    __radd__, __rsub__ = __add__, __sub__
    __lt__ = __le__ = __gt__ = __ge__ = _unknown("a comparison")
    __eq__ = __ne__ = _unknown("a comparison")  # pyright: ignore[reportAssignmentType] - as NumPy's, it gives no bool
    __hash__ = object.__hash__
    __float__, __int__ = _unknown("float()"), _unknown("int()")

    def __getitem__(self, key: Any) -> "SparseArray":
        return METHODS["__getitem__"](self, key)

    def __array__(self, dtype: Any = None, copy: Any = None) -> NoReturn:
        raise fault("the numbers of a traced sparse array were requested", ADVICE)

    def __bool__(self) -> NoReturn:
        raise fault("a branch on a traced sparse array", "np.where with a condition on numbers")


STRONGER.add(SparseArray)
