"""A traced array of complex numbers: two nodes, with the protocols by which NumPy's functions take it.

No graph holds a complex number. NumPy hands every call on such an array to the tables below, which the modules of this
folder fill. Each rule is written in real nodes, so sweeps, batching and kernels know nothing of complex numbers.
"""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, ClassVar, NoReturn, cast

import numpy as np

from burlab.graph.faults import fault, unsupported
from burlab.graph.handles import PRESENT, level
from burlab.graph.node import Node
from burlab.graph.rules import SPECIAL_COMPLEX, Rule, Rules
from burlab.graph.scipy_words import is_special
from burlab.runtime.plain import lends_array
from burlab.typing import ArrayLike, DTypeLike, Index

UFUNCS: Rules[str] = Rules()  # name of a NumPy ufunc -> its rule for complex numbers
REDUCTIONS: Rules[str] = Rules()  # name of a ufunc -> its `.reduce`
ACCUMULATIONS: Rules[str] = Rules()  # name of a ufunc -> its `.accumulate`
FUNCTIONS: Rules[Callable[..., Any]] = Rules()  # NumPy function -> its rule for complex numbers
METHODS: Rules[str] = Rules()  # method of a NumPy array -> its rule for complex numbers
_Operator = Callable[[Any, Any], Any]
_BY_METHOD = {"__call__": UFUNCS, "reduce": REDUCTIONS, "accumulate": ACCUMULATIONS}

_ORDER = frozenset(
    "less less_equal greater greater_equal maximum minimum fmax fmin max min amax amin sort argsort argmax argmin "
    "clip median quantile percentile searchsorted partition argpartition ptp nanmax nanmin lexsort".split()
)


def call_operator(ufunc: str, *inputs: Any) -> Any:
    """Apply an operator, given the name of its ufunc."""
    if ufunc not in UFUNCS:
        raise _refused(f"np.{ufunc}", ufunc)
    return UFUNCS[ufunc](*inputs)


def _unary(ufunc: str) -> Callable[[Any], Any]:
    def method(x: ArrayLike) -> Any:
        return UFUNCS[ufunc](x)

    return method


def _comparison(ufunc: str) -> _Operator:
    def method(x: ArrayLike, y: ArrayLike) -> Any:
        return call_operator(ufunc, x, y) if _is_operand(y) else NotImplemented

    return method


def _binary(ufunc: str) -> tuple[_Operator, _Operator]:
    """Return the methods of an operator such as `x + y`: of the left operand, and of the right one."""

    def right(y: ArrayLike, x: ArrayLike) -> Any:
        return call_operator(ufunc, x, y) if _is_operand(x) else NotImplemented

    return _comparison(ufunc), right


def _is_operand(x: object) -> bool:
    return isinstance(x, (Node, Complex, int, float, complex, list, tuple)) or lends_array(x)


