"""A traced array of complex numbers: two nodes, and the NumPy protocols through which ordinary code makes more of them.

No graph holds a complex number. NumPy hands every call on such an array to the tables below, which the modules of this
folder fill: each rule is written in real nodes, so sweeps, batching and kernels know nothing of it.
"""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NoReturn, cast

import numpy as np

from burlab.graph.faults import fault, unsupported
from burlab.graph.handles import PRESENT, level
from burlab.graph.node import Node
from burlab.graph.rules import Rule, Rules

UFUNCS: Rules[str] = Rules()  # name of a NumPy ufunc -> what it means on complex numbers
REDUCTIONS: Rules[str] = Rules()  # name of a ufunc -> its `.reduce`
ACCUMULATIONS: Rules[str] = Rules()  # name of a ufunc -> its `.accumulate`
FUNCTIONS: Rules[Callable[..., Any]] = Rules()  # NumPy function -> what it means on complex numbers
METHODS: Rules[str] = Rules()  # method of a NumPy array -> what it means on complex numbers
_BY_METHOD = {"__call__": UFUNCS, "reduce": REDUCTIONS, "accumulate": ACCUMULATIONS}

_ORDER = frozenset(
    "less less_equal greater greater_equal maximum minimum fmax fmin max min amax amin sort argsort argmax argmin "
    "clip median quantile percentile searchsorted partition argpartition ptp nanmax nanmin lexsort".split()
)


class Complex:
    """A traced complex array. real, imag: nodes of one shape and one floating dtype. Immutable.

    A tree holds it as its two parts: those may then be anything that a leaf may be.
    """

    __slots__ = ("imag", "real")
    __array_priority__ = 1001
    __pandas_priority__ = 10_001

    def __init__(self, real: Any, imag: Any) -> None:
        self.real = real
        self.imag = imag
        here = level()
        if here is not None and type(real) is type(imag) is Node:
            here.hold(real, self)
            here.hold(imag, self)

    @property
    def shape(self) -> tuple[int, ...]:
        """Sizes of the axes."""
        return cast("tuple[int, ...]", self.real.shape)

    @property
    def dtype(self) -> "np.dtype[Any]":
        """complex64 of float32 parts, else complex128."""
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

    def __repr__(self) -> str:
        return f"Complex({self.real!r}, {self.imag!r})"

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if any(type(x) in PRESENT for x in kwargs.get("out") or ()):
            return NotImplemented  # it takes the result itself
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

    def __getitem__(self, key: Any) -> "Complex":
        return METHODS["__getitem__"](self, key)

    __hash__ = object.__hash__  # by identity, although == makes a node

    def __setitem__(self, key: Any, value: Any) -> NoReturn:
        raise fault(
            "an assignment into a traced complex array", "z = z.copy() before, or an array of np.zeros(n, complex)"
        )

    def __bool__(self) -> NoReturn:
        raise fault("a branch on a traced complex value", "np.where(condition, a, b)")

    def __float__(self) -> NoReturn:
        raise fault("float() of a traced complex value", "z.real, z.imag or np.abs(z)")

    def __complex__(self) -> NoReturn:
        raise fault("complex() or cmath of a traced complex value, which has no number yet", "the function of np")

    def __array__(self, dtype: Any = None, copy: Any = None) -> NoReturn:
        raise fault(
            "the numbers of a traced complex array were asked for (np.array or np.asarray of it, or of a list of such)",
            "the array as it is, np.stack or np.concatenate for lists, z.astype(dtype) to convert",
        )

    def __copy__(self) -> "Complex":
        return self

    def __deepcopy__(self, memo: Any) -> "Complex":
        return self


def call_ufunc(ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
    """A ufunc of NumPy's on arguments of which one at least is complex."""
    name = ufunc.__name__
    table: Rules[str] = _BY_METHOD.get(method, Rules())
    rule = table.get(name)
    if rule is None:
        raise _refused(f"np.{name}" if method == "__call__" else f"np.{name}.{method}", name)
    if method in ("reduce", "accumulate"):
        return rule(*inputs, **{"axis": 0, **kwargs})
    for key, value in kwargs.items():
        if not (value is None or (key == "where" and value is True)):
            raise unsupported(f"np.{name}({key}=...) of complex numbers", "leave it out, and convert or choose after")
    return rule(*inputs)


def call_function(func: Rule, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A function of NumPy's with a complex array somewhere in its arguments."""
    rule = FUNCTIONS.get(func)
    if rule is None:
        module = getattr(func, "__module__", "numpy").replace("numpy", "np", 1)
        name = getattr(func, "__name__", str(func))
        raise _refused(f"{module}.{name}", name)
    return rule(*args, **kwargs)


def call_method(name: str, x: Any, *args: Any, **kwargs: Any) -> Any:
    """A method of NumPy's arrays, of which the array itself or an argument is complex."""
    if name not in METHODS:
        raise _refused(f".{name}", name)
    return METHODS[name](x, *args, **kwargs)


def _refused(what: str, name: str) -> Exception:
    if name in _ORDER:
        return unsupported(f"{what} of complex numbers", "they have no order; use np.abs(z), z.real or z.imag")
    return unsupported(f"{what} of complex numbers", "it has no rule for them; call it on z.real and z.imag")


def _dunder(name: str, ufunc: str, reflected: bool) -> None:
    def forward(a: Complex, b: Any) -> Any:
        return call_operator(ufunc, a, b) if _operand(b) else NotImplemented

    def backward(a: Complex, b: Any) -> Any:
        return call_operator(ufunc, b, a) if _operand(b) else NotImplemented

    setattr(Complex, f"__{name}__", forward)
    if reflected:
        setattr(Complex, f"__r{name}__", backward)


def call_operator(ufunc: str, *inputs: Any) -> Any:
    """An operator, given the name of its ufunc."""
    if ufunc not in UFUNCS:
        raise _refused(f"np.{ufunc}", ufunc)
    return UFUNCS[ufunc](*inputs)


def _operand(x: object) -> bool:
    return isinstance(x, (Node, Complex, int, float, complex, list, tuple)) or hasattr(x, "__array__")


for _name, _ufunc in {
    "add": "add", "sub": "subtract", "mul": "multiply", "truediv": "divide", "pow": "power", "matmul": "matmul",
    "floordiv": "floor_divide", "mod": "remainder",
}.items():  # fmt: skip
    _dunder(_name, _ufunc, reflected=True)
for _name, _ufunc in {
    "lt": "less", "le": "less_equal", "gt": "greater", "ge": "greater_equal", "eq": "equal", "ne": "not_equal",
}.items():  # fmt: skip
    _dunder(_name, _ufunc, reflected=False)


def _unary_dunder(name: str, ufunc: str) -> None:
    def forward(a: Complex) -> Any:
        return UFUNCS[ufunc](a)

    setattr(Complex, f"__{name}__", forward)


for _name, _ufunc in {"neg": "negative", "abs": "absolute", "pos": "positive"}.items():
    _unary_dunder(_name, _ufunc)
