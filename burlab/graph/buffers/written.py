"""The result of a traced operation after an assignment to its elements."""

import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, cast

import numpy as np

from burlab.graph.handles import PRESENT
from burlab.graph.node import Node
from burlab.typing import ArrayLike, DTypeLike, Index, Tree


class Written:
    """A node that became a writable array: it represents the buffer in its params.

    A node turns into it in place (`results`), so the slots are those of a node. In everything it is that buffer.
    """

    __slots__ = Node.__slots__
    __array_priority__ = 1002

    params: Any

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        return self._same(getattr(ufunc, method)(*_unwrapped(inputs), **_unwrapped(kwargs)))

    def __array_function__(
        self, func: Callable[..., Any], types: Iterable[type], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        return self._same(func(*_unwrapped(args), **_unwrapped(kwargs)))

    def _same(self, result: Tree) -> Any:
        return self if result is self.params else result

    def __getattr__(self, name: str) -> Any:
        return getattr(self.params, name)

    def __getitem__(self, key: Index) -> Any:
        return self.params[_unwrapped(key)]

    def __setitem__(self, key: Index, value: ArrayLike) -> None:
        self.params[_unwrapped(key)] = _unwrapped(value)

    def __len__(self) -> int:
        return len(self.params)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.params)

    __hash__ = object.__hash__

    def __array__(self, dtype: DTypeLike = None, copy: bool | None = None) -> Any:
        return Node.__array__(PRESENT[Written](self), dtype, copy)

    def __repr__(self) -> str:
        return repr(self.params)

    def __format__(self, spec: str) -> str:
        return format(self.params, spec)

    def __round__(self, digits: int | None = None) -> Any:
        return round(self.params, digits)

    def __copy__(self) -> Any:
        return self.params.copy()

    def __deepcopy__(self, memo: object) -> Any:
        return self.params.copy()


def _unwrapped(x: object) -> Any:
    """Arguments with buffers in place of their representatives."""
    if type(x) is Written:
        return x.params
    if type(x) is tuple or type(x) is list:
        parts = [_unwrapped(item) for item in cast("Sequence[Any]", x)]
        return parts if type(cast("Any", x)) is list else tuple(parts)
    if type(x) is dict:
        return {k: _unwrapped(v) for k, v in cast("Mapping[Any, Any]", x).items()}
    return x


def _binary(name: str) -> None:
    run = getattr(operator, name, None) or divmod

    def forward(self: Written, other: ArrayLike) -> Any:
        return run(self.params, _unwrapped(other))

    def backward(self: Written, other: ArrayLike) -> Any:
        return run(_unwrapped(other), self.params)

    def in_place(self: Written, other: ArrayLike) -> Any:
        getattr(operator, f"i{plain}")(self.params, _unwrapped(other))
        return self

    plain = name.strip("_")
    setattr(Written, f"__{plain}__", forward)
    if plain not in _COMPARED:
        setattr(Written, f"__r{plain}__", backward)
        if plain != "divmod":
            setattr(Written, f"__i{plain}__", in_place)


def _unary(name: str, run: Callable[..., Any]) -> None:
    def method(self: Written, *args: Any) -> Any:
        return run(self.params, *args)

    setattr(Written, f"__{name}__", method)


_COMPARED = frozenset("lt le gt ge eq ne".split())
for _name in "add sub mul truediv floordiv mod pow matmul and_ or_ xor lshift rshift divmod lt le gt ge eq ne".split():
    _binary(_name)
for _name, _run in {"neg": operator.neg, "pos": operator.pos, "abs": abs, "invert": operator.invert, "bool": bool,
                    "float": float, "int": int, "index": operator.index, "complex": complex}.items():  # fmt: skip
    _unary(_name, _run)

PRESENT[Written] = lambda x: x.params.present()
