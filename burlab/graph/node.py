"""A node of a computation graph, and the NumPy protocols through which ordinary code makes more of them.

A node is what one operation produced: its name, its inputs, its parameters, and the shape and dtype of its value. While a
function is traced its arguments are nodes; NumPy hands every call on them to `__array_ufunc__` or `__array_function__`,
which look it up in the two tables below. The modules of this folder fill the tables.
"""

import math
import operator
import sys
import threading
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, NoReturn, cast

import numpy as np

from burlab.errors import TraceError

Origin = tuple[str, int]  # the user's file and line

UFUNCS: dict[str, Callable[..., Any]] = {}  # name of a NumPy ufunc -> what it means on nodes
REDUCTIONS: dict[str, Callable[..., Any]] = {}  # name of a ufunc -> its `.reduce` on nodes
FUNCTIONS: dict[Callable[..., Any], Callable[..., Any]] = {}  # NumPy function -> what it means on nodes
METHODS: dict[str, Callable[..., Any]] = {}  # method of a NumPy array -> what it means on nodes

_PACKAGE = str(Path(__file__).resolve().parents[1])
_NUMPY = str(Path(np.__file__).resolve().parent)


class _Here(threading.local):
    """What the nodes made now belong to: the module scope, and the line of a node that they are derived from."""

    scope: str = ""
    origin: Origin | None = None


_here = _Here()


