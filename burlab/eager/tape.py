"""Tapes: where Values are recorded, and how one goes back, replays and measures."""

from collections.abc import Mapping
from contextlib import suppress
from contextvars import Token
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self, SupportsIndex

import numpy as np
from numpy.typing import DTypeLike

from burlab.errors import ArgumentError, DTypeError, TapeError
from burlab.runtime.checks.numbers import shown

from .native import enter, entered_tape, float_tools, tools_of, types

if TYPE_CHECKING:
    from burlab.graph import Graph

    from .value import Value

    class _Recorder:
        """The compiled type, as far as a type checker needs it."""

        def __len__(self) -> int: ...

else:
    _Recorder = types().Tape


_DTYPES = (np.dtype(np.float64), np.dtype(np.float32))


@dataclass(frozen=True, slots=True, eq=False)
class TapePosition:
    """A position on a tape, made by `Tape.mark` and used by `Tape.rewind`."""

    position: tuple[int, int]
    depth: int


def _known(dtype: DTypeLike) -> np.dtype[Any]:
    with suppress(TypeError):
        if (known := np.dtype(dtype)) in _DTYPES:
            return known
    raise DTypeError(f"dtype of a tape is {shown(dtype)}, expected float64 or float32.")


class Tape(_Recorder):
    """The operations on Values, recorded in order.

    Inside `with Tape() as tape:` new leaves are recorded on that tape; `len(tape)` is the number of its nodes.
    Elsewhere each thread has a default tape, which drops nodes that no Value reaches; a tape that you open keeps
    everything until it is rewound. Results go to the tape of their operands, and Values of two tapes do not mix.

    On a float32 tape a node is 32 bytes in place of 64. Each operation and each derivative is computed in float32, and
    a constant is rounded to it; a reduction over a sequence adds in float64, and rounds its result once.

    Args:
        dtype: Of its numbers, float64 or float32.

    Raises:
        DTypeError: For another dtype.

    >>> from burlab.eager import Value
    >>> with Tape() as tape:
    ...     x = Value(3.0)
    ...     mark = tape.mark()
    ...     for _ in range(1000):
    ...         tape.rewind(mark)  # nothing piles up
    ...         (x**2).backward()
    >>> x.grad, len(tape)
    (6.0, 2)
    >>> with Tape(dtype="float32"):
    ...     (Value(0.1) * 3).data
    0.30000001192092896
    """

    __slots__ = ("_dtype", "_marks", "_tokens")
    _dtype: np.dtype[Any]
    _marks: list[TapePosition]
    _tokens: list[Token[Any]]

    def __init__(self, *, dtype: DTypeLike = np.float64) -> None:
        self._marks, self._tokens, self._dtype = [], [], _known(dtype)
        if self._dtype == np.float32:
            float_tools().make_float(self)

    @property
    def dtype(self) -> np.dtype[Any]:
        """The numbers of its nodes, values and derivatives: float64 or float32."""
        return self._dtype

    @classmethod
    def reclaiming(cls) -> "Tape":
        """A tape that drops nodes that no Value reaches, as the default tapes do."""
        new: Any = cls.__new__
        tape: Tape = new(cls, True)
        tape.__init__()
        return tape

    def __enter__(self) -> Self:
        self._tokens.append(enter(self))
        return self

    def __exit__(self, *_: object) -> None:
        entered_tape.reset(self._tokens.pop())

    def __reduce_ex__(self, _: SupportsIndex) -> Any:
        raise TapeError("a tape is memory of this process, which cannot be copied or pickled. Record it again there.")

    def __repr__(self) -> str:
        numbers = "" if self._dtype == np.float64 else f" of {self._dtype}"
        return f"<burlab.Tape: {len(self)} nodes{numbers}, {sum(self.nbytes.values())} bytes>"

    def mark(self) -> TapePosition:
        """Remember where the tape stands, for `rewind`. O(1)."""
        if tools_of(self).reclaims(self):
            raise TapeError(
                "a default tape cannot be marked: it drops and renumbers nodes by itself. Record under a tape of your "
                "own: with bl.Tape() as tape: ..."
            )
        position = tools_of(self).position(self)
        if not self._marks or self._marks[-1].position != position:
            self._marks.append(TapePosition(position, len(self._marks)))
        return self._marks[-1]

    def rewind(self, mark: TapePosition) -> None:
        """Drop everything recorded since `mark`; its memory is used again. O(1).

        Args:
            mark: Result of `Tape.mark`. It stays usable until the tape is rewound to an earlier one.

        Raises:
            TapeError: It is not usable any more; later also where a dropped Value is used.
        """
        if not isinstance(mark, TapePosition):  # pyright: ignore[reportUnnecessaryIsInstance] - callers may be untyped
            raise TypeError(f"rewind needs a mark of this tape, from tape.mark(), but got {type(mark).__name__}.")
        if mark.depth >= len(self._marks) or self._marks[mark.depth] is not mark:
            raise TapeError(
                "this mark is not one of this tape's, or the tape has been rewound to an earlier one since. Take a new "
                "one with tape.mark()."
            )
        tools_of(self).cut(self, mark.position)
        del self._marks[mark.depth + 1 :]

    @property
    def nbytes(self) -> dict[str, int]:
        """The memory that the tape holds, in bytes, by kind.

        nodes; edges, the operands of operations over sequences; labels, with the functions of `on_backward`; values,
        the Python objects on the nodes and those kept to be used again.
        """
        return dict(zip(("nodes", "edges", "labels", "values"), tools_of(self).measure(self), strict=True))

    def replay(self, values: "Mapping[Value, float] | None" = None, root: "Value | None" = None) -> float | None:
        """Compute the record again with other numbers in the leaves, and the gradients of `root`.

        Every node after the first leaf of `values` gets its new value, which its Value's `data` shows, and after the
        sweep from `root` its new `grad`. Branches that Python took while recording are not decided again.

        Args:
            values: Leaves that change, and their new numbers; without it every node of the tape is computed again.
            root: Where the sweep starts.

        Returns:
            The value of `root`, or None without one.

        >>> from burlab.eager import Value
        >>> a, b = Value(1.0), Value(2.0)
        >>> g = a * b + b
        >>> g.tape.replay({a: 3.0, b: 10.0}, root=g), a.grad, b.grad
        (40.0, 10.0, 4.0)
        """
        numbers = {leaf: float(number) for leaf, number in (values or {}).items()}
        indices = [self._leaf_index(leaf) for leaf in numbers]
        if root is not None:
            self._index(root)
        for leaf, number in numbers.items():
            leaf.data = number
        tools_of(self).replay(self, min(indices, default=1))
        if root is None:
            return None
        root.backward()
        return root.data

    def graph(self, *roots: "Value") -> "Graph":
        """The record as a Graph of scalars.

        Args:
            roots: Outputs of the graph; by default every Value from which nothing else was computed.

        Returns:
            A graph with one input for each leaf, in their order, named by its label. An operation over a sequence
            becomes the composition that it stands for.

        >>> from burlab.eager import Value
        >>> with Tape() as tape:
        ...     x = Value(2.0, label="x")
        ...     y = (x * 3).tanh()
        >>> [node.op for node in tape.graph(y).nodes]
        ['input', 'constant', 'mul', 'tanh']
        """
        from .tape_graph import to_graph

        return to_graph(self, [self._index(root) for root in roots])

    def _index(self, value: "Value") -> int:
        if not isinstance(value, types().Value):
            raise TypeError(f"a Value on this tape is needed, but got {type(value).__name__}.")
        if value.tape is not self:
            raise TapeError("this Value lives on another tape. Use the tape that it was recorded on: value.tape.")
        return tools_of(self).index(value)

    def _leaf_index(self, value: "Value") -> int:
        index = self._index(value)
        if tools_of(self).node(self, index)[0] != "leaf":
            raise ArgumentError(
                f"only leaves take new numbers, but {value} is computed from others. Pass the leaves it depends on."
            )
        return index
