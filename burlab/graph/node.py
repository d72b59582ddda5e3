"""A node of a computation graph, and the NumPy protocols through which ordinary code makes more of them.

A node is what one operation produced: name, inputs, parameters, and the shape and dtype of its value. In a trace
arguments are nodes; NumPy hands calls on them to `__array_ufunc__` or `__array_function__`, which read these tables.
"""

import math
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, ClassVar, NoReturn, cast

import numpy as np

from burlab.runtime.dtypes import is_narrow_float
from burlab.runtime.memory import ADDRESSABLE, too_large, volume
from burlab.runtime.plain import as_array, check_items, endless, is_complex, is_sparse, lends_array
from burlab.typing import ArrayLike, DTypeLike, Index, Params

from . import hooks
from .faults import check_keywords, fault, public_name, refused_to_library, unsupported, without_rule
from .handles import PRESENT, present
from .operators import PLAIN, STRONGER, Comparison, binary, comparison, unary
from .origin import current, in_poly1d, in_sparse_operator, in_vectorize, location, place, record_node
from .rules import (
    ACCUMULATIONS,
    FUNCTIONS,
    METHODS,
    REDUCTIONS,
    SEGMENTS,
    SPECIAL,
    UFUNCS,
    Rule,
    Rules,
)
from .scipy_words import in_scipy, is_special
from .sentinels import is_poisoned

_SPECIAL_CALLS = {"__call__": SPECIAL}
_BY_METHOD = {
    "__call__": UFUNCS, "reduce": REDUCTIONS, "accumulate": ACCUMULATIONS, "reduceat": SEGMENTS, "outer": UFUNCS,
}  # fmt: skip