class Node:
    """The value of one operation, not yet computed. Immutable; two nodes are equal only if they are the same node.

    op: name; inputs: nodes; params: what else the operation needs (hashable; the array of a constant).
    shape, dtype: of the value. weak: a Python scalar, which never widens the dtype of what it meets (NumPy's rule).
    origin: file and line of the user's code; scope: the module it belongs to (see `scope`).
    """

    __slots__ = ("dtype", "inputs", "op", "origin", "params", "scope", "shape", "weak")
    __array_priority__ = 1000

    def __init__(
        self,
        op: str,
        inputs: tuple["Node", ...],
        params: Any,
        shape: tuple[int, ...],
        dtype: np.dtype[Any],
        weak: bool = False,
    ) -> None:
        self.op = op
        self.inputs = inputs
        self.params = params
        self.shape = shape
        self.dtype = dtype
        self.weak = weak
        self.origin = _here.origin or user_line()
        self.scope = _here.scope

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """Number of elements."""
        return math.prod(self.shape)

    @property
    def nbytes(self) -> int:
        """Bytes of the value."""
        return self.size * self.dtype.itemsize

    @property
    def itemsize(self) -> int:
        """Bytes of one element."""
        return self.dtype.itemsize

    def __repr__(self) -> str:
        return f"Node({self.op}, shape={self.shape}, {self.dtype})"

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        table = UFUNCS if method == "__call__" else REDUCTIONS if method == "reduce" else {}
        rule = table.get(ufunc.__name__)
        if rule is None:
            suffix = "" if method == "__call__" else f".{method}"
            raise unsupported(f"np.{ufunc.__name__}{suffix}", "has no rule here")
        if method == "reduce":
            return rule(*inputs, **kwargs)
        for name, value in kwargs.items():
            if not (value is None or (name == "where" and value is True)):
                raise unsupported(f"np.{ufunc.__name__}({name}=...)", _KEYWORD_REMEDY.get(name, "leave it out"))
        return rule(*inputs)

    def __array_function__(
        self, func: Callable[..., Any], types: object, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        rule = FUNCTIONS.get(func)
        if rule is None:
            raise unsupported(f"{_public_name(func)}", "has no rule here")
        return rule(*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        if name == "T":
            return METHODS["transpose"](self)
        if name in METHODS:
            return partial(METHODS[name], self)
        if name in UFUNCS:  # NumPy's loops over object arrays call np.tanh's element as x.tanh()
            return partial(UFUNCS[name], self)
        if not name.startswith("__") and hasattr(np.ndarray, name):
            raise unsupported(f".{name} of an array", "use a NumPy function that makes a new array")
        raise AttributeError(f"a traced array has no attribute {name!r}")

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of a traced scalar: it has shape ().")
        return self.shape[0]

    def __iter__(self) -> Iterator["Node"]:
        return (self[k] for k in range(len(self)))

    def __hash__(self) -> int:
        return id(self)

    def __bool__(self) -> NoReturn:
        raise fault(
            "a branch on a traced value: its numbers are not known while the function is traced",
            "np.where(condition, a, b), or pass what decides as an int, bool or str argument",
        )

    def __float__(self) -> NoReturn:
        raise fault(
            "float(), math.* or an assignment acc[k] = t needs the number of a traced value, which has none yet",
            "the function of the same name in np, and np.stack to build an array of traced values",
        )

    def __int__(self) -> NoReturn:
        raise fault("int() of a traced value, which has no number yet", "integer arrays as arguments of the function")

    def __index__(self) -> NoReturn:
        raise fault(
            "a traced integer used as an index of a plain list or array, or as a size",
            "bl.asarray(A)[i] for a constant array A; pass sizes as Python ints",
        )

    def __array__(self, dtype: Any = None, copy: Any = None) -> "np.ndarray[Any, Any]":
        if self.dtype.kind in "iu":
            self.__index__()
        if self.shape or dtype not in (None, np.dtype(object)):
            raise fault(
                "the numbers of a traced array were asked for (np.array or np.asarray of it or of a list of such arrays)",
                "the array as it is, np.stack or np.concatenate for lists, x.astype(dtype) to convert",
            )
        box = np.empty((), dtype=object)  # np.array([x[0] ** 2, x[1]]): an array of nodes, stacked by `as_node`
        box[()] = self
        return box

    def __setitem__(self, key: Any, value: Any) -> NoReturn:
        raise fault("an assignment into a traced array, which is immutable", "np.where, np.concatenate or np.stack")

    def __copy__(self) -> "Node":
        return self

    def __deepcopy__(self, memo: Any) -> "Node":
        return self


_KEYWORD_REMEDY = {
    "out": "assign the result to a name",
    "where": "np.where(condition, result, other)",
    "dtype": "x.astype(dtype)",
}


def _dunder(name: str, ufunc: str, reflected: bool) -> None:
    def forward(a: Node, b: Any) -> Any:
        return UFUNCS[ufunc](a, b) if _operand(b) else NotImplemented

    def backward(a: Node, b: Any) -> Any:
        return UFUNCS[ufunc](b, a) if _operand(b) else NotImplemented

    setattr(Node, f"__{name}__", forward)
    if reflected:
        setattr(Node, f"__r{name}__", backward)


def _operand(x: object) -> bool:
    return isinstance(x, (Node, int, float, np.ndarray, np.generic, list, tuple))


for _name, _ufunc in {
    "add": "add", "sub": "subtract", "mul": "multiply", "truediv": "divide", "pow": "power", "matmul": "matmul",
    "floordiv": "floor_divide", "mod": "remainder", "and": "bitwise_and", "or": "bitwise_or",
}.items():  # fmt: skip
    _dunder(_name, _ufunc, reflected=True)
for _name, _ufunc in {
    "lt": "less", "le": "less_equal", "gt": "greater", "ge": "greater_equal", "eq": "equal", "ne": "not_equal",
}.items():  # fmt: skip
    _dunder(_name, _ufunc, reflected=False)
for _name, _ufunc in {"neg": "negative", "abs": "absolute", "pos": "positive", "invert": "invert"}.items():
    setattr(Node, f"__{_name}__", lambda a, ufunc=_ufunc: UFUNCS[ufunc](a))


def user_line() -> Origin | None:
    """File and line of the innermost caller that is neither burlab's nor NumPy's code."""
    frame = sys._getframe(2)  # noqa: SLF001 - the documented way to the caller, and traced code pays it per node
    while frame is not None:
        file = frame.f_code.co_filename
        if not file.startswith((_PACKAGE, _NUMPY)):
            return file, frame.f_lineno
        frame = frame.f_back
    return None


def fault(what: str, remedy: str) -> TraceError:
    """A TraceError that names the user's line, what was met there, and what to write instead."""
    line = user_line()
    where = f'File "{line[0]}", line {line[1]}: ' if line else ""
    return TraceError(f"{where}{what}. Use {remedy}.")


def unsupported(name: str, remedy: str) -> TraceError:
    """A TraceError for a NumPy feature that cannot be traced."""
    line = user_line()
    where = f'File "{line[0]}", line {line[1]}: ' if line else ""
    return TraceError(f"{where}{name} cannot be traced: {remedy}. What can be is listed in burlab.graph.")


def _public_name(func: Callable[..., Any]) -> str:
    module = getattr(func, "__module__", "numpy").replace("numpy", "np", 1)
    return f"{module}.{getattr(func, '__name__', func)}"


@contextmanager
def scope(name: str) -> Generator[None]:
    """Name the part of a model that the nodes made inside belong to; scopes nest as `outer/inner`.

    >>> with scope("attention"), scope("query"):
    ...     constant(1.0).scope
    'attention/query'
    """
    before = _here.scope
    _here.scope = f"{before}/{name}" if before else name
    try:
        yield
    finally:
        _here.scope = before


class derived_from:  # noqa: N801 - used like a function, and a plain class is ten times cheaper than contextmanager
    """Nodes made inside stand for the same user line and scope as `node`: sweeps and rewrites keep the line of the user."""

    __slots__ = ("_before", "_node")

    def __init__(self, node: Node) -> None:
        self._node = node

    def __enter__(self) -> None:
        self._before = (_here.origin, _here.scope)
        _here.origin, _here.scope = self._node.origin, self._node.scope

    def __exit__(self, *exc: object) -> None:
        _here.origin, _here.scope = self._before


def constant(value: Any, dtype: Any = None) -> Node:
    """A node for a known array or number. Python scalars are weak: they take on the dtype of what they meet."""
    weak = dtype is None and type(value) in (int, float)
    array = np.array(value, dtype=dtype, order="C")
    if array.dtype.kind not in "fiub" or array.dtype.itemsize > 8:
        raise fault(f"a value of dtype {array.dtype} ({type(value).__name__}) met a traced array", "float, int or bool")
    array = array.astype(native_dtype(array.dtype), copy=False)
    array.flags.writeable = False
    return Node("constant", (), array, array.shape, array.dtype, weak)


_WIDER = {np.dtype(t): np.dtype(np.int64) for t in (np.int8, np.int16, np.uint8, np.uint16, np.uint32)}
_WIDER[np.dtype(np.float16)] = np.dtype(np.float32)


def native_dtype(dtype: "np.dtype[Any]") -> "np.dtype[Any]":
    """The dtype that values of this one have in a graph: native byte order, small integers as int64, float16 as float32."""
    native = dtype.newbyteorder("=")
    return _WIDER.get(native, native)


def as_node(value: Any) -> Node:
    """The value itself if it is a node, else a constant; a list of nodes is stacked."""
    if type(value) is Node:
        return value
    if isinstance(value, np.ndarray) and value.dtype == object:
        value = cast("Any", value).tolist()
    if type(value) is Node:  # out of a 0-d object array
        return value
    if isinstance(value, (list, tuple)) and _holds_node(cast("list[Any]", value)):
        return FUNCTIONS[np.stack]([as_node(item) for item in cast("list[Any]", value)])
    return constant(value)


def _holds_node(items: "list[Any] | tuple[Any, ...]") -> bool:
    return any(
        type(item) is Node or (isinstance(item, (list, tuple)) and _holds_node(cast("list[Any]", item)))
        for item in items
    )


def normal_axis(axis: Any, ndim: int) -> int:
    """An axis between 0 and ndim. Raises numpy.exceptions.AxisError like NumPy."""
    axis = operator.index(axis)
    if not -ndim <= axis < ndim:
        raise np.exceptions.AxisError(axis, ndim)
    return axis % ndim


def normal_axes(axis: Any, ndim: int) -> tuple[int, ...]:
    """Sorted axes from NumPy's `axis` argument: None for all, an int, or a tuple of distinct ints."""
    if axis is None:
        return tuple(range(ndim))
    axes = [normal_axis(a, ndim) for a in (axis if isinstance(axis, (tuple, list)) else (axis,))]
    if len(set(axes)) != len(axes):
        raise ValueError(f"axis {axis} names an axis twice.")
    return tuple(sorted(axes))
