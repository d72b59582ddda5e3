"""`precision`: a function whose operations round their results to a narrower format."""

import functools
from collections.abc import Callable, Mapping
from typing import Any, ParamSpec, TypeVar, cast

from burlab.compiler.function import Function
from burlab.errors import ArgumentError
from burlab.graph import tree
from burlab.graph.handles import present
from burlab.graph.node import as_node
from burlab.graph.origin import location, recording
from burlab.graph.regions import closed
from burlab.graph.rewrite.interpret import interpret
from burlab.graph.tracing.trace import Spec, spec_of, trace
from burlab.runtime.checks.numbers import shown
from burlab.transforms.call import name_of
from burlab.transforms.memo import remembered
from burlab.typing import Key

from .rounder import RoundedScopes, Rounder, matches
from .roundings import FormatName, Rounding

P = ParamSpec("P")
R = TypeVar("R")


def precision(
    f: Callable[P, R],
    format: FormatName | None,  # noqa: A002 - the field's word
    *,
    accumulate: FormatName | None = None,
    mode: str | None = None,
    key: Key | None = None,
    subnormals: bool = True,
    saturate: bool | None = None,
    scope: Mapping[str, FormatName | None] | None = None,
) -> Callable[P, R]:
    """Return f in rounded arithmetic: every operation reads numbers of a format, and rounds its result to it once.

    Operations are those of the graph that f becomes, in loops and branches too: sums, products, exp, matrix products,
    factorizations. Arrays, arguments too, are rounded where an operation reads them; numbers that stand in the program
    are exact. Dtypes remain. In float32, + - * / and sqrt of operands in bfloat16 or float16 have the bits of hardware
    of that format, since float32 has 24 bits, twice theirs and two more (Figueroa 1995, When is double rounding
    innocuous?).

    A sum, a matrix product or another operation that adds up is one operation: it is computed in x's dtype and rounded
    once, first to `accumulate` if given. The roundings of single additions within it are not emulated: write the
    additions as a loop, `bl.scan`, where they matter.

    Derivatives pass straight through each rounding, so `grad(precision(f, ...))` has rounded values and a backward pass
    in the dtype; `precision(grad(f), ...)` rounds the backward pass too. Rules of `bl.custom_vjp` are not rounded.

    Args:
        f: a function of arrays, numbers and trees of them.
        format: as of `bl.round_to`; None rounds nothing but what `scope` names.
        accumulate: the format that sums have before they are rounded; the dtype's if not given.
        mode, key, subnormals, saturate: as of `bl.round_to`. Each operation, and each iteration of a loop, draws by a
            key of its own; sums are rounded to `accumulate` to the nearest.
        scope: formats of modules, by patterns of the names in scopes, as "attention" or "blocks.*": the first that
            matches is taken, for all modules inside, too. None leaves a module as it is. Layers of `bl.nn` have scopes,
            which `bl.counts` lists.

    Returns:
        A function with the arguments and results of f.

    Raises:
        ArgumentError: for unknown formats and modes; when called, if a format is wider than the dtype of a value, or a
            pattern of `scope` matches nothing.

    >>> import numpy as np, burlab as bl
    >>> float(bl.precision(lambda x: (x + 1.0) - 1.0, "bfloat16")(0.01))
    0.0078125
    >>> float(bl.grad(bl.precision(lambda x: x * x, "e4m3"))(1.1))
    2.25
    """
    key = present(key)

    def rounding(name: FormatName | None) -> Rounding | None:
        if name is None:
            return None
        return Rounding.of(name, mode, key is not None, subnormals, saturate, what="precision")

    patterns = dict[Any, Any]() if scope is None else cast("dict[Any, Any]", scope)
    if not isinstance(patterns, Mapping) or not all(isinstance(name, str) for name in patterns):  # pyright: ignore[reportUnnecessaryIsInstance] - users pass anything
        raise ArgumentError(f"{location()}scope of precision maps names of modules to formats, got {shown(scope)}.")
    if format is None and not patterns:
        raise ArgumentError(f"{location()}precision needs a format, or a scope with formats of modules.")
    wide = None if accumulate is None else Rounding.of(accumulate, "nearest", False)
    formats = RoundedScopes(rounding(format), wide, tuple((name, rounding(given)) for name, given in patterns.items()))
    made = remembered(f, ("precision", formats), lambda: _Rounded(f, formats))
    return made.function if key is None else made.with_key(key)


class _Rounded:
    """A function in rounded arithmetic. function: it, without a key."""

    def __init__(self, f: Callable[..., Any], formats: RoundedScopes) -> None:
        self._f = f
        self._formats = formats
        name = f"precision({name_of(f)})"
        self.function = Function(lambda *args, **kwargs: self._rule(None, args, kwargs), f, name)

        def keyed(key: Key, /, *args: Any, **kwargs: Any) -> Any:
            return self._rule(key, args, kwargs)

        self._keyed: Any = Function(keyed, name=name, reads=(f,))

    def with_key(self, key: Key) -> Callable[..., Any]:
        @functools.wraps(self._f, updated=())
        def rounded(*args: Any, **kwargs: Any) -> Any:
            return self._keyed(key, *args, **kwargs)

        return rounded

    def _rule(self, key: Key | None, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        leaves = tree.flatten((args, kwargs))[0]
        given = [as_node(leaf) for leaf in leaves if isinstance(spec_of(leaf), Spec)]
        with recording() as recorded:
            traced = trace(self._f, args, kwargs)
        captured, (graph,) = closed((traced.graph,), set(recorded))
        rounder = Rounder(self._formats, None if key is None else as_node(key))
        outputs = interpret(graph, (*given, *captured), rounder)
        self._check_scopes(rounder.scopes)
        return tree.unflatten(traced.result, outputs)

    def _check_scopes(self, scopes: set[str]) -> None:
        for pattern, _ in self._formats.scopes:
            if not any(matches(pattern, name) for name in scopes):
                known = ", ".join(map(repr, sorted(scopes - {""}))) or "none"
                raise ArgumentError(
                    f"{location()}scope of precision names {pattern!r}, which no module of {name_of(self._f)} has; its "
                    f"scopes are: {known}."
                )