class Complex:
    """A traced complex array. real, imag: nodes of one shape and one floating dtype. Immutable.

    A tree holds it as its two parts, which may then be anything that a leaf may be.
    """

    __slots__ = ("imag", "real")
    __array_priority__ = 1001
    __pandas_priority__ = 10_001

    def __init__(self, real: Any, imag: Any) -> None:
        self.real = real
        self.imag = imag
        trace = level()
        if trace is not None and type(real) is type(imag) is Node:
            trace.hold(real, self)
            trace.hold(imag, self)

    @property
    def shape(self) -> tuple[int, ...]:
        """Sizes of the axes."""
        return cast("tuple[int, ...]", self.real.shape)

    @property
    def dtype(self) -> "np.dtype[Any]":
        """complex64 if the parts are float32, else complex128."""
        return np.dtype(np.complex64 if self.real.dtype == np.float32 else np.complex128)

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """Number of elements."""
        return cast("int", self.real.size)

    @property
    def itemsize(self) -> int:
        """Bytes of one element."""
        return self.dtype.itemsize

    @property
    def nbytes(self) -> int:
        """Bytes of the value."""
        return self.size * self.itemsize

    @property
    def device(self) -> str:
        """Where the value will lie, as `numpy.ndarray.device`."""
        return "cpu"

    def __repr__(self) -> str:
        return f"Complex({self.real!r}, {self.imag!r})"

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if any(type(x) in PRESENT for x in kwargs.get("out") or ()):
            return NotImplemented  # `out` handles the call
        return call_ufunc(ufunc, method, *inputs, **kwargs)

    def __array_function__(self, func: Rule, types: object, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if type(kwargs.get("out")) in PRESENT:
            return NotImplemented
        return call_function(func, args, kwargs)

    def __getattr__(self, name: str) -> Any:
        if name == "T":
            return METHODS["transpose"](self)
        if name in METHODS:
            return partial(METHODS[name], self)
        if not name.startswith("__") and hasattr(np.ndarray, name):
            raise _refused(f".{name}", name)
        raise AttributeError(f"a traced complex array has no attribute {name!r}")

    def __len__(self) -> int:
        return len(self.real)

    def __iter__(self) -> "Iterator[Complex]":
        return (self[k] for k in range(len(self)))

    def __getitem__(self, key: Index) -> "Complex":
        return METHODS["__getitem__"](self, key)

    __add__, __radd__ = _binary("add")
    __sub__, __rsub__ = _binary("subtract")
    __mul__, __rmul__ = _binary("multiply")
    __truediv__, __rtruediv__ = _binary("divide")
    __pow__, __rpow__ = _binary("power")
    __matmul__, __rmatmul__ = _binary("matmul")
    __floordiv__, __rfloordiv__ = _binary("floor_divide")
    __mod__, __rmod__ = _binary("remainder")
    __lt__, __le__ = _comparison("less"), _comparison("less_equal")
    __gt__, __ge__ = _comparison("greater"), _comparison("greater_equal")
    __eq__: ClassVar[_Operator] = _comparison("equal")  # pyright: ignore[reportIncompatibleMethodOverride] - NumPy's ==
    __ne__: ClassVar[_Operator] = _comparison("not_equal")  # pyright: ignore[reportIncompatibleMethodOverride]
    __neg__, __abs__, __pos__ = _unary("negative"), _unary("absolute"), _unary("positive")
    __hash__ = object.__hash__  # by identity, although == makes a node

    def __setitem__(self, key: Index, value: ArrayLike) -> NoReturn:
        raise fault(
            "an assignment into a traced complex array", "z = z.copy() before, or an array of np.zeros(n, complex)"
        )

    def __bool__(self) -> NoReturn:
        raise fault("a branch on a traced complex value", "np.where(condition, a, b)")

    def __float__(self) -> NoReturn:
        raise fault("float() of a traced complex value", "z.real, z.imag or np.abs(z)")

    def __complex__(self) -> NoReturn:
        raise fault("complex() or cmath of a traced complex value, which has no number yet", "the function of np")

    def __array__(self, dtype: DTypeLike = None, copy: bool | None = None) -> NoReturn:
        raise fault(
            "the numbers of a traced complex array were requested (np.array or np.asarray of it, or of a list of such)",
            "the array as it is, np.stack or np.concatenate for lists, z.astype(dtype) to convert",
        )

    def __copy__(self) -> "Complex":
        return self

    def __deepcopy__(self, memo: object) -> "Complex":
        return self


def call_ufunc(ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
    """Call a ufunc of NumPy's on arguments, one of which at least is complex."""
    name = ufunc.__name__
    special = is_special(ufunc)
    table: Rules[str] = _BY_METHOD.get(method, Rules())
    rule = (SPECIAL_COMPLEX.get(name) if special and method == "__call__" else None) or table.get(name)
    if rule is None:
        home = "scipy.special" if special else "np"
        raise _refused(f"{home}.{name}" if method == "__call__" else f"{home}.{name}.{method}", name)
    if method in ("reduce", "accumulate"):
        return rule(*inputs, **{"axis": 0, **kwargs})
    for key, value in kwargs.items():
        if not (value is None or (key == "where" and value is True)):
            raise unsupported(f"np.{name}({key}=...) of complex numbers", "leave it out, and convert or select after")
    return rule(*inputs)


def call_function(func: Rule, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call a function of NumPy's that has a complex array among its arguments."""
    rule = FUNCTIONS.get(func)
    if rule is None:
        module = getattr(func, "__module__", "numpy").replace("numpy", "np", 1)
        name = getattr(func, "__name__", str(func))
        raise _refused(f"{module}.{name}", name)
    return rule(*args, **kwargs)


def call_method(name: str, x: ArrayLike, *args: Any, **kwargs: Any) -> Any:
    """Call a method of an array if the array or an argument is complex."""
    if name not in METHODS:
        raise _refused(f".{name}", name)
    return METHODS[name](x, *args, **kwargs)


def _refused(what: str, name: str) -> Exception:
    if name in _ORDER:
        return unsupported(f"{what} of complex numbers", "they have no order; use np.abs(z), z.real or z.imag")
    return unsupported(f"{what} of complex numbers", "not supported; call it on z.real and z.imag")
