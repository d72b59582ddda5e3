"""Operations of one's own: a struct of C++ with a value and its partial derivatives."""

from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

import numpy as np

from burlab.compiler.executable import build
from burlab.compiler.function import Function
from burlab.errors import ArgumentError, CompileError, GradientError
from burlab.graph import Graph, Node
from burlab.graph.handles import present
from burlab.graph.numpy_api.promotion import apply
from burlab.graph.users import register
from burlab.typing import ArrayLike

from .check import check_grads

_POINTS = np.array([-1.7, -0.6, 0.3, 0.8, 1.4])


def operation(name: str, text: str | type, points: Sequence[ArrayLike] | None = None) -> Callable[..., Any]:
    """Return a function of numbers or arrays from C++, with derivatives of every order, traced as NumPy's are.

    The same name with another rule is another operation; graphs and files know which one they use.

    Args:
        name: small letters, digits and _.
        text: a struct, or a class that a cell `%%cpp` has defined, with two templates: `primal`, the value, and
            `partial<K>`, its derivative by argument K, which gets the value as last argument. Both are written for any
            number type T: `using std::sin; sin(x)` instead of `std::sin`, `select(x < T(0), a, b)` instead of branches.
        points: arrays, one for each argument, at which the rule is checked at once: first and second derivatives in
            both modes against finite differences, and all gears against each other. Without them, five numbers around
            0, where the value is finite.

    Returns:
        A function of as many arguments as `primal` has.

    Raises:
        ArgumentError: for another name, text or points.
        CompileError: if the struct does not compile for every number type.
        GradientError: if the rule is wrong.

    >>> import numpy as np, burlab as bl
    >>> cosm1 = bl.operation("cosm1", '''
    ... struct Cosm1 {
    ...   template <class T> static T primal(T x) { using std::sin; T s = sin(T(0.5) * x); return T(-2) * (s * s); }
    ...   template <int K, class T> static T partial(T x, T) { using std::sin; return -sin(x); }
    ... };''')
    >>> float(bl.grad(cosm1)(0.0))
    -0.0
    """
    try:
        row = register(name, *_text_of(text, name))
    except CompileError as error:
        raise _explained(error, name) from None
    rule = _rule(row.name, row.arity, name)
    kernel: Any = Function(rule, name=name, reads=())

    def function(*xs: Any) -> Any:
        values = [present(x) for x in xs]
        return rule(*values) if any(isinstance(x, Node) for x in values) else kernel(*map(_floating, values))

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"An operation of C++ with {row.arity} argument{'s' * (row.arity > 1)}: {row.name}."
    try:
        _check(function, row.name, _examples(kernel, name, row.arity, points))
    except CompileError as error:
        raise _explained(error, name) from None
    return function


def _text_of(text: object, name: str) -> tuple[str, ...]:
    """Return the registered text; of a class of a notebook with its name in it."""
    if isinstance(text, str):
        return (text,)
    if isinstance(text, type) and (found := getattr(text, "__burlab_text__", None)):
        return found
    raise ArgumentError(
        f"the operation {name} got a {type(text).__name__}, expected the text of a struct in C++, or a class that a "
        "cell %%cpp has defined."
    )


def _rule(op: str, arity: int, name: str) -> Callable[..., Node]:
    def rule(*xs: Any) -> Node:
        if len(xs) != arity:
            raise ArgumentError(f"{name} got {len(xs)} arguments, expected {arity}.")
        return apply(op, *xs)

    return rule


def _floating(x: ArrayLike) -> Any:
    """Floats as they are, integers as floats: they would be part of the program."""
    return x if isinstance(x, float) or np.asarray(x).dtype.kind == "f" else np.asarray(x, float)


def _examples(kernel: Callable[..., Any], name: str, arity: int, points: Sequence[Any] | None) -> list[Any]:
    """Return the points of the check: all that are given, or those of a grid at which the value is finite."""
    if points is not None:
        arrays = [np.asarray(x, float).ravel() for x in points]
        if len(arrays) != arity or len({len(x) for x in arrays}) != 1 or not arrays[0].size:
            raise ArgumentError(f"points of {name} are {len(arrays)} arrays; expected {arity}, of one length above 0.")
        return arrays
    grid = np.array(list(product(_POINTS, repeat=arity)) if arity < 3 else [_POINTS[:arity], _POINTS[-arity:]])
    near = [kernel(*(grid + step).T) for step in (-5e-3, 0.0, 5e-3)]  # and around, for differences
    found = grid[np.isfinite(near).all(axis=0)]
    if not len(found):
        raise ArgumentError(f"{name} is finite at none of the points {_POINTS.tolist()}. Pass points=, where it is.")
    return list(found.T)


def _check(function: Callable[..., Any], op: str, points: list[Any]) -> None:
    """Raise GradientError where derivatives are wrong, or gears differ."""
    check_grads(function, tuple(points), order=2)
    inputs = tuple(Node("input", (), f"x{k}", x.shape, x.dtype) for k, x in enumerate(points))
    y = apply(op, *inputs)
    partials = [apply(f"{op}'{k}", *inputs, y) for k in range(len(points))]
    graph = Graph(inputs, (y, *partials))
    wanted, *others = (build(graph, gear=gear, strict=True)(*points) for gear in ("replay", "compiled"))
    for results in others:
        for k, (a, b) in enumerate(zip(wanted, results, strict=True)):
            if not np.array_equal(a, b, equal_nan=True):
                what = "value" if k == 0 else f"partial by argument {k - 1}"
                raise GradientError(
                    f"the {what} of {function.__name__} differs from gear to gear. Let it depend on its arguments only."
                )


def _explained(error: CompileError, name: str) -> CompileError:
    return CompileError(
        f"{error}\nThe struct of {name} must compute with any number type T: `using std::sin; sin(x)` instead of "
        "`std::sin(x)`, `select(condition, a, b)` instead of branches, numbers as T(2). It needs templates "
        "`primal(x...)` and `partial<K>(x..., y)`."
    )
