"""The type `Value`: compiled, and completed here with what need not be fast."""

import operator
from collections.abc import Callable
from typing import Any, cast

from burlab.errors import DTypeError, TapeError
from burlab.runtime.checks.numbers import shown
from burlab.runtime.displayed import mimebundle

from .ancestry import symbol, to_dot
from .native import CALLBACKS, tools_of, types
from .tape import Tape
from .value_ufuncs import answer

Value: Any = types().Value  # for type checkers: value.pyi
Value.__doc__ = """A number that remembers how it was computed.

data: a real number, stored as float64, or as float32 on a float32 tape. label: a name for displays, a str or None. The
Value is a new leaf on the tape in force (`burlab.Tape`); `+ - * / **`, the methods below and NumPy's functions of the
same names record what is computed from it, and `backward()` gives the derivatives of the result by everything that it
came from.

>>> a, b = Value(-41.0, label="a"), Value(2.0, label="b")
>>> d = a * b + b**3
>>> g = ((a + b) - d) ** 2 / 2
>>> g.backward()
>>> g.data, a.grad, b.grad
(612.5, -35.0, 1050.0)

Attributes. data: the number; settable, and used by what is recorded afterwards. grad: the derivative of the last root
by this Value, 0 before the first; settable. label: settable. tape: the Tape that holds it. Equality and hash are
identity; `<`, `<=`, `>`, `>=` compare the data.

What runs on micrograd's Value (Karpathy 2020) runs on this one, but `backward()` computes fresh gradients: called twice
it gives the same, and several roots may share one tape. A Value that the root does not depend on keeps the gradient
that it has; `backward(accumulate=True)` adds to what is there.
"""

_OPERATORS = {"add", "sub", "mul", "div", "neg", "power"}


def _node(self: Any) -> Any:
    tools = tools_of(self.tape)
    return tools.node(self.tape, tools.index(self))


def _get_op(self: Any) -> str:
    operation, _, _, _, operands = _node(self)
    return symbol(operation, operands)


def _get_prev(self: Any) -> set[Any]:
    tools = tools_of(self.tape)
    return {tools.value(self.tape, parent) for parent, _ in _node(self)[4] if parent}


def _get_label(self: Any) -> str | None:
    return tools_of(self.tape).get_label(self)


def _set_label(self: Any, label: str | None) -> None:
    if label is not None and type(label) is not str:
        raise DTypeError(f"a label is a str or None, but got {type(label).__name__}.")
    tools_of(self.tape).set_label(self, label)


def _repr(self: Any) -> str:
    try:
        text = f"data={self.data}, grad={self.grad}"
        label = _get_label(self)
    except TapeError:
        return "Value(cut off)"
    return f"Value({text})" if label is None else f"Value({text}, label={label!r})"


def _compare(relation: Callable[[float, float], bool]) -> Callable[[Any, Any], bool]:
    return lambda self, other: relation(self.data, other.data if isinstance(other, Value) else other)


def _itself(self: Any) -> Any:
    return self


def _refuse_copy(self: Any, _: object) -> Any:
    raise DTypeError(
        f"{self} cannot be copied or pickled, for it is a node of a tape. Make a new leaf of its number: Value(x.data)."
    )


def _on_backward(
    self: Any, before: Callable[[Any], object] | None = None, after: Callable[[Any], object] | None = None
) -> None:
    """Call functions in each `backward` that reaches this Value, in place of those that it has.

    Each is called with this Value. What it returns is ignored; what it raises ends the sweep, and leaves gradients
    incomplete. It may set `grad`, and record, but neither start another sweep on this tape nor rewind it. A Value and
    its tape stay alive as long as a function that refers to them: use the argument.

    Args:
        before: Called when `grad` is complete, before it is passed on to what this Value was computed from.
        after: Called right after it was.

    Raises:
        DTypeError: One is not callable.
        TapeError: Called inside of `backward`.

    >>> x = Value(3.0)
    >>> y = x * x
    >>> y.on_backward(before=lambda v: setattr(v, "grad", min(v.grad, 1.0)))  # a gradient that is clipped on its way
    >>> (100 * y).backward()
    >>> y.grad, x.grad
    (1.0, 6.0)
    >>> y.on_backward()
    >>> (100 * y).backward()
    >>> x.grad
    600.0
    """
    for name, function in (("before", before), ("after", after)):
        if function is not None and not callable(function):
            raise DTypeError(f"{name} is {shown(function)}, expected a function of a Value, or None.")
    tools_of(self.tape).on_backward(self, (before, after))


def _dot(self: Any) -> str:
    """The graph that this Value was computed by, as text for Graphviz.

    >>> print((Value(2.0, label="x") ** 2).dot())  # doctest: +ELLIPSIS
    digraph {
      ...
    }
    """
    return to_dot(self)


_DEFINED = {*_OPERATORS, *cast(dict[str, Any], vars(Value))}
_METHODS = {name: operation for name, operation in types().operations.items() if name not in _DEFINED}
_ATTRIBUTES: dict[str, Any] = _METHODS | {
    "label": property(_get_label, _set_label, doc="A name for displays, a str or None."),
    "dot": _dot,
    "on_backward": _on_backward,
    "_op": property(_get_op, doc="The operation that computed this Value, a str; empty for a leaf."),
    "_prev": property(_get_prev, doc="The Values that this one was computed from, a set."),
    "conjugate": _itself,  # for np.var
    "_repr_mimebundle_": mimebundle,
    "__repr__": _repr,
    "__pos__": _itself,
    "__abs__": types().operations["abs"],
    "__lt__": _compare(operator.lt),
    "__le__": _compare(operator.le),
    "__gt__": _compare(operator.gt),
    "__ge__": _compare(operator.ge),
    "__reduce_ex__": _refuse_copy,
}
for _name, _attribute in _ATTRIBUTES.items():
    setattr(Value, _name, _attribute)
CALLBACKS.update(default_tape=Tape.reclaiming, answer=answer)
