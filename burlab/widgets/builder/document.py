"""A document: blocks and their connections. It is immutable; each operation returns another one or raises."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any, cast

import numpy as np

from burlab.errors import ArgumentError, GraphError
from burlab.graph.parameters import MAX_AXES
from burlab.runtime.checks.numbers import shown
from burlab.runtime.checks.stored import several, whole
from burlab.runtime.memory import volume

from .block_palette import WEIGHTS, kind_of
from .kinds import Kind, Options
from .literals import MAX_NUMBERS, Literal, frozen
from .typed_values import read_typed

Operands = tuple[int | None, ...]
_MAX_LABEL_LENGTH = 200  # characters of a label
_MAX_BLOCKS = 2000


@dataclass(frozen=True, slots=True)
class GraphBlock:
    """A node of a graph that is built by hand.

    kind: its name in the palette; label: any text; operands: the key of the block at each argument, None where nothing
    is connected. options: all that the kind has, by name. place: of its centre, in pixels, where it was moved by hand.
    """

    kind: str
    label: str = ""
    operands: Operands = ()
    options: Options = ()
    place: tuple[float, float] | None = None

    @property
    def of(self) -> Kind:
        """The row of the palette."""
        return kind_of(self.kind)

    def option(self, name: str) -> Literal:
        """The value of an option."""
        return dict(self.options)[name]

    @property
    def name(self) -> str:
        """The name in messages."""
        return self.label or self.kind


@dataclass(frozen=True)
class Document:
    """Blocks by key, in the order in which they were added, and the output if one was chosen.

    >>> document, x = Document().add("input", label="x", options={"value": 3.0})
    >>> document, y = document.add("square", [x])
    >>> document.root == y, document.blocks[y].operands
    (True, (1,))
    """

    blocks: Mapping[int, GraphBlock] = field(default_factory=lambda: MappingProxyType[int, GraphBlock]({}))
    output: int | None = None

    def __getitem__(self, key: Any) -> GraphBlock:
        """A block by its key. Raises ArgumentError if there is none."""
        if type(key) is not int or key not in self.blocks:
            raise ArgumentError(f"unknown block {shown(key)}. Pass the key that `add` gave.")
        return self.blocks[key]

    def __len__(self) -> int:
        return len(self.blocks)

    @cached_property
    def users(self) -> Mapping[int, tuple[int, ...]]:
        """For each block those that take its value."""
        found: dict[int, list[int]] = {key: [] for key in self.blocks}
        for key, block in self.blocks.items():
            for source in dict.fromkeys(block.operands):
                if source is not None:
                    found[source].append(key)
        return {key: tuple(row) for key, row in found.items()}

    @cached_property
    def root(self) -> int | None:
        """The output: the block that was chosen, else the last one that computes something and that no other takes."""
        if self.output is not None:
            return self.output
        sinks = [key for key in self.blocks if not self.users[key]]
        computed = [key for key in sinks if self.blocks[key].operands]
        return (computed or sinks or [None])[-1]

    @cached_property
    def order(self) -> tuple[int, ...]:
        """All keys, each after those of its operands. Raises GraphError if they form a cycle."""
        order: dict[int, None] = {}
        for start in self.blocks:
            stack: list[tuple[int, bool]] = [(start, False)]
            open_: set[int] = set()
            while stack:
                key, done = stack.pop()
                if done:
                    order[key] = None
                elif key not in order:
                    if key in open_:
                        raise GraphError(f"{self.blocks[key].name} takes its own value, around a circle of blocks.")
                    open_.add(key)
                    stack.append((key, True))
                    stack += [(x, False) for x in self.blocks[key].operands if x is not None and x not in order]
        return tuple(order)

    @property
    def inputs(self) -> list[int]:
        """The keys of the inputs: the arguments of the function, in order."""
        return [key for key, block in self.blocks.items() if block.kind == "input"]

    def add(
        self,
        kind: str,
        operands: Iterable[int | None] = (),
        *,
        label: str = "",
        options: Mapping[str, Any] | None = None,
        place: tuple[float, float] | None = None,
    ) -> "tuple[Document, int]":
        """Return the document with one more block, and its key. Operands that are not given stay open.

        Raises ArgumentError for a kind, an option or an operand that does not exist, or for too many operands.
        """
        row, given = kind_of(kind), list(operands)
        for source in given:
            if source is not None:
                self[source]
        if len(given) > len(row.ports) and not row.many:
            raise ArgumentError(f"{kind} takes {_several(len(row.ports))}, got {len(given)}.")
        if len(self) >= _MAX_BLOCKS:
            raise ArgumentError(f"a document has at most {_MAX_BLOCKS:,} blocks. Write larger graphs as functions.")
        given += [None] * (len(row.ports) - len(given))
        block = GraphBlock(kind, _label(label), tuple(given), row.read(options or {}), _place(place))
        key = max(self.blocks, default=0) + 1
        return self._with({key: block}), key

    def connect(self, source: int, target: int, port: int) -> "Document":
        """Return the document with one block as the argument of another, numbered from 0.

        Raises GraphError if that closes a cycle, ArgumentError if there is no such argument.
        """
        block = self[target]
        self[source]
        at = self._port(block, port, more=1)
        if source == target or self._reaches(source, target):
            raise GraphError(
                f"{self[source].name} is computed from {block.name}, so it cannot be an argument of it: a graph has no "
                "circles."
            )
        operands = [*block.operands, None][: max(len(block.operands), at + 1)]
        operands[at] = source
        return self._with({target: replace(block, operands=tuple(operands))})

    def disconnect(self, target: int, port: int) -> "Document":
        """Return the document with an open argument. Of any number of arguments one is removed."""
        block = self[target]
        at = self._port(block, port)
        operands = list(block.operands)
        operands[at] = None
        if block.of.many and len(operands) > 1:
            del operands[at]
        return self._with({target: replace(block, operands=tuple(operands))})

    def edit(self, key: int, name: str, value: Any) -> "Document":
        """Return the document with another value of an option. value: as in Python, or as text.

        A layer that is changed forgets the weights that a run has found for it.
        """
        block = self[key]
        read = block.of.option(name).read(value)
        if repr(read) == repr(block.option(name)):  # by their text: 1 equals 1.0, and nan not even itself
            return self
        options = tuple((n, read if n == name else None if n == WEIGHTS else old) for n, old in block.options)
        return self._with({key: replace(block, options=options)})

    def reshape(self, key: int, shape: Any) -> "Document":
        """Return the document with another shape of an input or constant: its numbers are repeated or cut off."""
        block = self[key]
        if not block.of.is_leaf:
            raise ArgumentError(f"{block.name} has the shape that its arguments give. Change theirs.")
        given = frozen(read_typed(shape) if isinstance(shape, str) else shape)
        sizes: tuple[Any, ...] = cast("Any", given) if isinstance(given, tuple) else (given,)
        if not several(whole(0, MAX_NUMBERS), MAX_AXES)(sizes) or volume(sizes) > MAX_NUMBERS:
            raise ArgumentError(
                f"shape must be sizes of at most {MAX_NUMBERS:,} numbers, such as (2, 3); got {shown(shape)}."
            )
        return self.edit(key, "value", np.resize(np.array(block.option("value")), sizes))

    def rename(self, key: int, label: str) -> "Document":
        """Return the document with another label."""
        return self._with({key: replace(self[key], label=_label(label))})

    def delete(self, *keys: int) -> "Document":
        """Return the document without some blocks; their users have open arguments."""
        gone = {key for key in keys if self[key]}
        left: dict[int, GraphBlock] = {}
        for key, block in self.blocks.items():
            if key not in gone:
                operands = tuple(None if x in gone else x for x in block.operands)
                if block.of.many:
                    operands = tuple(x for x in operands if x is not None) or (None,)
                left[key] = block if operands == block.operands else replace(block, operands=operands)
        return Document(MappingProxyType(left), None if self.output in gone else self.output)

    def choose(self, key: int | None) -> "Document":
        """Return the document with another output; None for the last block without users."""
        return replace(self, output=key if key is None or self[key] else None)

    def move(self, places: Mapping[int, tuple[float, float] | None]) -> "Document":
        """Return the document with blocks at other places; None for the place of the layout."""
        return self._with({key: replace(self[key], place=_place(place)) for key, place in places.items()})

    def renumbered(self) -> "Document":
        """Return the document with the keys 1, 2, 3, ..."""
        new: dict[int | None, int] = {key: k for k, key in enumerate(self.blocks, 1)}
        blocks = {
            new[key]: replace(block, operands=tuple(new.get(x) for x in block.operands))
            for key, block in self.blocks.items()
        }
        return Document(MappingProxyType(blocks), new.get(self.output))

    def _with(self, changed: Mapping[int, GraphBlock]) -> "Document":
        if all(repr(self.blocks.get(key)) == repr(block) for key, block in changed.items()):
            return self  # by their text: 1 equals 1.0, and nan not even itself
        return Document(MappingProxyType({**self.blocks, **changed}), self.output)

    def _port(self, block: GraphBlock, port: Any, more: int = 0) -> int:
        count = len(block.operands) + more * block.of.many
        if type(port) is not int or not 0 <= port < count:
            takes = _several(len(block.of.ports)) if not block.of.many else "any number of arguments"
            raise ArgumentError(f"{block.name} takes {takes}, counted from 0; got argument {shown(port)}.")
        return port

    def _reaches(self, key: int, source: int) -> bool:
        """Return True if the value of `key` depends on that of `source`."""
        seen, stack = set[int](), [key]
        while stack:
            at = stack.pop()
            if at == source:
                return True
            if at not in seen:
                seen.add(at)
                stack += [x for x in self.blocks[at].operands if x is not None]
        return False


def _several(count: int) -> str:
    return "no arguments" if count == 0 else "one argument" if count == 1 else f"{count} arguments"


def _label(label: Any) -> str:
    if type(label) is not str or len(label) > _MAX_LABEL_LENGTH:
        raise ArgumentError(f"a label must be a text of at most {_MAX_LABEL_LENGTH} characters; got {shown(label)}.")
    return label


def _place(place: Any) -> tuple[float, float] | None:
    if place is None:
        return None
    try:
        x, y = (round(float(p), 1) for p in place)
        if abs(x) <= 1e6 and abs(y) <= 1e6:  # which no nan is
            return x + 0.0, y + 0.0
    except (TypeError, ValueError):
        pass
    raise ArgumentError(f"a place must be two pixel numbers, at most a million each; got {shown(place)}.")