class Node:
    """The value of one operation, not yet computed. Immutable; two nodes are equal only if they are the same node.

    op: name; row: what the operation is (`operation.py`); inputs: nodes; params: what else the operation needs
    (hashable; the array of a constant).
    shape, dtype: of the value. weak: a Python scalar, which never widens the dtype of what it meets (NumPy's rule).
    origin: file and line of the user's code; scope: the module it belongs to (see `scope`).
    """

    __slots__ = ("dtype", "inputs", "op", "origin", "params", "row", "scope", "shape", "weak")
    __array_priority__ = 1000
    __pandas_priority__ = 10_000  # a Series or DataFrame leaves its operators to ours

    def __init__(
        self,
        op: str,
        inputs: tuple["Node", ...],
        params: Params,
        shape: tuple[int, ...],
        dtype: np.dtype[Any],
        weak: bool = False,
    ) -> None:
        self.op, self.row = op, hooks.rows[op]
        self.inputs = inputs
        self.params = params
        self.shape = shape
        self.dtype = dtype
        self.weak = weak
        self.origin, self.scope = current()
        record_node(self)
        if shape and volume(shape) * dtype.itemsize > ADDRESSABLE:
            raise too_large(described(self), volume(shape) * dtype.itemsize)

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """Number of elements."""
        return math.prod(self.shape) if self.shape else 1

    @property
    def nbytes(self) -> int:
        """Bytes of the value."""
        return self.size * self.dtype.itemsize

    @property
    def itemsize(self) -> int:
        """Bytes of one element."""
        return self.dtype.itemsize

    @property
    def device(self) -> str:
        """Where the value will lie, as `numpy.ndarray.device`."""
        return "cpu"

    @property
    def is_input(self) -> bool:
        """True for an argument of the graph."""
        return self.op == "input"

    @property
    def is_constant(self) -> bool:
        """True for a known array, which is in `params`."""
        return self.op == "constant"

    @property
    def known(self) -> "np.ndarray[Any, Any] | None":
        """The value of a constant, or of one number repeated (as a 0-d array), else None."""
        if self.op != "broadcast":
            return self.params if self.op == "constant" else None
        n = self.inputs[0]
        return n.known if not n.shape else None

    @property
    def is_zero(self) -> bool:
        """True for known zeros."""
        known = self.known
        return known is not None and not known.any()

    def __repr__(self) -> str:
        return f"Node({self.op}, shape={self.shape}, {self.dtype})"

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        out = kwargs.get("out") or ()
        if any(type(x) in PRESENT for x in out) or not STRONGER.isdisjoint(map(type, inputs)):
            return NotImplemented  # it takes the result itself
        if any(map(is_sparse, inputs)):
            return getattr(ufunc, method)(*(hooks.sparse_constant(x) if is_sparse(x) else x for x in inputs), **kwargs)
        if any(type(x) is Node for x in (out or inputs[: method == "at"])):
            return hooks.results.call_ufunc(ufunc, method, *inputs, **kwargs)
        if any(map(is_complex, inputs)):
            return hooks.complex_numbers().call_ufunc(ufunc, method, *inputs, **kwargs)
        special = is_special(ufunc)
        table: Rules[str] = (_SPECIAL_CALLS if special else _BY_METHOD).get(method, Rules())
        rule = table.get(ufunc.__name__)
        if rule is None:
            raise without_rule(ufunc.__name__, method, special, ufunc.__name__ in UFUNCS)
        if method in ("reduce", "accumulate", "reduceat"):
            return rule(*inputs, **kwargs)
        if out:
            raise fault(
                f"np.{ufunc.__name__} (or += and its kin) puts a traced value into an array from outside",
                "an array that the function makes by np.zeros, np.array or bl.zeros, or assign the result to a name",
            )
        if method == "outer":  # each element of one array with each of the other
            first, second = (as_node(np.asarray(x) if isinstance(x, (int, float)) else x) for x in inputs)
            inputs = METHODS["reshape"](first, (*first.shape, *(1,) * second.ndim)), second
        if kwargs.get("dtype") is not None:  # the dtype of the computation, as in NumPy's loops
            inputs = tuple(METHODS["astype"](as_node(x), kwargs["dtype"]) for x in inputs)
        check_keywords(ufunc.__name__, kwargs)
        return hooks.results.own(rule(*inputs), *inputs)

    def __array_function__(
        self, func: Callable[..., Any], types: object, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        if any(map(is_complex, (*args, *kwargs.values()))):
            return hooks.complex_numbers().call_function(func, args, kwargs)
        if type(kwargs.get("out")) in PRESENT:
            return NotImplemented  # it takes the result itself
        if not STRONGER.isdisjoint(cast("Any", types)):
            return NotImplemented
        if any(map(is_sparse, args)):
            return func(*(hooks.sparse_constant(x) if is_sparse(x) else x for x in args), **kwargs)
        rule = FUNCTIONS.get(func)
        if rule is None and args and type(args[0]) is Node and hooks.results.is_writer(func):
            return func(hooks.results.writable(args[0]), *args[1:], **kwargs)
        if rule is None and any(kind in PRESENT for kind in cast("Any", types)):
            return NotImplemented
        if func is _TRIM_ZEROS and in_poly1d():  # a polynomial keeps leading coefficients that may be zero
            return args[0]
        if rule is None:
            name = public_name(func)
            raise unsupported(name, hooks.why_not(name.partition(".")[2]))
        return hooks.results.of_function(rule(*args, **kwargs), func, args, kwargs)

    def __getattr__(self, name: str) -> Any:
        if name in _ATTRIBUTES:
            function = _ATTRIBUTES[name]
            return hooks.results.of_function(FUNCTIONS[function](self), function, (self,), {})
        if name in METHODS:
            return partial(_method, name, self)
        if name == "flat":
            return hooks.flat_of(self)
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

    __add__, __radd__ = binary("add")
    __sub__, __rsub__ = binary("subtract")
    __mul__, __rmul__ = binary("multiply")
    __truediv__, __rtruediv__ = binary("divide")
    __pow__, __rpow__ = binary("power")
    __matmul__, __rmatmul__ = binary("matmul")
    __floordiv__, __rfloordiv__ = binary("floor_divide")
    __mod__, __rmod__ = binary("remainder")
    __and__, __rand__ = binary("bitwise_and")
    __or__, __ror__ = binary("bitwise_or")
    __xor__, __rxor__ = binary("bitwise_xor")
    __lshift__, __rlshift__ = binary("left_shift")
    __rshift__, __rrshift__ = binary("right_shift")
    __lt__, __le__ = comparison("less"), comparison("less_equal")
    __gt__, __ge__ = comparison("greater"), comparison("greater_equal")
    __eq__: ClassVar[Comparison] = comparison("equal")  # pyright: ignore[reportIncompatibleMethodOverride] - NumPy's ==
    __ne__: ClassVar[Comparison] = comparison("not_equal")  # pyright: ignore[reportIncompatibleMethodOverride]
    __neg__, __abs__ = unary("negative"), unary("absolute")
    __pos__, __invert__ = unary("positive"), unary("invert")
    __hash__ = object.__hash__  # by identity, although == makes a node

    def __bool__(self) -> NoReturn:
        raise fault(
            "a branch on a traced value: its numbers are not known while the function is traced",
            "np.where(condition, a, b), or pass what decides as an int, bool or str argument",
        )

    def __float__(self) -> NoReturn:
        raise fault(
            "float(), math.* or acc[k] = t, into an array from outside, needs the number of a traced value, which has "
            "none yet",
            "the function of the same name in np; to build an array of traced values np.zeros in the function that is "
            "traced, bl.zeros, or np.stack",
        )

    def __format__(self, spec: str) -> str:
        return format(float(self), spec) if spec else repr(self)

    def __round__(self, digits: int | None = None) -> "Node":
        return METHODS["__round__"](self, digits)

    def __divmod__(self, other: ArrayLike) -> Any:
        return UFUNCS["divmod"](self, other)

    def __rdivmod__(self, other: ArrayLike) -> Any:
        return UFUNCS["divmod"](other, self)

    def __int__(self) -> NoReturn:
        raise fault("int() of a traced value, which has no number yet", "integer arrays as arguments of the function")

    def __index__(self) -> NoReturn:
        raise fault(
            "a traced integer used as an index of a plain list or array, or as a size",
            "bl.asarray(A)[i] for a constant array A; pass sizes as Python ints",
        )

    def __array__(self, dtype: DTypeLike = None, copy: bool | None = None) -> "np.ndarray[Any, Any]":
        if (refused := refused_to_library()) is not None:
            raise refused
        if in_sparse_operator():  # SciPy's matrix leaves the operator to the node
            return np.empty((), object)
        if self.dtype.kind in "iu":
            self.__index__()
        if self.shape and self.size <= _OBJECTS and in_vectorize():  # it calls a function for each element
            flat = METHODS["ravel"](self)
            elements = np.empty(self.size, dtype=object)
            elements[:] = [flat[k] for k in range(self.size)]
            return elements.reshape(self.shape)
        if self.shape or dtype not in (None, np.dtype(object)):
            raise fault(
                "the numbers of a traced array were asked for (np.array or np.asarray of it, or of a list of such)",
                "the array as it is, np.stack or np.concatenate for lists, x.astype(dtype) to convert; to assign "
                "into, an array that the traced function makes by np.zeros or bl.zeros",
            )
        if in_scipy():
            raise fault("SciPy's code asked for the number of a traced value", "a function of bl.scipy")
        box = np.empty((), dtype=object)  # np.array([x[0] ** 2, x[1]]): an array of nodes, stacked by `as_node`
        box[()] = self
        return box

    def __getitem__(self, key: Index) -> "Node":
        return _method("__getitem__", self, key)

    def __setitem__(self, key: Index, value: ArrayLike) -> None:
        hooks.results.writable(self)[key] = value

    def __copy__(self) -> "Node":
        return self

    def __deepcopy__(self, memo: object) -> "Node":
        return self


def _method(name: str, x: Node, *args: Any, **kwargs: Any) -> Any:
    """A method of an array, of which an argument may be complex."""
    if any(map(is_complex, args)):
        return hooks.complex_numbers().call_method(name, x, *args, **kwargs)
    if type(out := cast("Any", kwargs.get("out"))) in PRESENT:
        out[...] = METHODS[name](x, *args, **{key: value for key, value in kwargs.items() if key != "out"})
        return out
    return hooks.results.of_method(METHODS[name](x, *args, **kwargs), name, x, args, kwargs)


_ATTRIBUTES: dict[str, Rule] = {"T": np.transpose, "mT": np.matrix_transpose, "real": np.real, "imag": np.imag}
_ARRAY, _TRIM_ZEROS = np.array, np.trim_zeros  # while a function is traced the names mean something else
_OBJECTS = 65536  # elements that an array of objects may have


PLAIN.add(Node)


def constant(value: Any, dtype: DTypeLike = None) -> Node:
    """A node for a known array or number. Python scalars are weak: they take the dtype of the other operand.

    Of narrow floats a small array becomes float32, and a large one is stored as it is, see `as_node`.
    """
    weak = dtype is None and type(value) in (int, float)
    if type(value) not in _NUMBERS:
        value = _known(value)
    array = _ARRAY(value, dtype=dtype, order="C")
    narrow = is_narrow_float(native_dtype(array.dtype))
    if not narrow and (array.dtype.kind not in "fiub" or array.dtype.itemsize > 8):
        raise fault(f"a value of dtype {array.dtype} ({type(value).__name__}) met a traced array", "float, int or bool")
    array = array.astype(_SINGLE if narrow and not stays_narrow(array) else native_dtype(array.dtype), copy=False)
    if is_poisoned(array):
        raise fault(
            "the numbers of an array with traced entries were read past NumPy's functions, perhaps by C code",
            "a function of np, or give that code an array that holds numbers only",
        )
    array.flags.writeable = False
    return Node("constant", (), array, array.shape, array.dtype, weak)


_NUMBERS = {float, int, np.ndarray}
_SINGLE = np.dtype(np.float32)
_LARGE_BYTES = 3 << 23  # of a float32 array of as many elements, from which it is made in blocks of rows


def stays_narrow(array: "np.ndarray[Any, Any]") -> bool:
    """Return True for a known array of a narrow dtype that loops convert: conversion now would cost much memory."""
    return array.itemsize <= 2 and array.size * _SINGLE.itemsize >= _LARGE_BYTES


def _known(value: object) -> Any:
    """A list as it is, an array of another library as NumPy's. Raises DTypeError for arrays that mean more."""
    name = f"{location()}a value that met a traced array"
    if isinstance(value, np.ndarray) or lends_array(value):
        return as_array(value, name)
    check_items(value, name)
    return value


def native_dtype(dtype: "np.dtype[Any]") -> "np.dtype[Any]":
    """The dtype in which a graph holds such arrays: of native byte order."""
    return dtype.newbyteorder("=")


def described(n: Node) -> str:
    """A value in a message about its size: its origin, dtype and shape."""
    line = f"{place(n.origin)}: " if n.origin else ""
    return f"{line}{'an argument' if n.is_input else f'the result of {n.op}'}, {n.dtype}{list(n.shape)},"


def as_node(value: Any) -> Node:
    """The value itself if it is a node, else a constant; a list of nodes is stacked."""
    if type(value) is Node:
        return value
    if type(value) in PRESENT:
        return as_node(present(value))
    if _is_object_array(value):
        return as_node(value.tolist())
    if isinstance(value, (list, tuple)) and holds_node(cast("list[Any]", value)):
        return FUNCTIONS[np.stack]([as_node(item) for item in cast("list[Any]", value)])
    return widened(constant(value))


def widened(x: Node) -> Node:
    """The node in a dtype in which graphs compute: float32 for a narrow float."""
    return Node("convert", (x,), _SINGLE.name, x.shape, _SINGLE) if is_narrow_float(x.dtype) else x


def _is_object_array(value: object) -> bool:
    return isinstance(value, np.ndarray) and cast("Any", value).dtype == object


def holds_node(items: "list[Any] | tuple[Any, ...]") -> bool:
    """Return True if a nested list or tuple has a node in it."""
    try:
        return any(
            type(present(item)) is Node or (isinstance(item, (list, tuple)) and holds_node(cast("list[Any]", item)))
            for item in items
        )
    except RecursionError:
        raise endless("a list that met a traced array") from None
